//! Timers of a sender: retransmission or probe, reordering, and the release of the next packet.

use tidemark_core::Instant;

/// Event for which the retransmission timer runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Expiry {
    /// A tail loss probe is to be sent (RFC 8985 7.2).
    Probe,
    /// All that is in flight is held for lost (RFC 6298 5).
    Timeout,
}

/// Deadlines; each is `Instant::FAR` while its timer is off.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    retransmission: Instant,
    expiry: Expiry,
    reordering: Instant,
    release: Instant,
}

impl Timers {
    /// Timers that are all off.
    pub(super) fn new() -> Self {
        let far = Instant::FAR;
        Self { retransmission: far, expiry: Expiry::Timeout, reordering: far, release: far }
    }

    /// Next deadline; `Instant::FAR` without one.
    #[inline]
    pub(super) fn next(&self) -> Instant {
        self.reordering.min(self.retransmission).min(self.release)
    }

    /// Starts the one retransmission timer, in place of what it ran for.
    #[inline]
    pub(super) fn start(&mut self, at: Instant, expiry: Expiry) {
        self.retransmission = at;
        self.expiry = expiry;
    }

    /// Stops the retransmission timer.
    #[inline]
    pub(super) fn stop(&mut self) {
        self.start(Instant::FAR, Expiry::Timeout);
    }

    /// Event for which the retransmission timer has expired.
    pub(super) fn expired(&self, now: Instant) -> Option<Expiry> {
        (self.retransmission <= now).then_some(self.expiry)
    }

    /// True if a packet that leaves starts the retransmission timer: if it is off, and for new data also while it runs for a
    /// probe, which follows the last segment. A timeout runs from the oldest segment.
    #[inline]
    pub(super) fn starts_with(&self, new_data: bool) -> bool {
        self.retransmission == Instant::FAR || self.expiry == Expiry::Probe && new_data
    }

    /// Sets when to look for losses again; `Instant::FAR` for never.
    #[inline]
    pub(super) fn watch_reordering(&mut self, at: Instant) {
        self.reordering = at;
    }

    /// True if it is time to look for losses again.
    pub(super) fn is_reordering_over(&self, now: Instant) -> bool {
        self.reordering <= now
    }

    /// Sets when the next packet may leave; `Instant::FAR` if no time lets it go.
    #[inline]
    pub(super) fn release_at(&mut self, at: Instant) {
        self.release = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn the_next_deadline_is_the_first_of_all() {
        let mut timers = Timers::new();
        assert_eq!(timers.next(), Instant::FAR);
        timers.start(at(30), Expiry::Timeout);
        timers.release_at(at(10));
        timers.watch_reordering(at(20));
        assert_eq!(timers.next(), at(10));
        timers.release_at(Instant::FAR);
        assert_eq!(timers.next(), at(20));
        assert!(timers.is_reordering_over(at(20)) && !timers.is_reordering_over(at(19)));
        timers.watch_reordering(Instant::FAR);
        assert_eq!((timers.expired(at(29)), timers.expired(at(30))), (None, Some(Expiry::Timeout)));
    }

    #[test]
    fn new_data_moves_a_probe_and_never_a_timeout() {
        let mut timers = Timers::new();
        assert!(timers.starts_with(true) && timers.starts_with(false));
        timers.start(at(30), Expiry::Probe);
        assert!(timers.starts_with(true) && !timers.starts_with(false));
        timers.start(at(30), Expiry::Timeout);
        assert!(!timers.starts_with(true) && !timers.starts_with(false));
    }
}
