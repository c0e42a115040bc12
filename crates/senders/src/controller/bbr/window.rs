//! The congestion window on its way to a target (draft-ietf-ccwg-bbr-06 5.6.4).

use super::MIN_WINDOW;
use crate::controller::{Ack, Sizes};

/// Window in bytes, and the last one from before a recovery or a `PROBE_RTT`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    sizes: Sizes,
    size: f64,
    saved: f64,
    repairing: bool,
}

impl Window {
    pub(super) fn new(sizes: Sizes) -> Self {
        Self { sizes, size: sizes.initial_window, saved: 0.0, repairing: false }
    }

    pub(super) fn size(&self) -> f64 {
        self.size
    }

    pub(super) fn set(&mut self, size: f64) {
        self.size = size;
    }

    /// Window that keeps a path going.
    pub(super) fn floor(&self) -> f64 {
        MIN_WINDOW * self.sizes.mss
    }

    /// Remembers the window; the larger one if recovery or `PROBE_RTT` has lowered it already.
    pub(super) fn save(&mut self, in_probe_rtt: bool) {
        self.saved = if self.repairing || in_probe_rtt { self.saved.max(self.size) } else { self.size };
    }

    /// Returns to what was saved: it was measured, not guessed.
    pub(super) fn restore(&mut self) {
        self.size = self.size.max(self.saved);
    }

    pub(super) fn is_repairing(&self) -> bool {
        self.repairing
    }

    pub(super) fn begin_recovery(&mut self) {
        self.repairing = true;
    }

    /// Ends a recovery that was for nothing.
    pub(super) fn undo_recovery(&mut self) {
        self.repairing = false;
        self.restore();
    }

    /// Follows the transport's recovery; true if it ended with `ack`, and the window is the one from before.
    pub(super) fn follow_recovery(&mut self, ack: &Ack) -> bool {
        let is_over = self.repairing && !ack.repairing;
        if is_over {
            self.restore();
        }
        self.repairing = ack.repairing;
        is_over
    }

    /// Grows by what was acknowledged: up to `target` if the pipe has been full, else beyond it too.
    pub(super) fn grow(&mut self, ack: &Ack, target: f64, is_full: bool) {
        let acked = ack.acked.as_f64();
        if is_full {
            self.size = (self.size + acked).min(target);
        } else if self.size < target || ack.delivered.as_f64() < self.sizes.initial_window {
            self.size += acked;
        }
        self.size = self.size.max(self.floor());
    }

    pub(super) fn limit(&mut self, max: f64) {
        self.size = self.size.min(max);
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Bytes;

    use super::*;

    const SIZES: Sizes = Sizes { mss: 1000.0, packet: 1052.0, initial_window: 10_000.0 };

    #[test]
    fn the_window_from_before_a_recovery_returns_with_its_end() {
        let mut window = Window::new(SIZES);
        window.set(50_000.0);
        window.save(false);
        window.begin_recovery();
        window.set(20_000.0);
        window.save(true);
        let ack = Ack { repairing: true, ..Ack::default() };
        assert!(!window.follow_recovery(&ack));
        assert_eq!(window.size(), 20_000.0);
        assert!(window.follow_recovery(&Ack::default()));
        assert_eq!(window.size(), 50_000.0);
    }

    #[test]
    fn the_target_is_a_limit_only_once_the_pipe_has_been_full() {
        let ack = Ack { acked: Bytes(4000), delivered: Bytes(4000), ..Ack::default() };
        let grown = |target, is_full| {
            let mut window = Window::new(SIZES);
            window.grow(&ack, target, is_full);
            window.size()
        };
        assert_eq!(grown(12_000.0, true), 12_000.0);
        assert_eq!(grown(12_000.0, false), 14_000.0);
        assert_eq!(grown(1_000.0, true), 4_000.0, "four segments keep the path going");
    }
}
