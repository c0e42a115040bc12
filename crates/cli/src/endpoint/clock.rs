//! Numbers and times that are sent with fewer bits than they have, and the clock of a peer.

use tidemark_core::{Duration, Instant};

/// Restores a number from its low bits, as the nearest to the highest number so far.
#[derive(Clone, Debug)]
pub(super) struct Unwrap {
    bits: u32,
    highest: Option<u64>,
}

impl Unwrap {
    /// Starts for numbers of which this many low bits are sent, at most 32.
    pub(super) fn new(bits: u32) -> Self {
        Self { bits, highest: None }
    }

    /// The whole number.
    pub(super) fn whole(&mut self, low: u32) -> u64 {
        let whole = self.highest.map_or(u64::from(low), |highest| nearest(highest, low, self.bits));
        self.highest = self.highest.max(Some(whole));
        whole
    }
}

/// The number with these low bits that is nearest to `reference`.
pub(super) fn nearest(reference: u64, low: u32, bits: u32) -> u64 {
    let modulus = 1u64 << bits;
    let ahead = u64::from(low).wrapping_sub(reference) & (modulus - 1);
    let whole = reference.saturating_add(ahead);
    if ahead >= modulus / 2 && whole >= modulus { whole - modulus } else { whole }
}

/// A peer's clock, estimated by the local one. The delay of the first packet is unknown, so it is assumed to be `lead`; later delays
/// are relative to that.
#[derive(Clone, Debug)]
pub(super) struct PeerClock {
    lead: Duration,
    /// A time on the peer's clock in nanoseconds, and the same time on the local one.
    anchor: Option<(u64, Instant)>,
}

impl PeerClock {
    /// Starts for a peer from which nothing has been received.
    pub(super) fn new(lead: Duration) -> Self {
        Self { lead, anchor: None }
    }

    /// Local time at which the peer's clock showed this many nanoseconds. The first packet that is asked about has just arrived.
    pub(super) fn here(&mut self, now: Instant, theirs: u64) -> Instant {
        let (first, here) = *self.anchor.get_or_insert((theirs, now.before(self.lead)));
        if theirs >= first {
            here + Duration::from_nanos(theirs - first)
        } else {
            here.before(Duration::from_nanos(first - theirs))
        }
    }

    /// Reading of the peer's clock at a local time, in nanoseconds; `None` while it is unknown.
    pub(super) fn there(&self, at: Instant) -> Option<u64> {
        let (first, here) = self.anchor?;
        Some((first + at.since(here).as_nanos()).saturating_sub(here.since(at).as_nanos()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_where_their_low_bits_begin_again() {
        let mut number = Unwrap::new(16);
        let lows = [65_530, 65_535, 2, 65_534, 24_464, 50_000, 1];
        assert_eq!(lows.map(|low| number.whole(low)), [65_530, 65_535, 65_538, 65_534, 90_000, 115_536, 131_073]);
        assert_eq!(nearest(3, 65_535, 16), 65_535, "there is no number below zero");
        assert_eq!(nearest(u64::from(u32::MAX), 5, 32), (1 << 32) + 5);
    }

    #[test]
    fn the_peers_times_keep_their_distances_and_come_back() {
        let mut peer = PeerClock::new(Duration::from_secs(1));
        assert_eq!(peer.there(Instant::ZERO), None);
        let now = Instant::from_millis(5_000);
        assert_eq!(peer.here(now, 70), Instant::from_millis(4_000));
        assert_eq!(peer.here(now, 1_000_070), Instant::from_millis(4_001));
        assert_eq!(peer.here(now, 20), Instant::from_nanos(4_000_000_000 - 50));
        for at in [3_999_999_990, 4_000_000_000, 9_000_000_000].map(Instant::from_nanos) {
            let theirs = peer.there(at).unwrap();
            assert_eq!(peer.here(now, theirs), at);
        }
    }
}
