//! aL4S-CC, the adaptable L4S congestion control for real-time video, as the paper describes it (al4s in the
//! reproduction's list): sL4S, which knows nothing of how the network marks, and cL4S, which knows its thresholds.
//!
//! Where the paper is silent or its units do not fit, this code reads it as follows: `nu` is the number of reports a
//! second, so that a rate variation is a change per second; `tau` is in seconds; `TE`, `TQ`, `PDV` and the thresholds
//! are in milliseconds; a variation at or below `eta` takes the first row of Eq. 10. Eq. 5 starts from zero, since the
//! text wants the increase to be minimal for small `tau`; as it is printed, [`Al4sGrowth::Printed`], the rate doubles
//! in the first second after congestion. The history window, the pacing and the initial gradient are configurable.

mod hint;

use std::collections::VecDeque;

use tidemark_core::{BitRate, Bounded, ConfigError, Duration, Ecn, Instant, bounds};

pub use hint::{Al4sHint, Al4sHintConfig};

use super::elapsed::Elapsed;
use super::{Feedback, MediaController, PACED, PACING, RateLimits, ReportPolicy};
use crate::control::{CongestionControl, Properties, Transport};

/// Base of the increase (below Eq. 7).
const DELTA: f64 = 1.05;
/// The part of the base that follows the gradient (Eq. 7).
const DELTA_RANGE: f64 = 0.02;
/// Range of the delay gradient (below Eq. 3).
const GRADIENT: (f64, f64) = (0.5, 4.5);
/// One report never takes away more (Eq. 13).
const MAX_TAKEN: f64 = 0.95;
const MAX_HISTORY: usize = 256;

/// Marking of the network, for cL4S.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkingScheme {
    /// Queuing delay up to which nothing is marked.
    pub low: Duration,
    /// Queuing delay from which everything is marked.
    pub high: Duration,
}

/// The change of the rate per second after `tau` seconds without marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Al4sGrowth {
    /// `alpha^tau`: a doubling in the first second, as Eq. 5 is printed.
    Printed,
    /// `alpha^tau - 1`: nothing at first, as the paper's text has it.
    #[default]
    FromZero,
}

/// aL4S-CC's configuration.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<Al4sConfig>))]
pub struct Al4sConfig {
    /// End-to-end delay that the service tolerates: TE. Default 60 ms (XR cloud gaming).
    pub target_delay: Duration,
    /// Part of `target_delay` that is not queuing: TQ is TE minus this. Default 5 ms.
    pub fixed_delay: Duration,
    /// The network's thresholds, if the controller knows them (cL4S). Default: unknown (sL4S).
    pub marking: Option<MarkingScheme>,
    /// Reading of Eq. 5. Default `from-zero`.
    pub growth: Al4sGrowth,
    /// Span over which the congestion trend is measured: Z. Default 500 ms; the paper does not say.
    pub history: Duration,
    /// Rate at which packets leave, as a multiple of the target. Default 1.1: the paper paces "over time" and prints no
    /// factor; a frame that is larger than the mean by the usual deviation, a tenth, still leaves within its interval.
    pub pacing: f64,
    /// Limits of the target rate.
    pub rates: RateLimits,
}

impl Default for Al4sConfig {
    fn default() -> Self {
        Self {
            target_delay: Duration::from_millis(60),
            fixed_delay: Duration::from_millis(5),
            marking: None,
            growth: Al4sGrowth::default(),
            history: Duration::from_millis(500),
            pacing: PACED,
            rates: RateLimits::default(),
        }
    }
}

bounds! { Al4sConfig {
    pacing: PACING,
    ..target_delay, fixed_delay, marking, growth, history, rates
} }

impl CongestionControl for Al4sConfig {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "sL4S; cL4S with the network's thresholds",
            follows: "al4s",
            answers: "marks, delay variation",
            recommended: false,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        let Self { target_delay, fixed_delay, .. } = self;
        if target_delay <= fixed_delay {
            let right = format!("must be above fixed_delay, {fixed_delay}");
            return Err(ConfigError::new("target_delay", right).found(target_delay));
        }
        if let Some(MarkingScheme { low, high }) = self.marking.as_ref().filter(|marking| marking.low >= marking.high) {
            return Err(ConfigError::new("marking.high", format!("must be above low, {low}")).found(high));
        }
        self.rates.validate()
    }
    fn transport(&self) -> Transport<'_> {
        Transport::Rtp(Box::new(|| Box::new(Al4s::new(self))))
    }
    fn min_rate(&self) -> Option<BitRate> {
        self.rates.floor()
    }
}

/// The controller; rates in bits a second.
#[derive(Clone, Debug)]
pub struct Al4s {
    config: Al4sConfig,
    gamma: f64,
    rate: f64,
    gradient: f64,
    /// Time and marked share of the reports in the history window.
    history: VecDeque<(Instant, f64)>,
    before_history: f64,
    elapsed: Elapsed,
    unmarked_since: Instant,
    /// Send and arrival times of the group before.
    last_group: Option<(Instant, Instant)>,
}

impl Al4s {
    /// A controller at its initial rate.
    pub fn new(config: &Al4sConfig) -> Self {
        Self {
            gamma: config.marking.as_ref().map_or(1.0, |marking| gamma(config, marking)),
            rate: config.rates.initial.as_bps() as f64,
            gradient: GRADIENT.0,
            history: VecDeque::new(),
            before_history: 0.0,
            elapsed: Elapsed::default(),
            unmarked_since: Instant::ZERO,
            last_group: None,
            config: config.clone(),
        }
    }

    /// Eqs. 2 and 3. The sum of differences over the history is the last share less the one before the history.
    fn track_congestion(&mut self, now: Instant, share: f64, unmarked_for: f64) {
        self.history.push_back((now, share));
        while self.history.len() > MAX_HISTORY
            || self.history.front().is_some_and(|(then, _)| now.since(*then) > self.config.history)
        {
            self.before_history = self.history.pop_front().map_or(0.0, |(_, share)| share);
        }
        let trend = share - self.before_history;
        // A share that falls, though not to zero, says neither that the queue grows nor that it is gone.
        if share > 0.0 && trend > 0.0 {
            self.gradient += trend;
        } else if share <= 0.0 {
            self.gradient -= unmarked_for;
        }
        self.gradient = self.gradient.clamp(GRADIENT.0, GRADIENT.1);
    }

    /// Eq. 4, in milliseconds: how much longer the way of this report's packets is than of those before.
    fn delay_variation(&mut self, feedback: &Feedback<'_>) -> f64 {
        let last = feedback.results.iter().rev().find_map(|result| Some((result.sent_at, result.received_at?)));
        let Some((sent, received)) = last else { return 0.0 };
        let variation = self.last_group.map_or(0.0, |(sent_before, received_before)| {
            received.since(received_before).as_millis_f64() - sent.since(sent_before).as_millis_f64()
        });
        self.last_group = Some((sent, received));
        variation
    }

    /// Eqs. 10 to 13: the share of the rate that one report takes away when everything is marked.
    fn sharp_drop(&self, variation: f64) -> f64 {
        let target = self.config.target_delay.as_millis_f64();
        let eta = 10.0 / target;
        // The faster the delay grows, the more of the rate is taken.
        let (root, variation) = if variation <= eta {
            (3.0, eta)
        } else if variation < target {
            (libm::ceil((target - variation) / target * 3.0), variation)
        } else {
            (1.0, variation)
        };
        (1.0 - libm::pow(eta / variation, 1.0 / root)).min(MAX_TAKEN)
    }
}

/// Eq. 9. A target at the higher threshold is in neither of its first two rows, which both end in 1 there; the text wants cL4S to be
/// like sL4S there.
fn gamma(config: &Al4sConfig, marking: &MarkingScheme) -> f64 {
    let (low, high) = (marking.low.as_millis_f64(), marking.high.as_millis_f64());
    let target = (config.target_delay - config.fixed_delay).as_millis_f64();
    // The rule goes by where the target lies to the ramp that marks.
    if low < target && target < high {
        ((high - low) / (target - low)).min(10.0)
    } else if high <= target {
        (high / target).max(0.1)
    } else {
        (10.0 + low / target).min(20.0)
    }
}

impl MediaController for Al4s {
    /// Once a frame.
    fn report_policy(&self) -> ReportPolicy {
        ReportPolicy::each_frame(Duration::from_millis(20))
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let (arrived, marked, _) = feedback.counts();
        // Losses alone have no marked share, and the published controller does not answer them.
        if arrived == 0 {
            return;
        }
        let now = feedback.now;
        let since = self.elapsed.take(now);
        let share = f64::from(marked) / f64::from(arrived);
        // Growth counts from the last mark.
        if marked > 0 {
            self.unmarked_since = now;
        }
        let unmarked_for = now.since(self.unmarked_since).as_secs_f64();
        self.track_congestion(now, share, unmarked_for);
        let variation = self.delay_variation(feedback);
        // Eq. 14: what a report changes is the change per second times the seconds since the last.
        let change = if marked == 0 {
            let position = (self.gradient - GRADIENT.0) / (GRADIENT.1 - GRADIENT.0);
            let base = DELTA + DELTA_RANGE * (2.0 * position - 1.0);
            // As printed, Eq. 5 doubles the rate in the first second without marks.
            let offset = if self.config.growth == Al4sGrowth::FromZero { 1.0 } else { 0.0 };
            (libm::pow(base, unmarked_for) - offset) * since
        } else if marked < arrived {
            // A part is marked: the rate falls by that share, and by how fast it has been growing.
            (-self.gradient * share * self.gamma * since).max(-MAX_TAKEN)
        } else {
            -self.sharp_drop(variation)
        };
        self.rate = self.config.rates.clamp(self.rate * (1.0 + change));
    }
    fn on_silence(&mut self, now: Instant) {
        self.rate = self.config.rates.clamp(self.rate * 0.5);
        self.unmarked_since = now;
    }
    fn target_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.rate)
    }
    fn pacing_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.rate * self.config.pacing)
    }
    fn ecn(&self) -> Ecn {
        Ecn::Ect1
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Bytes;

    use super::*;
    use crate::media::PacketResult;

    fn config(target_ms: u64, low: u64, high: u64) -> Al4sConfig {
        let marking = MarkingScheme { low: Duration::from_millis(low), high: Duration::from_millis(high) };
        Al4sConfig { target_delay: Duration::from_millis(target_ms), marking: Some(marking), ..Al4sConfig::default() }
    }

    #[test]
    fn the_weight_follows_the_thresholds() {
        let gamma = |config: &Al4sConfig| gamma(config, config.marking.as_ref().unwrap());
        // TQ = 20 ms between 5 and 50: 45 / 15. TQ = 55 above 20: 20 / 55. TQ = 20 at a low threshold of 20: 10 + 1.
        assert_eq!(gamma(&config(25, 5, 50)), 3.0);
        assert!((gamma(&config(60, 5, 20)) - 20.0 / 55.0).abs() < 1e-12);
        assert_eq!(gamma(&config(25, 20, 50)), 11.0);
    }

    #[test]
    fn at_the_higher_threshold_the_weight_is_that_of_one_who_knows_no_thresholds() {
        let config = config(25, 5, 20);
        assert_eq!(gamma(&config, config.marking.as_ref().unwrap()), 1.0);
    }

    #[test]
    fn the_drop_is_the_sharper_the_more_the_delay_varies() {
        let controller = Al4s::new(&Al4sConfig::default());
        let drops: Vec<f64> = [0.0, 1.0, 10.0, 30.0, 59.0, 200.0].map(|pdv| controller.sharp_drop(pdv)).to_vec();
        assert_eq!(drops[0], 0.0, "up to eta nothing is taken: (eta / eta)^(1/3) - 1");
        assert!(drops.windows(2).all(|pair| pair[1] >= pair[0]), "{drops:?}");
        // eta = 1/6: at 30 ms the root is ceil(1.5) = 2: 1 - sqrt(1/180).
        assert!((drops[3] - (1.0 - (1.0f64 / 180.0).sqrt())).abs() < 1e-12);
        assert_eq!(drops[5], MAX_TAKEN);
    }

    #[test]
    fn right_after_congestion_the_rate_hardly_grows() {
        let mut controller = Al4s::new(&Al4sConfig::default());
        for report in 0..50 {
            let sent_at = Instant::from_millis(20 * report);
            let received_at = Some(sent_at + Duration::from_millis(10));
            let ecn = if report == 0 { Ecn::Ce } else { Ecn::Ect1 };
            let result = PacketResult { seq: report, size: Bytes(1200), sent_at, received_at, ecn, probe: None };
            let now = sent_at + Duration::from_millis(20);
            let (in_flight, sent, outstanding) = (Bytes::ZERO, report + 1, 0);
            controller.on_feedback(&Feedback { now, results: &[result], rtt: None, in_flight, sent, outstanding });
        }
        let growth = controller.rate / RateLimits::default().initial.as_bps() as f64;
        assert!((1.0..1.05).contains(&growth), "{growth} in the first second");
    }
}
