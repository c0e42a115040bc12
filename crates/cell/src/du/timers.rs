//! Timers, which do not end at slot boundaries.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use tidemark_core::{BitRate, Instant};
use tidemark_wire::mac::Direction;

use crate::index::{DrbIndex, UeDrbs};

/// A rare event; each belongs to a bearer.
#[derive(Debug)]
pub(crate) enum Timer {
    /// One of RLC's timers or t-Reordering may have ended.
    Rlc,
    /// One of RLC's timers of the uplink, at either end, may have ended.
    UplinkRlc,
    /// The discardTimer of the first SDU that waits may have ended.
    Discard(Direction),
    /// The pacer checks what waits above PDCP.
    Pacer,
    /// The period of delivery statuses ends.
    Report,
    /// The CU's request for a delivery status reaches the DU.
    Poll,
    /// A window of the bit rate estimate ends.
    Window(Direction),
    /// A bit rate query may be sent.
    Query(Direction),
    /// A bit rate recommendation reaches the UE: its octets, and the rate where it is not rounded to the table.
    Recommendation([u8; 3], Option<BitRate>),
}

#[derive(Debug)]
struct Entry {
    at: Instant,
    sequence: u64,
    drb: DrbIndex,
    timer: Timer,
}

/// Timers in the order of their times; of one time, in the order of their setting. They also give the time of the DU's next event.
#[derive(Debug)]
pub(crate) struct Timers {
    /// Timers that end after all that were set before them, as most do.
    queue: VecDeque<Entry>,
    /// The others.
    heap: BinaryHeap<Entry>,
    sequence: u64,
    /// Not later than when something happens next, of timers or of anything else.
    deadline: Instant,
}

impl Timers {
    pub(crate) fn new() -> Self {
        Self { queue: VecDeque::new(), heap: BinaryHeap::new(), sequence: 0, deadline: Instant::FAR }
    }
    /// Sets a timer, and moves the deadline to it if it is the first.
    pub(crate) fn set(&mut self, at: Instant, drb: DrbIndex, timer: Timer) {
        self.sequence += 1;
        let entry = Entry { at, sequence: self.sequence, drb, timer };
        if self.queue.back().is_none_or(|last| last.at <= at) {
            self.queue.push_back(entry);
        } else {
            self.heap.push(entry);
        }
        self.wake(at);
    }
    /// Time no later than the next event; `FAR` if there is none.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }
    /// Moves the deadline to this time, unless it is earlier already.
    pub(crate) fn wake(&mut self, at: Instant) {
        self.deadline = self.deadline.min(at);
    }
    /// Finds the next deadline: of a timer, or `others` of everything else.
    pub(crate) fn plan(&mut self, others: Instant) {
        self.deadline = self.next().map_or(others, |timer| timer.min(others));
    }
    pub(crate) fn next(&self) -> Option<Instant> {
        // The greatest is the earliest.
        self.queue.front().max(self.heap.peek()).map(|entry| entry.at)
    }
    /// The next timer that is due.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(DrbIndex, Timer)> {
        let (first, other) = (self.queue.front(), self.heap.peek());
        // The greatest is the earliest: if its time has not come, nor has any other's.
        let entry = if first.max(other)?.at > now {
            None
        } else if first > other {
            // Most timers are set in order and wait in the queue; the heap has the others.
            self.queue.pop_front()
        } else {
            self.heap.pop()
        };
        entry.map(|entry| (entry.drb, entry.timer))
    }
    /// Number of timers that are set to discard something.
    #[cfg(test)]
    pub(crate) fn discards(&self) -> usize {
        let timers = self.queue.iter().chain(&self.heap);
        timers.filter(|entry| matches!(entry.timer, Timer::Discard(_))).count()
    }
    /// Drops the timers of some bearers.
    pub(crate) fn forget(&mut self, drbs: UeDrbs) {
        self.queue.retain(|entry| !drbs.contains(entry.drb));
        self.heap.retain(|entry| !drbs.contains(entry.drb));
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        // A heap's greatest is the earliest.
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Entry {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_in_order_and_only_when_due() {
        let mut timers = Timers::new();
        for (ms, drb) in [(3, 0), (1, 1), (1, 2)].map(|(ms, drb)| (ms, DrbIndex(drb))) {
            timers.set(Instant::from_millis(ms), drb, Timer::Report);
        }
        let now = Instant::from_millis(2);
        let due: Vec<_> = std::iter::from_fn(|| timers.pop(now).map(|(drb, _)| drb)).collect();
        assert_eq!(due, [1, 2].map(DrbIndex));
        assert_eq!(timers.next(), Some(Instant::from_millis(3)));
    }
}
