//! A transport's packet as the simulator carries it.

use std::ops::{Deref, DerefMut};

use tidemark_cell::DelaySplit;
use tidemark_core::{Duration, FlowId, Inspect, Instant, Packet, Selectors, TcpFeedback, TcpView};
use tidemark_senders::Payload;

use crate::addresses::Addresses;
use crate::flow::Flow;

/// A payload with what the recorder wants to know of its packet's way. Behind a pointer: on its way a packet is moved from one
/// queue to the next some twenty times.
#[derive(Clone, Debug)]
pub struct Stamped(Box<Content>);

/// What is behind the pointer.
#[derive(Clone, Debug)]
pub struct Content {
    /// When it was sent.
    pub(crate) sent: Instant,
    /// True on the way from a flow's receiver to its sender.
    pub(crate) back: bool,
    /// True on the way from a UE to the network.
    pub(crate) up: bool,
    /// The bearer that brought it to its UE: the DRB identity, from 1; 0 for none.
    pub(crate) drb: u8,
    /// What its headers show.
    pub(crate) addresses: Addresses,
    /// When it reached the last router.
    pub(crate) at_router: Instant,
    /// How long it waited in its router's queue.
    pub(crate) waited: Duration,
    /// What its time in the cell was made of.
    pub(crate) delay: DelaySplit,
    /// What the endpoints exchange.
    pub payload: Payload,
}

impl Deref for Stamped {
    type Target = Content;
    fn deref(&self) -> &Content {
        &self.0
    }
}
impl DerefMut for Stamped {
    fn deref_mut(&mut self) -> &mut Content {
        &mut self.0
    }
}

impl Inspect for Stamped {
    fn five_tuple(&self, flow: FlowId) -> FlowId {
        self.payload.five_tuple(flow)
    }
    fn selectors(&self) -> Option<Selectors> {
        Some(self.addresses.selectors(&self.payload, self.up))
    }
    fn tcp(&self) -> Option<TcpView> {
        self.payload.tcp()
    }
    fn set_tcp_feedback(&mut self, feedback: TcpFeedback) {
        self.payload.set_tcp_feedback(feedback);
    }
}

/// A packet that one end of a flow sends now; `back` as the field.
pub(crate) fn stamped(sent: Instant, flow: &Flow, back: bool, packet: Packet<Payload>) -> Packet<Stamped> {
    let (up, addresses) = (back != flow.uplink, flow.addresses);
    let Packet { flow, size, ecn, payload } = packet;
    let delay = DelaySplit::default();
    let content =
        Content { sent, back, up, drb: 0, addresses, at_router: sent, waited: Duration::ZERO, delay, payload };
    Packet { flow, size, ecn, payload: Stamped(Box::new(content)) }
}

/// The packet as its endpoint knows it.
pub(crate) fn unstamped(packet: Packet<Stamped>) -> Packet<Payload> {
    let Packet { flow, size, ecn, payload } = packet;
    Packet { flow, size, ecn, payload: payload.0.payload }
}
