//! BBR version 1 as Linux has it (`net/ipv4/tcp_bbr.c`), except that quantities are bytes and floats, and that
//! its bandwidth filter keeps the exact maximum. It does not respond to ECN, so that none is negotiated.

use tidemark_core::{BitRate, Bytes, ConfigError, Duration, FlowId, Instant, Stream};

use super::gain_cycle::GainCycle;
use super::policer::Policer;
use super::{
    Aggregation, BandwidthSample, FullBandwidth, MIN_RTT_WINDOW, MaxFilter, MinRtt, Pacing, ProbeRtt, Rounds, Window,
};
use crate::config::{EcnMode, TcpConfig};
use crate::control::{CongestionControl, OverTcp, Properties, Transport};
use crate::controller::{Ack, Congestion, Controller, Sizes};

/// 2 / ln 2, which doubles the rate each round.
const HIGH_GAIN: f64 = 2885.0 / 1000.0;
const DRAIN_GAIN: f64 = 1000.0 / 2885.0;
const WINDOW_GAIN: f64 = 2.0;
const BW_ROUNDS: u64 = 10;
/// Aggregation is trusted up to this time at the bandwidth.
const EXTRA_ACKED_LIMIT: f64 = 0.1;

/// BBR version 1's configuration.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BbrV1Config {
    /// The transport below. ECN is off by default.
    pub tcp: TcpConfig,
}

impl CongestionControl for BbrV1Config {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "BBR version 1",
            follows: "Linux `tcp_bbr.c`",
            answers: "its model of the path",
            recommended: false,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.tcp.validate()
    }
    fn transport(&self) -> Transport<'_> {
        let controller = move |sizes, flow, seed| Box::new(BbrV1::new(sizes, flow, seed)) as _;
        Transport::Tcp(OverTcp { config: &self.tcp, usual_ecn: EcnMode::Off, controller: Box::new(controller) })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// BBR version 1.
#[derive(Clone, Debug)]
pub struct BbrV1 {
    sizes: Sizes,
    mode: Mode,
    rounds: Rounds,
    bandwidth: MaxFilter,
    policer: Policer,
    aggregation: Aggregation,
    full: FullBandwidth,
    cycle: GainCycle,
    min_rtt: MinRtt,
    probe_rtt: ProbeRtt,
    window: Window,
    /// True in the first round of recovery: what is acknowledged may be sent, and no more.
    conserving: bool,
    pacing: Pacing,
}

impl BbrV1 {
    /// A controller at its initial window. `seed` and `flow` name the stream of its random phases.
    pub fn new(sizes: Sizes, flow: FlowId, seed: u64) -> Self {
        Self {
            sizes,
            mode: Mode::Startup,
            rounds: Rounds::default(),
            bandwidth: MaxFilter::new(BW_ROUNDS),
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            full: FullBandwidth::default(),
            cycle: GainCycle::new(Stream::new(seed, flow.0, "bbr")),
            min_rtt: MinRtt::default(),
            probe_rtt: ProbeRtt::default(),
            window: Window::new(sizes),
            conserving: false,
            pacing: Pacing::new(sizes),
        }
    }

    /// The bandwidth in use, in bytes a second.
    fn bw(&self) -> f64 {
        self.policer.bandwidth().unwrap_or(self.bandwidth.get())
    }

    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            // At a policer's rate a probe would only lose packets.
            Mode::ProbeBw if self.policer.bandwidth().is_some() => (1.0, WINDOW_GAIN),
            Mode::ProbeBw => (self.cycle.gain(), WINDOW_GAIN),
            Mode::ProbeRtt => (1.0, 1.0),
        }
    }

    /// `bbr_bdp` and `bbr_quantization_budget`.
    fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        let Some(min_rtt) = self.min_rtt.get() else { return self.sizes.initial_window };
        let mss = self.sizes.mss;
        let bdp = bandwidth * min_rtt.as_secs_f64() * gain;
        let segments = libm::ceil((bdp + 3.0 * self.pacing.quantum()) / mss);
        // Even, because acknowledgements answer two; two more to probe even a tiny pipe.
        let even = 2.0 * libm::ceil(segments / 2.0);
        let probing = self.mode == Mode::ProbeBw && self.cycle.is_probing();
        (even + if probing { 2.0 } else { 0.0 }) * mss
    }

    fn update_bandwidth(&mut self, ack: &Ack) {
        self.rounds.on_ack(ack);
        // The bandwidth's maximum ages by rounds, and packets are conserved for one of them.
        if self.rounds.begins() {
            self.bandwidth.advance();
            self.conserving = false;
        }
        // Over less than the least round trip a rate is none.
        let Some(sample) = BandwidthSample::new(ack, self.probe_rtt.limits(ack)) else { return };
        self.policer.on_ack(ack, self.rounds, sample.limited, self.mode == Mode::ProbeBw);
        // A limited sample says what was sent, not what the path carries, unless it is more than was known.
        if !sample.limited || sample.bandwidth >= self.bandwidth.get() {
            self.bandwidth.update(sample.bandwidth);
        }
    }

    fn update_cycle(&mut self, ack: &Ack) {
        // Only PROBE_BW has a cycle of gains.
        if self.mode != Mode::ProbeBw {
            return;
        }
        let gain = self.gains().0;
        let full_length = self.min_rtt.has_passed(self.cycle.start(), ack.now);
        let in_flight = ack.prior_in_flight.as_f64();
        let bandwidth = self.bandwidth.get();
        // A probe lasts until it has filled the pipe, or lost by trying.
        let over = if gain > 1.0 {
            full_length && (ack.lost > Bytes::ZERO || in_flight >= self.inflight(bandwidth, gain))
        } else if gain < 1.0 {
            // Draining ends early once the probe's queue is gone.
            full_length || in_flight <= self.inflight(bandwidth, 1.0)
        } else {
            full_length
        };
        // The next phase begins with the acknowledgement that ends this one.
        if over {
            self.cycle.advance(ack.now);
        }
    }

    fn check_full_bandwidth(&mut self, ack: &Ack) {
        let limited = ack.rate.is_none_or(|rate| rate.app_limited);
        // A round that the application limited says nothing of the pipe.
        if self.rounds.begins() && !limited {
            self.full.end_round(self.bandwidth.get());
        }
    }

    fn check_drain(&mut self, ack: &Ack) {
        // What was sent beyond the full pipe stands in a queue.
        if self.mode == Mode::Startup && self.full.is_reached() {
            self.mode = Mode::Drain;
        }
        // A flight of one bandwidth-delay product leaves no queue.
        if self.mode == Mode::Drain && ack.in_flight.as_f64() <= self.inflight(self.bandwidth.get(), 1.0) {
            self.enter_probe_bw(ack.now);
        }
    }

    fn enter_probe_bw(&mut self, now: Instant) {
        self.mode = Mode::ProbeBw;
        self.cycle.begin(now);
    }

    fn update_min_rtt(&mut self, ack: &Ack) {
        let expired = self.min_rtt.update(ack.now, MIN_RTT_WINDOW, ack.rtt, ack.now);
        let may_probe = self.probe_rtt.may_begin(ack);
        // The least round trip is old: only an empty queue can tell it anew. A pause has emptied it already.
        if expired && may_probe && self.mode != Mode::ProbeRtt {
            self.window.save(false);
            self.mode = Mode::ProbeRtt;
            self.probe_rtt.begin();
        }
        // It is over when the queue had the time to drain.
        if self.mode == Mode::ProbeRtt && self.probe_rtt.on_ack(ack, &mut self.rounds, self.window.floor()) {
            self.end_probe_rtt(ack);
        }
    }

    fn end_probe_rtt(&mut self, ack: &Ack) {
        self.min_rtt.confirm(ack.now);
        self.window.restore();
        // Before the pipe was full the search for it goes on.
        if self.full.is_reached() {
            self.enter_probe_bw(ack.now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// `bbr_set_cwnd`: packet conservation in the first round of recovery, then towards the model.
    fn update_window(&mut self, ack: &Ack) {
        // What is lost left the path: the window shrinks by it, and not by a factor.
        if ack.lost > Bytes::ZERO {
            self.window.set((self.window.size() - ack.lost.as_f64()).max(self.sizes.mss));
        }
        // With the recovery its conservation ends too.
        if self.window.follow_recovery(ack) {
            self.conserving = false;
        }
        // In the first round what leaves is replaced and no more, since the path has shown a limit.
        if self.conserving {
            self.window.set(self.window.size().max(ack.in_flight.as_f64() + ack.acked.as_f64()));
        } else {
            let is_full = self.full.is_reached();
            let mut target = self.inflight(self.bw(), self.gains().1);
            // Once the pipe has been full, acknowledgements in bursts need more in flight to keep it so.
            if is_full {
                target += self.aggregation.extra().min(self.bw() * EXTRA_ACKED_LIMIT);
            }
            self.window.grow(ack, target, is_full);
        }
        // Four segments leave no queue, and keep the path going.
        if self.mode == Mode::ProbeRtt {
            self.window.limit(self.window.floor());
        }
    }
}

impl Controller for BbrV1 {
    fn on_established(&mut self, now: Instant, _ecn: EcnMode, rtt: Option<Duration>) {
        self.min_rtt = MinRtt::new(now, rtt);
        self.aggregation.restart(now);
        self.pacing.begin(HIGH_GAIN, rtt);
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.update_bandwidth(ack);
        self.aggregation.on_ack(ack, self.rounds.begins(), self.bw(), self.window.size());
        self.update_cycle(ack);
        self.check_full_bandwidth(ack);
        self.check_drain(ack);
        self.update_min_rtt(ack);
        self.pacing.update(self.bw(), self.gains().0, self.full.is_reached());
        self.update_window(ack);
    }
    /// Fast recovery begins with a round of packet conservation. An echo of congestion changes nothing.
    fn on_congestion(&mut self, congestion: &Congestion) {
        // Marks tell nothing of the bandwidth, on which this version rests.
        if congestion.signal == crate::controller::Signal::Loss {
            self.window.save(self.mode == Mode::ProbeRtt);
            self.conserving = true;
            self.window.begin_recovery();
            self.rounds.restart(congestion.delivered);
            self.window.set(congestion.in_flight.as_f64().max(self.sizes.mss));
        }
    }
    fn on_timeout(&mut self, _congestion: &Congestion) {
        self.window.save(self.mode == Mode::ProbeRtt);
        self.window.begin_recovery();
        self.conserving = false;
        self.full.restart(0.0);
        self.policer.start_interval_if_idle();
        self.window.set(self.sizes.mss);
    }
    fn on_spurious(&mut self, _now: Instant) {
        self.full.restart(0.0);
        self.policer = Policer::default();
        self.window.undo_recovery();
        self.conserving = false;
    }
    fn on_idle(&mut self, now: Instant, _idle: Duration, _rto: Duration) {
        self.probe_rtt.on_idle();
        self.aggregation.restart(now);
        // After a pause the pipe is empty: the bandwidth fills it without a burst and without a queue.
        if self.mode == Mode::ProbeBw {
            self.pacing.update(self.bw(), 1.0, true);
        }
    }
    fn window(&self) -> Bytes {
        Bytes(self.window.size() as u64)
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        self.pacing.rate()
    }
    fn burst(&self, _rate: BitRate) -> Bytes {
        self.pacing.burst()
    }
    fn owns_recovery(&self) -> bool {
        true
    }
}
