//! Common parts of versions 2 and 3 of BBR: bounds on the flight and the bandwidth from what was seen in the
//! last probe and since then, and the phases in which they are probed for. What differs is in [`Constants`].

mod bounds;
mod constants;
mod marked_share;
mod probe;
mod probe_clock;
mod signals;
mod slope;
mod startup;

use tidemark_core::{BitRate, Bytes, Duration, FlowId, Instant, Stream};

use self::bounds::{Bounds, inflight_at_loss};
pub(super) use self::constants::{Constants, UpEnd};
use self::marked_share::MarkedShare;
use self::probe::Probe;
use self::probe_clock::ProbeClock;
use self::signals::Signals;
use self::slope::Slope;
use self::startup::StartupSignals;
use super::{
    Aggregation, BandwidthSample, FullBandwidth, MIN_RTT_WINDOW, MaxFilter, MinRtt, Pacing, ProbeRtt, Rounds, Window,
};
use crate::config::EcnMode;
use crate::controller::{Ack, Congestion, Controller, EcnResponse, LostSegment, Sizes};

const DRAIN_GAIN: f64 = 1.0 / 2.885;
const WINDOW_GAIN: f64 = 2.0;
const UP_GAIN: f64 = 1.25;
const DOWN_GAIN: f64 = 0.91;
const UP_WINDOW_GAIN: f64 = 2.25;
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// Share of losses in a flight that makes it too high.
const LOSS_THRESHOLD: f64 = 0.02;
/// Marked share of a sample that makes its flight too high.
const ECN_THRESHOLD: f64 = 0.5;

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

/// BBR version 2 or 3.
#[derive(Clone, Debug)]
pub struct BoundedBbr {
    constants: &'static Constants,
    sizes: Sizes,
    state: State,
    rounds: Rounds,
    /// Largest bandwidth of this cycle of `PROBE_BW` and the one before.
    max_bw: MaxFilter,
    full: FullBandwidth,
    signals: Signals,
    startup: StartupSignals,
    marked_share: MarkedShare,
    bounds: Bounds,
    probe: Probe,
    clock: ProbeClock,
    slope: Slope,
    min_rtt: MinRtt,
    /// Least round-trip time since about the last `PROBE_RTT`.
    probe_rtt_min: MinRtt,
    probe_rtt: ProbeRtt,
    aggregation: Aggregation,
    window: Window,
    pacing: Pacing,
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
            state: State::Startup,
            rounds: Rounds::default(),
            max_bw: MaxFilter::new(2),
            full: FullBandwidth::default(),
            signals: Signals::default(),
            startup: StartupSignals::default(),
            marked_share: MarkedShare::new(ecn_max_rtt),
            bounds: Bounds::new(sizes.mss),
            probe: Probe::default(),
            clock: ProbeClock::new(Stream::new(seed, flow.0, "bbr")),
            slope: Slope::new(sizes.mss),
            min_rtt: MinRtt::default(),
            probe_rtt_min: MinRtt::default(),
            probe_rtt: ProbeRtt::default(),
            aggregation: Aggregation::default(),
            window: Window::new(sizes),
            pacing: Pacing::new(sizes),
        }
    }

    fn bw(&self) -> f64 {
        self.max_bw.get().min(self.bounds.bw_short())
    }
    fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }
    /// Gains of pacing and window.
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
    fn bdp(&self, bandwidth: f64, gain: f64) -> f64 {
        self.min_rtt.get().map_or(self.sizes.initial_window, |min| bandwidth * min.as_secs_f64() * gain)
    }
    fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        let budget = self.bdp(bandwidth, gain).max(3.0 * self.pacing.quantum()).max(self.window.floor());
        // Two segments more, so that even a tiny pipe is probed.
        if self.state == State::Up { budget + 2.0 * self.sizes.mss } else { budget }
    }
    fn target_inflight(&self) -> f64 {
        self.bdp(self.bw(), 1.0).min(self.window.size())
    }
    fn probe_rtt_window(&self) -> f64 {
        self.bdp(self.bw(), 0.5).max(self.window.floor())
    }
    fn marks_count(&self) -> bool {
        self.marked_share.counts(self.min_rtt.get())
    }

    fn update_bandwidth(&mut self, ack: &Ack, sample: Option<BandwidthSample>) {
        self.rounds.on_ack(ack);
        // Waits, recoveries and marked shares are counted in rounds, not in acknowledgements.
        if self.rounds.begins() {
            self.clock.on_round();
            self.startup.on_round(self.window.is_repairing());
            if let Some(share) = self.marked_share.end_round(self.min_rtt.get())
                && self.startup.on_marked_share(share)
                && self.state == State::Startup
            {
                self.leave_startup();
            }
        }
        // A limited sample says what was sent, not what the path carries, unless it is more than was known.
        if let Some(BandwidthSample { bandwidth, limited }) = sample
            && (!limited || bandwidth >= self.max_bw.get())
        {
            self.max_bw.update(bandwidth);
        }
    }

    fn end_loss_round(&mut self, ack: &Ack) {
        let is_marked = self.signals.is_marked() && self.marks_count();
        // While the path is being filled on purpose, probing itself answers.
        let is_filling = matches!(self.state, State::Startup | State::Refill | State::Up);
        if !is_filling && (self.signals.is_lost() || is_marked) {
            let alpha = is_marked.then(|| self.marked_share.alpha());
            self.bounds.lower(&self.signals, alpha, self.max_bw.get(), self.window.size());
        }
        let too_much_lost = self.startup.end_loss_round(ack, self.constants.startup_losses);
        // In STARTUP nothing else answers losses (draft-ietf-ccwg-bbr-06 5.3.1.3).
        if too_much_lost && self.state == State::Startup {
            self.leave_startup();
        }
        self.signals.end_round();
    }

    /// Losses or marks say that the flight is too high.
    fn leave_startup(&mut self) {
        self.full.reach();
        let bandwidth = self.max_bw.get();
        // What was delivered in the round passed the path: no bound should be below it.
        self.bounds.set_long(if self.constants.keeps_delivered {
            self.bdp(bandwidth, 1.0).max(self.signals.inflight())
        } else {
            self.inflight(bandwidth, 1.0)
        });
    }

    fn check_full_bandwidth(&mut self, sample: Option<BandwidthSample>) {
        // A limited sample can't show that the pipe is full (draft-ietf-ccwg-bbr-06 5.3.1.2).
        if let Some(BandwidthSample { bandwidth, limited: false }) = sample
            && self.rounds.begins()
        {
            self.full.end_round(bandwidth);
        }
    }

    fn update_state(&mut self, ack: &Ack, sample: Option<BandwidthSample>) {
        // The bandwidth grows no more: what was sent beyond it stands in a queue.
        if self.state == State::Startup && self.full.is_reached() {
            self.state = State::Drain;
            self.signals.forget();
        }
        // A flight of one bandwidth-delay product leaves no queue.
        if self.state == State::Drain && ack.in_flight.as_f64() <= self.inflight(self.max_bw.get(), 1.0) {
            self.start_down(ack.now, ack.delivered);
        }
        // Until the pipe has been full there is no bound to probe.
        if !self.full.is_reached() {
            return;
        }
        self.adapt_long_term(ack, sample);
        match self.state {
            State::Down => self.check_drained(ack),
            State::Cruise => {
                self.start_probe_if_due(ack);
            }
            // Only after a round of refilling is the pipe full enough for a probe to be told from a refill.
            State::Refill if self.rounds.begins() => self.start_up(ack, sample),
            State::Up => self.check_up_done(ack, sample),
            State::Startup | State::Drain | State::Refill | State::ProbeRtt => {}
        }
    }

    /// Moves the long-term bound by what a probe finds (draft-ietf-ccwg-bbr-06 5.3.3.9).
    fn adapt_long_term(&mut self, ack: &Ack, sample: Option<BandwidthSample>) {
        // With the last acknowledgements of a probe its cycle is over.
        if self.rounds.begins() && self.probe.end_round() {
            // A limited sample may be too low: the maximum of the cycle before must not age by it.
            if self.is_probing_bw() && sample.is_some_and(|sample| !sample.limited) {
                self.max_bw.advance();
            }
            // A precaution was for nothing: no wait before the next probe (draft-ietf-ccwg-bbr-06 5.3.3.6).
            if self.probe.may_repeat() && self.state == State::Down {
                self.start_refill(ack.delivered);
                return;
            }
        }
        // Without a sample nothing is known of the flight that the segment was part of.
        let Some(rate) = ack.rate else { return };
        let in_flight = rate.in_flight.as_f64();
        let is_marked = rate.marked > Bytes::ZERO
            && rate.marked.as_f64() >= ECN_THRESHOLD * rate.delivered.as_f64()
            && self.marks_count();
        // Too much of this flight was lost or marked: it must not raise the bound.
        if rate.lost.as_f64() > LOSS_THRESHOLD * in_flight || is_marked {
            // Only a probe's own flight lowers the long-term bound; of others the short-term ones take care.
            if self.probe.has_samples() {
                self.end_too_high(ack.now, ack.delivered, in_flight, rate.app_limited);
            }
            return;
        }
        // Nothing has ever been too much: there is no bound to raise.
        if self.bounds.inflight_long().is_infinite() {
            return;
        }
        self.bounds.raise_long(in_flight);
        // The bound itself is what holds the probe back: it has to make room.
        if self.state == State::Up && self.is_at_bound(ack) {
            self.bounds.grow_long(self.slope.on_acked(ack.acked.as_f64()));
            // The longer it goes well, the larger the steps.
            if self.rounds.begins() {
                self.slope.steepen(self.window.size());
            }
        }
    }

    /// True if it is the long-term bound that holds the flight back.
    fn is_at_bound(&self, ack: &Ack) -> bool {
        ack.window_limited && self.window.size() >= self.bounds.inflight_long()
    }

    /// Ends a probe whose flight was too high: `in_flight` bytes.
    fn end_too_high(&mut self, now: Instant, delivered: Bytes, in_flight: f64, app_limited: bool) {
        self.probe.find_too_high();
        // A flight that the application kept small says nothing of the path's bound.
        if !app_limited {
            self.bounds.lower_long(in_flight, self.target_inflight());
        }
        // The probe has its answer: what it added has to drain.
        if self.state == State::Up {
            self.start_down(now, delivered);
        }
    }

    fn check_drained(&mut self, ack: &Ack) {
        let in_flight = ack.in_flight.as_f64();
        let is_drained =
            in_flight <= self.bounds.inflight_with_headroom() && in_flight <= self.inflight(self.max_bw.get(), 1.0);
        // Drained, with room left for others to enter: cruising begins.
        if !self.start_probe_if_due(ack) && is_drained {
            self.bounds.align_short();
            self.state = State::Cruise;
        }
    }

    fn check_up_done(&mut self, ack: &Ack, sample: Option<BandwidthSample>) {
        // The last probe was too high at this flight: stop before it does harm again (draft-ietf-ccwg-bbr-06 5.3.3.6).
        if self.probe.was_too_high() && ack.in_flight.as_f64() >= self.bounds.inflight_long() {
            self.probe.stop_as_risky();
        } else if self.constants.up_end == UpEnd::Flight {
            let long_enough = self.min_rtt.has_passed(self.clock.phase_start(), ack.now);
            // A quarter more in flight for a round trip must have built a queue: until then the probe goes on.
            if !long_enough || ack.prior_in_flight.as_f64() < self.inflight(self.max_bw.get(), UP_GAIN) {
                return;
            }
        } else if self.is_at_bound(ack) {
            // The flight is held back by its own bound: that the bandwidth does not grow proves nothing.
            self.full.restart(sample.map_or(0.0, |sample| sample.bandwidth));
            return;
        } else if !self.full.is_now() {
            return;
        }
        self.probe.succeed();
        self.start_down(ack.now, ack.delivered);
    }

    fn start_down(&mut self, now: Instant, delivered: Bytes) {
        self.signals.forget();
        self.slope.stop();
        self.clock.begin_wait(now);
        self.probe.stop();
        self.rounds.restart(delivered);
        self.state = State::Down;
    }

    fn start_refill(&mut self, delivered: Bytes) {
        self.bounds.lift_short();
        self.slope.restart();
        self.probe.begin_refill();
        self.rounds.restart(delivered);
        self.state = State::Refill;
    }

    fn start_up(&mut self, ack: &Ack, sample: Option<BandwidthSample>) {
        self.probe.begin_up();
        self.rounds.restart(ack.delivered);
        self.full.restart(sample.map_or(0.0, |sample| sample.bandwidth));
        self.clock.begin_up(ack.now);
        self.state = State::Up;
        self.slope.steepen(self.window.size());
    }

    fn start_probe_if_due(&mut self, ack: &Ack) -> bool {
        let is_due = self.clock.is_due(ack.now, self.target_inflight() / self.sizes.mss);
        // The short-term bounds are lifted a round before the probe, so that the pipe is full when it begins.
        if is_due {
            self.start_refill(ack.delivered);
        }
        is_due
    }

    fn update_min_rtt(&mut self, ack: &Ack) {
        let due = self.probe_rtt_min.update(ack.now, PROBE_RTT_INTERVAL, ack.rtt, ack.now);
        self.min_rtt.update(ack.now, MIN_RTT_WINDOW, self.probe_rtt_min.get(), self.probe_rtt_min.at());
        let may_probe = self.probe_rtt.may_begin(ack);
        // The least round trip is old: only an empty queue can tell it anew (draft-ietf-ccwg-bbr-06 5.3.4).
        if self.state != State::ProbeRtt && due && may_probe {
            self.window.save(false);
            self.state = State::ProbeRtt;
            self.probe_rtt.begin();
            self.probe.stop();
            self.rounds.restart(ack.delivered);
        }
        // It goes on until the queue had the time to drain.
        if self.state == State::ProbeRtt {
            let target = self.probe_rtt_window();
            if self.probe_rtt.on_ack(ack, &mut self.rounds, target) {
                self.end_probe_rtt(ack);
            }
        }
    }

    fn end_probe_rtt(&mut self, ack: &Ack) {
        self.probe_rtt_min.confirm(ack.now);
        self.window.restore();
        self.bounds.lift_short();
        // The pipe is known, and is probed after a wait; otherwise the search for it goes on.
        if self.full.is_reached() {
            self.start_down(ack.now, ack.delivered);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    fn update_window(&mut self, ack: &Ack) {
        let extra = self.aggregation.extra().min(self.bw() * self.constants.longest_aggregation);
        let target = self.inflight(self.bw(), self.gains().1) + extra;
        self.window.grow(ack, target, self.full.is_reached());
        // The flight has to be small enough to leave no queue (draft-ietf-ccwg-bbr-06 5.3.4).
        if self.state == State::ProbeRtt {
            self.window.limit(self.probe_rtt_window());
        }
        // Only cruising and PROBE_RTT leave room for others to enter.
        let bound = match self.state {
            State::Down | State::Refill | State::Up => self.bounds.inflight_long(),
            State::Cruise | State::ProbeRtt => self.bounds.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        self.window.limit(self.bounds.limit(bound));
    }

    fn begin_recovery(&mut self) {
        self.window.save(self.state == State::ProbeRtt);
        self.window.begin_recovery();
    }
}

impl Controller for BoundedBbr {
    fn on_established(&mut self, now: Instant, ecn: EcnMode, rtt: Option<Duration>) {
        self.marked_share.negotiate(ecn == EcnMode::Accecn);
        self.min_rtt = MinRtt::new(now, rtt);
        self.probe_rtt_min = MinRtt::new(now, rtt);
        self.aggregation.restart(now);
        self.pacing.begin(self.constants.startup_gain, rtt);
    }
    fn on_lost(&mut self, lost: &LostSegment) {
        // The round's first loss keeps what a spurious one would give back.
        if self.signals.on_lost(lost.delivered) {
            self.bounds.save();
        }
        self.startup.on_lost();
        // Outside of a probe losses bound the round alone, and few losses bound nothing.
        if self.probe.has_samples()
            && let Some(in_flight) = inflight_at_loss(lost)
        {
            self.end_too_high(lost.now, lost.delivered, in_flight, lost.app_limited);
        }
    }
    fn on_ack(&mut self, ack: &Ack) {
        let sample = BandwidthSample::new(ack, self.probe_rtt.limits(ack));
        self.window.follow_recovery(ack);
        self.marked_share.on_ack(ack);
        self.signals.on_ack(ack, sample);
        self.update_bandwidth(ack, sample);
        // A round's signals are answered once, all together (draft-ietf-ccwg-bbr-06 5.5.10.3).
        if self.signals.round_begins() {
            self.end_loss_round(ack);
        }
        self.aggregation.on_ack(ack, self.rounds.begins(), self.bw(), self.window.size());
        self.check_full_bandwidth(sample);
        self.update_state(ack, sample);
        self.update_min_rtt(ack);
        // The round's maxima were read above: now they begin anew.
        if self.signals.round_begins() {
            self.signals.begin_round(ack, sample);
        }
        self.pacing.update(self.bw(), self.gains().0, self.full.is_reached());
        self.update_window(ack);
    }
    fn on_congestion(&mut self, _congestion: &Congestion) {
        self.begin_recovery();
    }
    fn on_timeout(&mut self, _congestion: &Congestion) {
        self.begin_recovery();
        self.window.set(self.sizes.mss);
    }
    fn on_spurious(&mut self, _now: Instant) {
        self.bounds.restore();
        self.signals.forget_losses();
        self.window.undo_recovery();
    }
    fn on_idle(&mut self, now: Instant, _idle: Duration, _rto: Duration) {
        self.probe_rtt.on_idle();
        self.aggregation.restart(now);
        // After a pause the pipe is empty: the bandwidth fills it without a burst and without a queue.
        if self.is_probing_bw() {
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
    fn ecn_response(&self) -> EcnResponse {
        EcnResponse::Scalable
    }
    fn alpha(&self) -> Option<f64> {
        self.marked_share.reported()
    }
}
