//! aL4S-CC with a hint: [recommendations](crate::hint) raise the rate, marks limit it.
//!
//! aL4S-CC drops by up to 95 % when a frame's packets are all marked, and grows by a few percent in the first second
//! after. After a climb its growth starts anew, as after marks: the climb has already gained what the growth would have
//! gained.

use tidemark_core::{BitRate, ConfigError, Ecn, Instant};

use super::{Al4s, Al4sConfig};
use crate::control::{CongestionControl, Properties, Transport};
use crate::hint::HintConfig;
use crate::media::stream_hint::StreamHint;
use crate::media::{Feedback, MediaController, ReportPolicy};

/// Configuration of aL4S-CC with a hint.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Al4sHintConfig {
    /// Recommendations.
    pub hint: HintConfig,
    /// aL4S-CC, as sL4S or, with `marking`, as cL4S.
    pub al4s: Al4sConfig,
}

impl CongestionControl for Al4sHintConfig {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "sL4S, or cL4S, with a hint",
            follows: "",
            answers: "marks, delay variation; recommendations within what marks allow",
            recommended: true,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.hint.validate()?;
        self.al4s.validate().map_err(|error| error.within("al4s"))
    }
    fn transport(&self) -> Transport<'_> {
        Transport::Rtp(Box::new(|| Box::new(Al4sHint::new(self))))
    }
    fn min_rate(&self) -> Option<BitRate> {
        self.al4s.min_rate()
    }
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Al4sHint {
    al4s: Al4s,
    hint: StreamHint,
}

impl Al4sHint {
    /// A controller at its initial rate.
    pub fn new(config: &Al4sHintConfig) -> Self {
        Self { al4s: Al4s::new(&config.al4s), hint: StreamHint::new(&config.hint) }
    }
}

impl MediaController for Al4sHint {
    fn report_policy(&self) -> ReportPolicy {
        self.al4s.report_policy()
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        // The controller answers the report at the rate to which the recommendation led.
        if let Some(rate) = self.hint.on_feedback(feedback, self.al4s.rate) {
            self.al4s.rate = self.al4s.config.rates.clamp(rate);
            self.al4s.unmarked_since = feedback.now;
        }
        self.al4s.on_feedback(feedback);
    }
    fn on_recommendation(&mut self, now: Instant, rate: BitRate) {
        self.hint.on_recommendation(now, rate);
    }
    fn on_silence(&mut self, now: Instant) {
        self.hint.forget();
        self.al4s.on_silence(now);
    }
    fn target_rate(&self) -> BitRate {
        self.al4s.target_rate()
    }
    fn pacing_rate(&self) -> BitRate {
        self.al4s.pacing_rate()
    }
    fn ecn(&self) -> Ecn {
        self.al4s.ecn()
    }
}
