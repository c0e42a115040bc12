//! Congestion window, as the controller said it last, and whether it is what limits the sender.

/// Window in bytes of payload.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SendWindow {
    size: u64,
    /// Payload until whose delivery the window counts as what limited the sender.
    limit_until: u64,
}

impl SendWindow {
    /// Takes over the controller's window.
    #[inline]
    pub(super) fn set(&mut self, size: u64) {
        self.size = size;
    }

    /// Bytes that the controller allows in flight.
    #[inline]
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Notes that the window held back data; `until` is what will have been delivered a round trip from now.
    #[inline]
    pub(super) fn note_limit(&mut self, until: u64) {
        self.limit_until = until;
    }

    /// True if the window held back data in the round trip in which `delivered` bytes were reached.
    #[inline]
    pub(super) fn was_limit(&self, delivered: u64) -> bool {
        delivered < self.limit_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_counts_as_the_limit_for_one_round_trip() {
        let mut window = SendWindow::default();
        assert!(!window.was_limit(0));
        window.note_limit(5000);
        assert!(window.was_limit(4999) && !window.was_limit(5000));
    }
}
