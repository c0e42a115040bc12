//! Template for video: the document that it follows, and where it departs from it. (This one adds 20 % a second,
//! and takes off half the marked or lost share of each report.)

use tidemark_core::{BitRate, Bounded, ConfigError, Duration, Ecn, Instant, Range, bounds};

use crate::control::{CongestionControl, Properties, Transport};
use crate::media::{Feedback, MediaController, RateLimits, ReportFormat, ReportPolicy};

/// Pacing above the target, so that a frame does not take all of its interval.
const PACING: f64 = 1.5;

/// Template's configuration.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<MediaTemplateConfig>))]
pub struct MediaTemplateConfig {
    /// Meaning, unit, default and reason. Growth in a second without marks, as a share of the rate. Default 0.2.
    pub growth: f64,
    /// Limits of the target rate.
    pub rates: RateLimits,
}

impl Default for MediaTemplateConfig {
    fn default() -> Self {
        Self { growth: 0.2, rates: RateLimits::default() }
    }
}

bounds! { MediaTemplateConfig {
    growth: Range::above(0.0).and_at_most(10.0),
    ..rates
} }

impl CongestionControl for MediaTemplateConfig {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "Template",
            follows: "the document, with its version",
            answers: "marked and lost shares",
            recommended: false,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        self.rates.validate()
    }
    fn transport(&self) -> Transport<'_> {
        Transport::Rtp(Box::new(|| Box::new(MediaTemplate::new(self))))
    }
}

/// The controller; rates in bits a second of IP packets.
#[derive(Clone, Debug)]
pub struct MediaTemplate {
    config: MediaTemplateConfig,
    rate: f64,
    last_report: Option<Instant>,
}

impl MediaTemplate {
    /// A controller at its initial rate.
    pub fn new(config: &MediaTemplateConfig) -> Self {
        Self { config: config.clone(), rate: config.rates.initial.as_bps() as f64, last_report: None }
    }

    fn set(&mut self, rate: f64) {
        let RateLimits { min, max, .. } = self.config.rates;
        self.rate = rate.clamp(min.as_bps() as f64, max.as_bps() as f64);
    }
}

impl MediaController for MediaTemplate {
    fn report_policy(&self) -> ReportPolicy {
        // RFC 8888, which tells of ECN; at the latest after 25 ms, and after the last packet of a frame.
        let interval = Duration::from_millis(25);
        ReportPolicy { format: ReportFormat::Ccfb, interval, packets: u32::MAX, on_marker: true }
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let (arrived, marked, lost) = feedback.counts();
        if arrived + lost == 0 {
            return;
        }
        let since = self.last_report.map_or(0.0, |last| feedback.now.since(last).as_secs_f64()).min(1.0);
        self.last_report = Some(feedback.now);
        let share = f64::from(marked + lost) / f64::from(arrived + lost);
        self.set(self.rate * (1.0 + self.config.growth * since) * (1.0 - share / 2.0));
    }
    fn on_silence(&mut self, now: Instant) {
        self.last_report = Some(now);
        self.set(self.rate / 2.0);
    }
    fn target_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.rate)
    }
    fn pacing_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.rate * PACING)
    }
    fn ecn(&self) -> Ecn {
        Ecn::Ect1
    }
}
