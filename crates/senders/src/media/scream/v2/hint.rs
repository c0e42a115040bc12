//! SCReAM version 2 with a hint: [recommendations](crate::hint) raise the rate, marks limit it.
//!
//! SCReAM's rate follows from its window over the round trip. A climb raises the window to what the recommended rate
//! fills in a round trip without a queue. A queue without marks must not count, or each climb would lead to the next.

use tidemark_core::{BitRate, Bytes, ConfigError, Duration, Ecn, Instant};

use super::{MIN_REF_WND, Scream, ScreamConfig};
use crate::control::{CongestionControl, Properties, Transport};
use crate::hint::{ALLOWANCE, HintConfig};
use crate::media::round_trip::RoundTrip;
use crate::media::stream_hint::StreamHint;
use crate::media::{Feedback, MediaController, ReportPolicy};

/// Configuration of SCReAM with a hint.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScreamHintConfig {
    /// Recommendations.
    pub hint: HintConfig,
    /// SCReAM version 2.
    pub scream: ScreamConfig,
}

impl CongestionControl for ScreamHintConfig {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "SCReAM version 2 with a hint",
            follows: "",
            answers: "marks in proportion, delay, losses; recommendations within what marks allow",
            recommended: true,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.hint.validate()?;
        self.scream.validate().map_err(|error| error.within("scream"))
    }
    fn transport(&self) -> Transport<'_> {
        Transport::Rtp(Box::new(|| Box::new(ScreamHint::new(self))))
    }
    fn min_rate(&self) -> Option<BitRate> {
        self.scream.min_rate()
    }
}

/// The controller.
#[derive(Clone, Debug)]
pub struct ScreamHint {
    scream: Scream,
    hint: StreamHint,
    round_trip: RoundTrip,
}

impl ScreamHint {
    /// A controller at its initial rate.
    pub fn new(config: &ScreamHintConfig) -> Self {
        let round_trip = RoundTrip::default();
        Self { scream: Scream::new(&config.scream), hint: StreamHint::new(&config.hint), round_trip }
    }

    /// Rate of the encoder, in bits a second, that a byte of the window stands for where there is no queue.
    fn rate_per_byte(&self) -> f64 {
        let rtt = self
            .round_trip
            .min()
            .map_or(self.scream.smoothed_rtt, |min| self.scream.smoothed_rtt.min((min + ALLOWANCE).as_secs_f64()));
        self.scream.media_share() * 8.0 / rtt
    }
}

impl MediaController for ScreamHint {
    fn report_policy(&self) -> ReportPolicy {
        self.scream.report_policy()
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        // A report of losses alone has no round trip.
        if let Some(rtt) = feedback.rtt {
            self.round_trip.update(rtt);
        }
        let per_byte = self.rate_per_byte();
        let scream = &mut self.scream;
        // The controller answers the report from the window of the rate to which the recommendation led.
        if let Some(rate) = self.hint.on_feedback(feedback, scream.ref_wnd * per_byte) {
            scream.ref_wnd = (scream.config.rates.clamp(rate) / per_byte).max(MIN_REF_WND);
        }
        scream.on_feedback(feedback);
    }
    fn on_recommendation(&mut self, now: Instant, rate: BitRate) {
        self.hint.on_recommendation(now, rate);
    }
    fn on_frame(&mut self, now: Instant, size: Bytes, queued: Duration) {
        self.scream.on_frame(now, size, queued);
    }
    fn on_silence(&mut self, now: Instant) {
        self.hint.forget();
        self.scream.on_silence(now);
    }
    fn target_rate(&self) -> BitRate {
        self.scream.target_rate()
    }
    fn pacing_rate(&self) -> BitRate {
        self.scream.pacing_rate()
    }
    fn window(&self) -> Option<Bytes> {
        self.scream.window()
    }
    fn ecn(&self) -> Ecn {
        self.scream.ecn()
    }
    fn alpha(&self) -> Option<f64> {
        self.scream.alpha()
    }
}
