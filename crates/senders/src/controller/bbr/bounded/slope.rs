//! The growth of the long-term bound during `PROBE_UP` (draft-ietf-ccwg-bbr-06 5.3.3.5, 5.3.3.9).

/// Segments by which the bound grows in a round: 1, 2, 4, and so on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slope {
    mss: f64,
    rounds: u32,
    acked: f64,
    /// Bytes that must be acknowledged for one more segment.
    per_segment: f64,
}

impl Slope {
    pub(super) fn new(mss: f64) -> Self {
        Self { mss, rounds: 0, acked: 0.0, per_segment: f64::INFINITY }
    }

    /// Begins with one segment a round again.
    pub(super) fn restart(&mut self) {
        self.rounds = 0;
        self.acked = 0.0;
    }

    pub(super) fn stop(&mut self) {
        self.per_segment = f64::INFINITY;
    }

    /// Doubles the growth of each round, of `window` bytes.
    pub(super) fn steepen(&mut self, window: f64) {
        let growth = self.mss * f64::from(1u32 << self.rounds.min(30));
        self.rounds = (self.rounds + 1).min(30);
        self.per_segment = (window * self.mss / growth).max(self.mss);
    }

    /// Counts acknowledged bytes; the segments by which the bound grows.
    pub(super) fn on_acked(&mut self, acked: f64) -> f64 {
        self.acked += acked;
        if self.acked < self.per_segment {
            return 0.0;
        }
        let segments = libm::floor(self.acked / self.per_segment);
        self.acked -= segments * self.per_segment;
        segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_doubles_each_round_up_to_a_segment_for_a_segment() {
        let mut slope = Slope::new(1000.0);
        slope.restart();
        let round = |slope: &mut Slope| -> f64 {
            slope.steepen(8000.0);
            (0..8).map(|_| slope.on_acked(1000.0)).sum()
        };
        let growth: Vec<f64> = (0..5).map(|_| round(&mut slope)).collect();
        assert_eq!(growth, [1.0, 2.0, 4.0, 8.0, 8.0]);
        slope.stop();
        assert_eq!(slope.on_acked(1e9), 0.0);
    }
}
