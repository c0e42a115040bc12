//! Prague over TCP: draft-briscoe-iccrg-prague-congestion-control, with the constants of Linux' `tcp_prague`.
//!
//! Where the two differ, this follows Linux in the initial `alpha` (1) and in when it starts to be averaged (with the
//! first mark), and the draft in when the independence of the round-trip time begins (500 rounds). Linux' other
//! functions of the reference round-trip time (rate, additive) are left out. The fallback to classic behaviour behind a
//! classic AQM also follows Linux, and is off by default as there.

mod hint;

use tidemark_core::{BitRate, Bounded, Bytes, ConfigError, Duration, Instant, Range, bounds};

use super::classic_ecn::ClassicEcn;
use super::window::{Window, pace};
use super::{Ack, Congestion, Controller, EcnResponse, Signal, Sizes};
use crate::config::{EcnMode, TcpConfig};
use crate::control::{CongestionControl, OverTcp, Properties, Transport};

pub use hint::{PragueHint, PragueHintConfig};

/// Least window, in segments.
const MIN_WINDOW: f64 = 2.0;
/// Round-trip time beyond which the additive increase is not scaled further (Linux `tcp_prague`).
const MAX_SCALED_RTT: Duration = Duration::from_millis(100);

/// Prague's configuration.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<PragueConfig>))]
pub struct PragueConfig {
    /// Flows with a shorter round trip behave as if it were this long. Default 25 ms.
    pub reference_rtt: Duration,
    /// Rounds from the start after which `reference_rtt` takes effect. Default 500.
    pub transition_rounds: u32,
    /// Gain of the moving average of the marked share. Default 1/16.
    pub gain: f64,
    /// The marked share that is assumed before the first mark. Default 1, so that the first mark halves the window.
    pub initial_alpha: f64,
    /// Time that a burst may take at the pacing rate. Default 250 us, for marking thresholds of 500 us and more.
    pub max_burst: Duration,
    /// True to reduce as classic flows do if the variation of the round trip shows that a classic AQM marks. Default false, as Linux'
    /// `prague_ecn_fallback`.
    pub classic_fallback: bool,
    /// True to reduce only when a real round begins, as Linux does: at the first mark after `reference_rtt` has passed since the last
    /// reduction. Round trips shorter than `reference_rtt` are then rounded up to whole rounds: a flow over 20 ms reduces every 40 ms.
    /// Default false: in the draft a reduction lasts for `reference_rtt`, as in UDP Prague.
    pub whole_rounds: bool,
    /// The transport below.
    pub tcp: TcpConfig,
}

impl Default for PragueConfig {
    fn default() -> Self {
        Self {
            reference_rtt: Duration::from_millis(25),
            transition_rounds: 500,
            gain: 1.0 / 16.0,
            initial_alpha: 1.0,
            max_burst: Duration::from_micros(250),
            classic_fallback: false,
            whole_rounds: false,
            tcp: TcpConfig::default(),
        }
    }
}

bounds! { PragueConfig {
    reference_rtt: Range::at_most(Duration::from_secs(1)),
    gain: Range::above(0.0).and_at_most(1.0),
    initial_alpha: Range::between(0.0, 1.0),
    ..transition_rounds, max_burst, classic_fallback, whole_rounds, tcp
} }

impl CongestionControl for PragueConfig {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "Prague over TCP",
            follows: "draft-briscoe-iccrg-prague-congestion-control, Linux `tcp_prague.c`",
            answers: "marks in proportion, losses by half",
            recommended: false,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.tcp.validate()?;
        self.check_bounds()
    }
    fn transport(&self) -> Transport<'_> {
        let config = self.clone();
        let controller = move |sizes, _flow, _seed| Box::new(Prague::new(&config, sizes)) as _;
        Transport::Tcp(OverTcp { config: &self.tcp, usual_ecn: EcnMode::Accecn, controller: Box::new(controller) })
    }
}

/// A round trip, real and virtual: over when data sent in it is acknowledged and the time is up.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Round {
    start: Instant,
    delivered: Bytes,
}

impl Round {
    fn begin(ack: &Ack) -> Self {
        Self { start: ack.now, delivered: ack.delivered }
    }
    fn is_over(&self, ack: &Ack, virtual_rtt: Duration) -> bool {
        ack.prior_delivered >= self.delivered && ack.now.since(self.start) >= virtual_rtt
    }
}

/// The Prague controller.
#[derive(Clone, Debug)]
pub struct Prague {
    config: PragueConfig,
    sizes: Sizes,
    window: Window,
    ecn: EcnMode,
    /// The moving average of the marked share.
    alpha: f64,
    /// Bytes acknowledged and marked in the round over which `alpha` is averaged next.
    acked: f64,
    marked: f64,
    alpha_round: Round,
    seen_mark: bool,
    /// The round of congestion, in which marks reduce no further, and the `alpha` that reduced the window at its start.
    congested: Option<(Round, f64)>,
    /// Time at which marks reduced the window last.
    reduced_at: Instant,
    /// Real rounds so far, for the transition to independence of the round-trip time.
    rounds: u32,
    real_round: Bytes,
    smoothed_rtt: Duration,
    in_flight: f64,
    before_reduction: Option<Window>,
    classic: Option<ClassicEcn>,
}

impl Prague {
    /// A controller at its initial window.
    pub fn new(config: &PragueConfig, sizes: Sizes) -> Self {
        Self {
            config: config.clone(),
            sizes,
            window: Window::new(sizes),
            ecn: EcnMode::Accecn,
            alpha: config.initial_alpha,
            acked: 0.0,
            marked: 0.0,
            alpha_round: Round::default(),
            seen_mark: false,
            congested: None,
            reduced_at: Instant::ZERO,
            rounds: 0,
            real_round: Bytes::ZERO,
            smoothed_rtt: Duration::ZERO,
            in_flight: 0.0,
            before_reduction: None,
            classic: config.classic_fallback.then(ClassicEcn::new),
        }
    }

    /// The round-trip time that the flow behaves as if it had; Reno's own while it does as Reno does.
    fn virtual_rtt(&self) -> Duration {
        if self.rounds < self.config.transition_rounds || self.ecn != EcnMode::Accecn {
            self.smoothed_rtt
        } else {
            self.smoothed_rtt.max(self.config.reference_rtt)
        }
    }

    fn count_rounds(&mut self, ack: &Ack) {
        // A real round ends with an acknowledgement of what was sent in it.
        if ack.prior_delivered >= self.real_round {
            self.real_round = ack.delivered;
            self.rounds = self.rounds.saturating_add(1);
        }
    }

    /// `alpha += gain (fraction - alpha)` once a round, from the first mark on.
    fn average(&mut self, ack: &Ack, virtual_rtt: Duration) {
        self.acked += ack.acked.as_f64();
        self.marked += ack.marked.as_f64();
        self.seen_mark |= ack.marked_packets > 0;
        // Once a round, so that the average means as many round trips whatever the rate is.
        if self.alpha_round.is_over(ack, virtual_rtt) {
            // Before the first mark nothing is known of a queue that could mark: the average stays as configured.
            if self.seen_mark && self.acked > 0.0 {
                if let Some(classic) = &mut self.classic {
                    classic.end_round(ack.min_rtt);
                }
                let fraction = (self.marked / self.acked).min(1.0);
                self.alpha += self.config.gain * (fraction - self.alpha);
            }
            self.alpha_round = Round::begin(ack);
            self.acked = 0.0;
            self.marked = 0.0;
        }
    }

    fn increase(&mut self, ack: &Ack, virtual_rtt: Duration) {
        let mut unmarked = (ack.acked - ack.marked).as_f64();
        // Slow start takes its part first; what is left of it counts for the increase.
        if self.window.in_slow_start() {
            unmarked = self.window.slow_start(unmarked);
        }
        let rtt = self.smoothed_rtt.min(MAX_SCALED_RTT).as_secs_f64();
        // Without a measured round trip there is nothing to scale by.
        let ratio = if virtual_rtt.is_zero() { 1.0 } else { (rtt / virtual_rtt.as_secs_f64()).min(1.0) };
        // A flow of a short round trip grows as one of the reference would, not more (RFC 9331 4.3).
        let scale = if self.smoothed_rtt >= virtual_rtt { 1.0 } else { ratio * ratio };
        self.window.size += unmarked * self.sizes.mss / self.window.size * scale;
    }

    fn reduce_by_marks(&mut self, ack: &Ack) {
        self.before_reduction = None;
        self.pace_detection();
        let alpha = self.classic.as_ref().map_or(self.alpha, |classic| self.alpha.max(classic.least_alpha()));
        self.window.size = (self.window.size * (1.0 - alpha / 2.0)).max(MIN_WINDOW * self.sizes.mss);
        self.window.threshold = self.window.size;
        self.congested = Some((Round::begin(ack), alpha));
        self.reduced_at = ack.now;
    }

    /// The first mark since the last round of congestion.
    fn enter_congestion(&mut self, ack: &Ack) {
        let is_independent = self.rounds >= self.config.transition_rounds;
        let early = is_independent && ack.now.since(self.reduced_at) < self.config.reference_rtt;
        // Too early for another reduction, this round of congestion passes without one.
        if self.config.whole_rounds && early {
            self.congested = Some((Round::begin(ack), 0.0));
        } else {
            self.reduce_by_marks(ack);
        }
    }

    fn pace_detection(&mut self) {
        // The detector's averages last for as long as the window takes to grow back.
        if let Some(classic) = &mut self.classic {
            classic.on_reduction(self.window.threshold / self.sizes.mss);
        }
    }
}

impl Controller for Prague {
    fn on_established(&mut self, now: Instant, ecn: EcnMode, rtt: Option<Duration>) {
        self.ecn = ecn;
        self.smoothed_rtt = rtt.unwrap_or_default();
        self.alpha_round = Round { start: now, delivered: Bytes::ZERO };
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.smoothed_rtt = ack.smoothed_rtt;
        self.in_flight = ack.in_flight.as_f64();
        // The fallback looks at how round trips vary.
        if let (Some(classic), Some(rtt)) = (&mut self.classic, ack.rtt) {
            classic.sample(rtt);
        }
        self.count_rounds(ack);
        let virtual_rtt = self.virtual_rtt();
        self.average(ack, virtual_rtt);
        // Whole rounds are real ones; otherwise the virtual round trip has to pass as well.
        let least = if self.config.whole_rounds { Duration::ZERO } else { virtual_rtt };
        // The reduction has had its round: what is marked from now on was sent after it.
        if self.congested.is_some_and(|(round, _)| round.is_over(ack, least)) {
            self.congested = None;
        }
        // The transport brings the flight down already.
        if ack.recovering {
            return;
        }
        // A window that nobody uses proves nothing about the path.
        if self.window.is_used(ack) {
            self.increase(ack, virtual_rtt);
        }
        // One reduction a round: marks of the same queue must not count twice.
        if ack.marked_packets > 0 && self.congested.is_none() {
            self.enter_congestion(ack);
        }
    }
    /// A loss, or an echo where only classic ECN was negotiated: Reno's halving. Together with a reduction
    /// by marks in the same round it is no more than that (division by 2 - alpha).
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.before_reduction = Some(self.window);
        self.pace_detection();
        let divisor = match (congestion.signal, self.congested) {
            (Signal::Loss, Some((_, alpha))) => 2.0 - alpha,
            _ => 2.0,
        };
        self.window.size = (self.window.size / divisor).max(MIN_WINDOW * self.sizes.mss);
        self.window.threshold = self.window.size;
    }
    fn on_timeout(&mut self, _congestion: &Congestion) {
        self.before_reduction = Some(self.window);
        self.window.threshold = (self.window.size / 2.0).max(MIN_WINDOW * self.sizes.mss);
        self.window.size = self.sizes.mss;
    }
    fn on_spurious(&mut self, _now: Instant) {
        // Nothing was lost: the window from before the reduction is the right one, unless it has grown since.
        if let Some(before) = self.before_reduction.take() {
            self.window.size = self.window.size.max(before.size);
            self.window.threshold = self.window.threshold.max(before.threshold);
        }
    }
    fn on_idle(&mut self, _now: Instant, idle: Duration, rto: Duration) {
        self.window.restart_after_idle(self.sizes, idle, rto);
    }
    fn window(&self) -> Bytes {
        Bytes(self.window.size as u64)
    }
    /// The larger of window and flight in one round trip, twice that while slow start has far to go.
    fn pacing_rate(&self) -> Option<BitRate> {
        let factor = if self.window.size < self.window.threshold / 2.0 { 2.0 } else { 1.0 };
        pace(self.window.size.max(self.in_flight) * factor, self.sizes, self.smoothed_rtt)
    }
    fn burst(&self, rate: BitRate) -> Bytes {
        rate.bytes_in(self.config.max_burst)
    }
    fn ecn_response(&self) -> EcnResponse {
        EcnResponse::Scalable
    }
    fn alpha(&self) -> Option<f64> {
        (self.ecn == EcnMode::Accecn).then_some(self.alpha)
    }
}
