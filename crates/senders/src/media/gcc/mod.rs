//! Google Congestion Control as libwebrtc has it: a rate by the trend of the delay, a rate by losses, and the
//! lower of the two.
//!
//! The delay part is the trendline filter with libwebrtc's thresholds (the IETF draft has a Kalman filter and
//! other gains). The loss part is the one that libwebrtc had before `loss_based_bwe_v2` and that the draft
//! describes. Probing with extra packets is left out: after a deep fall the rate comes back by 8 % a second.
//! Marks are not answered, so that packets are Not-ECT and feedback is transport-wide.

mod aimd;
mod delay;
mod loss;
mod throughput;

use tidemark_core::{BitRate, Duration, Ecn, Instant};

use super::{Feedback, MediaController, RateLimits, ReportFormat, ReportPolicy};
use crate::config::ConfigError;
use aimd::RateControl;
use delay::{DelayDetector, Usage};
use loss::LossControl;
use throughput::Throughput;

/// libwebrtc paces media at two and a half times the target.
const PACING: f64 = 2.5;

/// GCC's configuration.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GccConfig {
    /// Limits of the target rate.
    pub rates: RateLimits,
}

impl GccConfig {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        self.rates.validate()
    }
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Gcc {
    rates: RateLimits,
    detector: DelayDetector,
    throughput: Throughput,
    delay: RateControl,
    loss: LossControl,
    rtt: Duration,
    target: f64,
}

impl Gcc {
    /// A controller at its initial rate.
    pub fn new(config: &GccConfig) -> Self {
        let initial = config.rates.initial.as_bps() as f64;
        Self {
            rates: config.rates,
            detector: DelayDetector::new(),
            throughput: Throughput::new(),
            delay: RateControl::new(initial),
            loss: LossControl::new(initial),
            rtt: Duration::from_millis(200),
            target: initial,
        }
    }
}

impl MediaController for Gcc {
    fn report_policy(&self) -> ReportPolicy {
        let interval = Duration::from_millis(50);
        ReportPolicy { format: ReportFormat::TransportWide, interval, packets: u32::MAX, on_marker: false }
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if let Some(rtt) = feedback.rtt {
            self.rtt = rtt;
        }
        let mut usage = Usage::Normal;
        for result in feedback.results {
            if let Some(at) = result.received_at {
                self.throughput.on_packet(at, result.size);
                if let Some(judged) = self.detector.on_packet(result.sent_at, at) {
                    // An overuse among several groups counts.
                    usage = if usage == Usage::Over { usage } else { judged };
                }
            }
        }
        let acked = self.throughput.bits_per_sec();
        self.delay.update(feedback.now, usage, acked, self.rtt);
        self.delay.clamp(&self.rates);
        let (arrived, _, lost) = feedback.counts();
        self.loss.update(feedback.now, arrived, lost, self.rtt);
        self.loss.clamp(&self.rates, self.delay.rate());
        self.target = self.rates.clamp(self.delay.rate().min(self.loss.rate()));
    }
    fn on_silence(&mut self, now: Instant) {
        self.delay.back_off(now);
        self.delay.clamp(&self.rates);
        self.loss.clamp(&self.rates, self.delay.rate());
        self.target = self.rates.clamp(self.delay.rate().min(self.loss.rate()));
    }
    fn target_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.target)
    }
    fn pacing_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.target * PACING)
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
}
