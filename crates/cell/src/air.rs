//! The air between DU and UEs: what was planned for it, and what has not been decoded, acknowledged or received yet.

use std::collections::VecDeque;

use tidemark_core::Instant;

/// Queue of what is under way on the air of a cell, of one kind: all of it takes the same time.
pub(crate) struct Air<T>(VecDeque<(Instant, T)>);

impl<T> Air<T> {
    /// Sends something that has come at `at`, not before what was sent earlier.
    pub(crate) fn send(&mut self, at: Instant, sent: T) {
        self.0.push_back((at, sent));
    }

    /// Next that has come, with its time.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<(Instant, T)> {
        if self.0.front().is_some_and(|(at, _)| *at <= now) { self.0.pop_front() } else { None }
    }

    /// Time at which the next comes; `FAR` if nothing is under way.
    pub(crate) fn next_deadline(&self) -> Instant {
        self.0.front().map_or(Instant::FAR, |(at, _)| *at)
    }

    /// Drops what is of a UE that leaves the cell.
    pub(crate) fn forget(&mut self, leaves: impl Fn(&T) -> bool) {
        self.0.retain(|(_, sent)| !leaves(sent));
    }
}

impl<T> Default for Air<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}
