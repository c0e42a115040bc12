//! The point at which an SDU leaves the queue, where a law may decide on it.

use tidemark_core::{Duration, Packet};
use tidemark_marker::{RlcQueue, Verdict};

/// Decision on each SDU that RLC takes from its queue, before anything of it is sent.
pub(crate) trait DequeueGate<P> {
    /// Decides on the SDU with this PDCP SN, which waited for `sojourn` and leaves `behind` in the queue.
    fn decide(&mut self, packet: &Packet<P>, sn: u32, sojourn: Duration, behind: RlcQueue) -> Verdict;
    /// Takes a packet that was decided to be dropped.
    fn dropped(&mut self, packet: Packet<P>);
}

/// Gate that lets everything pass.
pub(crate) struct Open;

impl<P> DequeueGate<P> for Open {
    fn decide(&mut self, _: &Packet<P>, _: u32, _: Duration, _: RlcQueue) -> Verdict {
        Verdict::Pass
    }
    fn dropped(&mut self, _: Packet<P>) {}
}
