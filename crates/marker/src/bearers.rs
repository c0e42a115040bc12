//! The flows of a UE with several DRBs: each is kept by the DRB that can mark it.
//!
//! Packet filters on the ECN field split a TCP connection. Its ECT segments take the DRB of the L4S QoS flow. Its SYNs, pure
//! acknowledgements and retransmissions, which RFC 3168 sends as Not-ECT, take the default DRB. The state of the connection (its
//! handshake, and later its pending marks) moves to the DRB of the segments that can be marked: first with the answer to a SYN,
//! then with each ECT segment. CE alone moves nothing, because classic flows have it too.
//!
//! A caller with one DRB per UE does not need this. [`Bearers`] is the rule for several DRBs; the cell's CU-UP and the
//! [packet path](crate::path) both follow it. It asks the marker of the DRB that carries a downlink packet whether it
//! [`claims`](DrbMarker::claims) the connection, and if so [`fetch`](Bearers::fetch)es it. An uplink packet goes to its
//! [`keeper`](Bearers::keeper).

use tidemark_core::{Ecn, FlowId, Inspect, Instant, Packet};

use crate::drb::DrbMarker;

/// Markers of the bearers of one UE, and the rule that gives each connection to one of them.
///
/// A UE with a single bearer does not need the rule.
pub trait Bearers {
    /// Name of the bearer that carries a downlink packet.
    type Carrier: Copy;

    /// Finds a bearer's marker; `None` for a bearer that is not set up.
    fn marker(&mut self, carrier: Self::Carrier) -> Option<&mut DrbMarker>;

    /// Lists the markers of all bearers, always in the same order; the first one is the default bearer's.
    fn markers(&mut self) -> impl Iterator<Item = &mut DrbMarker>;

    /// Moves a connection from the bearer that has it to the one that carries this packet, whose marker [claims](DrbMarker::claims) it.
    /// Gives the marker that has it then.
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

    /// Finds the marker for an uplink packet: the one that has its connection. A new connection waits with the first marker until the
    /// answer shows its bearer. `None` if there is no bearer.
    fn keeper<P: Inspect>(&mut self, packet: &Packet<P>) -> Option<&mut DrbMarker> {
        let index = self.markers().position(|marker| marker.keeps(packet)).unwrap_or(0);
        self.markers().nth(index)
    }
}

impl DrbMarker {
    /// True if this marker has the packet's connection and needs its acknowledgements.
    #[inline]
    fn keeps<P: Inspect>(&self, packet: &Packet<P>) -> bool {
        self.flows.knows_opening(packet.payload.five_tuple(packet.flow))
    }

    /// True if this downlink packet shows that its connection belongs to this DRB, the connection is not here yet, and there is room for it.
    /// In a full table it may replace a weaker flow, as a new flow may.
    #[inline]
    pub fn claims<P: Inspect>(&self, now: Instant, packet: &Packet<P>) -> bool {
        let is_ect = matches!(packet.ecn, Ecn::Ect0 | Ecn::Ect1);
        let belongs_here = packet.payload.tcp().is_some_and(|tcp| is_ect || tcp.flags.syn);
        belongs_here && !self.keeps(packet) && self.flows.has_room(now, packet.payload.five_tuple(packet.flow))
    }
}
