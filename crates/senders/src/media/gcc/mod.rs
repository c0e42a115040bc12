//! Google Congestion Control as libwebrtc has it: a rate by the trend of the delay, a rate by losses, the lower of the
//! two, and probes for more; less while too much is in flight.
//!
//! The delay part is the trendline filter with libwebrtc's thresholds (the IETF draft has a Kalman filter and other
//! gains). The loss part is `loss_based_bwe_v2`, libwebrtc's default, or on request the thresholds of 2 and 10 % that
//! it had before and that the draft describes. What was read: public copies of libwebrtc from 2021 to 2025; each file
//! names what it follows and leaves out. GCC does not answer marks, so packets are Not-ECT and feedback is
//! transport-wide.

mod aimd;
mod alr;
mod delay;
mod loss;
mod probe;
mod probe_result;
mod pushback;
mod thresholds;
mod throughput;

use tidemark_core::{BitRate, Bounded, Bytes, ConfigError, Duration, Ecn, Instant, Range, bounds};

use super::{Feedback, MediaController, Probe, RateLimits, ReportFormat, ReportPolicy};
use crate::control::{CongestionControl, Properties, Transport};
use aimd::RateControl;
use alr::AlrDetector;
use delay::{DelayDetector, Usage};
use loss::{Limit, LossEstimator};
use probe::ProbeControl;
use probe_result::ProbeResults;
use pushback::Pushback;
use thresholds::LossThresholds;
use throughput::Throughput;

/// libwebrtc paces media at two and a half times the target.
const PACING: f64 = 2.5;
/// Seconds without a report from which on each further one takes a fifth away.
const PATIENCE: u32 = 3;
const SILENT_FACTOR: f64 = 0.8;
/// Bounds of the time between two wakes of the pacer.
const WAKE_INTERVAL: Range<Duration> = Range::between(Duration::ZERO, Duration::from_millis(100));

/// GCC's configuration.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<GccConfig>))]
pub struct GccConfig {
    /// Answer to losses. Default `likelihood`.
    pub losses: GccLosses,
    /// True to probe for a higher rate at the start, and after a deep fall of the rate while the video was the limit. Default true.
    pub probing: bool,
    /// True to probe every 5 s while the video is the limit. In libwebrtc the application asks for this. Default true.
    pub alr_probing: bool,
    /// Time between two wake-ups of the pacer, at each of which the packets for that time leave at once. libwebrtc up to 2021 had 5 ms, and
    /// paced packet by packet only in a field trial. Default 0 s: packet by packet.
    pub wake_interval: Duration,
    /// Limits of the target rate.
    pub rates: RateLimits,
}

impl Default for GccConfig {
    fn default() -> Self {
        Self {
            losses: GccLosses::default(),
            probing: true,
            alr_probing: true,
            wake_interval: Duration::ZERO,
            rates: RateLimits::default(),
        }
    }
}

bounds! { GccConfig {
    wake_interval: WAKE_INTERVAL,
    ..losses, probing, alr_probing, rates
} }

impl CongestionControl for GccConfig {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "Google Congestion Control",
            follows: "libwebrtc",
            answers: "delay gradient, losses",
            recommended: false,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        self.rates.validate()
    }
    fn transport(&self) -> Transport<'_> {
        Transport::Rtp(Box::new(|| Box::new(Gcc::new(self))))
    }
}

/// Answer of GCC to losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum GccLosses {
    /// The bandwidth that explains them best: libwebrtc's `loss_based_bwe_v2`.
    #[default]
    Likelihood,
    /// Thresholds: up below 2 %, down above 10 %; libwebrtc until 2022, and the IETF draft.
    Thresholds,
}

/// Limit of the estimate, as far as probing has to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cause {
    Delay,
    DelayChanged,
    Losses,
    LossesEasing,
}

#[derive(Clone, Debug)]
enum Losses {
    Likelihood(Box<LossEstimator>),
    Thresholds(LossThresholds),
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Gcc {
    rates: RateLimits,
    wake_interval: Duration,
    detector: DelayDetector,
    throughput: Throughput,
    delay: RateControl,
    losses: Losses,
    alr: AlrDetector,
    was_in_alr: bool,
    probes: Option<ProbeControl>,
    results: ProbeResults,
    pushback: Pushback,
    /// The last judgement of the delay.
    usage: Usage,
    /// Seconds without a report.
    silent: u32,
    rtt: Duration,
    target: f64,
}

impl Gcc {
    /// A controller at its initial rate.
    pub fn new(config: &GccConfig) -> Self {
        let initial = config.rates.initial.as_bps() as f64;
        let max = config.rates.max.as_bps() as f64;
        Self {
            rates: config.rates,
            wake_interval: config.wake_interval,
            detector: DelayDetector::new(),
            throughput: Throughput::new(),
            delay: RateControl::new(initial),
            losses: match config.losses {
                GccLosses::Likelihood => Losses::Likelihood(Box::new(LossEstimator::new(&config.rates))),
                GccLosses::Thresholds => Losses::Thresholds(LossThresholds::new(initial)),
            },
            alr: AlrDetector::new(initial),
            was_in_alr: false,
            probes: config.probing.then(|| ProbeControl::new(initial, max, config.alr_probing)),
            results: ProbeResults::default(),
            pushback: Pushback::new(),
            usage: Usage::Normal,
            silent: 0,
            rtt: Duration::from_millis(200),
            target: initial,
        }
    }

    /// Reads the arrivals of a report: overuse if any of them shows it, what a probe found, and whether the delay has recovered.
    fn read_arrivals(&mut self, feedback: &Feedback<'_>) -> (Usage, Option<f64>, bool) {
        let (mut usage, mut probed, mut recovered) = (Usage::Normal, None, false);
        for result in feedback.results {
            // A lost packet has no delay.
            let Some(at) = result.received_at else { continue };
            self.throughput.on_packet(at, result.size);
            probed = self.results.on_packet(result).or(probed);
            // Only a packet that begins a new group completes one that can be judged.
            if let Some(judged) = self.detector.on_packet(result.sent_at, at) {
                recovered |= self.usage == Usage::Under && judged == Usage::Normal;
                self.usage = judged;
                // One group of overuse is enough: groups after it must not hide it.
                usage = if usage == Usage::Over { usage } else { judged };
            }
        }
        (usage, probed, recovered)
    }

    /// Gives the rate that losses allow, and what limits it.
    fn answer_losses(&mut self, feedback: &Feedback<'_>, acked: Option<f64>, in_alr: bool) -> (f64, Limit) {
        let delay_based = self.delay.rate();
        match &mut self.losses {
            Losses::Likelihood(losses) => {
                losses.update(feedback.results, acked, delay_based, in_alr);
                losses.result()
            }
            Losses::Thresholds(losses) => {
                let (arrived, _, lost) = feedback.counts();
                losses.update(feedback.now, arrived, lost, self.rtt);
                losses.clamp(&self.rates, delay_based);
                (losses.rate(), Limit::Delay)
            }
        }
    }

    fn set_target(&mut self, now: Instant, loss_based: f64, cause: Cause) {
        self.target = self.rates.clamp(self.delay.rate().min(loss_based));
        self.alr.set_estimate(self.target);
        // Probing can be switched off.
        if let Some(probes) = &mut self.probes {
            probes.set_estimate(now, self.target, cause);
        }
    }
}

impl MediaController for Gcc {
    fn report_policy(&self) -> ReportPolicy {
        let interval = Duration::from_millis(50);
        ReportPolicy { format: ReportFormat::TransportWide, interval, packets: u32::MAX, on_marker: false }
    }
    fn on_sent(&mut self, now: Instant, size: Bytes) {
        self.alr.on_sent(now, size);
        self.pushback.on_sent(size);
    }
    fn on_frame(&mut self, now: Instant, _size: Bytes, _queued: Duration) {
        // Probes are due by time, of which frames are the clock.
        if let Some(probes) = &mut self.probes {
            probes.process(now, self.alr.since());
        }
    }
    fn take_probe(&mut self) -> Option<Probe> {
        let probe = self.probes.as_mut()?.take()?;
        self.results.expect(probe);
        Some(probe)
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.silent = 0;
        // A report of losses alone has no round trip.
        if let Some(rtt) = feedback.rtt {
            self.rtt = rtt;
        }
        let alr = self.alr.since();
        // A short while after that a fall may still be probed for.
        if let Some(probes) = self.probes.as_mut().filter(|_| self.was_in_alr && alr.is_none()) {
            probes.on_alr_end(feedback.now);
        }
        self.was_in_alr = alr.is_some();
        let (usage, probed, recovered) = self.read_arrivals(feedback);
        let acked = self.throughput.bits_per_sec();
        // A probe measured the path itself; overuse says that it was too much all the same.
        match probed.filter(|_| usage != Usage::Over) {
            Some(rate) => self.delay.set(feedback.now, rate),
            None => self.delay.update(feedback.now, usage, acked, self.rtt),
        }
        self.delay.clamp(&self.rates);
        // What the path carried for the probe is no reason for losses to hold the rate below it.
        if let (Some(rate), Losses::Thresholds(losses)) = (probed, &mut self.losses) {
            losses.raise(rate);
        }
        let (loss_based, limit) = self.answer_losses(feedback, acked, alr.is_some());
        let cause = match (self.usage, limit) {
            (Usage::Over | Usage::Under, _) => Cause::DelayChanged,
            (Usage::Normal, Limit::Delay) => Cause::Delay,
            (Usage::Normal, Limit::Losses) => Cause::Losses,
            (Usage::Normal, Limit::Easing) => Cause::LossesEasing,
        };
        self.set_target(feedback.now, loss_based, cause);
        let arrived = feedback.results.iter().filter(|result| result.received_at.is_some());
        // Lost packets tell no round trip.
        if let Some(longest) = arrived.map(|result| feedback.now.since(result.sent_at)).max() {
            self.pushback.on_report(longest, feedback.in_flight, self.target);
        }
        // The queue has drained: what the fall cost too much can be had back by a probe.
        if let Some(probes) = self.probes.as_mut().filter(|_| recovered) {
            probes.on_recovery(feedback.now, alr);
        }
    }
    fn on_silence(&mut self, now: Instant) {
        self.silent += 1;
        if self.silent >= PATIENCE {
            // The two estimates stay: with the next report the rate is theirs again.
            self.set_target(now, SILENT_FACTOR * self.target, Cause::DelayChanged);
        }
    }
    fn target_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.rates.clamp(self.target * self.pushback.ratio()))
    }
    fn pacing_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.target * PACING)
    }
    fn wake_interval(&self) -> Option<Duration> {
        (self.wake_interval > Duration::ZERO).then_some(self.wake_interval)
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
}
