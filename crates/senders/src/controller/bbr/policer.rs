//! BBR version 1's view of token-bucket policers.

use tidemark_core::{Bytes, Duration, Instant};

use super::Rounds;
use crate::controller::Ack;

/// `lt_bw`: finds out a token-bucket policer by its steady losses, and keeps to its rate for 48 rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    rounds: u32,
    delivered: Bytes,
    lost: Bytes,
    since: Instant,
    rate: f64,
    in_use: bool,
    lost_total: Bytes,
}

impl Policer {
    const MIN_ROUNDS: u32 = 4;
    const LOSS: f64 = 50.0 / 256.0;
    const RATIO: f64 = 1.0 / 8.0;
    /// 4 kbit/s.
    const DIFFERENCE: f64 = 500.0;
    const USE_ROUNDS: u32 = 48;

    pub(super) fn bandwidth(&self) -> Option<f64> {
        self.in_use.then_some(self.rate)
    }

    pub(super) fn start_interval_if_idle(&mut self) {
        self.sampling = true;
        self.rounds = 0;
    }

    pub(super) fn reset_interval(&mut self, ack: &Ack) {
        self.since = ack.now;
        self.delivered = ack.delivered;
        self.lost = self.lost_total;
        self.rounds = 0;
    }

    pub(super) fn reset(&mut self, ack: &Ack) {
        *self = Self { lost_total: self.lost_total, ..Self::default() };
        self.reset_interval(ack);
    }

    /// Counts a round with a policer in use. After 48 rounds it may be gone, and the path is measured anew.
    fn age(&mut self, ack: &Ack, round_begins: bool) {
        self.rounds += u32::from(round_begins);
        if self.rounds >= Self::USE_ROUNDS {
            self.reset(ack);
        }
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, rounds: Rounds, limited: bool, probing_bw: bool) {
        self.lost_total += ack.lost;
        // A policer that was found is not looked for.
        if self.in_use {
            self.age(ack, probing_bw && rounds.begins());
            return;
        }
        // A full bucket lets all pass: its rate shows only from a loss on.
        if !self.sampling {
            if ack.lost == Bytes::ZERO {
                return;
            }
            self.reset_interval(ack);
            self.sampling = true;
        }
        // An application that sends too little never empties the bucket.
        if limited {
            self.reset(ack);
            return;
        }
        self.rounds += u32::from(rounds.begins());
        // Too short for an average: a burst of losses is no policer.
        if self.rounds < Self::MIN_ROUNDS {
            return;
        }
        // So long without the losses of a policer: there is none to find.
        if self.rounds > 4 * Self::MIN_ROUNDS {
            self.reset(ack);
            return;
        }
        // The interval ends with a loss, when the bucket is empty.
        if ack.lost == Bytes::ZERO {
            return;
        }
        let (lost, delivered) = (self.lost_total - self.lost, ack.delivered - self.delivered);
        // Fewer losses than a policer makes: the interval goes on.
        if delivered == Bytes::ZERO || lost.as_f64() < Self::LOSS * delivered.as_f64() {
            return;
        }
        let time = ack.now.since(self.since);
        // Too short a time to divide by.
        if time < Duration::from_millis(1) {
            return;
        }
        let rate = delivered.as_f64() / time.as_secs_f64();
        let difference = (rate - self.rate).abs();
        // Two intervals agree: chance losses would not give the same rate twice.
        if self.rate > 0.0 && (difference <= Self::RATIO * self.rate || difference <= Self::DIFFERENCE) {
            self.rate = (rate + self.rate) / 2.0;
            self.in_use = true;
            self.rounds = 0;
        } else {
            self.rate = rate;
            self.reset_interval(ack);
        }
    }
}
