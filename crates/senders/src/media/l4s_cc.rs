//! L4S-CC, the controller that aL4S-CC is compared with, as section II of its paper describes it: three phases
//! without marks, a decrease in proportion to the marked share, and a sharp drop when all is marked. The pace
//! of the phases and of the drop is not published and is configurable here.

use tidemark_core::{BitRate, Bounded, ConfigError, Duration, Ecn, Instant, Range, bounds};

use super::elapsed::Elapsed;
use super::{Feedback, MediaController, PACED, PACING, RateLimits, ReportPolicy};
use crate::control::{CongestionControl, Properties, Transport};

/// The phases without marks end here.
const SLIGHT_UNTIL: f64 = 0.3;
const GRADUAL_UNTIL: f64 = 1.0;
/// Decrease per second at the least and the largest marked share.
const DECREASE: (f64, f64) = (0.13, 0.64);

/// L4S-CC's configuration.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<L4sCcConfig>))]
pub struct L4sCcConfig {
    /// Decrease per second during the first 300 ms without marks. Default 0.02.
    pub slight_decrease: f64,
    /// Increase per second from 300 ms to 1 s without marks. Default 0.1: the paper calls it too aggressive, and replaces it by that of
    /// aL4S-CC, which is at most 0.07 within the first second.
    pub gradual_increase: f64,
    /// Increase per second after 1 s without marks. Default 0.1, the lowest value that is not below `gradual_increase`. In Fig. 5 of the
    /// paper aL4S-CC refills a link sooner, and its own increase reaches 0.1 only after two seconds.
    pub aggressive_increase: f64,
    /// Share of the rate that a report takes away when all of its packets are marked. Default 0.5, about as much as aL4S-CC drops if the
    /// delay grows by a millisecond.
    pub sharp_drop: f64,
    /// Rate at which packets leave, as a multiple of the target. Default 1.1: the paper paces "over time" and prints no
    /// factor; a frame that is larger than the mean by the usual deviation, a tenth, still leaves within its interval.
    pub pacing: f64,
    /// Limits of the target rate.
    pub rates: RateLimits,
}

impl Default for L4sCcConfig {
    fn default() -> Self {
        Self {
            slight_decrease: 0.02,
            gradual_increase: 0.1,
            aggressive_increase: 0.1,
            sharp_drop: 0.5,
            pacing: PACED,
            rates: RateLimits::default(),
        }
    }
}

bounds! { L4sCcConfig {
    slight_decrease: Range::at_least(0.0).and_below(1.0).unit("per second"),
    gradual_increase: Range::between(0.0, 10.0).unit("per second"),
    aggressive_increase: Range::between(0.0, 10.0).unit("per second"),
    sharp_drop: Range::at_least(0.0).and_below(1.0),
    pacing: PACING,
    ..rates
} }

impl CongestionControl for L4sCcConfig {
    fn properties(&self) -> &'static Properties {
        &Properties { title: "L4S-CC", follows: "al4s, section II", answers: "marks", recommended: false }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        self.rates.validate()
    }
    fn transport(&self) -> Transport<'_> {
        Transport::Rtp(Box::new(|| Box::new(L4sCc::new(self))))
    }
}

/// The controller; its rate in bits a second.
#[derive(Clone, Debug)]
pub struct L4sCc {
    config: L4sCcConfig,
    rate: f64,
    elapsed: Elapsed,
    unmarked_since: Instant,
}

impl L4sCc {
    /// A controller at its initial rate.
    pub fn new(config: &L4sCcConfig) -> Self {
        Self {
            rate: config.rates.initial.as_bps() as f64,
            config: config.clone(),
            elapsed: Elapsed::default(),
            unmarked_since: Instant::ZERO,
        }
    }
}

impl MediaController for L4sCc {
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
        // All packets marked: the queue is far too long, and a report takes a fixed part.
        let change = if marked == arrived {
            -self.config.sharp_drop
        } else if marked > 0 {
            // A part is marked: the change is per second, by the share.
            let share = f64::from(marked) / f64::from(arrived);
            -(DECREASE.0 + (DECREASE.1 - DECREASE.0) * share) * since
        } else {
            let unmarked_for = now.since(self.unmarked_since).as_secs_f64();
            // So soon after a mark the queue may still be there; growth comes by steps.
            let pace = if unmarked_for < SLIGHT_UNTIL {
                -self.config.slight_decrease
            } else if unmarked_for < GRADUAL_UNTIL {
                self.config.gradual_increase
            } else {
                self.config.aggressive_increase
            };
            pace * since
        };
        // Growth counts from the last mark.
        if marked > 0 {
            self.unmarked_since = now;
        }
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
