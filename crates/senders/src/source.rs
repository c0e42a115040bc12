//! A source of bytes: an application, as a transport sees it.

use tidemark_core::{Bytes, Instant};

use crate::endpoint::Completion;

/// An application that writes a byte stream into a transport.
pub trait Source {
    /// Time at which the connection is to be opened.
    fn start(&self) -> Instant;
    /// Bytes that may be sent now beyond the `taken` ones that the transport has taken already.
    fn available(&mut self, now: Instant, taken: Bytes) -> Bytes;
    /// Time at which more becomes available although nothing was acknowledged; `None` if nothing will.
    fn next_deadline(&self, now: Instant) -> Option<Instant>;
    /// Takes into account how much of what the transport has taken has arrived.
    fn on_acknowledged(&mut self, _now: Instant, _bytes: Bytes) {}
    /// Page that has arrived whole since this was last asked, of an application that asks its user to wait for it.
    fn take_completion(&mut self) -> Option<Completion> {
        None
    }
}
