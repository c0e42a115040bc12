//! Round trips, counted by data (draft-ietf-ccwg-bbr-06 5.5.1).

use tidemark_core::Bytes;

use crate::controller::Ack;

/// Tells round trips apart by what had been delivered when acknowledged segments were sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    next: Bytes,
    begins: bool,
}

impl Rounds {
    pub(super) fn on_ack(&mut self, ack: &Ack) {
        self.begins = ack.acked > Bytes::ZERO && ack.prior_delivered >= self.next;
        // The next round begins with an acknowledgement of what is sent from here on.
        if self.begins {
            self.next = ack.delivered;
        }
    }
    /// Begins the next round when what is sent from now on is acknowledged.
    pub(super) fn restart(&mut self, delivered: Bytes) {
        self.next = delivered;
    }
    /// True if the present acknowledgement begins a round.
    pub(super) fn begins(&self) -> bool {
        self.begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_begins_when_data_sent_in_it_is_acknowledged() {
        let mut rounds = Rounds::default();
        let mut begins = |prior_delivered, delivered| {
            rounds.on_ack(&Ack {
                acked: Bytes(1),
                prior_delivered: Bytes(prior_delivered),
                delivered: Bytes(delivered),
                ..Ack::default()
            });
            rounds.begins()
        };
        assert!(begins(0, 10));
        assert!(!begins(9, 20), "sent in the round before");
        assert!(begins(10, 30));
        rounds.restart(Bytes(100));
        rounds.on_ack(&Ack { acked: Bytes(1), prior_delivered: Bytes(99), ..Ack::default() });
        assert!(!rounds.begins(), "sent before the restart");
    }
}
