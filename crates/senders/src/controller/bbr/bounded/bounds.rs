//! Judgement of bandwidth and flight by losses and marks: the short-term bounds of a round, and the
//! long-term bound that probing moves (draft-ietf-ccwg-bbr 5.3.3.6, 5.5.10).

use tidemark_core::Bytes;

use super::super::BandwidthSample;
use super::{AckPhase, BoundedBbr, State};
use crate::controller::Ack;

pub(super) const BETA: f64 = 0.7;
pub(super) const LOSS_THRESHOLD: f64 = 0.02;
const ECN_GAIN: f64 = 1.0 / 16.0;
const ECN_FACTOR: f64 = 1.0 / 3.0;
const ECN_THRESHOLD: f64 = 0.5;
const ECN_STARTUP_ROUNDS: u32 = 2;

impl BoundedBbr {
    pub(super) fn update_latest(&mut self, ack: &Ack, sample: Option<BandwidthSample>) {
        self.loss_round_begins = ack.acked > Bytes::ZERO && ack.prior_delivered >= self.loss_round;
        if let (Some(BandwidthSample { bandwidth, .. }), Some(sample)) = (sample, ack.rate) {
            self.bw_latest = self.bw_latest.max(bandwidth);
            self.inflight_latest = self.inflight_latest.max(sample.delivered.as_f64());
        }
        if self.loss_round_begins {
            self.loss_round = ack.delivered;
        }
    }

    pub(super) fn update_congestion(&mut self, ack: &Ack, sample: Option<BandwidthSample>) {
        self.rounds.on_ack(ack);
        if self.rounds.begins() {
            self.rounds_since_probe += 1;
            self.rounds_repairing = if self.repairing { self.rounds_repairing + 1 } else { 0 };
            self.average_marks();
        }
        if let Some(BandwidthSample { bandwidth, limited }) = sample
            && (!limited || bandwidth >= self.max_bw.get())
        {
            self.max_bw.update(bandwidth);
        }
        if self.loss_round_begins {
            self.adapt_lower_bounds();
            self.check_startup_loss(ack);
            self.loss_in_round = false;
            self.loss_events = 0;
            self.ecn_in_round = false;
        }
    }

    /// Once a round: the average of the marked share, and in startup whether it says that the pipe is full.
    pub(super) fn average_marks(&mut self) {
        if self.acked <= 0.0 {
            return;
        }
        let share = (self.marked / self.acked).min(1.0);
        (self.marked, self.acked) = (0.0, 0.0);
        if !self.ecn_counts() {
            return;
        }
        self.alpha += ECN_GAIN * (share - self.alpha);
        self.ecn_startup_rounds = if share >= ECN_THRESHOLD { self.ecn_startup_rounds + 1 } else { 0 };
        if self.state == State::Startup && self.ecn_startup_rounds >= ECN_STARTUP_ROUNDS {
            self.leave_startup();
        }
    }

    pub(super) fn adapt_lower_bounds(&mut self) {
        if matches!(self.state, State::Startup | State::Refill | State::Up) {
            return;
        }
        let by_ecn = self.ecn_in_round && self.ecn_counts();
        if !self.loss_in_round && !by_ecn {
            return;
        }
        if self.inflight_short.is_infinite() {
            self.inflight_short = self.window;
        }
        let mut bound = f64::INFINITY;
        if by_ecn {
            bound = self.inflight_short * (1.0 - self.alpha * ECN_FACTOR);
        }
        if self.loss_in_round {
            if self.bw_short.is_infinite() {
                self.bw_short = self.max_bw.get();
            }
            self.bw_short = self.bw_latest.max(BETA * self.bw_short);
            bound = bound.min(self.inflight_latest.max(BETA * self.inflight_short));
        }
        self.inflight_short = bound.max(self.floor());
    }

    pub(super) fn check_startup_loss(&mut self, ack: &Ack) {
        let heavy = ack.rate.is_some_and(|rate| rate.lost.as_f64() > LOSS_THRESHOLD * rate.in_flight.as_f64());
        if self.state == State::Startup
            && self.loss_events >= self.constants.startup_losses
            && self.rounds_repairing >= 1
            && heavy
        {
            self.leave_startup();
        }
    }

    /// Losses or marks say that the flight is too high.
    fn leave_startup(&mut self) {
        self.full.reach();
        self.inflight_long = if self.constants.keeps_delivered {
            self.bdp(self.max_bw.get(), 1.0).max(self.inflight_latest)
        } else {
            self.inflight(self.max_bw.get(), 1.0)
        };
    }

    pub(super) fn adapt_long_term(&mut self, ack: &Ack, sample: Option<BandwidthSample>) {
        if self.ack_phase == AckPhase::ProbeStarting && self.rounds.begins() {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.rounds.begins() {
            self.probe_samples = false;
            self.ack_phase = AckPhase::Init;
            if self.is_probing_bw() && sample.is_some_and(|sample| !sample.limited) {
                self.max_bw.advance();
            }
            // The probe stopped as a precaution, and nothing went wrong: try again at once.
            if self.stopped_risky_probe && !self.previous_too_high && self.state == State::Down {
                self.start_refill(ack);
                return;
            }
        }
        let Some(sample) = ack.rate else { return };
        let marked = sample.marked > Bytes::ZERO
            && sample.marked.as_f64() >= ECN_THRESHOLD * sample.delivered.as_f64()
            && self.ecn_counts();
        if sample.lost.as_f64() > LOSS_THRESHOLD * sample.in_flight.as_f64() || marked {
            if self.probe_samples {
                self.too_high(ack, sample.in_flight.as_f64(), sample.app_limited);
            }
            return;
        }
        if self.inflight_long.is_infinite() {
            return;
        }
        self.inflight_long = self.inflight_long.max(sample.in_flight.as_f64());
        if self.state == State::Up && ack.window_limited && self.window >= self.inflight_long {
            self.probe_up_acked += ack.acked.as_f64();
            if self.probe_up_acked >= self.probe_up_count {
                let steps = libm::floor(self.probe_up_acked / self.probe_up_count);
                self.probe_up_acked -= steps * self.probe_up_count;
                self.inflight_long += steps * self.sizes.mss;
            }
            if self.rounds.begins() {
                self.raise_slope();
            }
        }
    }

    pub(super) fn raise_slope(&mut self) {
        let growth = self.sizes.mss * f64::from(1u32 << self.probe_up_rounds.min(30));
        self.probe_up_rounds = (self.probe_up_rounds + 1).min(30);
        self.probe_up_count = (self.window * self.sizes.mss / growth).max(self.sizes.mss);
    }

    pub(super) fn too_high(&mut self, ack: &Ack, in_flight: f64, app_limited: bool) {
        self.probe_samples = false;
        self.previous_too_high = true;
        if !app_limited {
            self.inflight_long = in_flight.max(BETA * self.target_inflight());
        }
        if self.state == State::Up {
            self.start_down(ack);
        }
    }
}
