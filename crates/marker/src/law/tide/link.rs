//! History of the link by which `tide` chooses where marks begin.

use tidemark_core::{BitRate, Duration, Instant};

use crate::starvation::CellLoad;

/// Time between two looks at the cell.
const STEP: Duration = Duration::from_millis(10);
/// Time constant of the number of queues, in seconds: that of the average rate.
const QUEUES_OVER: f64 = 0.2;

/// Deepest dip: a third of the mean rate. Of a rate that has fallen by more, and stays there, the queue would be that of the past.
const DEEPEST_DIP: f64 = 2.0;

/// Outages and mean rate of a DRB, and queues of its cell.
pub(super) struct Link {
    cell: CellLoad,
    /// Time of the last look.
    at: Instant,
    /// Time in which an outage is forgotten to `1 / e`, and over which the rate is averaged, in seconds.
    over: f64,
    /// Time for which there was a rate, up to `over`, in seconds.
    known: f64,
    /// Mean rate in bytes a second.
    rate: f64,
    dip: f64,
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
        Self {
            cell,
            at: Instant::ZERO,
            over: over.as_secs_f64(),
            known: 0.0,
            rate: 0.0,
            dip: 0.0,
            outage: 0.0,
            queues: 1.0,
            share: 1.0,
        }
    }

    /// The DRB is in this cell from now on.
    pub(super) fn join(&mut self, cell: &CellLoad) {
        self.cell = cell.clone();
    }

    /// An outage of so many seconds is over.
    pub(super) fn outage(&mut self, seconds: f64) {
        self.outage = self.outage.max(seconds);
    }

    /// Depth of the dip of the rate over a few round trips below its mean, `mean / rate - 1`, between 0 and 2.
    pub(super) fn dip(&self) -> f64 {
        self.dip
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

    /// Looks at the cell and at the rate over a few round trips every 10 ms.
    #[inline]
    pub(super) fn step(&mut self, now: Instant, rate: Option<BitRate>) {
        let past = now.since(self.at);
        if past >= STEP {
            self.at = now;
            self.look(past.as_secs_f64(), rate.map_or(0.0, BitRate::as_bytes_per_sec));
        }
    }

    #[cold]
    fn look(&mut self, past: f64, rate: f64) {
        if rate > 0.0 {
            // The plain mean at first, then one that fades.
            self.known = (self.known + past).min(self.over);
            self.rate += (rate - self.rate) * (past / self.known).min(1.0);
            self.dip = (self.rate / rate - 1.0).clamp(0.0, DEEPEST_DIP);
        }
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
        link.step(Instant::from_millis(10), None);
        link.step(Instant::from_millis(19), None);
        assert!((link.longest_outage() - 0.0999).abs() < 1e-12);
        // A thousand looks are 10 s.
        for look in 2..=1_000 {
            link.step(Instant::from_millis(10 * look), None);
        }
        assert!((link.longest_outage() * core::f64::consts::E / 0.1 - 1.0).abs() < 0.001);
        // An idle minute leaves nothing.
        link.step(Instant::from_millis(70_000), None);
        assert_eq!(link.longest_outage(), 0.0);
    }

    #[test]
    fn a_dip_is_held_against_the_mean_rate_worked_by_hand() {
        let mut link = link();
        let mut dip = |millis: u64, mbps: u64| {
            link.step(Instant::from_millis(millis), Some(BitRate::from_mbps(mbps)));
            link.dip()
        };
        // Steady for a second, as far as is known.
        for look in 1..=100 {
            assert_eq!(dip(10 * look, 40), 0.0);
        }
        // 40 - 20 * 10 / 1010 of 20 Mbit/s.
        assert!((dip(1_010, 20) - (2.0 - 1.0 / 101.0 - 1.0)).abs() < 1e-9);
        // A hundredth of the rate, and none, are no deeper than a third.
        assert_eq!(dip(1_020, 1), 2.0);
        assert_eq!(dip(1_030, 0), 2.0);
        // What is more than the mean is no dip. What lasts becomes the mean: some 40 Mbit/s are 13 once 10 s are known, and 11 another 11 s later.
        assert_eq!(dip(1_040, 80), 0.0);
        for look in 1..=2_000 {
            dip(1_040 + 10 * look, 10);
        }
        assert!((0.09..0.12).contains(&dip(21_050, 10)), "{}", link.dip());
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
        link.step(Instant::from_millis(10), None);
        assert_eq!(link.share_of_cell(), 1.0, "of the cell it has not joined");
        link.join(&cell);
        // 1 + 15 * 10 / 200 queues.
        link.step(Instant::from_millis(20), None);
        assert!((link.share_of_cell() - 1.0 / libm::sqrt(1.75)).abs() < 1e-12);
        link.step(Instant::from_millis(220), None);
        assert_eq!(link.share_of_cell(), 0.25);
        // Alone again, whether its own queue is counted or not.
        drop(drbs);
        link.step(Instant::from_millis(420), None);
        assert_eq!(link.share_of_cell(), 1.0);
    }
}
