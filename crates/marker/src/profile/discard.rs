//! SDUs that PDCP discards after numbering them.

use tidemark_core::Instant;

use super::ProfileTable;

impl ProfileTable {
    /// Takes an SDU that PDCP discarded after sending or numbering it.
    pub(crate) fn discard(&mut self, now: Instant, sn: u32) {
        let count = self.head.wrapping_add_signed(self.sn_length.distance(self.head as u32, sn));
        // It left already, or was never sent: nothing of it is in the sums.
        if !self.started || count < self.head || count >= self.next {
            self.anomalies.unknown += 1;
            return;
        }
        // Beyond the table no size is known: the SDU has its even share, as when it moves up.
        let size = if count - self.head < self.capacity() {
            u64::from(core::mem::take(&mut self.sizes[self.slot(count)]))
        } else {
            self.beyond.discard(count).unwrap_or(0)
        };
        // Discarded before, or skipped: nothing is left to take out.
        if size == 0 {
            self.anomalies.unknown += 1;
            return;
        }
        self.leave(size, 1);
        self.advance_oldest(now);
    }

    /// Moves the oldest SDU past those discarded at the front, which must not make the head of the line look old.
    pub(super) fn advance_oldest(&mut self, now: Instant) {
        self.oldest = self.oldest.max(self.head);
        let end = self.next.min(self.head + self.capacity());
        while self.oldest < end && self.sizes[self.slot(self.oldest)] == 0 {
            self.oldest += 1;
        }
        // Everything in the ring was discarded: the oldest that is left waits behind it.
        if self.oldest >= self.head + self.capacity() {
            self.oldest = self.beyond.present_from(self.oldest);
        }
        self.ingress.opened(self.oldest, now);
    }
}
