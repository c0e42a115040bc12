//! The standing queue: the least backlog that arrivals found in a round trip.

use tidemark_core::{Duration, Instant};

use crate::law::interface::Arrival;

/// Fewest reports in a round. If periodic reports are late by different times of up to two periods, one of seven is nearly in time
/// (`tests/jitter.rs`). The backlog that it leaves is really queued.
const REPORTS: u64 = 7;

/// Least backlog in bytes of the last one to two rounds, of a round trip and seven reports each.
pub(super) struct Standing {
    /// Least of the round before and of this one.
    least: [f64; 2],
    /// Time and count of reports until which this round lasts.
    until: (Instant, u64),
}

impl Default for Standing {
    fn default() -> Self {
        Self { least: [f64::INFINITY; 2], until: (Instant::ZERO, 0) }
    }
}

impl Standing {
    /// Takes an arrival. Between two arrivals the backlog only falls, so each finds the least since the previous one.
    #[inline]
    pub(super) fn arrive(&mut self, arrival: &Arrival, round_trip: Duration) {
        if arrival.now > self.until.0 && arrival.reports >= self.until.1 {
            self.least = [self.least[1], arrival.backlog];
            self.until = (arrival.now + round_trip, arrival.reports + REPORTS);
        }
        self.least[1] = lesser(self.least[1], arrival.backlog);
    }

    /// Least backlog in bytes.
    #[inline]
    pub(super) fn least(&self) -> f64 {
        lesser(self.least[0], self.least[1])
    }
}

/// Lesser of two numbers. `f64::min` also checks for NaN, which takes four times as many instructions.
#[inline]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::interface::tests::arrival;
    use crate::verdict::Class;

    fn least(standing: &mut Standing, at: u64, reports: u64, backlog: f64) -> f64 {
        let now = Instant::from_millis(1_000 + at);
        standing.arrive(&Arrival { now, backlog, reports, ..arrival(Class::L4s) }, Duration::from_millis(38));
        standing.least()
    }

    #[test]
    fn the_least_backlog_is_that_of_the_last_round_or_two() {
        let mut standing = Standing::default();
        // Eight reports in each millisecond: a round is a round trip.
        let mut least = |at, backlog| least(&mut standing, at, 8 * at, backlog);
        // A queue that has just begun has not stood.
        assert_eq!([(0, 0.0), (1, 90_000.0), (38, 90_000.0)].map(|(at, backlog)| least(at, backlog)), [0.0; 3]);
        // The round that ends at 41 ms had an empty queue, the next ones have none below 30 kB.
        assert_eq!(least(41, 50_000.0), 0.0);
        assert_eq!(least(60, 30_000.0), 0.0);
        assert_eq!(least(82, 70_000.0), 30_000.0);
        assert_eq!(least(100, 80_000.0), 30_000.0);
        assert_eq!(least(123, 60_000.0), 60_000.0);
        // What falls below counts at once.
        assert_eq!(least(124, 10_000.0), 10_000.0);
    }

    #[test]
    fn a_round_has_seven_reports() {
        let mut standing = Standing::default();
        let mut least = |reports, backlog| least(&mut standing, 100 * reports, reports, backlog);
        assert_eq!(least(0, 0.0), 0.0);
        assert_eq!([1, 6, 7, 13].map(|report| least(report, 90_000.0)), [0.0; 4]);
        assert_eq!(least(14, 90_000.0), 90_000.0);
    }
}
