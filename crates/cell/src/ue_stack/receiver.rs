//! The gNB's end of an uplink RLC entity. The UE has the other end.

use tidemark_core::{Inspect, Instant};

use crate::rlc::{Bearer, Released, Segment, Status};

/// RLC and PDCP of an uplink bearer as the gNB has them.
pub(crate) struct Receiver<'a, P>(&'a mut Bearer<P>);

impl<'a, P: Inspect> Receiver<'a, P> {
    pub(super) fn new(bearer: &'a mut Bearer<P>) -> Self {
        Self(bearer)
    }

    /// Takes the segments of a block that was decoded.
    pub(crate) fn receive(self, now: Instant, segments: &[Segment]) {
        for segment in segments {
            self.0.arrived(now, *segment);
        }
    }

    /// Learns that HARQ has given up the block of these segments.
    pub(crate) fn lose(self, now: Instant, segments: &[Segment]) {
        self.0.lost(now, segments);
    }

    /// Delivers the packets that are in order, and gives the status report that is due to the UE. Also handles the UE's t-PollRetransmit.
    pub(crate) fn settle(self, now: Instant, leave: impl FnMut(Released<P>)) -> Option<Status> {
        let status = self.0.handle_timers(now);
        self.0.release(now, leave);
        status
    }

    /// True if more is under way than the bearer has SNs for.
    pub(crate) fn is_outrun(&self) -> bool {
        self.0.outruns_receiver()
    }

    /// Stops waiting for missing packets.
    pub(crate) fn conclude(self) {
        self.0.conclude();
    }
}
