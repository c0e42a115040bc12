//! SCReAM version 1 as the public program was at the end of 2021, with its answer to L4S marks.
//!
//! It is RFC 8298 with other constants and more of them: rates are measured over 400 ms and changed with a frame, at most every 20 ms; a window and
//! a rate that were cut grow little for 100 ms; a fast start resumes 250 ms after the last congestion. With `l4s` an average of the marked
//! share, `alpha`, cuts the window by up to 40 % a round trip and the rate by up to 32 %, and while `alpha` is above a thousandth the rate climbs
//! by the ramp alone.
//!
//! Left out: more than one stream, the delay target's adjustment to competing flows, clock drift, and the correction of an encoder
//! that misses its rate, since the encoder here does not. What waits too long is the application's to discard.

mod marked_share;
mod media_rate;
mod rates;
mod window;

use tidemark_core::{BitRate, Bounded, Bytes, ConfigError, Duration, Ecn, Instant, Range, bounds};

use super::QueueDelay;
use super::delay_trend::DelayTrend;
use crate::control::{CongestionControl, Properties, Transport};
use crate::media::{Feedback, MediaController, RateLimits, ReportFormat, ReportPolicy};
use marked_share::MarkedShare;
use media_rate::{Conditions, MediaRate};
use rates::Rates;
use window::Window;

const QDELAY_TARGET: f64 = 0.1;
const PACKET_PACING_HEADROOM: f64 = 1.25;
/// Headroom until the first congestion, which keeps the sender's queue short while the rate is ramped up.
const FIRST_HEADROOM: f64 = 1.5;
const RATE_PACE_MIN: f64 = 100_000.0;
/// Average of the queue delay, as a share of the target, above which packets are paced without L4S.
const PACED_ABOVE: f64 = 0.02;
/// Pacing rate of a sender that does not pace.
const UNPACED: BitRate = BitRate::from_mbps(10_000);
const UPDATE_INTERVAL: Duration = Duration::from_millis(10);
/// IP bytes of a byte of media, in packets of 1200 bytes.
const OVERHEAD: f64 = 1.04;

/// Reason of a reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Congestion {
    Loss,
    Mark,
}

/// Configuration of SCReAM as the public program was in 2021.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<Scream2021Config>))]
pub struct Scream2021Config {
    /// True to send ECT(1) and answer the share of marks. False to send ECT(0), where a mark takes a tenth of the window. Default true.
    pub l4s: bool,
    /// Largest increase of the rate per second, in addition to a fifth of the rate. Default 200 kbit/s, as in the program. For tens of
    /// Mbit/s choose more.
    pub ramp_up_speed: BitRate,
    /// Limits of the target rate.
    pub rates: RateLimits,
}

impl Default for Scream2021Config {
    fn default() -> Self {
        Self { l4s: true, ramp_up_speed: BitRate::from_kbps(200), rates: RateLimits::default() }
    }
}

bounds! { Scream2021Config {
    ramp_up_speed: Range::above(BitRate::ZERO),
    ..l4s, rates
} }

impl CongestionControl for Scream2021Config {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "SCReAM of 2021",
            follows: "the public program of December 2021",
            answers: "marks in proportion, delay, losses",
            recommended: false,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        self.rates.validate()
    }
    fn transport(&self) -> Transport<'_> {
        Transport::Rtp(Box::new(|| Box::new(Scream2021::new(self))))
    }
    fn min_rate(&self) -> Option<BitRate> {
        self.rates.floor()
    }
}

/// The controller; sizes in bytes, rates in bits a second, times in seconds.
#[derive(Clone, Debug)]
pub struct Scream2021 {
    l4s: bool,
    queue_delay: QueueDelay,
    delay: f64,
    delay_average: f64,
    trend: DelayTrend,
    marks: MarkedShare,
    round_trip: RoundTrip,
    last_event: Option<Instant>,
    /// Congestion that the window has not answered yet.
    congestion: Option<Congestion>,
    window: Window,
    updated: Instant,
    acked: f64,
    rates: Rates,
    media_rate: MediaRate,
    /// Bytes coded and not sent.
    waiting: f64,
}

/// Round trip that is smoothed twice: with each report, and that once a round trip.
#[derive(Clone, Copy, Debug)]
struct RoundTrip {
    short: f64,
    smoothed: f64,
    at: Instant,
}

impl RoundTrip {
    fn update(&mut self, now: Instant, rtt: f64) {
        self.short += (rtt - self.short) / 8.0;
        // The second average takes one sample a round trip, however many reports come.
        if now.since(self.at).as_secs_f64() > self.short {
            self.smoothed += (self.short - self.smoothed) / 8.0;
            self.at = now;
        }
    }
}

impl Scream2021 {
    /// A controller at its initial rate.
    pub fn new(config: &Scream2021Config) -> Self {
        Self {
            l4s: config.l4s,
            queue_delay: QueueDelay::new(),
            delay: 0.0,
            delay_average: 0.0,
            trend: DelayTrend::default(),
            marks: MarkedShare::default(),
            round_trip: RoundTrip { short: 0.0, smoothed: 0.0, at: Instant::ZERO },
            last_event: None,
            congestion: None,
            window: Window::default(),
            updated: Instant::ZERO,
            acked: 0.0,
            rates: Rates::default(),
            media_rate: MediaRate::new(config),
            waiting: 0.0,
        }
    }

    /// Takes in a loss or marks, at most once a round trip; a loss goes before marks.
    fn detect(&mut self, feedback: &Feedback<'_>) {
        let (_, marked, lost) = feedback.counts();
        let since = self.last_event.map_or(f64::INFINITY, |last| feedback.now.since(last).as_secs_f64());
        let found = match (lost, marked) {
            (1.., _) => Congestion::Loss,
            (0, 1..) => Congestion::Mark,
            (0, 0) => return,
        };
        // Within a round trip losses and marks are of the same congestion.
        if since > self.round_trip.smoothed {
            self.last_event = Some(feedback.now);
            self.congestion = Some(found);
            self.media_rate.congested(found);
        }
    }
}

impl MediaController for Scream2021 {
    fn report_policy(&self) -> ReportPolicy {
        let interval = Duration::from_millis(20);
        ReportPolicy { format: ReportFormat::Ccfb, interval, packets: 32, on_marker: true }
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let now = feedback.now;
        self.delay = self.queue_delay.on_feedback(feedback);
        // A report of losses alone has no round trip.
        if let Some(rtt) = feedback.rtt {
            self.round_trip.update(now, rtt.as_secs_f64());
        }
        let told: Bytes = feedback.results.iter().map(|result| result.size).sum();
        self.acked += told.as_f64();
        self.rates.acked(now, told.as_f64());
        self.detect(feedback);
        self.marks.on_feedback(feedback, self.round_trip.smoothed);
        let flight = (feedback.in_flight + told).as_f64();
        self.window.observe_flight(now, flight);
        // More frequent reports are taken in above, and answered together.
        if now.since(self.updated) <= UPDATE_INTERVAL {
            return;
        }
        self.delay_average += (self.delay / QDELAY_TARGET - self.delay_average) / 10.0;
        self.trend.update(now, self.delay / QDELAY_TARGET);
        let update = window::Update {
            now,
            span: now.since(self.updated).as_secs_f64(),
            acked: std::mem::take(&mut self.acked),
            in_flight: feedback.in_flight.as_f64(),
            flight_before: flight,
            off_target: (QDELAY_TARGET - self.delay) / QDELAY_TARGET,
            trend: self.trend.get(),
            rate: self.rates.highest(),
            congestion: self.congestion.take(),
            // Classic marks tell no share: they mean a fixed part.
            reduction: if self.l4s { self.marks.alpha() / (2.0 * PACKET_PACING_HEADROOM) } else { 0.1 },
        };
        self.window.update(&update);
        self.updated = now;
    }

    fn on_frame(&mut self, now: Instant, size: Bytes, queued: Duration) {
        let size = size.as_f64() * OVERHEAD;
        self.rates.coded(now, size);
        // What waited was discarded if this frame is the oldest.
        let before = if queued.is_zero() { 0.0 } else { self.waiting };
        self.waiting = before + size;
        let conditions = Conditions {
            now,
            l4s: self.l4s,
            alpha: self.marks.alpha(),
            window_used: self.window.used(),
            post_congestion: self.window.post_congestion(),
            in_fast_start: self.window.is_in_fast_start(),
            trend: self.trend.get(),
            highest: self.rates.highest(),
            limit: self.rates.highest().max(self.rates.coded_rate()),
            waiting_bits: before * 8.0,
            waited: queued.as_secs_f64(),
        };
        self.media_rate.on_frame(&conditions);
    }

    fn on_sent(&mut self, now: Instant, size: Bytes) {
        self.waiting = (self.waiting - size.as_f64()).max(0.0);
        self.rates.sent(now, size.as_f64());
        self.window.on_sent(now, size.as_f64());
    }

    /// The program forgets what is under way and goes on; here it counts as a loss.
    fn on_silence(&mut self, _now: Instant) {
        self.congestion = Some(Congestion::Loss);
        self.media_rate.congested(Congestion::Loss);
    }

    fn target_rate(&self) -> BitRate {
        self.media_rate.target()
    }

    fn pacing_rate(&self) -> BitRate {
        // The program paces without L4S only where there is a queue.
        if !self.l4s && self.delay_average <= PACED_ABOVE {
            return UNPACED;
        }
        // Until the first congestion more headroom keeps the sender's own queue short.
        let headroom = if self.window.was_congested() { PACKET_PACING_HEADROOM } else { FIRST_HEADROOM };
        let rate = (self.media_rate.target().as_bps() as f64).max(self.rates.coded_rate());
        BitRate::from_bps_f64((headroom * rate).max(RATE_PACE_MIN))
    }

    fn window(&self) -> Option<Bytes> {
        Some(Bytes(self.window.bytes(self.delay < QDELAY_TARGET) as u64))
    }

    fn ecn(&self) -> Ecn {
        if self.l4s { Ecn::Ect1 } else { Ecn::Ect0 }
    }

    fn alpha(&self) -> Option<f64> {
        self.l4s.then(|| self.marks.alpha())
    }
}
