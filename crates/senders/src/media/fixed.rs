//! A fixed rate: media that does not adapt, such as the XR traffic of TR 38.838.

use tidemark_core::{BitRate, Bounded, ConfigError, Duration, Ecn, Instant, Range, bounds};

use super::{Feedback, MediaController, ReportFormat, ReportPolicy};
use crate::control::{CongestionControl, Properties, Transport};

/// A fixed rate's configuration.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<FixedConfig>))]
pub struct FixedConfig {
    /// Rate of the IP packets. Default 30 Mbit/s, AR and VR in TR 38.838.
    pub rate: BitRate,
}

impl Default for FixedConfig {
    fn default() -> Self {
        Self { rate: BitRate::from_mbps(30) }
    }
}

bounds! { FixedConfig {
    rate: Range::above(BitRate::ZERO),
} }

impl CongestionControl for FixedConfig {
    fn properties(&self) -> &'static Properties {
        &Properties { title: "A fixed rate", follows: "", answers: "nothing", recommended: false }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()
    }
    fn transport(&self) -> Transport<'_> {
        Transport::Rtp(Box::new(|| Box::new(Fixed::new(self))))
    }
}

/// The controller that controls nothing. Frames leave at once.
#[derive(Clone, Debug)]
pub struct Fixed {
    rate: BitRate,
}

impl Fixed {
    /// Media at the configured rate.
    pub fn new(config: &FixedConfig) -> Self {
        Self { rate: config.rate }
    }
}

impl MediaController for Fixed {
    fn report_policy(&self) -> ReportPolicy {
        let interval = Duration::from_millis(100);
        ReportPolicy { format: ReportFormat::Ccfb, interval, packets: u32::MAX, on_marker: false }
    }
    fn on_feedback(&mut self, _feedback: &Feedback<'_>) {}
    fn on_silence(&mut self, _now: Instant) {}
    fn target_rate(&self) -> BitRate {
        self.rate
    }
    fn pacing_rate(&self) -> BitRate {
        BitRate::from_mbps(10_000)
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
}
