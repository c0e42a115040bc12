//! Formats of what the endpoints exchange: the payload of a UDP datagram.

mod prague;
mod rtp;

use tidemark_core::{Duration, Instant};
use tidemark_senders::Payload;

pub(super) use prague::Prague;
pub(super) use rtp::Rtp;

/// Writes and reads the packets of one flow.
pub(super) trait Format {
    /// Writes a packet to the front of `buffer` and gives its length; `None` for one that the format can't say.
    fn write(&mut self, payload: &Payload, buffer: &mut [u8]) -> Option<usize>;
    /// Reads what came from the peer; `None` for what is none of this format.
    fn read(&mut self, now: Instant, bytes: &[u8]) -> Option<Payload>;
    /// True if the peer is known to read RTCP on this port, other than by the format itself.
    fn peer_reads_rtcp(&self) -> bool;
    /// Permission to begin, which a sender that knows its peer takes for the peer's; `None` where it waits for the peer's first datagram.
    fn opening(&self) -> Option<Payload>;
}

/// Lead of the receiver's clock over the sender's as the receiver sees it: a packet that was faster than the first
/// one was still not sent before the beginning of time.
const LEAD: Duration = Duration::from_secs(5);

/// A receiver's clock begins here, so that the times of its sender are later than the beginning of time.
pub(super) const RECEIVER_STARTS: Instant = Instant::from_millis(10_000);
