//! Time for which a DRB had nothing to send while its cell had room: the throughput that a queue too short has cost.
//!
//! An empty queue alone is no loss: in a full cell the others take its slots. So the DRBs of a cell share a count of those that have a
//! queue, and time counts while nobody else has one. Two kinds of time do:
//!
//! - from the report after which nothing is queued to the next SDU;
//! - the part of an inconclusive stretch ([`busy`](crate::busy)) that its bytes don't explain at the egress rate. With reports every 10 ms a queue runs empty between
//!   two of them, and nobody says when.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU32, Ordering};

use tidemark_core::{Duration, Instant};

use crate::egress::Egress;

/// Longest idle time that counts at once: a sender that pauses for longer has nothing to send.
const LONGEST: Duration = Duration::from_millis(200);

/// Count of the DRBs of a cell that have a queue, shared by their markers, on any thread. Whoever knows the cells of its DRBs gives each
/// marker its cell's ([`DrbMarker::join_cell`](crate::DrbMarker::join_cell)); a marker without one takes itself to be alone.
// Relaxed suffices: a count that is late by a packet is as good.
#[derive(Clone, Debug, Default)]
pub struct CellLoad(Arc<AtomicU32>);

impl CellLoad {
    /// Number of DRBs that have a queue.
    pub fn queues(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
    /// True while a marker has joined the cell, or somebody else has the same count.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
    fn enter(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn leave(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Starvation of one DRB.
pub(crate) struct Starvation {
    /// Time since which nothing is queued; `None` while something is, which the cell counts.
    empty_since: Option<Instant>,
    cell: CellLoad,
}

impl Starvation {
    pub(crate) fn new() -> Self {
        Self { empty_since: Some(Instant::ZERO), cell: CellLoad::default() }
    }

    pub(crate) fn cell(&self) -> &CellLoad {
        &self.cell
    }

    /// Moves to a cell.
    pub(crate) fn join(&mut self, cell: &CellLoad) {
        if self.empty_since.is_none() {
            self.cell.leave();
            cell.enter();
        }
        self.cell = cell.clone();
    }

    /// A queue begins to stand. Seconds that were lost until then.
    pub(crate) fn begin(&mut self, now: Instant) -> f64 {
        let Some(since) = self.empty_since.take() else { return 0.0 };
        let lost = if self.cell.queues() == 0 { now.since(since).min(LONGEST).as_secs_f64() } else { 0.0 };
        self.cell.enter();
        lost
    }

    /// Nothing is queued any more.
    pub(crate) fn end(&mut self, now: Instant) {
        if self.empty_since.is_none() {
            self.empty_since = Some(now);
            self.cell.leave();
        }
    }

    /// A stretch of `span` in which the queue ran empty and `bytes` left. Seconds that were lost in it; less than nothing makes up for
    /// what was too much before.
    pub(crate) fn ran_empty(&self, span: Duration, bytes: u64, egress: Option<Egress>) -> f64 {
        let others = self.cell.queues() - u32::from(self.empty_since.is_none());
        let rate = egress.map_or(0.0, |egress| egress.rate.as_bytes_per_sec());
        if others == 0 && rate > 0.0 { span.min(LONGEST).as_secs_f64() - bytes as f64 / rate } else { 0.0 }
    }
}

impl Drop for Starvation {
    fn drop(&mut self) {
        if self.empty_since.is_none() {
            self.cell.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::BitRate;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn idle_time_counts_while_nobody_else_has_a_queue() {
        let cell = CellLoad::default();
        let (mut a, mut b) = (Starvation::new(), Starvation::new());
        for drb in [&mut a, &mut b] {
            drb.join(&cell);
        }
        assert_eq!(a.begin(ms(0)), 0.0);
        a.end(ms(10));
        assert!((a.begin(ms(30)) - 0.020).abs() < 1e-12);
        b.begin(ms(40));
        a.end(ms(50));
        assert_eq!(a.begin(ms(70)), 0.0);
        // A pause of a second is the sender's, but for the first 200 ms.
        for drb in [&mut a, &mut b] {
            drb.end(ms(80));
        }
        assert!((a.begin(ms(1_080)) - 0.200).abs() < 1e-12);
    }

    #[test]
    fn a_stretch_counts_for_what_its_bytes_do_not_explain() {
        let egress = Some(Egress { rate: BitRate::from_mbps(40), deviation: BitRate::ZERO });
        let mut drb = Starvation::new();
        drb.begin(ms(0));
        // 5 MB/s: 30000 bytes are 6 of 10 ms, and 15000 bytes 3.
        assert!((drb.ran_empty(Duration::from_millis(10), 30_000, egress) - 0.004).abs() < 1e-12);
        assert!((drb.ran_empty(Duration::from_millis(2), 15_000, egress) + 0.001).abs() < 1e-12);
        assert_eq!(drb.ran_empty(Duration::from_millis(10), 0, None), 0.0);
    }

    #[test]
    fn a_cell_counts_each_queue_once_wherever_it_goes() {
        let (here, there) = (CellLoad::default(), CellLoad::default());
        let mut drb = Starvation::new();
        drb.join(&here);
        drb.begin(ms(0));
        drb.begin(ms(1));
        assert_eq!((here.queues(), there.queues()), (1, 0));
        drb.join(&there);
        assert_eq!((here.queues(), there.queues()), (0, 1));
        drb.end(ms(2));
        drb.end(ms(3));
        assert_eq!(there.queues(), 0);
        drb.begin(ms(4));
        drop(drb);
        assert_eq!(there.queues(), 0);
    }
}
