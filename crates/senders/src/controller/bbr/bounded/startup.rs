//! Losses and marks that end `STARTUP` (draft-ietf-ccwg-bbr-06 5.3.1.3).

use super::LOSS_THRESHOLD;
use crate::controller::Ack;

/// Marked share of a round that counts.
const MARKED_SHARE: f64 = 0.5;
const MARKED_ROUNDS: u32 = 2;

/// Counters of what says that the flight is too high.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StartupSignals {
    /// Segments lost in this round.
    lost_segments: u32,
    /// Rounds that the present recovery has lasted.
    recovery_rounds: u32,
    /// Rounds in a row of which so much was marked.
    marked_rounds: u32,
}

impl StartupSignals {
    pub(super) fn on_lost(&mut self) {
        self.lost_segments += 1;
    }

    pub(super) fn on_round(&mut self, is_repairing: bool) {
        // A recovery that has just begun has not shown whether losses go on.
        self.recovery_rounds = if is_repairing { self.recovery_rounds + 1 } else { 0 };
    }

    /// Takes in the marked share of a round; true if the last ones say that the pipe is full.
    pub(super) fn on_marked_share(&mut self, share: f64) -> bool {
        self.marked_rounds = if share >= MARKED_SHARE { self.marked_rounds + 1 } else { 0 };
        self.marked_rounds >= MARKED_ROUNDS
    }

    /// Ends a round of losses; true for a share above the threshold, of `min_segments` or more, after a round of recovery.
    pub(super) fn end_loss_round(&mut self, ack: &Ack, min_segments: u32) -> bool {
        let lost_segments = std::mem::take(&mut self.lost_segments);
        let heavy = ack.rate.is_some_and(|rate| rate.lost.as_f64() > LOSS_THRESHOLD * rate.in_flight.as_f64());
        lost_segments >= min_segments && self.recovery_rounds >= 1 && heavy
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{Bytes, Duration};

    use super::*;
    use crate::controller::RateSample;

    #[test]
    fn losses_must_be_many_and_a_share() {
        let full = |segments: u32, lost| {
            let rate = RateSample {
                delivered: Bytes(50_000),
                interval: Duration::from_millis(10),
                app_limited: false,
                in_flight: Bytes(100_000),
                lost: Bytes(lost),
                marked: Bytes::ZERO,
            };
            let mut startup = StartupSignals::default();
            (0..segments).for_each(|_| startup.on_lost());
            startup.on_round(true);
            startup.end_loss_round(&Ack { rate: Some(rate), ..Ack::default() }, 6)
        };
        assert!(full(6, 2001));
        assert!(!full(5, 2001) && !full(6, 2000));
    }

    #[test]
    fn two_rounds_in_a_row_must_be_half_marked() {
        let mut startup = StartupSignals::default();
        assert_eq!([0.5, 0.4, 0.6, 0.7].map(|share| startup.on_marked_share(share)), [false, false, false, true]);
    }
}
