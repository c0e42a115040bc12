//! Bounds on bandwidth and flight: short-term ones by the signals of a round, a long-term one that probing moves
//! (draft-ietf-ccwg-bbr-06 5.5.10).

use super::super::MIN_WINDOW;
use super::LOSS_THRESHOLD;
use super::signals::Signals;
use crate::controller::LostSegment;

const BETA: f64 = 0.7;
const ECN_FACTOR: f64 = 1.0 / 3.0;
/// Share of the long-term bound that is left to others.
const HEADROOM: f64 = 0.15;

/// Bounds in bytes a second and bytes; infinite where nothing bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    mss: f64,
    bw_short: f64,
    inflight_short: f64,
    inflight_long: f64,
    /// Short-term bandwidth and flight, long-term flight that a spurious loss gives back.
    saved: Option<(f64, f64, f64)>,
}

impl Bounds {
    pub(super) fn new(mss: f64) -> Self {
        let none = f64::INFINITY;
        Self { mss, bw_short: none, inflight_short: none, inflight_long: none, saved: None }
    }

    pub(super) fn bw_short(&self) -> f64 {
        self.bw_short
    }

    pub(super) fn inflight_long(&self) -> f64 {
        self.inflight_long
    }

    /// Leaves room for others to enter.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_long.is_infinite() {
            return self.inflight_long;
        }
        let room = self.mss.max(HEADROOM * self.inflight_long);
        (self.inflight_long - room).max(self.floor())
    }

    /// Lower one of `inflight` and the short-term bound.
    pub(super) fn limit(&self, inflight: f64) -> f64 {
        inflight.min(self.inflight_short).max(self.floor())
    }

    fn floor(&self) -> f64 {
        MIN_WINDOW * self.mss
    }

    pub(super) fn save(&mut self) {
        self.saved = Some((self.bw_short, self.inflight_short, self.inflight_long));
    }

    pub(super) fn restore(&mut self) {
        // What the loss lowered returns, and what has grown since stays.
        if let Some((bw_short, inflight_short, inflight_long)) = self.saved.take() {
            self.bw_short = self.bw_short.max(bw_short);
            self.inflight_short = self.inflight_short.max(inflight_short);
            self.inflight_long = self.inflight_long.max(inflight_long);
        }
    }

    /// Lowers the short-term bounds once a round: by its losses, and by `alpha` where it was marked.
    pub(super) fn lower(&mut self, signals: &Signals, alpha: Option<f64>, bandwidth: f64, window: f64) {
        // The first signal after a probe has no bound to lower yet: it starts from the window in use.
        if self.inflight_short.is_infinite() {
            self.inflight_short = window;
        }
        let mut bound = f64::INFINITY;
        // Marks lower in proportion, so that few of them cost little.
        if let Some(alpha) = alpha {
            bound = self.inflight_short * (1.0 - alpha * ECN_FACTOR);
        }
        if signals.is_lost() {
            // As with the flight: the bound starts from the bandwidth that was known.
            if self.bw_short.is_infinite() {
                self.bw_short = bandwidth;
            }
            // What was delivered in this very round is no more than the path carries.
            self.bw_short = signals.bandwidth().max(BETA * self.bw_short);
            bound = bound.min(signals.inflight().max(BETA * self.inflight_short));
        }
        self.inflight_short = bound.max(self.floor());
    }

    /// Forgets the short-term bounds, so that a probe can find out what holds.
    pub(super) fn lift_short(&mut self) {
        self.bw_short = f64::INFINITY;
        self.inflight_short = f64::INFINITY;
    }

    /// Keeps the short-term flight below the long-term one.
    pub(super) fn align_short(&mut self) {
        self.inflight_short = self.inflight_short.min(self.inflight_long);
    }

    pub(super) fn set_long(&mut self, inflight: f64) {
        self.inflight_long = inflight;
    }

    /// Lowers the long-term bound to a flight that was too high, though by 30 % of `target` at the most.
    pub(super) fn lower_long(&mut self, inflight: f64, target: f64) {
        self.inflight_long = inflight.max(BETA * target);
    }

    /// Raises the long-term bound to a flight that went well.
    pub(super) fn raise_long(&mut self, inflight: f64) {
        self.inflight_long = self.inflight_long.max(inflight);
    }

    pub(super) fn grow_long(&mut self, segments: f64) {
        self.inflight_long += segments * self.mss;
    }
}

/// Flight at which the share of losses crossed the threshold (draft-ietf-ccwg-bbr-06 5.5.10.2); `None` if it did not.
pub(super) fn inflight_at_loss(lost: &LostSegment) -> Option<f64> {
    let (size, in_flight, total) = (lost.size.as_f64(), lost.in_flight.as_f64(), lost.lost.as_f64());
    if total <= LOSS_THRESHOLD * in_flight {
        return None;
    }
    let (before, lost_before) = (in_flight - size, total - size);
    let prefix = ((LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD)).max(0.0);
    Some(before + prefix)
}

#[cfg(test)]
mod tests {
    use tidemark_core::{Bytes, Instant};

    use super::*;

    #[test]
    fn a_round_with_losses_takes_thirty_percent_and_a_spurious_one_gives_them_back() {
        let mut bounds = Bounds::new(1000.0);
        let mut signals = Signals::default();
        signals.on_lost(Bytes::ZERO);
        bounds.save();
        bounds.lower(&signals, None, 1e6, 100_000.0);
        assert_eq!((bounds.bw_short(), bounds.limit(f64::INFINITY)), (7e5, 70_000.0));
        bounds.restore();
        assert_eq!((bounds.bw_short(), bounds.limit(5e5)), (f64::INFINITY, 5e5));
    }

    #[test]
    fn marks_take_a_third_of_their_share_and_leave_four_segments() {
        let mut bounds = Bounds::new(1000.0);
        bounds.lower(&Signals::default(), Some(0.3), 1e6, 10_000.0);
        assert_eq!((bounds.bw_short(), bounds.limit(1e6)), (f64::INFINITY, 9_000.0));
        (0..20).for_each(|_| bounds.lower(&Signals::default(), Some(0.3), 1e6, 10_000.0));
        assert_eq!(bounds.limit(1e6), 4_000.0);
    }

    #[test]
    fn headroom_is_a_share_of_a_known_bound() {
        let mut bounds = Bounds::new(1000.0);
        assert_eq!(bounds.inflight_with_headroom(), f64::INFINITY);
        bounds.set_long(100_000.0);
        assert_eq!(bounds.inflight_with_headroom(), 85_000.0);
        bounds.set_long(4_500.0);
        assert_eq!(bounds.inflight_with_headroom(), 4_000.0);
    }

    #[test]
    fn the_flight_of_a_loss_is_where_the_threshold_was_crossed() {
        let lost = |total| LostSegment {
            now: Instant::ZERO,
            size: Bytes(1000),
            in_flight: Bytes(100_000),
            lost: Bytes(total),
            app_limited: false,
            delivered: Bytes::ZERO,
        };
        assert_eq!(inflight_at_loss(&lost(2000)), None);
        // Of 99,000 bytes 1500 were lost: 490 more bytes of the segment, lost too, make it 2 %.
        let inflight = inflight_at_loss(&lost(2500)).unwrap();
        assert!((inflight - 99_489.796).abs() < 0.001, "{inflight}");
    }
}
