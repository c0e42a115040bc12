//! Judgement of whether the pipe is full (draft-ietf-ccwg-bbr-06 5.3.1.2).

/// A bandwidth that grows by less than this factor in three rounds is full.
const GROWTH: f64 = 1.25;
const ROUNDS: u32 = 3;

/// Looks for the round from which on the bandwidth grows no more.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullBandwidth {
    /// Bandwidth that further growth is measured from, in bytes a second.
    base: f64,
    rounds: u32,
    now: bool,
    reached: bool,
}

impl FullBandwidth {
    /// Takes in the bandwidth of a round that the application did not limit.
    pub(super) fn end_round(&mut self, bandwidth: f64) {
        // It is known already; a restart asks anew.
        if self.now {
            return;
        }
        // It grew: the pipe was not full, and the rounds are counted from here.
        if bandwidth >= self.base * GROWTH {
            self.restart(bandwidth);
            return;
        }
        self.rounds += 1;
        self.now = self.rounds >= ROUNDS;
        self.reached |= self.now;
    }

    /// Looks for growth from `bandwidth` on.
    pub(super) fn restart(&mut self, bandwidth: f64) {
        *self = Self { base: bandwidth, reached: self.reached, ..Self::default() };
    }

    /// Declares the pipe full because of losses or marks.
    pub(super) fn reach(&mut self) {
        self.reached = true;
    }

    /// True if the bandwidth has grown no more since the last restart.
    pub(super) fn is_now(&self) -> bool {
        self.now
    }

    /// True once the pipe has been full.
    pub(super) fn is_reached(&self) -> bool {
        self.reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rounds_without_growth_are_full_until_a_restart() {
        let mut full = FullBandwidth::default();
        for bandwidth in [100.0, 200.0, 240.0, 260.0, 300.0, 310.0] {
            full.end_round(bandwidth);
            assert!(!full.is_now(), "grown by a quarter at 200 and at 260");
        }
        full.end_round(320.0);
        assert!(full.is_now() && full.is_reached());
        full.restart(320.0);
        assert!(!full.is_now() && full.is_reached(), "has been full nonetheless");
    }
}
