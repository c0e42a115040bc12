//! The loss-based rate that libwebrtc had until 2022 (`SendSideBandwidthEstimation`): up below 2 % of losses, down above 10 %.

use std::collections::VecDeque;

use tidemark_core::{Duration, Instant};

use crate::media::RateLimits;

const LOW: f64 = 0.02;
const HIGH: f64 = 0.1;
const GROWTH: f64 = 1.08;
const STEP: f64 = 1000.0;
/// Packets that make a sample of the loss.
const MIN_PACKETS: u32 = 20;
/// Growth starts from the least rate of this time.
const HISTORY: Duration = Duration::from_secs(1);
const MAX_HISTORY: usize = 256;
const DECREASE_INTERVAL: Duration = Duration::from_millis(300);

/// The control; bits a second.
#[derive(Clone, Debug)]
pub(super) struct LossThresholds {
    rate: f64,
    arrived: u32,
    lost: u32,
    share: f64,
    /// Rising rates with rising times: the front is the least of the last second.
    least: VecDeque<(Instant, f64)>,
    decreased: Option<Instant>,
}

impl LossThresholds {
    pub(super) fn new(rate: f64) -> Self {
        Self { rate, arrived: 0, lost: 0, share: 0.0, least: VecDeque::new(), decreased: None }
    }
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }
    /// Limits the rate to what the delay allows, else losses would come down from nowhere.
    pub(super) fn clamp(&mut self, limits: &RateLimits, delay_based: f64) {
        self.rate = limits.clamp(self.rate.min(delay_based));
    }

    /// Raises the rate to what a probe found.
    pub(super) fn raise(&mut self, rate: f64) {
        self.rate = self.rate.max(rate);
        self.least.clear();
    }

    pub(super) fn update(&mut self, now: Instant, arrived: u32, lost: u32, rtt: Duration) {
        self.arrived += arrived;
        self.lost += lost;
        // A share of few packets is chance.
        if self.arrived + self.lost < MIN_PACKETS {
            return;
        }
        self.share = f64::from(self.lost) / f64::from(self.arrived + self.lost);
        (self.arrived, self.lost) = (0, 0);
        let least = self.least_recent(now);
        // So few losses are no sign of a queue.
        if self.share <= LOW {
            self.rate = self.rate.max(GROWTH * least + STEP);
        } else if self.share > HIGH && self.decreased.is_none_or(|then| now.since(then) >= DECREASE_INTERVAL + rtt) {
            // Between the two thresholds the rate stays. A decrease needs a round trip and more to show.
            self.rate *= 1.0 - 0.5 * self.share;
            self.decreased = Some(now);
        }
    }

    fn least_recent(&mut self, now: Instant) -> f64 {
        while self.least.front().is_some_and(|(then, _)| now.since(*then) > HISTORY) || self.least.len() > MAX_HISTORY {
            self.least.pop_front();
        }
        while self.least.back().is_some_and(|(_, rate)| *rate >= self.rate) {
            self.least.pop_back();
        }
        self.least.push_back((now, self.rate));
        self.least.front().map_or(self.rate, |(_, rate)| *rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(lost_of_100: u32) -> f64 {
        let mut control = LossThresholds::new(1e6);
        for tick in 0..50 {
            let now = Instant::from_millis(tick * 100);
            control.update(now, 100 - lost_of_100, lost_of_100, Duration::from_millis(50));
        }
        control.rate()
    }

    #[test]
    fn two_and_ten_percent_are_the_limits() {
        assert!((1.3e6..1.6e6).contains(&after(1)), "8 % a second for 5 s: {}", after(1));
        assert_eq!(after(5), 1e6);
        assert!(after(20) < 0.35e6, "a tenth off each 400 ms: {}", after(20));
    }
}
