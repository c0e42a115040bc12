//! The minimum round-trip time (draft-ietf-ccwg-bbr-06 5.3.4.3, 5.5.7.2).

use tidemark_core::{Duration, Instant};

/// Least round-trip time of late, and the time at which it was measured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    rtt: Option<Duration>,
    at: Instant,
}

impl MinRtt {
    pub(super) fn new(now: Instant, rtt: Option<Duration>) -> Self {
        Self { rtt, at: now }
    }

    /// Takes `sample`, of the time `at`, where it is less or the least is older than `window`; true for the latter.
    pub(super) fn update(&mut self, now: Instant, window: Duration, sample: Option<Duration>, at: Instant) -> bool {
        let expired = now > self.at + window;
        if let Some(rtt) = sample
            && (expired || self.rtt.is_none_or(|min| rtt < min))
        {
            *self = Self { rtt: Some(rtt), at };
        }
        expired
    }

    /// Counts the least as measured now.
    pub(super) fn confirm(&mut self, now: Instant) {
        self.at = now;
    }

    pub(super) fn get(&self) -> Option<Duration> {
        self.rtt
    }

    /// Time at which it was measured.
    pub(super) fn at(&self) -> Instant {
        self.at
    }

    /// True if at least one such time has passed since `start`.
    pub(super) fn has_passed(&self, start: Instant, now: Instant) -> bool {
        self.rtt.is_some_and(|min| now.since(start) > min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_is_forgotten_with_the_sample_that_follows_its_window() {
        let (ms, window) = (Duration::from_millis, Duration::from_secs(10));
        let mut min = MinRtt::new(Instant::ZERO, None);
        let mut sample = |at, rtt| {
            let at = Instant::from_millis(at);
            let expired = min.update(at, window, Some(ms(rtt)), at);
            (expired, min.get().unwrap())
        };
        assert_eq!(sample(0, 40), (false, ms(40)));
        assert_eq!(sample(5_000, 50), (false, ms(40)));
        assert_eq!(sample(6_000, 30), (false, ms(30)));
        assert_eq!(sample(16_000, 60), (false, ms(30)));
        assert_eq!(sample(16_001, 60), (true, ms(60)));
    }
}
