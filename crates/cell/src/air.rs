//! The air between DU and UEs: blocks that are planned, and those not yet decoded, acknowledged or received.

use std::collections::VecDeque;

use tidemark_core::Instant;

/// Queue of items of one kind that are under way on the air of a cell. All take the same time.
pub(crate) struct Air<T>(VecDeque<(Instant, T)>);

impl<T> Air<T> {
    /// Sends an item that arrives at `at`, not before items that were sent earlier.
    pub(crate) fn send(&mut self, at: Instant, sent: T) {
        self.0.push_back((at, sent));
    }

    /// Next item that has arrived, with its time.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<(Instant, T)> {
        if self.0.front().is_some_and(|(at, _)| *at <= now) { self.0.pop_front() } else { None }
    }

    /// Time at which the next item arrives; `FAR` if none is under way.
    pub(crate) fn next_deadline(&self) -> Instant {
        self.0.front().map_or(Instant::FAR, |(at, _)| *at)
    }

    /// Drops the items of a UE that leaves the cell.
    pub(crate) fn forget(&mut self, leaves: impl Fn(&T) -> bool) {
        self.0.retain(|(_, sent)| !leaves(sent));
    }
}

impl<T> Default for Air<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}
