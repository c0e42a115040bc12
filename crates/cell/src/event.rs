//! Events of a cell in the terms of 3GPP: one stream for captures, recorders and tests, and to find out why a packet was marked.
//!
//! The cell makes an event only if there is an observer ([`Cell::observe`](crate::Cell::observe)). Events do not change its behaviour.

use tidemark_core::{Bytes, Duration, Ecn, Instant, Packet};
use tidemark_marker::{Decision, DeliveryStatus, Estimate, RlcQueue, SnLength};
use tidemark_wire::mac::Direction;

use crate::output::{DelaySplit, DropReason, UeId};

/// Identity of a bearer of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BearerId {
    /// UE of the bearer.
    pub ue: UeId,
    /// DRB identity, from 1.
    pub drb: u8,
    /// Length of the bearer's PDCP SNs.
    pub sn_length: SnLength,
}

/// Event at a bearer. Packets are downlink packets unless an event says otherwise.
#[derive(Debug)]
pub enum Event<'a, P> {
    /// A downlink packet reached the CU, unchanged so far.
    Arrived {
        /// Packet before the law sees it.
        packet: &'a Packet<P>,
    },
    /// The law decided on a packet: after [`Arrived`](Self::Arrived), or after [`Dequeued`](Self::Dequeued) if it decides there.
    Decided {
        /// Packet: on arrival with the mark, on dequeue still without it.
        packet: &'a Packet<P>,
        /// ECN field before the decision.
        came: Ecn,
        /// True state of the RLC queue at the decision.
        queue: RlcQueue,
        /// Law, estimate, odds with their rule, draw, and verdict. After a mark that goes into acknowledgements
        /// [`ShortCircuited`](Self::ShortCircuited) follows.
        decision: Decision,
    },
    /// Acknowledgements carry the packet's mark instead of the packet.
    ShortCircuited {
        /// Packet without the mark.
        packet: &'a Packet<P>,
    },
    /// PDCP numbered a packet, which goes to the DU.
    Numbered {
        /// Packet as the law left it.
        packet: &'a Packet<P>,
        /// PDCP SN.
        sn: u32,
        /// True if the frame that carries it to the DU asks for a report (TS 38.425 5.5.3.7).
        poll: bool,
    },
    /// A delivery status report reached the CU.
    Reported {
        /// Content of the report.
        status: DeliveryStatus,
        /// Estimate of the marker from now on.
        estimate: Estimate,
    },
    /// The bearer moved to another DU, and the marker has forgotten the old one.
    HandedOver,
    /// PDCP sends a packet that waited in the old DU to the new one.
    Forwarded {
        /// Packet, numbered before.
        packet: &'a Packet<P>,
        /// PDCP SN.
        sn: u32,
    },
    /// PDCP's discardTimer ran out for an SDU in the queue; a drop follows.
    Discarded {
        /// PDCP SN.
        sn: u32,
    },
    /// The first segment of a packet leaves the RLC queue, at a bearer whose law decides there.
    Dequeued {
        /// Packet before the law sees it.
        packet: &'a Packet<P>,
        /// PDCP SN.
        sn: u32,
        /// Time in the queue.
        sojourn: Duration,
        /// IP bytes that stay in the queue.
        backlog: Bytes,
    },
    /// RLC gave a slot bytes that it had not sent before.
    Transmitted {
        /// Bytes of PDCP PDUs; zero if the grant was too small.
        bytes: Bytes,
        /// IP bytes that stay in the queue.
        backlog: Bytes,
    },
    /// A transport block was on the air.
    Block {
        /// Direction of the block. An uplink block can carry several bearers and is an event of the default one.
        direction: Direction,
        /// Number of the transmission: 1 for the first, more for HARQ retransmissions.
        transmission: u32,
        /// MCS index; `None` on a rate channel's downlink.
        mcs: Option<u8>,
        /// Size of the block in bytes.
        bytes: u32,
        /// Resource blocks.
        prbs: u32,
        /// True if the receiver decoded it.
        decoded: bool,
    },
    /// A packet reached the IP stack of the UE.
    Delivered {
        /// Packet with its mark.
        packet: &'a Packet<P>,
        /// PDCP SN.
        sn: u32,
        /// Time between the CU and the UE's IP stack, split into its parts.
        delay: DelaySplit,
    },
    /// A packet is lost.
    Dropped {
        /// Packet, as it was then.
        packet: &'a Packet<P>,
        /// Direction of the packet.
        direction: Direction,
        /// Cause.
        reason: DropReason,
    },
    /// The IP stack of the UE handed over an uplink packet.
    UplinkArrived {
        /// Uplink packet.
        packet: &'a Packet<P>,
        /// QoS flow that the UE's rules gave it.
        qfi: u8,
    },
    /// The gNB has an uplink packet in order, after the law if one marks the uplink.
    UplinkDelivered {
        /// Uplink packet.
        packet: &'a Packet<P>,
        /// QoS flow of the packet.
        qfi: u8,
        /// Time in the UE and on the air, split into its parts.
        delay: DelaySplit,
    },
    /// An uplink packet left the CU towards the core.
    UplinkForwarded {
        /// Uplink packet with the feedback that the short-circuit wrote.
        packet: &'a Packet<P>,
    },
    /// The UE's modem gets a recommended bit rate.
    Recommended {
        /// MAC subheader and control element (TS 38.321 6.1.3.20).
        octets: [u8; 3],
    },
}

/// Observer of a cell's events. It can't keep what it is shown.
pub type Observer<P> = Box<dyn FnMut(Instant, BearerId, Event<'_, P>) + Send>;

/// Listeners of a cell, if there are any.
pub(crate) struct Events<P> {
    all: Option<Observer<P>>,
    /// Listener to the few decisions that mark or drop a packet. The reasons of other decisions are not computed for it.
    signals: Option<Observer<P>>,
}

impl<P> Events<P> {
    /// No listener.
    pub(crate) const fn new() -> Self {
        Self { all: None, signals: None }
    }
    /// Lets `observer` listen, and replaces the previous one.
    pub(crate) fn observe(&mut self, observer: Observer<P>) {
        self.all = Some(observer);
    }
    /// Lets `observer` listen to [`Event::Decided`] of marks and of drops by a law, and replaces the previous one.
    pub(crate) fn observe_signals(&mut self, observer: Observer<P>) {
        self.signals = Some(observer);
    }
    /// True if the reasons for a decision have a listener; `signals` is true for a decision that marks or drops.
    #[inline]
    pub(crate) fn want_decision(&self, signals: bool) -> bool {
        self.all.is_some() || signals && self.signals.is_some()
    }
    /// Makes an [`Event::Decided`] for its listeners; `signals` is true for a decision that marks or drops.
    pub(crate) fn emit_decision<'a>(
        &mut self,
        now: Instant,
        bearer: BearerId,
        signals: bool,
        event: impl Fn() -> Event<'a, P>,
    ) where
        P: 'a,
    {
        for observer in self.all.iter_mut().chain(self.signals.as_mut().filter(|_| signals)) {
            observer(now, bearer, event());
        }
    }
    /// True if every event has a listener. Values that only an event needs are computed then.
    #[inline]
    pub(crate) fn has_listener(&self) -> bool {
        self.all.is_some()
    }
    /// Makes an event for the listener; does nothing without one.
    #[inline]
    pub(crate) fn emit<'a>(&mut self, now: Instant, bearer: BearerId, event: impl FnOnce() -> Event<'a, P>)
    where
        P: 'a,
    {
        if let Some(observer) = &mut self.all {
            observer(now, bearer, event());
        }
    }
}
