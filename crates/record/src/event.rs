//! Events that a recorder counts: packets of simulator, live cell and endpoints, in one form.
//!
//! A cell's own events ([`tidemark_cell::Event`]) name packets; these events have the numbers of flows and UEs, since a
//! recorder keeps no packets.

use tidemark_cell::DelaySplit;
use tidemark_core::{BitRate, Bytes, Duration, Ecn, Instant};
use tidemark_senders::FrameArrival;
use tidemark_wire::mac::Direction;

/// Event of a packet, a flow, a UE or a router. `flow`, `ue` and `router` are the recorder's numbers, from 0.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A sender handed a packet of its data to the network.
    Sent {
        /// Flow of the packet.
        flow: usize,
    },
    /// A packet of data reached its end.
    Arrived {
        /// Flow of the packet.
        flow: usize,
        /// UE that it ended at; `None` for an upload, or a host on the wire.
        ue: Option<usize>,
        /// Size, times and mark of the packet.
        arrival: Arrival,
    },
    /// A packet of feedback reached the flow's sender; only ends on a real network report this.
    Acknowledged {
        /// Flow of the packet.
        flow: usize,
        /// ECN field on arrival.
        ecn: Ecn,
    },
    /// The sender's controller has this rate now; only ends on a real network report this.
    Rate {
        /// Flow of the sender.
        flow: usize,
        /// Rate that it asks for.
        rate: BitRate,
    },
    /// The network dropped a packet of data.
    Dropped {
        /// Flow of the packet.
        flow: usize,
    },
    /// Acknowledgements carry a packet's mark in place of the packet.
    ShortCircuited {
        /// Flow of the packet.
        flow: usize,
    },
    /// A sender measured a round trip.
    RoundTrip {
        /// Flow of the sender.
        flow: usize,
        /// Round-trip time.
        rtt: Duration,
    },
    /// A frame arrived whole.
    Frame {
        /// Flow of the frame.
        flow: usize,
        /// Delays of the frame.
        frame: FrameArrival,
        /// Time of its last packet on the wire, which its budget leaves out; zero where its delay is without it.
        wire: Duration,
    },
    /// A transfer of known size, or a page, arrived whole.
    Completed {
        /// Flow of the transfer.
        flow: usize,
        /// Time since its beginning.
        duration: Duration,
    },
    /// A packet of a UE left its gNB towards the core.
    UplinkArrived {
        /// UE that sent it.
        ue: usize,
        /// Bearer that brought it: the DRB identity, from 1.
        drb: u8,
        /// Length of the IP packet.
        size: Bytes,
        /// Time in the UE and in the air, taken apart.
        delay: DelaySplit,
    },
    /// A packet of a UE was lost before it left the gNB.
    UplinkDropped {
        /// UE that sent it.
        ue: usize,
        /// Bearer that was to bring it: the DRB identity, from 1.
        drb: u8,
    },
    /// A UE was recommended a bit rate.
    Recommended {
        /// UE that it is for.
        ue: usize,
        /// Direction that it is for.
        direction: Direction,
        /// Logical channel that it is for.
        channel: u8,
        /// Recommended rate.
        rate: BitRate,
    },
    /// The applications of a UE asked for a recommendation.
    Queried {
        /// UE that asked.
        ue: usize,
        /// Direction that it asked for.
        direction: Direction,
        /// True where the modem takes the query; false where another one waits for bitRateQueryProhibitTimer.
        sent: bool,
    },
    /// The link of a router begins to send a packet.
    RouterBegan {
        /// Router of the link.
        router: usize,
        /// Time of the packet in its queue.
        waited: Duration,
    },
    /// The link of a router finished sending a packet.
    RouterSent {
        /// Router of the link.
        router: usize,
        /// Length of the IP packet.
        size: Bytes,
        /// True for a packet with CE that had come without.
        marked: bool,
    },
    /// A router dropped a packet.
    RouterDropped {
        /// Router of the queue.
        router: usize,
    },
}

/// A packet of data that has reached its end.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Time at which the sender's IP layer sent it.
    pub sent: Instant,
    /// Length of the IP packet.
    pub size: Bytes,
    /// ECN field on arrival.
    pub ecn: Ecn,
    /// Time in the queues of routers; `None` where there is no router on its way.
    pub waited: Option<Duration>,
    /// Time in the queues of routers and on their links.
    pub in_routers: Duration,
    /// Bearer that brought it: the DRB identity, from 1; 0 for none.
    pub drb: u8,
    /// Time in the cell, by part.
    pub delay: DelaySplit,
}

impl Arrival {
    /// Time that the packet, which arrived at `at`, spent on the wire between server and gNB.
    pub fn on_wire(&self, at: Instant) -> Duration {
        at.since(self.sent) - self.in_routers - self.delay.total()
    }
}
