//! History of the link by which `tide` chooses where marks begin.

use tidemark_core::{Duration, Instant};

use crate::starvation::CellLoad;

/// Time between two looks at the cell.
const STEP: Duration = Duration::from_millis(10);
/// Time constant of the number of queues, in seconds: that of the average rate.
const QUEUES_OVER: f64 = 0.2;

/// Outages of a DRB, and queues of its cell.
pub(super) struct Link {
    cell: CellLoad,
    /// Time of the last look.
    at: Instant,
    /// Time in which an outage is forgotten to `1 / e`, in seconds.
    over: f64,
    /// Longest recent outage in seconds.
    outage: f64,
    /// DRBs of the cell that have a queue, over a few round trips.
    queues: f64,
    share: f64,
}

impl Link {
    /// A link without outages, of a DRB that is alone, which forgets in `over`.
    pub(super) fn new(over: Duration) -> Self {
        let cell = CellLoad::default();
        Self { cell, at: Instant::ZERO, over: over.as_secs_f64(), outage: 0.0, queues: 1.0, share: 1.0 }
    }

    /// The DRB is in this cell from now on.
    pub(super) fn join(&mut self, cell: &CellLoad) {
        self.cell = cell.clone();
    }

    /// An outage of so many seconds is over.
    pub(super) fn outage(&mut self, seconds: f64) {
        self.outage = self.outage.max(seconds);
    }

    /// Longest recent outage in seconds.
    pub(super) fn longest_outage(&self) -> f64 {
        self.outage
    }

    /// Queue that a DRB needs in order to keep the radio busy, in multiples of what it needs alone: `1 / sqrt(n)` beside `n - 1` others,
    /// whose windows rise and fall at other times (Appenzeller et al., Sizing Router Buffers, 2004).
    pub(super) fn share_of_cell(&self) -> f64 {
        self.share
    }

    /// Looks at the cell every 10 ms.
    #[inline]
    pub(super) fn step(&mut self, now: Instant) {
        let past = now.since(self.at);
        if past >= STEP {
            self.at = now;
            self.look(past.as_secs_f64());
        }
    }

    #[cold]
    fn look(&mut self, past: f64) {
        self.outage *= (1.0 - past / self.over).max(0.0);
        self.queues += (f64::from(self.cell.queues()).max(1.0) - self.queues) * (past / QUEUES_OVER).min(1.0);
        self.share = 1.0 / libm::sqrt(self.queues);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::starvation::Starvation;

    fn link() -> Link {
        Link::new(Duration::from_secs(10))
    }

    #[test]
    fn the_longest_outage_is_forgotten_in_its_time_worked_by_hand() {
        let mut link = link();
        link.outage(0.1);
        link.outage(0.04);
        assert_eq!(link.longest_outage(), 0.1);
        // 0.1 * (1 - 0.01 / 10); no look after 9 ms more.
        link.step(Instant::from_millis(10));
        link.step(Instant::from_millis(19));
        assert!((link.longest_outage() - 0.0999).abs() < 1e-12);
        // A thousand looks are 10 s.
        for look in 2..=1_000 {
            link.step(Instant::from_millis(10 * look));
        }
        assert!((link.longest_outage() * core::f64::consts::E / 0.1 - 1.0).abs() < 0.001);
        // An idle minute leaves nothing.
        link.step(Instant::from_millis(70_000));
        assert_eq!(link.longest_outage(), 0.0);
    }

    #[test]
    fn a_drb_among_sixteen_needs_a_quarter_after_a_few_round_trips() {
        let cell = CellLoad::default();
        let mut drbs: alloc::vec::Vec<_> = (0..16).map(|_| Starvation::new()).collect();
        for drb in &mut drbs {
            drb.join(&cell);
            drb.begin(Instant::ZERO);
        }
        let mut link = link();
        link.step(Instant::from_millis(10));
        assert_eq!(link.share_of_cell(), 1.0, "of the cell it has not joined");
        link.join(&cell);
        // 1 + 15 * 10 / 200 queues.
        link.step(Instant::from_millis(20));
        assert!((link.share_of_cell() - 1.0 / libm::sqrt(1.75)).abs() < 1e-12);
        link.step(Instant::from_millis(220));
        assert_eq!(link.share_of_cell(), 0.25);
        // Alone again, whether its own queue is counted or not.
        drop(drbs);
        link.step(Instant::from_millis(420));
        assert_eq!(link.share_of_cell(), 1.0);
    }
}
