//! A source of bytes: an application, as a transport sees it.

use tidemark_core::{Bytes, Instant};

use crate::endpoint::Completion;

/// An application that writes a byte stream into a transport.
pub trait Source {
    /// Time at which the connection is to be opened.
    fn start(&self) -> Instant;
    /// Bytes that may be sent now beyond the `taken` ones that the transport has taken already.
    fn available(&mut self, now: Instant, taken: Bytes) -> Bytes;
    /// Time at which more data becomes available without any acknowledgement; `None` if none will.
    fn next_deadline(&self, now: Instant) -> Option<Instant>;
    /// Notes how many of the bytes that the transport has taken have arrived.
    fn on_acknowledged(&mut self, _now: Instant, _bytes: Bytes) {}
    /// Page that has arrived whole since the last call, for an application whose user waits for pages.
    fn take_completion(&mut self) -> Option<Completion> {
        None
    }
}
