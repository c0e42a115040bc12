//! SCReAM version 2's view of the queue delay: its average, virtual marks and jitter.

use tidemark_core::Instant;

use super::QueueDelay;
use super::jitter::Jitter;
use crate::media::Feedback;

const QDELAY_AVG_G: f64 = 0.25;

/// Queue delay of late, in seconds.
#[derive(Clone, Debug)]
pub(super) struct DelayAverage {
    /// Delay that is aimed at.
    target: f64,
    measurement: QueueDelay,
    latest: f64,
    average: f64,
    at: Instant,
    jitter: Option<Jitter>,
}

impl DelayAverage {
    pub(super) fn new(target: f64, reduce_jitter: bool) -> Self {
        Self {
            target,
            measurement: QueueDelay::new(),
            latest: 0.0,
            average: 0.0,
            at: Instant::ZERO,
            jitter: reduce_jitter.then(Jitter::new),
        }
    }

    /// Takes in a report; `interval` is the least time between two steps of the average, in seconds.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>, interval: f64) {
        self.latest = self.measurement.on_feedback(feedback);
        if let Some(jitter) = &mut self.jitter {
            jitter.on_delay(self.latest, self.target);
        }
        if feedback.now.since(self.at).as_secs_f64() >= interval {
            self.at = feedback.now;
            self.step();
        }
    }

    /// Down at once, up by a quarter.
    fn step(&mut self) {
        let gain = if self.latest < self.average { 1.0 } else { QDELAY_AVG_G };
        self.average += gain * (self.latest - self.average);
        if let Some(jitter) = &mut self.jitter {
            jitter.end_interval();
        }
    }

    pub(super) fn target(&self) -> f64 {
        self.target
    }

    pub(super) fn latest(&self) -> f64 {
        self.latest
    }

    /// Virtual marked share: 0 up to half of the target, 1 from the target on.
    pub(super) fn virtual_alpha(&self) -> f64 {
        let half = self.target / 2.0;
        ((self.average - half) / half).clamp(0.0, 1.0)
    }

    /// Scale of increases and decreases: 1 for a steady delay, 0 for one that varies; 1 where jitter is not asked about.
    pub(super) fn scale(&self) -> f64 {
        self.jitter.as_ref().map_or(1.0, Jitter::scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_marks_begin_at_half_the_target() {
        let alpha = |delay: f64, steps| {
            let mut average = DelayAverage::new(0.06, false);
            average.latest = delay;
            (0..steps).for_each(|_| average.step());
            average.virtual_alpha()
        };
        assert_eq!((alpha(0.03, 100), alpha(0.1, 100)), (0.0, 1.0));
        assert!((alpha(0.045, 100) - 0.5).abs() < 1e-9);
        assert_eq!(alpha(0.1, 1), 0.0, "one high delay is a quarter of it");
    }
}
