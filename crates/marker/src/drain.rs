//! Test of whether a queue drains between reports, from the reports alone.
//!
//! A DU that reports periodically, every 5 or 10 ms, has transmitted in most slots since its last report. A DU that reports each
//! transmission has transmitted nothing since: the UE waits for its turn. If turns are longer than the period, a report
//! covers at most one turn, and the same holds.
//!
//! Two things tell them apart, if the queue does not empty between two reports. Periodic reports come at equal gaps. Gaps may also
//! differ, because other UEs take their turns, or because uplink PDUs bring reports along. Then a longer gap moves more bytes if the
//! queue drains all the time, but not if each report is for one transport block.

use tidemark_core::Instant;

/// Variance of the relative gap that equal gaps have: 0.5 ms of jitter at either end of 5 ms.
const JITTER: f32 = 0.02;
/// Most that a value counts for, in times its mean: an outage is no turn.
const MAX_RATIO: f32 = 1.5;
/// No slot is shorter: 62.5 us, of 240 kHz (TS 38.211 4.3.2).
const MIN_GAP: u64 = 62_500;
/// Weight of the newest gap in the averages.
const NEWEST: f32 = 1.0 / 32.0;

/// Gaps between reports, and the bytes that left in them.
pub(crate) struct Drain {
    last: Instant,
    /// The last report left SDUs standing.
    stood: bool,
    /// Mean gap in nanoseconds, and mean bytes.
    gap: f32,
    bytes: f32,
    /// Variance of the gaps relative to their mean.
    variance: f32,
    /// Covariance of these with the bytes relative to their mean.
    covariance: f32,
}

impl Drain {
    /// A test that knows nothing: the queue is taken to drain.
    pub(crate) fn new() -> Self {
        Self { last: Instant::ZERO, stood: false, gap: 0.0, bytes: 0.0, variance: 0.0, covariance: 0.0 }
    }

    /// Takes a report: `bytes` more have left, and SDUs are still queued or not.
    pub(crate) fn report(&mut self, now: Instant, bytes: u64, stands: bool) {
        // One without bytes says what arrived, or nothing.
        if bytes == 0 {
            return;
        }
        // Only a queue that stood at both ends says how much the DU sends in a gap.
        if self.stood && stands {
            // Signed, which a processor converts at once.
            self.learn(now.since(self.last).as_nanos().max(MIN_GAP) as i64 as f32, bytes as i64 as f32);
        }
        (self.last, self.stood) = (now, stands);
    }

    /// True if bytes leave all the while: the slope of bytes over gaps is nearer to 1, a steady rate, than to 0, turns. Jitter counts
    /// as gaps of a steady rate.
    pub(crate) fn is_steady(&self) -> bool {
        JITTER + self.covariance > 0.5 * (JITTER + self.variance)
    }

    fn learn(&mut self, gap: f32, bytes: f32) {
        // The first gap is its own mean.
        if self.bytes == 0.0 {
            (self.gap, self.bytes) = (gap, bytes);
        }
        let (x, y) = ((gap / self.gap).min(MAX_RATIO) - 1.0, (bytes / self.bytes).min(MAX_RATIO) - 1.0);
        self.variance += NEWEST * (x * x - self.variance);
        self.covariance += NEWEST * (x * y - self.covariance);
        self.gap *= 1.0 + NEWEST * x;
        self.bytes *= 1.0 + NEWEST * y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Duration;

    /// True if reports of (gap in ms, bytes), over and over under a standing queue, are those of a queue that drains.
    fn is_steady(reports: &[(f64, u64)]) -> bool {
        let (mut drain, mut now) = (Drain::new(), Instant::ZERO);
        for (gap, bytes) in reports.iter().cycle().take(400) {
            now += Duration::from_secs_f64(gap / 1e3);
            drain.report(now, *bytes, true);
        }
        drain.is_steady()
    }

    #[test]
    fn slopes_worked_by_hand() {
        // Gaps of 5 and 10 ms, 1 -+ 1/3 of their mean: variance 1/9. With as many bytes the slope is 0; it is pulled to 0.02 / 0.131.
        assert!(!is_steady(&[(5.0, 3_000), (10.0, 3_000)]));
        // With bytes in proportion it is 1.
        assert!(is_steady(&[(5.0, 3_000), (10.0, 6_000)]));
        // 1 -+ 1/6 of the bytes: covariance 1/18, slope 1/2, which the jitter's share decides.
        assert!(is_steady(&[(5.0, 3_000), (10.0, 4_200)]));
        assert!(!is_steady(&[(5.0, 3_000), (10.0, 3_600)]));
    }

    #[test]
    fn equal_gaps_and_gaps_with_jitter_are_those_of_a_clock() {
        assert!(is_steady(&[(10.0, 40_000)]));
        assert!(is_steady(&[(10.0, 40_000), (10.0, 9_000), (10.0, 70_000)]), "a radio that fades");
        assert!(is_steady(&[(5.5, 20_000), (4.5, 20_000), (5.0, 20_000)]));
        assert!(!is_steady(&[(8.0, 20_000), (2.0, 20_000)]));
    }

    #[test]
    fn what_is_not_known_to_have_been_queued_teaches_nothing() {
        let (mut drain, mut now) = (Drain::new(), Instant::ZERO);
        for report in 0..400u64 {
            now += Duration::from_millis(if report % 2 == 0 { 2 } else { 12 });
            // Each second report leaves nothing, and between any two comes one that moves nothing.
            drain.report(now, 3_000, report % 2 == 0);
            drain.report(now + Duration::from_millis(1), 0, true);
        }
        assert!(drain.is_steady());
    }

    #[test]
    fn an_outage_is_no_turn() {
        let (mut drain, mut now) = (Drain::new(), Instant::ZERO);
        for report in 0..400u64 {
            now += Duration::from_millis(if report % 50 == 0 { 500 } else { 10 });
            drain.report(now, 40_000, true);
            assert!(drain.is_steady(), "{report}");
        }
    }
}
