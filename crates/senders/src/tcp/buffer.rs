//! Send buffer: the application's data as far as the socket holds it and the receiver allows it.

use tidemark_core::{Bytes, Instant};

use super::scoreboard::FIRST_SEQ;
use crate::endpoint::Completion;
use crate::source::Source;

/// A socket's send buffer before its application. Sequence numbers are the connection's, from [`FIRST_SEQ`] on.
pub(super) struct SendBuffer {
    source: Box<dyn Source + Send>,
    /// Payload of a full segment.
    mss: u32,
    /// Payload that the socket holds.
    capacity: u64,
    /// Rightmost byte that the socket had room for when the application wrote last.
    writable: u64,
    /// Rightmost byte that the receiver allows.
    allowed: u64,
    /// The application had more for the last segment than the buffer had room for.
    is_full: bool,
}

impl SendBuffer {
    /// An empty buffer for `capacity` bytes before an application.
    pub(super) fn new(source: Box<dyn Source + Send>, mss: u32, capacity: u64) -> Self {
        Self { source, mss, capacity, writable: 0, allowed: 0, is_full: false }
    }

    /// Payload of a full segment, in bytes.
    pub(super) fn mss(&self) -> u32 {
        self.mss
    }

    /// Takes an acknowledgement's receive window into account. The right edge never moves back.
    #[inline]
    pub(super) fn allow(&mut self, ack: u64, window: u32) {
        self.allowed = self.allowed.max(ack.saturating_add(u64::from(window)));
    }

    /// Number of new bytes for a segment at `next`, of data that is unacknowledged from `una` on; `None` if the receiver does not
    /// allow the segment.
    #[inline]
    pub(super) fn new_bytes(&mut self, now: Instant, next: u64, una: u64) -> Option<u32> {
        let available = self.source.available(now, Bytes(next - FIRST_SEQ)).0;
        let mut len = available.min(u64::from(self.mss));
        // Only at the buffer's edge is the application asked whether it writes more.
        self.is_full = next + len > self.writable && {
            self.write(una);
            next + len > self.writable
        };
        // What was written last and is no whole segment waits for more, as Nagle has it.
        if self.is_full {
            len = 0;
        }
        // Better to wait for room than to send a small segment (RFC 9293 3.8.6.2.1).
        (len <= self.allowed.saturating_sub(next)).then_some(len as u32)
    }

    /// True if the application has more, and the buffer is what holds it back.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Lets the application fill the buffer, if a third of it is free; otherwise it is not woken (Linux `sk_stream_min_wspace`).
    fn write(&mut self, una: u64) {
        // Waking the application for every few bytes freed would cost more than it gives.
        if 3 * self.writable.saturating_sub(una) <= 2 * self.capacity {
            self.writable = una + self.capacity;
        }
    }

    /// Time at which the application will have more; `Instant::FAR` if it never will, or has it already.
    pub(super) fn next_data(&self, now: Instant) -> Instant {
        self.source.next_deadline(now).filter(|at| *at > now).unwrap_or(Instant::FAR)
    }

    /// Tells the application that everything before `una` has arrived.
    #[inline]
    pub(super) fn on_acknowledged(&mut self, now: Instant, una: u64) {
        self.source.on_acknowledged(now, Bytes(una - FIRST_SEQ));
    }

    /// Page of the web that has arrived whole since this was asked last.
    pub(super) fn take_completion(&mut self) -> Option<Completion> {
        self.source.take_completion()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{Bulk, BulkConfig, OneTransfer};

    fn endless(capacity: u64) -> SendBuffer {
        SendBuffer::new(Box::new(Bulk::new(&BulkConfig::default())), 1000, capacity)
    }

    #[test]
    fn the_application_writes_again_once_a_third_is_free() {
        let mut buffer = endless(9000);
        buffer.allow(1, 1 << 20);
        let now = Instant::ZERO;
        assert_eq!(buffer.new_bytes(now, 1, 1), Some(1000));
        assert!(!buffer.is_full());
        assert_eq!(buffer.new_bytes(now, 9001, 1), Some(0), "the buffer is full");
        assert!(buffer.is_full());
        assert_eq!(buffer.new_bytes(now, 9001, 3000), Some(0), "less than a third is free");
        assert_eq!(buffer.new_bytes(now, 9001, 3001), Some(1000));
        assert!(!buffer.is_full());
    }

    #[test]
    fn the_receivers_edge_holds_back_whole_segments_and_never_moves_left() {
        let mut buffer = endless(1 << 20);
        buffer.allow(1, 2500);
        buffer.allow(1, 100);
        let now = Instant::ZERO;
        assert_eq!(buffer.new_bytes(now, 1001, 1), Some(1000));
        assert_eq!(buffer.new_bytes(now, 2001, 1), None, "500 B would be a small segment");
    }

    #[test]
    fn the_end_of_a_transfer_is_a_short_segment() {
        let mut buffer = SendBuffer::new(Box::new(OneTransfer(Bytes(1400))), 1000, 1 << 20);
        buffer.allow(1, 1 << 20);
        let now = Instant::ZERO;
        assert_eq!([1, 1001, 1401].map(|next| buffer.new_bytes(now, next, 1)), [Some(1000), Some(400), Some(0)]);
    }
}
