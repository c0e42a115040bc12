//! The flows of a UE with several DRBs: each is kept by the DRB that can mark it.
//!
//! Packet filters that steer by the ECN field part a TCP connection. Its ECT segments take the DRB of the L4S QoS flow; its SYNs, pure
//! acknowledgements and retransmissions, which RFC 3168 sends as Not-ECT, take the default one. What its ends agreed
//! on, and later what is owed to them, moves with the segments that show where it belongs: the answer to a SYN first,
//! then every ECT segment, since no other can be marked. CE alone moves nothing: classic flows have it too.
//!
//! A caller with one DRB a UE has no use for this. [`Bearers`] is the rule for one with several: the cell's CU-UP and the
//! [packet path](crate::path) both follow it. It asks the marker of the DRB that carries a downlink packet whether it
//! [`claims`](DrbMarker::claims) the connection, and if so [`fetch`](Bearers::fetch)es it; an uplink packet goes to its
//! [`keeper`](Bearers::keeper).

use tidemark_core::{Ecn, FlowId, Inspect, Instant, Packet};

use crate::drb::DrbMarker;

/// Markers of one UE's bearers, and the rule that says which of them has a connection.
///
/// A UE with a single bearer need not ask: its one marker has them all.
pub trait Bearers {
    /// Name of the bearer that carries a downlink packet.
    type Carrier: Copy;

    /// Finds a bearer's marker; `None` for a bearer that is not set up.
    fn marker(&mut self, carrier: Self::Carrier) -> Option<&mut DrbMarker>;

    /// Lists the markers of all bearers, always in the same order; the first one is the default bearer's.
    fn markers(&mut self) -> impl Iterator<Item = &mut DrbMarker>;

    /// Moves a connection to the bearer that carries a packet of it, whose marker [claims](DrbMarker::claims) it, from the one that has
    /// it. Gives the marker that has it then.
    // The host asks the marker that it holds, and only then comes here: with question and move in one call, a packet of the only bearer
    // took 50 instructions more.
    #[cold]
    fn fetch(&mut self, now: Instant, carrier: Self::Carrier, flow: FlowId) -> Option<&mut DrbMarker> {
        let released = self.markers().find_map(|marker| marker.flows.release(flow));
        let marker = self.marker(carrier)?;
        // What was learned of the connection moves with it; one that no bearer knew begins anew.
        if let Some(released) = released {
            marker.flows.adopt(now, flow, released);
        }
        Some(marker)
    }

    /// Finds the marker that an uplink packet is shown to: the one that has its connection. A connection that none has waits with the
    /// first one for its answer, which shows where it belongs. `None` where there is no bearer.
    fn keeper<P: Inspect>(&mut self, packet: &Packet<P>) -> Option<&mut DrbMarker> {
        let index = self.markers().position(|marker| marker.keeps(packet)).unwrap_or(0);
        self.markers().nth(index)
    }
}

impl DrbMarker {
    /// True if the packet's connection is kept here: its acknowledgements are to be shown to this marker.
    #[inline]
    fn keeps<P: Inspect>(&self, packet: &Packet<P>) -> bool {
        self.flows.knows_opening(packet.payload.five_tuple(packet.flow))
    }

    /// True if this downlink packet, which this DRB of several carries, shows that its connection belongs here, the connection is not here
    /// yet, and there is room for it: in a full table, as for a new flow, the place of a weaker one.
    #[inline]
    pub fn claims<P: Inspect>(&self, now: Instant, packet: &Packet<P>) -> bool {
        let is_ect = matches!(packet.ecn, Ecn::Ect0 | Ecn::Ect1);
        let belongs_here = packet.payload.tcp().is_some_and(|tcp| is_ect || tcp.flags.syn);
        belongs_here && !self.keeps(packet) && self.flows.has_room(now, packet.payload.five_tuple(packet.flow))
    }
}
