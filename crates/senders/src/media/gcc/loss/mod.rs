//! The loss-based rate of today's libwebrtc (`loss_based_bwe_v2`, defaults of 2025): of a few candidate bandwidths the one
//! that explains the losses of late best, held for a while after each decrease.
//!
//! Left out, since a video that fills its target has no use for it: padding while the rate recovers.

mod observations;

use tidemark_core::{Duration, Instant};

use crate::media::{PacketResult, RateLimits};
use observations::{Channel, Observation, Observations};

const CANDIDATES: [f64; 3] = [1.02, 1.0, 0.95];
const INITIAL_INHERENT: f64 = 0.01;
/// An observation takes as long at the least.
const MIN_SPAN: Duration = Duration::from_millis(250);
const MIN_OBSERVATIONS: u64 = 3;
/// Share of losses beyond which the rate is limited at once, to the balance over the excess.
const INSTANT_OFFSET: f64 = 0.05;
const INSTANT_BALANCE: f64 = 100_000.0;
/// Growth in a window of time while losses are the limit.
const MAX_INCREASE: f64 = 1.3;
const INCREASE_WINDOW: Duration = Duration::from_millis(300);
/// Growth beyond what arrives, and less while that is below 1.3 times the rate that was held last.
const RAMP_UP: f64 = 1.5;
const RAMP_UP_IN_HOLD: f64 = 1.2;
const HOLD_THRESHOLD: f64 = 1.3;
const FIRST_HOLD: Duration = Duration::from_millis(300);
const MAX_HOLD: Duration = Duration::from_secs(60);

/// Limit of the rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    Delay,
    Losses,
    /// Losses, but less and less.
    Easing,
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    until: Instant,
    /// Length of the next hold.
    duration: Duration,
    rate: f64,
}

const NO_HOLD: Hold = Hold { until: Instant::ZERO, duration: FIRST_HOLD, rate: f64::INFINITY };

/// The estimator; bits a second.
#[derive(Clone, Debug)]
pub(super) struct LossEstimator {
    limits: (f64, f64),
    observations: Observations,
    /// kB sent and lost since the last observation, and when that ended.
    partial: (f64, f64),
    last_sent: Option<Instant>,
    best: Channel,
    rate: f64,
    limit: Limit,
    hold: Hold,
    /// The most that the estimate may be in the present window, and when that began.
    window: Option<(Instant, f64)>,
}

impl LossEstimator {
    pub(super) fn new(limits: &RateLimits) -> Self {
        Self {
            limits: (limits.min.as_bps() as f64, limits.max.as_bps() as f64),
            observations: Observations::default(),
            partial: (0.0, 0.0),
            last_sent: None,
            best: Channel { inherent: INITIAL_INHERENT, bandwidth: f64::NAN },
            rate: f64::INFINITY,
            limit: Limit::Delay,
            hold: NO_HOLD,
            window: None,
        }
    }

    /// The rate that losses allow, and what limits it.
    pub(super) fn result(&self) -> (f64, Limit) {
        if self.observations.count() < MIN_OBSERVATIONS {
            (f64::INFINITY, Limit::Delay)
        } else {
            (self.rate, self.limit)
        }
    }

    /// `acked` is what arrives, `delay_based` what the delay allows.
    pub(super) fn update(&mut self, results: &[PacketResult], acked: Option<f64>, delay_based: f64, in_alr: bool) {
        // Too few packets to judge by so far.
        let Some(now) = self.observe(results) else { return };
        // The first estimate: losses limit nothing yet that the delay allows.
        if self.best.bandwidth.is_nan() {
            self.best.bandwidth = delay_based;
            self.rate = delay_based;
        }
        let mut best = self.choose(acked, delay_based, in_alr);
        // More than the losses that a channel has anyway: no reason to grow.
        if self.observations.loss() > best.inherent {
            best.bandwidth = best.bandwidth.min(self.best.bandwidth);
        }
        // While losses limit, growth goes by steps, and not far beyond what arrives.
        if self.limit != Limit::Delay {
            best.bandwidth = self.limit_growth(now, best.bandwidth, acked);
        }
        let min = acked.unwrap_or(0.0).max(self.limits.0);
        let bounded = best.bandwidth.min(self.instant_bound()).min(delay_based).max(min);
        self.best = Channel { bandwidth: best.bandwidth.max(min), ..best };
        self.settle(now, bounded, min, delay_based);
    }

    /// An observation, when there is enough for one: the sending time of its last packet.
    fn observe(&mut self, results: &[PacketResult]) -> Option<Instant> {
        let first = results.iter().map(|result| result.sent_at).min()?;
        let last = results.iter().map(|result| result.sent_at).max()?;
        for result in results {
            let kilobytes = result.size.as_f64() / 1000.0;
            self.partial.0 += kilobytes;
            self.partial.1 += if result.received_at.is_none() { kilobytes } else { 0.0 };
        }
        let span = last.since(*self.last_sent.get_or_insert(first));
        // A share of few packets is chance.
        if span < MIN_SPAN {
            return None;
        }
        let (size, lost) = std::mem::take(&mut self.partial);
        self.last_sent = Some(last);
        self.observations.push(Observation { size, lost, rate: size * 8000.0 / span.as_secs_f64() });
        Some(last)
    }

    fn choose(&self, acked: Option<f64>, delay_based: f64, in_alr: bool) -> Channel {
        let growth = self.window.filter(|_| self.limit != Limit::Delay).map_or(self.limits.1, |(_, max)| max);
        let max = self.best.bandwidth.max(growth);
        let of_present = CANDIDATES.map(|factor| Some(factor * self.best.bandwidth));
        let others = [acked.filter(|_| !in_alr), Some(delay_based).filter(|rate| *rate > self.best.bandwidth)];
        let mut best = (f64::NEG_INFINITY, self.best);
        for bandwidth in of_present.into_iter().chain(others).flatten() {
            let channel = Channel { bandwidth: bandwidth.min(max), ..self.best }.feasible();
            let channel = self.observations.refine(channel);
            let objective = self.observations.objective(channel);
            if objective > best.0 {
                best = (objective, channel);
            }
        }
        best.1
    }

    /// Growth in a window while losses are the limit, and not far beyond what arrives.
    fn limit_growth(&self, now: Instant, mut bandwidth: f64, acked: Option<f64>) -> f64 {
        if let Some((_, max)) = self.window.filter(|(began, _)| *began + INCREASE_WINDOW > now) {
            bandwidth = bandwidth.min(max);
        }
        let Some(acked) = acked.filter(|_| self.grows(self.best.bandwidth, bandwidth)) else { return bandwidth };
        let factor = if acked < HOLD_THRESHOLD * self.hold.rate { RAMP_UP_IN_HOLD } else { RAMP_UP };
        let limited = bandwidth.min(factor * acked).max(self.best.bandwidth);
        // A bit a second, so that the state changes.
        if self.limit == Limit::Losses && limited <= self.best.bandwidth { self.best.bandwidth + 1.0 } else { limited }
    }

    fn grows(&self, from: f64, to: f64) -> bool {
        self.limit != Limit::Delay && (to > from || to >= from && self.limit == Limit::Easing)
    }

    fn instant_bound(&self) -> f64 {
        let excess = self.observations.loss() - INSTANT_OFFSET;
        // Heavy losses limit at once, before any candidate does.
        if excess > 0.0 { INSTANT_BALANCE / excess } else { self.limits.1 }
    }

    fn settle(&mut self, now: Instant, bounded: f64, min: f64, delay_based: f64) {
        let limited = bounded < delay_based;
        // So soon after a decrease the rate stays: growing at once would lose as before.
        if self.limit == Limit::Losses && self.hold.until > now && limited {
            self.hold.rate = self.hold.rate.max(min);
            self.rate = self.hold.rate.min(bounded);
            return;
        }
        let limited = limited && bounded < self.limits.1;
        // Losses limit still, but less and less: probes are allowed again.
        if limited && self.grows(self.rate, bounded) {
            self.limit = Limit::Easing;
        } else if limited {
            // Each decrease in a row is held for longer than the last.
            if self.limit != Limit::Losses {
                let duration = self.hold.duration;
                self.hold = Hold { until: now + duration, duration: (duration * 2).min(MAX_HOLD), rate: bounded };
            }
            self.limit = Limit::Losses;
        } else {
            self.hold = NO_HOLD;
            self.limit = Limit::Delay;
        }
        self.rate = bounded;
        // The window that bounds growth has passed: the next starts from the present estimate.
        if limited && self.window.is_none_or(|(began, _)| began + INCREASE_WINDOW < now) {
            self.window = Some((now, MAX_INCREASE * self.best.bandwidth));
        }
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{BitRate, Bytes, Ecn};

    use super::*;

    /// Runs for this many seconds from `from` at the estimator's own rate, a share of whose packets is lost; the rate at the end.
    /// Reports come every 50 ms, and what arrives is known.
    fn run(estimator: &mut LossEstimator, from: u64, seconds: u64, delay_based: f64, lost: f64) -> f64 {
        let mut missing = 0.0;
        for tick in from * 20..(from + seconds) * 20 {
            let rate = estimator.result().0.min(delay_based);
            let packets = (rate / 20.0 / 8000.0) as u64;
            let results: Vec<_> = (0..packets)
                .map(|index| {
                    missing += lost;
                    let is_lost = missing >= 1.0;
                    missing -= if is_lost { 1.0 } else { 0.0 };
                    let sent_at = Instant::from_millis(tick * 50 + index * 50 / packets);
                    let received_at = (!is_lost).then_some(sent_at);
                    PacketResult { seq: index, size: Bytes(1000), sent_at, received_at, ecn: Ecn::NotEct, probe: None }
                })
                .collect();
            estimator.update(&results, Some(rate * (1.0 - lost)), delay_based, false);
        }
        estimator.result().0.min(delay_based)
    }

    fn estimator() -> LossEstimator {
        LossEstimator::new(&RateLimits {
            min: BitRate::from_kbps(500),
            initial: BitRate::from_mbps(1),
            ..RateLimits::default()
        })
    }

    #[test]
    fn few_losses_are_the_links_own_and_do_not_limit() {
        for lost in [0.0, 0.01, 0.03] {
            let rate = run(&mut estimator(), 0, 30, 5e6, lost);
            assert_eq!(rate, 5e6, "{lost}");
        }
    }

    #[test]
    fn many_losses_limit_and_the_more_the_lower() {
        // Beyond 5 % the instant bound is 100 kbit/s over the excess, but no less than what arrives: it falls by the share of losses
        // with each observation.
        let after = |lost| [2, 4].map(|seconds| run(&mut estimator(), 0, seconds, 5e6, lost));
        let ([some, less], [more, min]) = (after(0.1), after(0.3));
        assert!(some < 5e6 && less < some && more < some && min < less, "{some} {less}, {more} {min}");
        assert!(run(&mut estimator(), 0, 30, 5e6, 0.1) < 2.2e6);
    }

    #[test]
    fn it_recovers_when_losses_end() {
        let mut estimator = estimator();
        let low = run(&mut estimator, 0, 10, 5e6, 0.3);
        assert_ne!(estimator.result().1, Limit::Delay);
        let later = run(&mut estimator, 10, 60, 5e6, 0.0);
        assert!(low < 1e6 && later > 4.9e6, "{low} {later}");
        assert_eq!(estimator.result().1, Limit::Delay);
    }
}
