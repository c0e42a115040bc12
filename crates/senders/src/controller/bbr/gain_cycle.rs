//! The eight phases in which version 1 probes for bandwidth (`bbr_update_cycle_phase`).

use tidemark_core::{Instant, Stream};

const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// Phase of the cycle, and the time at which it began.
#[derive(Clone, Debug)]
pub(super) struct GainCycle {
    stream: Stream,
    phase: usize,
    start: Instant,
}

impl GainCycle {
    /// A cycle whose first phases are drawn from `stream`.
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, phase: 0, start: Instant::ZERO }
    }

    /// Begins at a random phase, but not the one that drains.
    pub(super) fn begin(&mut self, now: Instant) {
        let draw = (self.stream.uniform() * 7.0) as usize;
        self.phase = (GAINS.len() - draw) % GAINS.len();
        self.start = now;
    }

    pub(super) fn advance(&mut self, now: Instant) {
        self.phase = (self.phase + 1) % GAINS.len();
        self.start = now;
    }

    pub(super) fn gain(&self) -> f64 {
        GAINS[self.phase]
    }

    /// True in the phase that probes for more.
    pub(super) fn is_probing(&self) -> bool {
        self.phase == 0
    }

    pub(super) fn start(&self) -> Instant {
        self.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_begins_anywhere_but_in_the_phase_that_drains() {
        let mut cycle = GainCycle::new(Stream::new(1, 0, "bbr"));
        let mut gains = [0; 3];
        for _ in 0..700 {
            cycle.begin(Instant::ZERO);
            gains[if cycle.is_probing() { 0 } else { 1 + usize::from(cycle.gain() < 1.0) }] += 1;
        }
        assert!((70..130).contains(&gains[0]) && gains[2] == 0, "{gains:?}");
        // A whole cycle takes as much as it gives.
        let sum: f64 = (0..8).map(|_| (cycle.advance(Instant::ZERO), cycle.gain()).1).sum();
        assert_eq!(sum, 8.0);
    }
}
