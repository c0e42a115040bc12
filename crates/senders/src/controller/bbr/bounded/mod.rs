//! Common parts of versions 2 and 3 of BBR: bounds on the flight and the bandwidth from what was seen in the
//! last probe and since then, and the phases in which they are probed for. What differs is in [`Constants`].

mod bounds;
mod cycle;

use tidemark_core::{BitRate, Bytes, Duration, FlowId, Instant, Stream};

use self::bounds::{BETA, LOSS_THRESHOLD};
use super::{
    Aggregation, BandwidthSample, FullBandwidth, MIN_WINDOW, MaxFilter, MinRtt, PACING_MARGIN, ProbeRtt, Rounds,
    quantum, wire_rate,
};
use crate::config::EcnMode;
use crate::controller::{Ack, Congestion, Controller, EcnResponse, LostSegment, Sizes};

const DRAIN_GAIN: f64 = 1.0 / 2.885;
const WINDOW_GAIN: f64 = 2.0;
const UP_GAIN: f64 = 1.25;
const DOWN_GAIN: f64 = 0.91;
const UP_WINDOW_GAIN: f64 = 2.25;
const HEADROOM: f64 = 0.15;
const PROBE_WAIT: Duration = Duration::from_secs(2);

/// Sign that `PROBE_UP` has found the limit, if neither losses nor marks tell it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum UpEnd {
    /// A flight of 1.25 bandwidth-delay products after a minimum round trip: it must have built a queue.
    Flight,
    /// A bandwidth that grows no more.
    Plateau,
}

/// Numbers by which versions 2 and 3 differ.
#[derive(Debug)]
pub(super) struct Constants {
    pub(super) startup_gain: f64,
    /// Gain of the window in `STARTUP` and `DRAIN`.
    pub(super) startup_window_gain: f64,
    /// Segments lost in a round of `STARTUP` from which a share of losses counts.
    pub(super) startup_losses: u32,
    /// True if what was delivered in the last round bounds the bound from below where losses or marks end `STARTUP`.
    pub(super) keeps_delivered: bool,
    pub(super) up_end: UpEnd,
    /// Aggregation is trusted up to so many seconds at the bandwidth.
    pub(super) longest_aggregation: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// Phase that the present acknowledgements belong to (draft 5.3.3.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// BBR version 2 or 3.
#[derive(Clone, Debug)]
pub struct BoundedBbr {
    constants: &'static Constants,
    sizes: Sizes,
    /// Marks count up to this round-trip time.
    ecn_max_rtt: Duration,
    stream: Stream,
    state: State,
    rounds: Rounds,
    /// Largest bandwidth of this cycle of `PROBE_BW` and the one before.
    max_bw: MaxFilter,
    bw_short: f64,
    inflight_long: f64,
    inflight_short: f64,
    bw_latest: f64,
    inflight_latest: f64,
    loss_round: Bytes,
    loss_round_begins: bool,
    loss_in_round: bool,
    loss_events: u32,
    repairing: bool,
    rounds_repairing: u32,
    full: FullBandwidth,
    ack_phase: AckPhase,
    probe_samples: bool,
    previous_too_high: bool,
    stopped_risky_probe: bool,
    phase_start: Instant,
    probe_wait: Duration,
    rounds_since_probe: u64,
    probe_up_rounds: u32,
    probe_up_acked: f64,
    /// Bytes that must be acknowledged for one more segment of `inflight_long`.
    probe_up_count: f64,
    min_rtt: MinRtt,
    /// Least round-trip time since about the last `PROBE_RTT`.
    probe_rtt_min: MinRtt,
    probe_rtt: ProbeRtt,
    aggregation: Aggregation,
    /// Congestion experienced: negotiated, average, and this round's bytes.
    ecn: bool,
    alpha: f64,
    marked: f64,
    acked: f64,
    ecn_in_round: bool,
    ecn_startup_rounds: u32,
    window: f64,
    prior_window: f64,
    pacing: f64,
    /// State that a spurious loss gives back: short-term bandwidth and flight, long-term flight.
    undo: Option<(f64, f64, f64)>,
}

impl BoundedBbr {
    /// A controller at its initial window. `seed` and `flow` name the stream of its random waits.
    pub(super) fn new(
        constants: &'static Constants,
        ecn_max_rtt: Duration,
        sizes: Sizes,
        flow: FlowId,
        seed: u64,
    ) -> Self {
        Self {
            constants,
            sizes,
            ecn_max_rtt,
            stream: Stream::new(seed, flow.0, "bbr"),
            state: State::Startup,
            rounds: Rounds::default(),
            max_bw: MaxFilter::new(2),
            bw_short: f64::INFINITY,
            inflight_long: f64::INFINITY,
            inflight_short: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            loss_round: Bytes::ZERO,
            loss_round_begins: false,
            loss_in_round: false,
            loss_events: 0,
            repairing: false,
            rounds_repairing: 0,
            full: FullBandwidth::default(),
            ack_phase: AckPhase::Init,
            probe_samples: false,
            previous_too_high: false,
            stopped_risky_probe: false,
            phase_start: Instant::ZERO,
            probe_wait: PROBE_WAIT,
            rounds_since_probe: 0,
            probe_up_rounds: 0,
            probe_up_acked: 0.0,
            probe_up_count: f64::INFINITY,
            min_rtt: MinRtt::default(),
            probe_rtt_min: MinRtt::default(),
            probe_rtt: ProbeRtt::default(),
            aggregation: Aggregation::default(),
            ecn: false,
            alpha: 1.0,
            marked: 0.0,
            acked: 0.0,
            ecn_in_round: false,
            ecn_startup_rounds: 0,
            window: sizes.initial_window,
            prior_window: 0.0,
            pacing: 0.0,
            undo: None,
        }
    }

    fn bw(&self) -> f64 {
        self.max_bw.get().min(self.bw_short)
    }
    fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }
    fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => (self.constants.startup_gain, self.constants.startup_window_gain),
            State::Drain => (DRAIN_GAIN, self.constants.startup_window_gain),
            State::Down => (DOWN_GAIN, WINDOW_GAIN),
            State::Up => (UP_GAIN, UP_WINDOW_GAIN),
            State::Cruise | State::Refill => (1.0, WINDOW_GAIN),
            State::ProbeRtt => (1.0, 0.5),
        }
    }
    fn floor(&self) -> f64 {
        MIN_WINDOW * self.sizes.mss
    }
    fn bdp(&self, bandwidth: f64, gain: f64) -> f64 {
        self.min_rtt.get().map_or(self.sizes.initial_window, |min| bandwidth * min.as_secs_f64() * gain)
    }
    fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        let budget = self.bdp(bandwidth, gain).max(3.0 * quantum(self.pacing, self.sizes)).max(self.floor());
        if self.state == State::Up { budget + 2.0 * self.sizes.mss } else { budget }
    }
    /// Leaves room for others to enter.
    fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_long.is_infinite() {
            return self.inflight_long;
        }
        let room = self.sizes.mss.max(HEADROOM * self.inflight_long);
        (self.inflight_long - room).max(self.floor())
    }
    fn target_inflight(&self) -> f64 {
        self.bdp(self.bw(), 1.0).min(self.window)
    }
    fn ecn_counts(&self) -> bool {
        self.ecn && self.min_rtt.get().is_some_and(|min| min <= self.ecn_max_rtt)
    }

    fn save_window(&mut self) {
        let fresh = !self.repairing && self.state != State::ProbeRtt;
        self.prior_window = if fresh { self.window } else { self.prior_window.max(self.window) };
    }

    fn update_window(&mut self, ack: &Ack) {
        let acked = ack.acked.as_f64();
        let target = self.inflight(self.bw(), self.gains().1)
            + self.aggregation.extra().min(self.bw() * self.constants.longest_aggregation);
        if self.full.is_reached() {
            self.window = (self.window + acked).min(target);
        } else if self.window < target || ack.delivered.as_f64() < self.sizes.initial_window {
            self.window += acked;
        }
        self.window = self.window.max(self.floor());
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_long,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        self.window = self.window.min(cap.min(self.inflight_short).max(self.floor()));
    }
}

impl Controller for BoundedBbr {
    fn on_established(&mut self, now: Instant, ecn: EcnMode, rtt: Option<Duration>) {
        self.ecn = ecn == EcnMode::Accecn;
        self.min_rtt = MinRtt::new(now, rtt);
        self.probe_rtt_min = MinRtt::new(now, rtt);
        self.aggregation.restart(now);
        let rtt = rtt.unwrap_or(Duration::from_millis(1)).max(Duration::from_micros(1));
        self.pacing = self.constants.startup_gain * self.sizes.initial_window / rtt.as_secs_f64();
    }
    fn on_lost(&mut self, lost: &LostSegment) {
        // The round's first loss begins the count, and keeps what a spurious one would give back.
        if !self.loss_in_round {
            self.loss_round = lost.delivered;
            self.undo = Some((self.bw_short, self.inflight_short, self.inflight_long));
        }
        self.loss_in_round = true;
        self.loss_events += 1;
        let (size, in_flight, total) = (lost.size.as_f64(), lost.in_flight.as_f64(), lost.lost.as_f64());
        // Outside of a probe losses bound the round alone, and few losses bound nothing.
        if !self.probe_samples || total <= LOSS_THRESHOLD * in_flight {
            return;
        }
        // Where within the flight the share of losses crossed the threshold (draft 5.5.10.2).
        let (before, lost_before) = (in_flight - size, total - size);
        let prefix = ((LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD)).max(0.0);
        self.probe_samples = false;
        self.previous_too_high = true;
        // A flight that the application kept small says nothing of the path's bound.
        if !lost.app_limited {
            self.inflight_long = (before + prefix).max(BETA * self.target_inflight());
        }
        if self.state == State::Up {
            let ack = Ack { now: lost.now, delivered: lost.delivered, ..Ack::default() };
            self.start_down(&ack);
        }
    }
    fn on_ack(&mut self, ack: &Ack) {
        let sample = BandwidthSample::new(ack, self.probe_rtt.limits(ack));
        // Recovery is over: the window from before it was measured, not guessed.
        if self.repairing && !ack.repairing {
            self.window = self.window.max(self.prior_window);
        }
        self.repairing = ack.repairing;
        self.marked += ack.marked.as_f64();
        self.acked += ack.acked.as_f64();
        self.ecn_in_round |= ack.marked_packets > 0;
        self.update_latest(ack, sample);
        self.update_congestion(ack, sample);
        self.aggregation.on_ack(ack, self.rounds.begins(), self.bw(), self.window);
        self.check_full_bandwidth(sample);
        self.update_phase(ack, sample);
        self.update_min_rtt(ack);
        // The latest samples are those of one round; a new one starts with this acknowledgement.
        if self.loss_round_begins {
            self.bw_latest = sample.map_or(0.0, |sample| sample.bandwidth);
            self.inflight_latest = ack.rate.map_or(0.0, |sample| sample.delivered.as_f64());
        }
        let pacing = self.bw() * self.gains().0 * PACING_MARGIN;
        // Until the bandwidth is known, a low sample must not slow down the search for it.
        if self.full.is_reached() || pacing > self.pacing {
            self.pacing = pacing;
        }
        self.update_window(ack);
    }
    fn on_congestion(&mut self, _congestion: &Congestion) {
        self.save_window();
        self.repairing = true;
    }
    fn on_timeout(&mut self, _congestion: &Congestion) {
        self.save_window();
        self.repairing = true;
        self.window = self.sizes.mss;
    }
    fn on_spurious(&mut self, _now: Instant) {
        if let Some((bw_short, inflight_short, inflight_long)) = self.undo.take() {
            self.bw_short = self.bw_short.max(bw_short);
            self.inflight_short = self.inflight_short.max(inflight_short);
            self.inflight_long = self.inflight_long.max(inflight_long);
        }
        self.loss_in_round = false;
        self.repairing = false;
        self.window = self.window.max(self.prior_window);
    }
    fn on_idle(&mut self, now: Instant, _idle: Duration, _rto: Duration) {
        self.probe_rtt.on_idle();
        self.aggregation.restart(now);
        if self.is_probing_bw() {
            self.pacing = self.bw() * PACING_MARGIN;
        }
    }
    fn window(&self) -> Bytes {
        Bytes(self.window as u64)
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        wire_rate(self.pacing, self.sizes)
    }
    fn burst(&self, _rate: BitRate) -> Bytes {
        Bytes(quantum(self.pacing, self.sizes) as u64)
    }
    fn owns_recovery(&self) -> bool {
        true
    }
    fn ecn_response(&self) -> EcnResponse {
        EcnResponse::Scalable
    }
    fn alpha(&self) -> Option<f64> {
        self.ecn.then_some(self.alpha)
    }
}
