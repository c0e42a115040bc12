//! The flows of a UE with several DRBs: each is kept by the DRB that can mark it.
//!
//! Packet filters that steer by the ECN field part a TCP connection. Its ECT segments take the DRB of the L4S QoS flow; its SYNs, pure
//! acknowledgements and retransmissions, which RFC 3168 sends as Not-ECT, take the default one. What its ends agreed
//! on, and later what is owed to them, moves with the segments that show where it belongs: the answer to a SYN first,
//! then every ECT segment, since no other can be marked. CE alone moves nothing: classic flows have it too.
//!
//! A caller with one DRB a UE has no use for this. One with several asks the DRB that carries a downlink packet whether it
//! [`claims`](DrbMarker::claims) the flow, lets whichever has it [`release`](DrbMarker::release) it, and hands an uplink packet
//! to the DRB that [`keeps`](DrbMarker::keeps) its flow.

use tidemark_core::{Ecn, FlowId, Inspect, Instant, Packet};

use crate::drb::DrbMarker;
use crate::flow::Flow;

/// A flow between two DRBs.
#[derive(Debug)]
pub struct ReleasedFlow {
    id: FlowId,
    flow: Flow,
}

impl DrbMarker {
    /// True if the packet's connection is kept here: its acknowledgements are to be shown to this marker.
    #[inline]
    pub fn keeps<P: Inspect>(&self, packet: &Packet<P>) -> bool {
        self.keeps_flow(packet.payload.five_tuple(packet.flow))
    }

    pub(crate) fn keeps_flow(&self, flow: FlowId) -> bool {
        self.flows.knows_opening(flow)
    }

    /// True if this downlink packet, which this DRB carries, shows that its connection belongs here, it is not here yet, and there is
    /// room for it: in a full table, as for a new flow, the place of a weaker one.
    #[inline]
    pub fn claims<P: Inspect>(&self, now: Instant, packet: &Packet<P>) -> bool {
        let is_ect = matches!(packet.ecn, Ecn::Ect0 | Ecn::Ect1);
        let belongs_here = packet.payload.tcp().is_some_and(|tcp| is_ect || tcp.flags.syn);
        belongs_here && !self.keeps(packet) && self.flows.has_room(now, packet.payload.five_tuple(packet.flow))
    }

    /// Gives up the packet's connection, if it is kept here.
    pub fn release<P: Inspect>(&mut self, packet: &Packet<P>) -> Option<ReleasedFlow> {
        self.release_flow(packet.payload.five_tuple(packet.flow))
    }

    pub(crate) fn release_flow(&mut self, id: FlowId) -> Option<ReleasedFlow> {
        self.flows.release(id).map(|flow| ReleasedFlow { id, flow })
    }

    /// Keeps a connection that another DRB of the UE kept. One that was not claimed may find no room, and is forgotten.
    pub fn adopt(&mut self, now: Instant, released: ReleasedFlow) {
        if let Some(flow) = self.flows.admit(now, released.id) {
            *flow = released.flow;
        }
    }
}
