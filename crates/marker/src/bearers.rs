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

    /// True if this downlink packet, which this DRB carries, shows that its connection belongs here, and it is not here yet.
    #[inline]
    pub fn claims<P: Inspect>(&self, packet: &Packet<P>) -> bool {
        let is_ect = matches!(packet.ecn, Ecn::Ect0 | Ecn::Ect1);
        packet.payload.tcp().is_some_and(|tcp| is_ect || tcp.flags.syn) && !self.keeps(packet)
    }

    /// Gives up the packet's connection, if it is kept here.
    pub fn release<P: Inspect>(&mut self, packet: &Packet<P>) -> Option<ReleasedFlow> {
        self.release_flow(packet.payload.five_tuple(packet.flow))
    }

    pub(crate) fn release_flow(&mut self, id: FlowId) -> Option<ReleasedFlow> {
        self.flows.release(id).map(|flow| ReleasedFlow { id, flow })
    }

    /// Keeps a connection that another DRB of the UE kept. In a full table it takes the place of a weaker flow, as a new
    /// flow does. Gives it back where there is none: whoever released it still has its place.
    #[must_use]
    pub fn adopt(&mut self, now: Instant, released: ReleasedFlow) -> Option<ReleasedFlow> {
        match self.flows.admit(now, released.id) {
            Some(flow) => *flow = released.flow,
            None => return Some(released),
        }
        None
    }
}
