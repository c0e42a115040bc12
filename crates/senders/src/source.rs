//! A source of bytes: an application, as a transport sees it.

use tidemark_core::{Bytes, Instant};

use crate::endpoint::Completion;

/// An application that writes a byte stream into a transport.
pub trait Source {
    /// When the connection is to be opened.
    fn start(&self) -> Instant;
    /// How much may be sent now beyond the `taken` bytes that the transport has taken already.
    fn available(&mut self, now: Instant, taken: Bytes) -> Bytes;
    /// When more becomes available although nothing was acknowledged; `None` if nothing will.
    fn next_deadline(&self, now: Instant) -> Option<Instant>;
    /// So much of what the transport has taken has arrived.
    fn on_acknowledged(&mut self, _now: Instant, _bytes: Bytes) {}
    /// What has arrived whole since this was last asked, of an application that asks its user to wait for it.
    fn take_completion(&mut self) -> Option<Completion> {
        None
    }
}
