//! SCReAM version 1 (RFC 8298), without its optional adjustment of the delay target to competing flows.
//!
//! The rate's increment is read as a change per interval: as printed it mixes a rate with the bits in the queue.

use std::collections::VecDeque;

use tidemark_core::{BitRate, Bounded, Bytes, ConfigError, Duration, Ecn, Instant, Range, bounds};

use super::QueueDelay;
use super::delay_trend::DelayTrend;
use super::rate_meter::RateMeter;
use crate::control::{CongestionControl, Properties, Transport};
use crate::media::{Feedback, MediaController, RateLimits, ReportFormat, ReportPolicy};

const QDELAY_TARGET: f64 = 0.1;
const MIN_CWND: f64 = 3000.0;
const MAX_BYTES_IN_FLIGHT_HEAD_ROOM: f64 = 1.1;
const GAIN: f64 = 1.0;
const BETA_LOSS: f64 = 0.8;
const BETA_ECN: f64 = 0.9;
const BETA_R: f64 = 0.9;
const MSS: f64 = 1000.0;
const RATE_ADJUST_INTERVAL: f64 = 0.2;
const PRE_CONGESTION_GUARD: f64 = 0.1;
const TX_QUEUE_SIZE_FACTOR: f64 = 1.0;
const RTP_QDELAY_TH: f64 = 0.02;
const TARGET_RATE_SCALE_RTP_QDELAY: f64 = 0.95;
const T_RESUME_FAST_INCREASE: Duration = Duration::from_secs(5);
const RATE_PACE_MIN: f64 = 50_000.0;
/// Number of adjustments over which the largest flight is looked for: 5 s.
const FLIGHT_SAMPLES: usize = 25;

/// SCReAM version 1's configuration.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<ScreamV1Config>))]
pub struct ScreamV1Config {
    /// Largest increase of the rate per second. Default 200 kbit/s (RAMP_UP_SPEED). For tens of Mbit/s choose more.
    pub ramp_up_speed: BitRate,
    /// Limits of the target rate.
    pub rates: RateLimits,
}

impl Default for ScreamV1Config {
    fn default() -> Self {
        Self { ramp_up_speed: BitRate::from_kbps(200), rates: RateLimits::default() }
    }
}

bounds! { ScreamV1Config {
    ramp_up_speed: Range::above(BitRate::ZERO),
    ..rates
} }

impl CongestionControl for ScreamV1Config {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "SCReAM version 1",
            follows: "RFC 8298",
            answers: "delay, losses, marks by a tenth",
            recommended: false,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        self.rates.validate()
    }
    fn transport(&self) -> Transport<'_> {
        Transport::Rtp(Box::new(|| Box::new(ScreamV1::new(self))))
    }
    fn min_rate(&self) -> Option<BitRate> {
        self.rates.floor()
    }
}

/// The controller; the window in bytes, rates in bits a second, times in seconds.
#[derive(Clone, Debug)]
pub struct ScreamV1 {
    config: ScreamV1Config,
    queue_delay: QueueDelay,
    delay: f64,
    trend: DelayTrend,
    calm_since: Instant,
    in_fast_increase: bool,
    cwnd: f64,
    smoothed_rtt: f64,
    last_event: Instant,
    flights: VecDeque<f64>,
    max_in_flight: f64,
    rate: f64,
    last_max: f64,
    meter: RateMeter,
    queued: f64,
}

impl ScreamV1 {
    /// A controller at its initial rate.
    pub fn new(config: &ScreamV1Config) -> Self {
        Self {
            rate: config.rates.initial.as_bps() as f64,
            config: config.clone(),
            queue_delay: QueueDelay::new(),
            delay: 0.0,
            trend: DelayTrend::default(),
            calm_since: Instant::ZERO,
            in_fast_increase: true,
            cwnd: MIN_CWND,
            smoothed_rtt: 0.05,
            last_event: Instant::ZERO,
            flights: VecDeque::new(),
            max_in_flight: 0.0,
            last_max: 1.0,
            meter: RateMeter::default(),
            queued: 0.0,
        }
    }

    /// Reacts at most once in a round trip; true if there was a reaction.
    fn react(&mut self, feedback: &Feedback<'_>) -> bool {
        let (_, marked, lost) = feedback.counts();
        // Within a round trip losses and marks are of the same congestion.
        if lost == 0 && marked == 0 || feedback.now.since(self.last_event).as_secs_f64() < self.smoothed_rtt {
            return false;
        }
        self.last_event = feedback.now;
        self.in_fast_increase = false;
        self.calm_since = feedback.now;
        self.last_max = self.rate;
        // A mark comes before the queue is full, and needs less of an answer than a loss.
        self.cwnd = (self.cwnd * if lost > 0 { BETA_LOSS } else { BETA_ECN }).max(MIN_CWND);
        self.rate = self.config.rates.clamp(self.rate * BETA_R);
        true
    }

    fn update_window(&mut self, feedback: &Feedback<'_>, acked: f64) {
        let in_flight = feedback.in_flight.as_f64();
        // Until the delay rises the path has room, and what is acknowledged is added whole.
        if self.in_fast_increase {
            if self.trend.is_rising() {
                self.in_fast_increase = false;
                self.last_max = self.rate;
            } else {
                // A window that nobody uses proves nothing about the path.
                if 1.5 * in_flight + acked > self.cwnd {
                    self.cwnd += acked;
                }
                return;
            }
        }
        let off = (QDELAY_TARGET - self.delay) / QDELAY_TARGET;
        let used = 1.25 * in_flight + acked > self.cwnd;
        // Above the delay target the window falls, be it used or not.
        if off < 0.0 || used {
            self.cwnd += GAIN * off * acked * MSS / self.cwnd;
        }
        self.cwnd = self.cwnd.min(MAX_BYTES_IN_FLIGHT_HEAD_ROOM * self.max_in_flight.max(MIN_CWND)).max(MIN_CWND);
        // Calm for so long: the path may have more than it had.
        if feedback.now.since(self.calm_since) >= T_RESUME_FAST_INCREASE {
            self.in_fast_increase = true;
        }
    }

    /// RFC 8298 4.1.3, every 200 ms.
    fn adjust_rate(&mut self, feedback: &Feedback<'_>) {
        // Rates are measured over whole intervals: frames come in bursts.
        let Some(current) = self.meter.end_interval(feedback.now, RATE_ADJUST_INTERVAL) else { return };
        self.flights.push_back(feedback.in_flight.as_f64());
        // The highest flight is that of the last five seconds.
        if self.flights.len() > FLIGHT_SAMPLES {
            self.flights.pop_front();
        }
        self.max_in_flight = self.flights.iter().copied().fold(0.0, f64::max);
        let ramp = (self.config.ramp_up_speed.as_bps() as f64).min(self.rate / 2.0) * RATE_ADJUST_INTERVAL;
        let distance = (self.rate - self.last_max) / self.last_max * 4.0;
        let scale = (distance * distance).clamp(0.2, 1.0);
        // The delay has not risen of late: the ramp sets the pace, and not what gets through.
        if self.in_fast_increase {
            self.rate += ramp * scale;
        } else {
            let queue_bits = self.queued * self.rate;
            let change = current * (1.0 - PRE_CONGESTION_GUARD * self.trend.get())
                - TX_QUEUE_SIZE_FACTOR * queue_bits
                - self.rate;
            // Growth is slow near the rate of the last congestion, and the fall is not.
            self.rate += if change > 0.0 { (change * scale).min(ramp) } else { change * RATE_ADJUST_INTERVAL };
            // The sender's own queue is part of the delay that a viewer sees.
            if self.queued > RTP_QDELAY_TH {
                self.rate *= TARGET_RATE_SCALE_RTP_QDELAY;
            }
        }
        let limit = current.max(self.config.rates.initial.as_bps() as f64) * (2.0 - self.trend.memory());
        self.rate = self.config.rates.clamp(self.rate.min(limit));
    }
}

impl MediaController for ScreamV1 {
    fn report_policy(&self) -> ReportPolicy {
        let interval = Duration::from_millis(20);
        ReportPolicy { format: ReportFormat::Ccfb, interval, packets: 32, on_marker: true }
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        // A report of losses alone has no round trip.
        if let Some(rtt) = feedback.rtt {
            self.smoothed_rtt += (rtt.as_secs_f64().max(1e-4) - self.smoothed_rtt) / 8.0;
        }
        self.delay = self.queue_delay.on_feedback(feedback);
        let sent: Bytes = feedback.results.iter().map(|result| result.size).sum();
        let (acked, _) = feedback.delivered();
        self.meter.add(sent.as_f64(), acked.as_f64());
        self.max_in_flight = self.max_in_flight.max((feedback.in_flight + sent).as_f64());
        // Calm counts from the last rise of the delay.
        if self.trend.update(feedback.now, self.delay / QDELAY_TARGET) {
            self.calm_since = feedback.now;
        }
        // A report that was answered by a reduction gives no reason to grow.
        if !self.react(feedback) {
            self.update_window(feedback, sent.as_f64());
            self.adjust_rate(feedback);
        }
    }
    fn on_frame(&mut self, _now: Instant, _size: Bytes, queued: Duration) {
        self.queued = queued.as_secs_f64();
    }
    fn on_silence(&mut self, now: Instant) {
        self.in_fast_increase = false;
        self.calm_since = now;
        self.cwnd = (self.cwnd * BETA_LOSS).max(MIN_CWND);
        self.rate = self.config.rates.clamp(self.rate * BETA_R);
    }
    fn target_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.rate)
    }
    fn pacing_rate(&self) -> BitRate {
        BitRate::from_bps_f64((8.0 * self.cwnd / self.smoothed_rtt).max(RATE_PACE_MIN))
    }
    fn window(&self) -> Option<Bytes> {
        // Only below the delay target may a packet go beyond the window.
        let slack = if self.delay <= QDELAY_TARGET { MSS } else { 0.0 };
        Some(Bytes((self.cwnd + slack) as u64))
    }
    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }
}
