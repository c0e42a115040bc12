//! Average of the marked share of bytes, a step a round trip: the program's `l4sAlpha`.

use tidemark_core::Instant;

use crate::media::Feedback;

const GAIN: f64 = 1.0 / 8.0;

/// Average, and the bytes since its last step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MarkedShare {
    alpha: f64,
    delivered: f64,
    marked: f64,
    at: Instant,
}

impl MarkedShare {
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>, round_trip: f64) {
        let (delivered, marked) = feedback.delivered();
        self.delivered += delivered.as_f64();
        self.marked += marked.as_f64();
        // Once a round trip, so that an answer shows in the next share.
        if feedback.now.since(self.at).as_secs_f64() > round_trip {
            self.at = feedback.now;
            self.step();
        }
    }

    fn step(&mut self) {
        // Nothing arrived that could have been marked: the average stays.
        if self.delivered > 0.0 {
            self.alpha += GAIN * (self.marked / self.delivered - self.alpha);
            (self.delivered, self.marked) = (0.0, 0.0);
        }
    }

    pub(super) fn alpha(&self) -> f64 {
        self.alpha
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_rises_and_falls_by_an_eighth() {
        let mut share = MarkedShare { delivered: 4_000.0, marked: 1_000.0, ..MarkedShare::default() };
        share.step();
        assert_eq!(share.alpha(), 0.031_25);
        // Nothing arrived: nothing is known.
        share.step();
        assert_eq!(share.alpha(), 0.031_25);
        share.delivered = 1_000.0;
        share.step();
        assert_eq!(share.alpha(), 0.031_25 * 7.0 / 8.0);
    }
}
