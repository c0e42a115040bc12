//! Congestion signals of a round trip (draft-ietf-ccwg-bbr-06 5.5.10.3).

use tidemark_core::Bytes;

use super::super::BandwidthSample;
use crate::controller::Ack;

/// Losses, marks, and the most that was delivered, since the round began. A round's first loss begins it anew.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signals {
    round_end: Bytes,
    begins: bool,
    lost: bool,
    marked: bool,
    bandwidth: f64,
    inflight: f64,
}

impl Signals {
    /// Takes in a loss; true for the round's first.
    pub(super) fn on_lost(&mut self, delivered: Bytes) -> bool {
        let is_first = !self.lost;
        if is_first {
            self.round_end = delivered;
        }
        self.lost = true;
        is_first
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, sample: Option<BandwidthSample>) {
        self.marked |= ack.marked_packets > 0;
        self.begins = ack.acked > Bytes::ZERO && ack.prior_delivered >= self.round_end;
        // An acknowledgement without a sample shows no delivery.
        if let (Some(sample), Some(rate)) = (sample, ack.rate) {
            self.bandwidth = self.bandwidth.max(sample.bandwidth);
            self.inflight = self.inflight.max(rate.delivered.as_f64());
        }
        // The next round ends with an acknowledgement of what is sent from here on.
        if self.begins {
            self.round_end = ack.delivered;
        }
    }

    /// True if the present acknowledgement ends one round and begins the next.
    pub(super) fn round_begins(&self) -> bool {
        self.begins
    }

    /// Forgets losses and marks of the round that has ended.
    pub(super) fn end_round(&mut self) {
        self.lost = false;
        self.marked = false;
    }

    /// Begins the maxima of a round with its first acknowledgement.
    pub(super) fn begin_round(&mut self, ack: &Ack, sample: Option<BandwidthSample>) {
        self.bandwidth = sample.map_or(0.0, |sample| sample.bandwidth);
        self.inflight = ack.rate.map_or(0.0, |rate| rate.delivered.as_f64());
    }

    /// Forgets everything: what a probe met must not count against what follows.
    pub(super) fn forget(&mut self) {
        *self = Self { round_end: self.round_end, begins: self.begins, ..Self::default() };
    }

    pub(super) fn forget_losses(&mut self) {
        self.lost = false;
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost
    }

    pub(super) fn is_marked(&self) -> bool {
        self.marked
    }

    /// Largest bandwidth of the round, in bytes a second: `bw_latest`.
    pub(super) fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// Most that was delivered over one segment's flight, in bytes: `inflight_latest`.
    pub(super) fn inflight(&self) -> f64 {
        self.inflight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_loss_begins_a_round_that_ends_with_what_is_sent_after_it() {
        let mut signals = Signals::default();
        assert!(signals.on_lost(Bytes(1000)) && !signals.on_lost(Bytes(2000)));
        let ack =
            |prior| Ack { acked: Bytes(1), prior_delivered: Bytes(prior), delivered: Bytes(3000), ..Ack::default() };
        signals.on_ack(&ack(999), None);
        assert!(!signals.round_begins());
        signals.on_ack(&ack(1000), None);
        assert!(signals.round_begins() && signals.is_lost());
        signals.end_round();
        signals.on_ack(&ack(2999), None);
        assert!(!signals.round_begins() && !signals.is_lost());
    }
}
