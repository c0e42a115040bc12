//! The rule of SDN-L4S (Eq. 5) and the share of marks that it follows (Eq. 6), whatever carries both.

use std::collections::VecDeque;

use tidemark_core::{BitRate, Duration, Instant};

use super::RateLimits;

/// Reports in a window at the most.
const MAX_HISTORY: usize = 4096;

/// The rule with what it counted.
#[derive(Clone, Debug)]
pub(super) struct SdnRule {
    threshold: f64,
    constant: f64,
    window: Option<Duration>,
    rates: RateLimits,
    /// Packets and marks, in all or in the window.
    packets: u64,
    marked: u64,
    history: VecDeque<(Instant, u32, u32)>,
}

impl SdnRule {
    /// A rule that knows of no packet.
    pub(super) fn new(threshold: f64, constant: BitRate, window: Option<Duration>, rates: RateLimits) -> Self {
        let constant = constant.as_bps() as f64;
        Self { threshold, constant, window, rates, packets: 0, marked: 0, history: VecDeque::new() }
    }

    /// Takes in packets that arrived; gives the new rate, if any arrived so far. Algorithm 3, Eq. 6, from the receiver's counts.
    pub(super) fn on_arrivals(&mut self, now: Instant, arrived: u32, marked: u32) -> Option<f64> {
        self.packets += u64::from(arrived);
        self.marked += u64::from(marked);
        // Without a window the share is of all packets since the beginning.
        if let Some(window) = self.window {
            self.history.push_back((now, arrived, marked));
            while self.history.len() > MAX_HISTORY
                || self.history.front().is_some_and(|(then, ..)| now.since(*then) > window)
            {
                let Some((_, arrived, marked)) = self.history.pop_front() else { break };
                self.packets -= u64::from(arrived);
                self.marked -= u64::from(marked);
            }
        }
        (self.packets > 0).then(|| self.rate(self.marked as f64 / self.packets as f64))
    }

    /// Algorithm 1, Eq. 5.
    fn rate(&self, share: f64) -> f64 {
        let rate =
            if share < self.threshold { self.rates.max.as_bps() as f64 } else { self.constant * (1.0 / share - 1.0) };
        self.rates.clamp(rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_curve() {
        let rates = RateLimits { min: BitRate::from_kbps(1), max: BitRate::from_mbps(10_000), ..RateLimits::default() };
        let rule = SdnRule::new(0.01, BitRate::from_mbps(1), None, rates);
        for (share, mbps) in [(0.0, 10_000.0), (0.009, 10_000.0), (0.01, 99.0), (0.1, 9.0), (0.5, 1.0)] {
            assert!((rule.rate(share) * 1e-6 - mbps).abs() < 1e-6, "{share}");
        }
        assert_eq!(rule.rate(1.0), 1000.0, "never nothing");
    }
}
