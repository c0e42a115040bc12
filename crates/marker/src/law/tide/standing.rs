//! What stands in a queue: the least that arrivals found between some reports and the next.

use crate::law::interface::Arrival;

/// Reports over which the least is taken. Of a clock whose reports are late by up to two periods, each by another time, one of seven is
/// nearly in time (`tests/jitter.rs`): what it leaves is queued.
const REPORTS: u64 = 7;

/// Least backlog in bytes of the last seven to fourteen reports.
pub(super) struct Standing {
    /// Least of the reports before and of these.
    least: [f64; 2],
    /// Count of reports from which on the next begin.
    next: u64,
}

impl Default for Standing {
    fn default() -> Self {
        Self { least: [f64::INFINITY; 2], next: 0 }
    }
}

impl Standing {
    /// Takes an arrival. Between two of them the backlog only falls, so that each finds the least since the one before.
    #[inline]
    pub(super) fn arrive(&mut self, arrival: &Arrival) {
        if arrival.reports >= self.next {
            self.least = [self.least[1], arrival.backlog];
            self.next = arrival.reports + REPORTS;
        }
        self.least[1] = lesser(self.least[1], arrival.backlog);
    }

    /// Least backlog in bytes.
    #[inline]
    pub(super) fn least(&self) -> f64 {
        lesser(self.least[0], self.least[1])
    }
}

/// Lesser of two numbers. `f64::min` looks for NaN besides, which takes four times as many instructions.
#[inline]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::interface::tests::arrival;
    use crate::verdict::Class;

    #[test]
    fn the_least_backlog_is_that_of_the_last_reports() {
        let mut standing = Standing::default();
        let mut least = |reports: u64, backlog: f64| {
            standing.arrive(&Arrival { backlog, reports, ..arrival(Class::L4s) });
            standing.least()
        };
        // A queue that has just begun has not stood.
        assert_eq!([(0, 0.0), (1, 90_000.0), (6, 90_000.0)].map(|(at, backlog)| least(at, backlog)), [0.0; 3]);
        // The seven reports that end here began with an empty queue, the next have none below 30 kB.
        assert_eq!(least(7, 50_000.0), 0.0);
        assert_eq!(least(10, 30_000.0), 0.0);
        assert_eq!(least(14, 70_000.0), 30_000.0);
        assert_eq!(least(20, 80_000.0), 30_000.0);
        assert_eq!(least(21, 60_000.0), 60_000.0);
        // What falls below counts at once.
        assert_eq!(least(22, 10_000.0), 10_000.0);
        // Without reports nothing is known to have left, nor to have stood.
        assert_eq!(least(22, 90_000.0), 10_000.0);
    }
}
