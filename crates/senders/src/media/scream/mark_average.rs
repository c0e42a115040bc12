//! SCReAM version 2's average of the marked share: `l4s_alpha`.

use tidemark_core::Instant;

use crate::media::Feedback;

const GAIN_UP: f64 = 1.0 / 8.0;
const GAIN_DOWN: f64 = 1.0 / 128.0;
/// Shortest time between two steps of the average, in seconds, where the round trip is not shorter.
const INTERVAL: f64 = 0.01;

/// Average, and the packets since its last step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MarkAverage {
    alpha: f64,
    arrived: f64,
    marked: f64,
    at: Instant,
}

impl MarkAverage {
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>, smoothed_rtt: f64) {
        let (arrived, marked, _) = feedback.counts();
        self.arrived += f64::from(arrived);
        self.marked += f64::from(marked);
        // Reports may be more frequent than a share of their few packets is worth.
        if self.arrived > 0.0 && feedback.now.since(self.at).as_secs_f64() >= INTERVAL.min(smoothed_rtt) {
            self.step(self.marked / self.arrived);
            *self = Self { alpha: self.alpha, at: feedback.now, ..Self::default() };
        }
    }

    /// Fast up, slowly down to nothing.
    fn step(&mut self, share: f64) {
        self.alpha = if share >= self.alpha {
            GAIN_UP * share + (1.0 - GAIN_UP) * self.alpha
        } else {
            (1.0 - GAIN_DOWN) * self.alpha
        };
    }

    pub(super) fn alpha(&self) -> f64 {
        self.alpha
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_rises_sixteen_times_as_fast_as_it_falls() {
        let mut average = MarkAverage::default();
        average.step(1.0);
        assert_eq!(average.alpha(), 0.125);
        average.step(0.0);
        assert_eq!(average.alpha(), 0.125 * 127.0 / 128.0);
    }
}
