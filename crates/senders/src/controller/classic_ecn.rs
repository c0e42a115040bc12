//! Detection of the kind of AQM that marks: Prague's passive detection of a classic AQM (RFC 3168), with the constants
//! of Linux `tcp_prague` (module version 0.6). arXiv:1911.00710 gives the reasons.
//!
//! A classic AQM lets a queue of many milliseconds build up and vary, an L4S one keeps it about a millisecond. Each
//! round trip moves a score by how much the round trip varies and by how deep the queue is, both as logarithms: the
//! first up or down, the second only up. Linux keeps the remainders of integer logarithms; this code uses fractions.

use tidemark_core::Duration;

/// Weights of the variation and of the queue's depth.
const VARIATION_WEIGHT: f64 = 0.5;
const DEPTH_WEIGHT: f64 = 0.5;
/// Deviation and depth beyond which the score rises, in microseconds.
const VARIATION: f64 = 750.0;
const DEPTH: f64 = 2000.0;
/// Score up to which the AQM counts as one for L4S; a whole point later it counts as classic.
const SURELY_L4S: f64 = 8.0;
/// The score stays where it takes as long to return as it took to get there.
const MAX_SCORE: f64 = 2.0 * SURELY_L4S + 1.0;
/// A classic reduction is this share of the window's half: about CUBIC's of 0.3.
const CLASSIC_ALPHA: f64 = 0.625;
/// Averages are over `2^shift` acknowledgements, `2^(shift + 1)` for the deviation: window^1.5, and at most this.
const MAX_SHIFT: i32 = 18;

/// The detector.
#[derive(Clone, Debug)]
pub(super) struct ClassicEcn {
    /// Slow averages of the round trip and of its deviation from that, in microseconds.
    smoothed: Option<f64>,
    deviation: f64,
    shift: i32,
    score: f64,
}

impl ClassicEcn {
    pub(super) fn new() -> Self {
        Self { smoothed: None, deviation: 1.0, shift: MAX_SHIFT, score: 0.0 }
    }

    /// A round-trip time.
    pub(super) fn sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs_f64() * 1e6;
        let smoothed = self.smoothed.get_or_insert(rtt);
        let gain = libm::ldexp(1.0, -self.shift);
        let error = rtt - *smoothed;
        *smoothed += gain * error;
        self.deviation += gain / 2.0 * (error.abs() - self.deviation);
    }

    /// The window is about to be reduced; the averages take as long as it takes to grow back from `threshold` segments.
    pub(super) fn on_reduction(&mut self, threshold: f64) {
        let power = libm::floor(libm::log2(threshold.clamp(1.0, 1e6))) as i32;
        self.shift = (power + power / 2 + 1).min(MAX_SHIFT);
    }

    /// A round has ended in which marks were averaged.
    pub(super) fn end_round(&mut self, min_rtt: Duration) {
        let Some(smoothed) = self.smoothed else { return };
        let depth = smoothed - min_rtt.as_secs_f64() * 1e6;
        self.score += VARIATION_WEIGHT * libm::log2(self.deviation.max(1.0) / VARIATION)
            + DEPTH_WEIGHT * libm::log2((depth / DEPTH).max(1.0));
        self.score = self.score.clamp(0.0, MAX_SCORE);
    }

    /// The least marked share to reduce by: 0 behind an L4S AQM, 0.625 behind a classic one.
    pub(super) fn least_alpha(&self) -> f64 {
        CLASSIC_ALPHA * (self.score - SURELY_L4S).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs this many rounds of 64 round trips of 20 ms and a queue that swings between `low` and `high` microseconds.
    fn after(rounds: u32, low: u64, high: u64) -> ClassicEcn {
        let mut detector = ClassicEcn::new();
        detector.sample(Duration::from_millis(20));
        detector.on_reduction(64.0);
        for round in 0..rounds {
            for _ in 0..64 {
                let queue = if round / 8 % 2 == 0 { low } else { high };
                detector.sample(Duration::from_micros(20_000 + queue));
            }
            detector.end_round(Duration::from_millis(20));
        }
        detector
    }

    #[test]
    fn a_shallow_queue_is_l4s_and_a_deep_one_that_varies_is_classic() {
        assert_eq!(after(400, 200, 1200).least_alpha(), 0.0);
        assert_eq!(after(400, 8000, 22_000).least_alpha(), 0.625);
        assert_eq!(after(5, 8000, 22_000).least_alpha(), 0.0, "it takes its time");
    }

    #[test]
    fn it_changes_its_mind() {
        let mut detector = after(400, 8000, 22_000);
        for _ in 0..400 {
            for _ in 0..64 {
                detector.sample(Duration::from_micros(20_500));
            }
            detector.end_round(Duration::from_millis(20));
        }
        assert_eq!(detector.least_alpha(), 0.0);
    }
}
