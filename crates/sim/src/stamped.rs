//! A transport's packet as the simulator carries it.

use std::ops::{Deref, DerefMut};

use tidemark_cell::DelaySplit;
use tidemark_core::{Duration, FlowId, Inspect, Instant, Packet, Selectors, TcpFeedback, TcpView};
use tidemark_senders::Payload;

use crate::addresses::Addresses;
use crate::flow::Flow;

/// A payload with what the recorder needs to know about its packet's path. It is behind a pointer, since a packet moves
/// from one queue to the next some twenty times.
#[derive(Clone, Debug)]
pub struct Stamped(Box<Content>);

#[derive(Clone, Debug)]
struct Content {
    way: Way,
    payload: Payload,
}

/// Origin of a packet, and its path so far.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Time at which it was sent.
    pub(crate) sent: Instant,
    /// Number among the packets that its end of the flow sent, from 1.
    pub(crate) number: u64,
    /// True on the way from a flow's receiver to its sender.
    pub(crate) back: bool,
    /// True on the way from a UE to the network.
    pub(crate) up: bool,
    /// The bearer that brought it to its UE: the DRB identity, from 1; 0 for none.
    pub(crate) drb: u8,
    /// Headers.
    pub(crate) addresses: Addresses,
    /// Time at which it reached the last router.
    pub(crate) at_router: Instant,
    /// True if it came there with CE.
    pub(crate) came_marked: bool,
    /// Time that it waited in the queues of routers, and time in them and on their links.
    pub(crate) waited: Duration,
    pub(crate) in_routers: Duration,
    /// Parts of its time in the cell.
    pub(crate) delay: DelaySplit,
}

impl Stamped {
    /// Payload that the endpoints exchange.
    pub fn payload(&self) -> &Payload {
        &self.0.payload
    }
}

impl Deref for Stamped {
    type Target = Way;
    fn deref(&self) -> &Way {
        &self.0.way
    }
}
impl DerefMut for Stamped {
    fn deref_mut(&mut self) -> &mut Way {
        &mut self.0.way
    }
}

impl Inspect for Stamped {
    fn five_tuple(&self, flow: FlowId) -> FlowId {
        self.0.payload.five_tuple(flow)
    }
    fn selectors(&self) -> Option<Selectors> {
        Some(self.addresses.selectors(&self.0.payload, self.up))
    }
    fn tcp(&self) -> Option<TcpView> {
        self.0.payload.tcp()
    }
    fn set_tcp_feedback(&mut self, feedback: TcpFeedback) {
        self.0.payload.set_tcp_feedback(feedback);
    }
}

/// Payloads of packets that have arrived or were dropped, whose memory later packets reuse. Once the largest number of packets has been under way, nothing
/// is allocated any more.
#[derive(Debug, Default)]
pub(crate) struct Pool(Vec<Stamped>);

impl Pool {
    /// A packet that one end of a flow sends now; `back` as the field.
    pub(crate) fn stamp(
        &mut self,
        sent: Instant,
        flow: &mut Flow,
        back: bool,
        packet: Packet<Payload>,
    ) -> Packet<Stamped> {
        let number = if back { &mut flow.client } else { &mut flow.server }.count();
        let (up, addresses) = (back != flow.uplink, flow.addresses);
        let (waited, in_routers, delay) = (Duration::ZERO, Duration::ZERO, DelaySplit::default());
        let at_router = sent;
        let way =
            Way { sent, number, back, up, drb: 0, addresses, at_router, came_marked: false, waited, in_routers, delay };
        let Packet { flow, size, ecn, payload } = packet;
        let payload = match self.0.pop() {
            Some(Stamped(mut content)) => {
                content.way = way;
                content.payload = payload;
                Stamped(content)
            }
            None => Stamped(Box::new(Content { way, payload })),
        };
        Packet { flow, size, ecn, payload }
    }
    /// The packet is under way no longer.
    pub(crate) fn take_back(&mut self, packet: Packet<Stamped>) {
        self.0.push(packet.payload);
    }
}

/// The packet as its endpoint knows it.
pub(crate) fn unstamped(packet: &Packet<Stamped>) -> Packet<&Payload> {
    Packet { flow: packet.flow, size: packet.size, ecn: packet.ecn, payload: packet.payload.payload() }
}
