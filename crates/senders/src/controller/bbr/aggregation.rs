//! Aggregated acknowledgements: `extra_acked` (draft-ietf-ccwg-bbr-06 5.5.9).

use tidemark_core::Instant;

use crate::controller::Ack;

/// Bytes by which acknowledgements run ahead of the bandwidth: the largest of two windows of five rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    epoch: Instant,
    acked: f64,
    extra: [f64; 2],
    rounds: u32,
}

impl Aggregation {
    const ROUNDS: u32 = 5;

    pub(super) fn restart(&mut self, now: Instant) {
        self.epoch = now;
        self.acked = 0.0;
    }
    pub(super) fn on_ack(&mut self, ack: &Ack, round_begins: bool, bandwidth: f64, window: f64) {
        // Two windows of five rounds take turns, so that no burst has to be remembered by itself.
        if round_begins {
            self.rounds += 1;
            if self.rounds >= Self::ROUNDS {
                self.rounds = 0;
                self.extra = [0.0, self.extra[0]];
            }
        }
        let mut expected = bandwidth * ack.now.since(self.epoch).as_secs_f64();
        // Acknowledgements ran no further ahead than the bandwidth: the burst, if any, is over.
        if self.acked <= expected {
            self.restart(ack.now);
            expected = 0.0;
        }
        self.acked += ack.acked.as_f64();
        self.extra[0] = self.extra[0].max((self.acked - expected).min(window));
    }
    pub(super) fn extra(&self) -> f64 {
        self.extra[0].max(self.extra[1])
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{Bytes, Duration};

    use super::*;

    #[test]
    fn a_burst_counts_for_five_to_ten_rounds() {
        let mut aggregation = Aggregation::default();
        let mut ack = Ack { now: Instant::from_millis(1000), acked: Bytes(1000), ..Ack::default() };
        aggregation.restart(ack.now);
        // 1000 bytes a millisecond as expected; then 5000 at once.
        for _ in 0..10 {
            ack.now += Duration::from_millis(1);
            aggregation.on_ack(&ack, false, 1e6, f64::INFINITY);
        }
        assert!(aggregation.extra() < 1001.0, "{}", aggregation.extra());
        aggregation.on_ack(&Ack { acked: Bytes(5000), ..ack }, false, 1e6, f64::INFINITY);
        assert!(aggregation.extra() >= 5000.0);
        let mut rounds = 0;
        while aggregation.extra() >= 5000.0 {
            ack.now += Duration::from_millis(100);
            aggregation.on_ack(&ack, true, 1e6, f64::INFINITY);
            rounds += 1;
        }
        assert!((5..=10).contains(&rounds), "{rounds}");
    }
}
