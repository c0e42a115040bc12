//! SCReAM version 2 after draft-ietf-ccwg-rfc8298bis-screamv2, with the draft's constants throughout.
//!
//! The public code (EricssonResearch/scream) has others: a queue delay target of 100 to 300 ms, 0.9 for classic
//! marks, a headroom of 2.0, an increase of 0.05, a post-congestion delay of 200 round trips, and its guard
//! against undershoot on. Of the draft's optional parts the reduction of jitter can be switched on, as it always is in the
//! public code; policer and clock drift are left out.
//!
//! Its authors aim at two marks in a round trip. From the draft's own rules that follows where `l4s_alpha` is the marked
//! share, the window is used to the last byte, and its units are of 1000 B: a unit of growth in 25 ms against half
//! the share of the window, so 2 marks in 25 ms, and as many fewer in a shorter round trip, as `steady_state.rs`
//! shows at 10 ms. Of a video there are fewer, 0.7 in 25 ms, for reasons that the draft admits to in part
//! ("can settle for a lower number"):
//!
//! * `l4s_alpha` is averaged over 10 ms, rises by 1/8 and falls by 1/128: with two marks in 25 ms most intervals have one or
//!   none, and it stays near the share of an interval with one mark. Twice to three times the true share, it takes as
//!   much more than it should.
//! * The target rate is 1 / 1.2 of the window's, so that the window grows by 0.8 units, and packets are 1248 B.
//!
//! Over a decade of probabilities the marks in a round trip stay the same, so that the rate goes as 1 / p.

mod hint;

use tidemark_core::{BitRate, Bounded, Bytes, ConfigError, Duration, Ecn, Instant, Range, bounds};

pub use hint::{ScreamHint, ScreamHintConfig};

use super::delay_average::DelayAverage;
use super::flight_peak::FlightPeak;
use super::frame_sizes::FrameSizes;
use super::mark_average::MarkAverage;
use crate::control::{CongestionControl, Properties, Transport};
use crate::media::{Feedback, MediaController, RateLimits, ReportFormat, ReportPolicy};

const MIN_REF_WND: f64 = 3000.0;
const BYTES_IN_FLIGHT_HEAD_ROOM: f64 = 1.5;
const BETA_LOSS: f64 = 0.7;
const BETA_ECN: f64 = 0.8;
const MSS: f64 = 1000.0;
const POST_CONGESTION_DELAY_RTT: f64 = 100.0;
const MUL_INCREASE_FACTOR: f64 = 0.02;
const VIRTUAL_RTT: f64 = 0.025;
const REF_WND_OVERHEAD: (f64, f64) = (1.5, 3.0);
const RATE_PACE_MIN: f64 = 50_000.0;
const PACKET_PACING_HEADROOM: f64 = 1.5;
const MAX_RELAXED_PACING_FACTOR: f64 = 4.0;
const RELAXED_PACING_LIMIT_LOW: f64 = 0.8;
const PACKET_OVERHEAD: f64 = 20.0;
/// Round trip before the first report, in seconds.
const INITIAL_RTT: f64 = 0.05;

/// SCReAM's configuration.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<ScreamConfig>))]
pub struct ScreamConfig {
    /// True to send ECT(1) and answer the share of marks. False to send ECT(0), where a mark multiplies the window by 0.8. Default true.
    pub l4s: bool,
    /// Target of the queue delay. Default 60 ms (QDELAY_TARGET_LO).
    pub queue_delay_target: Duration,
    /// True to grow by less, and keep less in flight, while the queue delay varies: REDUCE_JITTER. Default false, as in the draft. The
    /// public program always does so.
    pub reduce_jitter: bool,
    /// Limits of the target rate.
    pub rates: RateLimits,
}

impl Default for ScreamConfig {
    fn default() -> Self {
        Self {
            l4s: true,
            queue_delay_target: Duration::from_millis(60),
            reduce_jitter: false,
            rates: RateLimits::default(),
        }
    }
}

bounds! { ScreamConfig {
    queue_delay_target: Range::between(Duration::from_millis(5), Duration::from_secs(2)),
    ..l4s, reduce_jitter, rates
} }

impl CongestionControl for ScreamConfig {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "SCReAM version 2",
            follows: "draft-ietf-ccwg-rfc8298bis-screamv2",
            answers: "marks in proportion, delay, losses",
            recommended: false,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        self.rates.validate()
    }
    fn transport(&self) -> Transport<'_> {
        Transport::Rtp(Box::new(|| Box::new(Scream::new(self))))
    }
    fn min_rate(&self) -> Option<BitRate> {
        self.rates.floor()
    }
}

/// The SCReAM controller; windows in bytes, times in seconds.
#[derive(Clone, Debug)]
pub struct Scream {
    config: ScreamConfig,
    ref_wnd: f64,
    /// The window when growth was last interrupted: increases are careful near it.
    ref_wnd_i: f64,
    grown: bool,
    marks: MarkAverage,
    delay: DelayAverage,
    smoothed_rtt: f64,
    last_reaction: Instant,
    last_congestion: Instant,
    /// Losses and marks since the last reaction, which comes once a round trip.
    unanswered: (bool, bool),
    flight: FlightPeak,
    frames: FrameSizes,
    target: f64,
}

impl Scream {
    /// A controller at its initial rate.
    pub fn new(config: &ScreamConfig) -> Self {
        let target = config.rates.initial.as_bps() as f64;
        Self {
            config: config.clone(),
            // So that the first target is the initial rate, not that of the least window.
            ref_wnd: (target / 8.0 * INITIAL_RTT * 1.2).max(MIN_REF_WND),
            ref_wnd_i: 1.0,
            grown: false,
            marks: MarkAverage::default(),
            delay: DelayAverage::new(config.queue_delay_target.as_secs_f64(), config.reduce_jitter),
            smoothed_rtt: INITIAL_RTT,
            last_reaction: Instant::ZERO,
            last_congestion: Instant::ZERO,
            unanswered: (false, false),
            flight: FlightPeak::default(),
            frames: FrameSizes::default(),
            target,
        }
    }

    fn scale(&self) -> f64 {
        let distance = 8.0 * (self.ref_wnd - self.ref_wnd_i) / self.ref_wnd_i;
        (distance * distance).clamp(0.1, 1.0)
    }

    /// Losses before marks before the delay, at most once a round trip or 25 ms.
    fn reduce(&mut self, feedback: &Feedback<'_>) {
        let (_, marked, lost) = feedback.counts();
        // Growth in proportion to the window waits since the last loss or mark, answered or not.
        if lost > 0 || marked > 0 {
            self.last_congestion = feedback.now;
        }
        let (lost, marked) = (self.unanswered.0 || lost > 0, self.unanswered.1 || marked > 0);
        self.unanswered = (lost, marked);
        let since = feedback.now.since(self.last_reaction).as_secs_f64();
        // What comes within a round trip of an answer was sent before it: it waits.
        if since < VIRTUAL_RTT.min(self.smoothed_rtt) || !lost && !marked && self.delay.virtual_alpha() <= 0.0 {
            return;
        }
        let scale = self.scale();
        // Only a window that has grown since shows where the limit is.
        if std::mem::take(&mut self.grown) {
            self.ref_wnd_i = self.ref_wnd;
        }
        let long = (self.smoothed_rtt / VIRTUAL_RTT).max(1.0);
        // One answer is enough: a loss goes before the marks that came with it.
        if lost {
            self.ref_wnd *= BETA_LOSS;
        } else if marked && self.config.l4s {
            let mut backoff = self.marks.alpha() / 2.0 / long;
            // Marks came without much of a queue: near the last limit, and under jitter, the answer is smaller.
            if self.delay.latest() < self.delay.target() / 4.0 {
                backoff *= scale.max(0.25) * self.delay.scale().max(0.25);
            }
            if since > POST_CONGESTION_DELAY_RTT * VIRTUAL_RTT.max(self.smoothed_rtt) {
                // After so long the window may have grown far beyond what is used.
                self.ref_wnd = self.ref_wnd.min(self.flight.get());
            }
            self.ref_wnd *= 1.0 - backoff;
        } else if marked {
            // Classic marks tell no share: they mean a fixed part.
            self.ref_wnd *= BETA_ECN;
        } else {
            self.ref_wnd *= 1.0 - self.delay.virtual_alpha() / 2.0 / long;
        }
        self.ref_wnd = self.ref_wnd.max(MIN_REF_WND);
        self.last_reaction = feedback.now;
        self.unanswered = (false, false);
    }

    fn increase(&mut self, feedback: &Feedback<'_>) {
        let (acked, marked) = feedback.delivered();
        let scale = self.scale();
        let recovery = POST_CONGESTION_DELAY_RTT * VIRTUAL_RTT.max(self.smoothed_rtt);
        let post = (feedback.now.since(self.last_congestion).as_secs_f64() / recovery).clamp(0.0, 1.0);
        let increase = (acked - marked).as_f64()
            * (MSS / self.ref_wnd).min(1.0)
            * (self.smoothed_rtt / VIRTUAL_RTT).min(1.0)
            * scale.max(0.25)
            * self.delay.scale().max(0.1)
            * (1.0 + MUL_INCREASE_FACTOR * self.ref_wnd / MSS * post * scale);
        let allowed = MSS + BYTES_IN_FLIGHT_HEAD_ROOM * self.flight.get();
        // Neither a window that nobody uses nor a rate at its limit is a reason to grow.
        if self.ref_wnd + increase <= allowed && self.target < self.config.rates.max.as_bps() as f64 {
            self.ref_wnd += increase;
            self.grown |= increase > 0.0;
        }
    }

    /// Share of the window that is asked of the encoder.
    fn media_share(&self) -> f64 {
        let small = (MSS / self.ref_wnd - 0.1).clamp(0.0, 0.2);
        (1.0 - small) * MSS / (MSS + PACKET_OVERHEAD) / self.frames.divisor(1.2)
    }

    fn update_target(&mut self) {
        self.target = self.config.rates.clamp(self.media_share() * 8.0 * self.ref_wnd / self.smoothed_rtt);
    }
}

impl MediaController for Scream {
    fn report_policy(&self) -> ReportPolicy {
        let interval = Duration::from_millis(40);
        ReportPolicy { format: ReportFormat::Ccfb, interval, packets: 16, on_marker: true }
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        // A report of losses alone has no round trip.
        if let Some(rtt) = feedback.rtt {
            self.smoothed_rtt += (rtt.as_secs_f64().max(1e-4) - self.smoothed_rtt) / 8.0;
        }
        let (acked, _) = feedback.delivered();
        self.flight.update(feedback.now, (feedback.in_flight + acked).as_f64(), self.smoothed_rtt);
        self.delay.on_feedback(feedback, VIRTUAL_RTT.min(self.smoothed_rtt));
        self.marks.on_feedback(feedback, self.smoothed_rtt);
        self.reduce(feedback);
        self.increase(feedback);
        self.update_target();
    }
    fn on_frame(&mut self, now: Instant, size: Bytes, queued: Duration) {
        self.frames.on_frame(now, size, queued, self.target, self.delay.target());
    }
    fn on_silence(&mut self, now: Instant) {
        self.ref_wnd_i = self.ref_wnd;
        self.ref_wnd = (self.ref_wnd * BETA_LOSS).max(MIN_REF_WND);
        self.last_congestion = now;
        self.last_reaction = now;
        self.update_target();
    }
    fn target_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.target)
    }
    fn pacing_rate(&self) -> BitRate {
        let used = self.target / self.config.rates.max.as_bps() as f64;
        let relaxed = ((used - RELAXED_PACING_LIMIT_LOW) / (1.0 - RELAXED_PACING_LIMIT_LOW)).min(1.0);
        let divisor = (1.0 - relaxed).clamp(1.0 / MAX_RELAXED_PACING_FACTOR, 1.0);
        BitRate::from_bps_f64(self.target.max(RATE_PACE_MIN) * PACKET_PACING_HEADROOM / divisor)
    }
    fn window(&self) -> Option<Bytes> {
        let (min, max) = REF_WND_OVERHEAD;
        Some(Bytes((self.ref_wnd * (min + (max - min) * self.delay.scale())) as u64))
    }
    fn ecn(&self) -> Ecn {
        if self.config.l4s { Ecn::Ect1 } else { Ecn::Ect0 }
    }
    fn alpha(&self) -> Option<f64> {
        self.config.l4s.then_some(self.marks.alpha())
    }
}
