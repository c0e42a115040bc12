//! The state machine: whether the pipe is full, the phases of `PROBE_BW`, and `PROBE_RTT`
//! (draft-ietf-ccwg-bbr 5.3).

use tidemark_core::Duration;

use super::super::{BandwidthSample, MIN_RTT_WINDOW};
use super::{AckPhase, BoundedBbr, PROBE_WAIT, State, UP_GAIN, UpEnd};
use crate::controller::Ack;

const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
const PROBE_WAIT_RANDOM: f64 = 1.0;
const PROBE_ROUNDS: f64 = 63.0;

impl BoundedBbr {
    pub(super) fn check_full_bandwidth(&mut self, sample: Option<BandwidthSample>) {
        if let Some(BandwidthSample { bandwidth, limited: false }) = sample
            && self.rounds.begins()
        {
            self.full.end_round(bandwidth);
        }
    }

    pub(super) fn update_phase(&mut self, ack: &Ack, sample: Option<BandwidthSample>) {
        if self.state == State::Startup && self.full.is_reached() {
            self.state = State::Drain;
            self.forget_signals();
        }
        if self.state == State::Drain && ack.in_flight.as_f64() <= self.inflight(self.max_bw.get(), 1.0) {
            self.start_down(ack);
        }
        if !self.full.is_reached() {
            return;
        }
        self.adapt_long_term(ack, sample);
        match self.state {
            State::Down => self.check_drained(ack),
            State::Cruise => {
                self.start_probe_if_due(ack);
            }
            State::Refill if self.rounds.begins() => {
                self.probe_samples = true;
                self.start_up(ack, sample);
            }
            State::Up => self.check_up_done(ack, sample),
            _ => {}
        }
    }

    pub(super) fn check_drained(&mut self, ack: &Ack) {
        let in_flight = ack.in_flight.as_f64();
        let drained = in_flight <= self.inflight_with_headroom() && in_flight <= self.inflight(self.max_bw.get(), 1.0);
        if !self.start_probe_if_due(ack) && drained {
            self.inflight_short = self.inflight_short.min(self.inflight_long);
            self.state = State::Cruise;
        }
    }

    pub(super) fn check_up_done(&mut self, ack: &Ack, sample: Option<BandwidthSample>) {
        let at_limit = ack.window_limited && self.window >= self.inflight_long;
        if self.previous_too_high && ack.in_flight.as_f64() >= self.inflight_long {
            self.stopped_risky_probe = true;
        } else if self.constants.up_end == UpEnd::Flight {
            let long_enough = self.min_rtt.has_passed(self.phase_start, ack.now);
            if !long_enough || ack.prior_in_flight.as_f64() < self.inflight(self.max_bw.get(), UP_GAIN) {
                return;
            }
        } else if at_limit {
            // The flight is held back by its own bound: that the bandwidth does not grow proves nothing.
            self.full.restart(sample.map_or(0.0, |sample| sample.bandwidth));
            return;
        } else if !self.full.is_now() {
            return;
        }
        self.previous_too_high = false;
        self.start_down(ack);
    }

    pub(super) fn start_down(&mut self, ack: &Ack) {
        self.forget_signals();
        self.probe_up_count = f64::INFINITY;
        self.rounds_since_probe = u64::from(self.stream.uniform() < 0.5);
        self.probe_wait = PROBE_WAIT + Duration::from_secs_f64(PROBE_WAIT_RANDOM * self.stream.uniform());
        self.phase_start = ack.now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.rounds.restart(ack.delivered);
        self.state = State::Down;
    }

    /// Ends a probe: its losses and marks must not count against what follows.
    fn forget_signals(&mut self) {
        self.loss_in_round = false;
        self.ecn_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    pub(super) fn start_refill(&mut self, ack: &Ack) {
        self.bw_short = f64::INFINITY;
        self.inflight_short = f64::INFINITY;
        self.probe_up_rounds = 0;
        self.probe_up_acked = 0.0;
        self.stopped_risky_probe = false;
        self.ack_phase = AckPhase::Refilling;
        self.rounds.restart(ack.delivered);
        self.state = State::Refill;
    }

    pub(super) fn start_up(&mut self, ack: &Ack, sample: Option<BandwidthSample>) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.rounds.restart(ack.delivered);
        self.full.restart(sample.map_or(0.0, |sample| sample.bandwidth));
        self.phase_start = ack.now;
        self.state = State::Up;
        self.raise_slope();
    }

    /// True after the wait, or when Reno would have grown by as many segments as fit (draft 5.3.3.5.3).
    pub(super) fn start_probe_if_due(&mut self, ack: &Ack) -> bool {
        let reno = (self.target_inflight() / self.sizes.mss).min(PROBE_ROUNDS);
        let due = ack.now.since(self.phase_start) > self.probe_wait || self.rounds_since_probe as f64 >= reno;
        if due {
            self.start_refill(ack);
        }
        due
    }

    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        let due = self.probe_rtt_min.update(ack.now, PROBE_RTT_INTERVAL, ack.rtt, ack.now);
        self.min_rtt.update(ack.now, MIN_RTT_WINDOW, self.probe_rtt_min.get(), self.probe_rtt_min.at());
        let may_probe = self.probe_rtt.may_begin(ack);
        if self.state != State::ProbeRtt && due && may_probe {
            self.save_window();
            self.state = State::ProbeRtt;
            self.probe_rtt.begin();
            self.ack_phase = AckPhase::ProbeStopping;
            self.rounds.restart(ack.delivered);
        }
        if self.state == State::ProbeRtt {
            let target = self.probe_rtt_window();
            if self.probe_rtt.on_ack(ack, &mut self.rounds, target) {
                self.end_probe_rtt(ack);
            }
        }
    }

    pub(super) fn probe_rtt_window(&self) -> f64 {
        self.bdp(self.bw(), 0.5).max(self.floor())
    }

    fn end_probe_rtt(&mut self, ack: &Ack) {
        self.probe_rtt_min.confirm(ack.now);
        self.window = self.window.max(self.prior_window);
        self.bw_short = f64::INFINITY;
        self.inflight_short = f64::INFINITY;
        if self.full.is_reached() {
            self.start_down(ack);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
