//! Limit of how often a request is answered.

use tidemark_core::{Duration, Instant};

/// Limit of a rate: [`BURST`](Self::BURST) at once, and one each [`INTERVAL`](Self::INTERVAL) after them.
#[derive(Debug, Default)]
pub(crate) struct RateLimit {
    /// Time at which nothing of the burst would be used any more.
    unused: Instant,
}

impl RateLimit {
    /// Number that may be done at once, of an error at a peer that concerns several tunnels.
    pub(crate) const BURST: u64 = 10;
    /// Interval of what follows: ten a second are enough for a peer, and too few to search 32 bits.
    const INTERVAL: Duration = Duration::from_millis(100);

    /// True if it may be done once more now.
    pub(crate) fn admits(&mut self, now: Instant) -> bool {
        let from = self.unused.max(now);
        let admitted = from.since(now) <= Self::INTERVAL * (Self::BURST - 1);
        if admitted {
            self.unused = from + Self::INTERVAL;
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_admitted_and_then_ten_a_second() {
        let mut limit = RateLimit::default();
        let mut admitted = |ms| (0..100).filter(|_| limit.admits(Instant::from_millis(ms))).count() as u64;
        assert_eq!(admitted(5_000), RateLimit::BURST);
        assert_eq!([5_050, 5_100, 5_101, 5_400].map(&mut admitted), [0, 1, 0, 3]);
        assert_eq!(admitted(60_000), RateLimit::BURST);
    }
}
