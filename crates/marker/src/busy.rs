//! Stretches of busy time: those that measure the radio, and those that may only measure the application.

use tidemark_core::{Duration, Instant};

/// Longer than an SDU waits for an idle radio: more than half of a TDD period, usually 5 ms.
const IDLE_WAIT: Duration = Duration::from_millis(3);
/// More than a TDD period: in so long a time the radio had its chance, whenever it began.
const PERIOD: Duration = Duration::from_millis(6);

/// Time between reports at most into which no burst fits beside idle time: a frame of a video at 60 a second is one each 16 ms.
const WITHOUT_BURSTS: Duration = Duration::from_millis(15);

/// Busy time that no sample has covered yet.
///
/// A conclusive sample needs a queue during all of its time, but that is not enough. Between the downlink slots of a TDD pattern
/// any queue waits. A report that arrives then (a status PDU comes in an uplink slot) would show an egress rate of zero, and the
/// next transmission could not correct it if it empties the queue. So a stretch lasts until its queue empties, until its head is
/// older than any wait for an idle radio, or until a whole period has passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BusyTime {
    since: Instant,
    reported: Instant,
    bytes: u64,
}

/// A stretch of busy time: between `since` and the report `bytes` left the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stretch {
    pub(crate) since: Instant,
    pub(crate) bytes: u64,
    /// False if the queue may have been empty for a part of it.
    pub(crate) conclusive: bool,
}

impl BusyTime {
    /// A stretch that begins with a queue now.
    pub(crate) fn begin(now: Instant) -> Self {
        Self { since: now, reported: now, bytes: 0 }
    }

    /// Takes a report: `bytes` have left since the report before it, and the first SDU that is still queued has waited for `head`.
    pub(crate) fn report(&mut self, now: Instant, bytes: u64, head: Option<Duration>) -> Option<Stretch> {
        let since_report = now.since(self.reported);
        self.reported = now;
        self.bytes += bytes;
        // The queue was never empty while its present head stood in it. Most of the time since the last report is enough,
        // or a part of it that is itself long, unless bursts of an application fit into the other part.
        let is_long = |age: Duration| age * 4 >= since_report && age >= IDLE_WAIT && since_report <= WITHOUT_BURSTS;
        let stood = head.filter(|age| *age * 2 >= since_report || is_long(*age));
        let conclusive = match stood {
            // The radio had its chance: what left is what it gives, be it nothing.
            Some(age) if age >= IDLE_WAIT || now.since(self.since) >= PERIOD => true,
            Some(_) => return None,
            None => false,
        };
        let stretch = Stretch { since: self.since, bytes: self.bytes, conclusive };
        *self = Self::begin(now);
        Some(stretch)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Reports at these microseconds, with the bytes that left and the age of the head in microseconds.
    fn stretches(reports: &[(u64, u64, Option<u64>)]) -> Vec<(u64, u64, bool)> {
        let mut busy = BusyTime::begin(Instant::ZERO);
        let made = reports.iter().filter_map(|(at, bytes, head)| {
            busy.report(Instant::from_nanos(*at * 1_000), *bytes, head.map(Duration::from_micros))
        });
        made.map(|made| (made.since.since(Instant::ZERO).as_nanos() / 1_000, made.bytes, made.conclusive)).collect()
    }

    #[test]
    fn a_wait_for_the_radio_and_the_transmission_that_ends_it_are_one_stretch() {
        let reports = [(400, 0, Some(400)), (1_300, 0, Some(1_300)), (1_800, 1_500, None)];
        assert_eq!(stretches(&reports), [(0, 1_500, false)]);
    }

    #[test]
    fn under_a_standing_queue_each_report_is_a_sample() {
        let reports = [(500, 3_000, Some(8_000)), (1_000, 3_000, Some(8_000)), (2_500, 0, Some(9_500))];
        assert_eq!(stretches(&reports), [(0, 3_000, true), (500, 3_000, true), (1_000, 0, true)]);
    }

    #[test]
    fn a_short_queue_that_never_empties_is_judged_over_a_whole_period() {
        let reports: Vec<_> = (1..=12).map(|slot| (slot * 500, 1_000, Some(1_000))).collect();
        assert_eq!(stretches(&reports), [(0, 12_000, true)]);
    }

    #[test]
    fn with_reports_every_10_ms_the_age_of_the_head_decides() {
        let of_age = |micros| stretches(&[(10_000, 9_000, Some(micros))]);
        assert_eq!(of_age(5_000), [(0, 9_000, true)]);
        assert_eq!(of_age(3_000), [(0, 9_000, true)]);
        assert_eq!(of_age(2_400), [(0, 9_000, false)]);
    }

    #[test]
    fn between_reports_every_20_ms_a_frame_of_a_video_is_no_queue_that_stood() {
        let of_age = |micros| stretches(&[(20_000, 9_000, Some(micros))]);
        assert_eq!(of_age(5_000), [(0, 9_000, false)]);
        assert_eq!(of_age(9_900), [(0, 9_000, false)]);
        assert_eq!(of_age(10_000), [(0, 9_000, true)]);
    }
}
