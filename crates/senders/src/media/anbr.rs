//! Rates from the access network's own recommendation (ANBR, TS 38.321 5.18.10), alone or beside Prague.
//!
//! The UE gets a recommendation from its cell and sends at that rate, or passes it on in its reports. Three rules turn
//! it into a rate:
//!
//! * `follow` takes it as it is.
//! * `max` is the thesis' hybrid (anbr in the reproduction's list): marks in the last report mean Prague's rate; none
//!   mean the larger of Prague's and the recommended one. Prague itself never learns of the recommendation.
//! * `gradual` is our own: while no marks come, Prague's rate is drawn towards the recommendation by a part of the
//!   distance in each round trip, and marks reduce it from wherever it is. A recommendation is an average over
//!   a window, and old when it arrives: to jump there puts the whole difference into the queue before the first mark
//!   can come back, and with `max` the next unmarked report does it again. Drawn over four round trips, the
//!   marks of the first quarter arrive in time to end it; and since Prague keeps what was gained, the rate does not
//!   fall back to where it was.

use tidemark_core::{BitRate, Bounded, ConfigError, Duration, Ecn, Instant, Range, bounds};

use super::prague::ReportedPrague;
use super::{Feedback, MediaController, PACED, PACING, RateLimits, ReportPolicy};
use crate::control::{CongestionControl, Properties, Transport};
use crate::udp_prague::{FrameConfig, UdpPragueGrowth};

/// Round trips over which `gradual` is drawn to the recommendation.
const GRADUAL_ROUNDS: f64 = 4.0;

/// Rule by which a recommendation becomes a rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AnbrRule {
    /// The recommendation is the rate.
    #[default]
    Follow,
    /// The larger of it and Prague's, unless marks come.
    Max,
    /// Prague's rate is drawn towards it, unless marks come.
    Gradual,
}

/// Prague beside the recommendations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AnbrPrague {
    /// UDP Prague in its real-time mode, at 60 frames a second: rounds last a frame's time at the least.
    #[default]
    Frames,
    /// Eqs. 3.3, 3.4 and 3.7 of the thesis: a gain of 1/16, rounds of 25 ms at the least, and a packet more in each.
    Printed,
}

/// The configuration of a sender that listens to recommendations.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<AnbrConfig>))]
pub struct AnbrConfig {
    /// Rule by which a recommendation becomes a rate. Default: `follow`.
    pub rule: AnbrRule,
    /// Prague beside the recommendations. Default: `frames`.
    pub prague: AnbrPrague,
    /// Share of a recommendation that is used. Default 1.
    pub share: f64,
    /// Rate at which packets leave, as a multiple of the target. Default 1.1, as for the other video controllers.
    pub pacing: f64,
    /// Limits of the target rate.
    pub rates: RateLimits,
}

impl Default for AnbrConfig {
    fn default() -> Self {
        Self {
            rule: AnbrRule::default(),
            prague: AnbrPrague::default(),
            share: 1.0,
            pacing: PACED,
            rates: RateLimits::default(),
        }
    }
}

bounds! { AnbrConfig {
    share: Range::above(0.0).and_at_most(2.0),
    pacing: PACING,
    ..rule, prague, rates
} }

impl CongestionControl for AnbrConfig {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "Recommendations: `follow`, `max` (the thesis' hybrid), `gradual` (our own)",
            follows: "anbr",
            answers: "recommendations; Prague's with the hybrids",
            recommended: true,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        self.rates.validate()
    }
    fn transport(&self) -> Transport<'_> {
        Transport::Rtp(Box::new(|| Box::new(Anbr::new(self))))
    }
}

/// The controller; rates in bits a second.
#[derive(Clone, Debug)]
pub struct Anbr {
    config: AnbrConfig,
    prague: ReportedPrague,
    recommended: Option<f64>,
    last_report: Option<Instant>,
    target: f64,
}

impl Anbr {
    /// A controller at its initial rate.
    pub fn new(config: &AnbrConfig) -> Self {
        let (frames, growth) = match config.prague {
            AnbrPrague::Frames => (Some(FrameConfig::default()), UdpPragueGrowth::Queue),
            AnbrPrague::Printed => (None, UdpPragueGrowth::Packet),
        };
        Self {
            config: config.clone(),
            prague: ReportedPrague::new(&config.rates, frames, growth),
            recommended: None,
            last_report: None,
            target: config.rates.initial.as_bps() as f64,
        }
    }

    fn draw(&mut self, now: Instant, recommended: f64) {
        // The approach is over round trips: before the first one there is no pace.
        let Some(rtt) = self.prague.control().smoothed_rtt() else { return };
        let since = self.last_report.map_or(0.0, |last| now.since(last).as_secs_f64());
        let part = (since / (GRADUAL_ROUNDS * rtt.as_secs_f64().max(1e-3))).min(1.0);
        let rate = self.prague.control().rate().as_bps() as f64;
        // A recommendation only raises: marks say when it is too much.
        if recommended > rate {
            self.prague.raise(BitRate::from_bps_f64(rate + part * (recommended - rate)));
        }
    }
}

impl MediaController for Anbr {
    fn report_policy(&self) -> ReportPolicy {
        ReportPolicy::each_frame(Duration::from_millis(25))
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.prague.on_feedback(feedback, true);
        let (_, marked, _) = feedback.counts();
        let target = match (self.config.rule, self.recommended) {
            (AnbrRule::Follow, recommended) => recommended.unwrap_or(self.target),
            // A mark is newer than the recommendation and speaks of the queue itself: then Prague's rate holds.
            (AnbrRule::Max, Some(recommended)) if marked == 0 => {
                (self.prague.control().rate().as_bps() as f64).max(recommended)
            }
            (AnbrRule::Gradual, Some(recommended)) if marked == 0 => {
                self.draw(feedback.now, recommended);
                self.prague.control().rate().as_bps() as f64
            }
            _ => self.prague.control().rate().as_bps() as f64,
        };
        self.last_report = Some(feedback.now);
        self.target = self.config.rates.clamp(target);
    }
    fn on_recommendation(&mut self, _now: Instant, rate: BitRate) {
        let recommended = rate.as_bps() as f64 * self.config.share;
        self.recommended = Some(recommended);
        // This rule has no other source: it does not wait for a report.
        if self.config.rule == AnbrRule::Follow {
            self.target = self.config.rates.clamp(recommended);
        }
    }
    fn on_silence(&mut self, now: Instant) {
        self.prague.on_silence(now);
        self.recommended = None;
        self.target = self.config.rates.clamp(self.target * 0.5);
    }
    fn target_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.target)
    }
    fn pacing_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.target * self.config.pacing)
    }
    fn ecn(&self) -> Ecn {
        // One that follows recommendations alone does not answer marks.
        if self.config.rule == AnbrRule::Follow { Ecn::NotEct } else { Ecn::Ect1 }
    }
    fn alpha(&self) -> Option<f64> {
        (self.config.rule != AnbrRule::Follow).then(|| self.prague.control().alpha())
    }
}
