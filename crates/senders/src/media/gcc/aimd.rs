//! The delay-based rate: additive near the capacity of the link, else multiplicative; down on overuse.

use tidemark_core::{Duration, Instant};

use super::delay::Usage;
use crate::media::RateLimits;

const BETA: f64 = 0.85;
const GROWTH: f64 = 1.08;
const MIN_STEP: f64 = 1000.0;
/// The rate may exceed what arrives by this much.
const HEADROOM: (f64, f64) = (1.5, 10_000.0);
const PACKET_BITS: f64 = 1200.0 * 8.0;
const FRAMES_PER_SEC: f64 = 30.0;
const MIN_SLOPE: f64 = 4000.0;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Hold,
    Increase,
    Decrease,
}

/// Estimate of the link's capacity, in kbit/s.
#[derive(Clone, Copy, Debug)]
struct Capacity {
    estimate: f64,
    deviation: f64,
}

impl Capacity {
    const GAIN: f64 = 0.05;

    fn bounds(&self) -> (f64, f64) {
        let spread = 3.0 * libm::sqrt(self.deviation * self.estimate);
        ((self.estimate - spread).max(0.0), self.estimate + spread)
    }
    fn update(capacity: Option<Self>, sample: f64) -> Self {
        // The first sample is the estimate.
        let Some(before) = capacity else { return Self { estimate: sample, deviation: 0.4 } };
        let estimate = (1.0 - Self::GAIN) * before.estimate + Self::GAIN * sample;
        let norm = estimate.max(1.0);
        let error = before.estimate - sample;
        let deviation = (1.0 - Self::GAIN) * before.deviation + Self::GAIN * error * error / norm;
        Self { estimate, deviation: deviation.clamp(0.4, 2.5) }
    }
}

/// The rate control; bits a second.
#[derive(Clone, Debug)]
pub(super) struct RateControl {
    rate: f64,
    state: State,
    changed: Option<Instant>,
    decreased: Option<Instant>,
    capacity: Option<Capacity>,
}

impl RateControl {
    pub(super) fn new(rate: f64) -> Self {
        Self { rate, state: State::Hold, changed: None, decreased: None, capacity: None }
    }
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }
    pub(super) fn clamp(&mut self, limits: &RateLimits) {
        self.rate = limits.clamp(self.rate);
    }
    /// A probe found what the path carries.
    pub(super) fn set(&mut self, now: Instant, rate: f64) {
        if rate < self.rate {
            self.decreased = Some(now);
        }
        self.rate = rate;
        self.changed = Some(now);
    }

    pub(super) fn update(&mut self, now: Instant, usage: Usage, acked: Option<f64>, rtt: Duration) {
        // After a decrease the rate is held for a report: the queue has to drain first.
        self.state = match (usage, self.state) {
            (Usage::Over, _) => State::Decrease,
            (Usage::Under, _) => State::Hold,
            (Usage::Normal, State::Decrease) => State::Hold,
            (Usage::Normal, State::Hold | State::Increase) => State::Increase,
        };
        // Until something was acknowledged long enough, what the rate is stands for it.
        let throughput = acked.unwrap_or(self.rate);
        match self.state {
            State::Hold => {}
            State::Increase => self.increase(now, throughput, rtt),
            State::Decrease => self.decrease(now, throughput, rtt),
        }
    }

    fn increase(&mut self, now: Instant, throughput: f64, rtt: Duration) {
        // More arrives than the link was thought to carry: it is another link now.
        if self.capacity.is_some_and(|capacity| throughput / 1000.0 > capacity.bounds().1) {
            self.capacity = None;
        }
        let elapsed = self.changed.map_or(0.0, |then| now.since(then).as_secs_f64()).min(1.0);
        self.changed = Some(now);
        let limit = HEADROOM.0 * throughput + HEADROOM.1;
        // What the stream does not use says nothing of the path: the rate may not run far ahead of what arrives.
        if self.rate >= limit {
            return;
        }
        let step = if self.capacity.is_some() {
            // One packet of the present size in each response time.
            let frame = self.rate / FRAMES_PER_SEC;
            let packet = frame / libm::ceil(frame / PACKET_BITS).max(1.0);
            let response = 2.0 * (rtt.as_secs_f64() + 0.1);
            (packet / response).max(MIN_SLOPE) * elapsed
        } else {
            (self.rate * (libm::pow(GROWTH, elapsed) - 1.0)).max(MIN_STEP)
        };
        self.rate = (self.rate + step).min(limit);
    }

    fn decrease(&mut self, now: Instant, throughput: f64, rtt: Duration) {
        let wait = rtt.clamp(Duration::from_millis(10), Duration::from_millis(200));
        let may_decrease = self.decreased.is_none_or(|then| now.since(then) >= wait) || throughput < 0.5 * self.rate;
        // The last decrease is not seen in the delay before a round trip has passed.
        if !may_decrease {
            return;
        }
        let mut rate = BETA * throughput;
        // More arrived than the rate allows: the link's capacity says how far down, so that overuse never raises the rate.
        if let Some(capacity) = self.capacity.filter(|_| rate > self.rate) {
            rate = BETA * capacity.estimate * 1000.0;
        }
        self.rate = self.rate.min(rate);
        let sample = throughput / 1000.0;
        // Less arrives than the link was thought to carry: the average begins anew.
        if self.capacity.is_some_and(|capacity| sample < capacity.bounds().0) {
            self.capacity = None;
        }
        self.capacity = Some(Capacity::update(self.capacity, sample));
        self.changed = Some(now);
        self.decreased = Some(now);
        self.state = State::Hold;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(50);

    #[test]
    fn it_grows_by_8_percent_a_second_until_it_has_met_the_capacity() {
        let mut control = RateControl::new(1e6);
        for tick in 0..=100 {
            control.update(Instant::from_millis(tick * 50), Usage::Normal, Some(1e9), RTT);
        }
        let grown = control.rate();
        assert!((grown / (1e6 * libm::pow(1.08, 5.0)) - 1.0).abs() < 0.02, "{grown}");
        control.update(Instant::from_millis(5050), Usage::Over, Some(1.2e6), RTT);
        assert!((control.rate() - 0.85 * 1.2e6).abs() < 1.0, "85 % of what arrives");
        let before = control.rate();
        for tick in 102..=122 {
            control.update(Instant::from_millis(tick * 50), Usage::Normal, Some(1.02e6), RTT);
        }
        // 34 kbit a frame are four packets of 8.5 kbit: one in each 300 ms.
        let slope = control.rate() - before;
        assert!((20_000.0..32_000.0).contains(&slope), "{slope} bit/s in a second");
    }

    #[test]
    fn it_never_grows_far_beyond_what_arrives() {
        let mut control = RateControl::new(1e6);
        for tick in 0..1000 {
            control.update(Instant::from_millis(tick * 50), Usage::Normal, Some(1e6), RTT);
        }
        assert!(control.rate() <= 1.5e6 + 10_000.0);
    }
}
