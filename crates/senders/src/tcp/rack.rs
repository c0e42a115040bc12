//! RACK: the newest delivery, by which older segments are judged, and how long they are waited for (RFC 8985 6.2).

use tidemark_core::{Duration, Instant};

use super::scoreboard::FIRST_SEQ;

/// Segments sacked that tell a loss without reordering (RFC 8985 6.2).
const DUP_THRESH: u32 = 3;

/// Sending time and end of a segment: segments are ordered by when they were sent, and those sent at once by where they lie.
pub(super) type Order = (Instant, u64);

/// Knowledge from deliveries.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// RACK.segment, the delivered segment that was sent last, with its round trip.
    latest: Option<(Order, Duration)>,
    highest_delivered: u64,
    reordering_seen: bool,
}

impl Default for Rack {
    fn default() -> Self {
        Self { latest: None, highest_delivered: FIRST_SEQ, reordering_seen: false }
    }
}

impl Rack {
    /// Order and round trip of the delivered segment that was sent last.
    #[inline]
    pub(super) fn latest(&self) -> Option<(Order, Duration)> {
        self.latest
    }

    /// Takes the newest segment of an acknowledgement into account.
    #[inline]
    pub(super) fn on_newest(&mut self, now: Instant, order: Order) {
        // An older one may arrive later, where the path reorders: it says nothing new.
        if self.latest.is_none_or(|(latest, _)| order > latest) {
            self.latest = Some((order, now.since(order.0)));
        }
    }

    /// Takes a delivered segment into account. One that was sent once and arrives below another shows reordering.
    #[inline]
    pub(super) fn on_delivered(&mut self, end: u64, retransmitted: bool) {
        // A retransmission comes late for its own reason.
        if end < self.highest_delivered && !retransmitted {
            self.reordering_seen = true;
        }
        self.highest_delivered = self.highest_delivered.max(end);
    }

    /// Waits for reordering from now on: a segment that was held for lost was only late.
    pub(super) fn expect_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// Wait for a segment that others overtook, beyond their round trip (RFC 8985 6.2, step 4).
    pub(super) fn window(&self, min_rtt: Duration, smoothed_rtt: Duration, recovering: bool, sacked: u32) -> Duration {
        // On a path that never reordered, three segments behind a hole are proof enough.
        if !self.reordering_seen && (recovering || sacked >= DUP_THRESH) {
            return Duration::ZERO;
        }
        (min_rtt / 4).min(smoothed_rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_reorders_is_waited_for() {
        let (min, smoothed) = (Duration::from_millis(20), Duration::from_millis(30));
        let mut rack = Rack::default();
        let windows = |rack: &Rack| {
            [(false, 2), (false, 3), (true, 0)].map(|(it, sacked)| rack.window(min, smoothed, it, sacked))
        };
        assert_eq!(windows(&rack), [Duration::from_millis(5), Duration::ZERO, Duration::ZERO]);
        rack.on_delivered(2000, false);
        rack.on_delivered(1000, true);
        assert_eq!(windows(&rack)[1], Duration::ZERO, "a retransmission below is no reordering");
        rack.on_delivered(1500, false);
        assert_eq!(windows(&rack), [Duration::from_millis(5); 3]);
    }

    #[test]
    fn the_latest_is_the_one_that_was_sent_last() {
        let at = Instant::from_millis;
        let mut rack = Rack::default();
        rack.on_newest(at(30), (at(10), 1000));
        rack.on_newest(at(31), (at(9), 5000));
        rack.on_newest(at(32), (at(10), 900));
        assert_eq!(rack.latest(), Some(((at(10), 1000), Duration::from_millis(20))));
    }
}
