//! What the driver tells of packets and of itself while it runs.

use hdrhistogram::Histogram;
use tidemark_cell::{DelaySplit, DrbStats, DropReason, UeId, UeStats};
use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant};
use tidemark_wire::ip::FiveTuple;

use crate::realtime::Priority;

/// What happens to packets, told while it happens; an observer must not wait for anything.
pub trait Observer {
    /// A packet was seen.
    fn seen(&mut self, at: Instant, seen: &Seen<'_>);
    /// An interval is over.
    fn sample(&mut self, progress: &Progress<'_>);
}

/// What happened to a packet.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a> {
    /// It came from the core.
    Downlink {
        /// For whom.
        ue: UeId,
        /// Its flow.
        flow: FlowId,
        /// Its five-tuple, where it has a readable header.
        tuple: Option<FiveTuple>,
        /// All of it.
        bytes: &'a [u8],
    },
    /// It reached its UE.
    Delivered {
        /// Whose it is.
        ue: UeId,
        /// By which of its bearers: the DRB identity, from 1.
        drb: u8,
        /// Its flow.
        flow: FlowId,
        /// All of it, with its mark.
        bytes: &'a [u8],
        /// Its ECN field.
        ecn: Ecn,
        /// When it came from the core.
        sent: Instant,
        /// Its time in the cell, taken apart.
        delay: DelaySplit,
    },
    /// A UE sent it.
    Uplink {
        /// Who.
        ue: UeId,
        /// All of it.
        bytes: &'a [u8],
    },
    /// The uplink has carried it to the gNB.
    Carried {
        /// Whose it is.
        ue: UeId,
        /// The QoS flow that the UE's rules put it into.
        qfi: u8,
        /// Length of the IP packet.
        size: Bytes,
        /// Its time at the UE and in the air, taken apart.
        delay: DelaySplit,
    },
    /// It left towards the core.
    Departed {
        /// Whose it is.
        ue: UeId,
        /// All of it, with what the short-circuit wrote.
        bytes: &'a [u8],
    },
    /// A UE's modem gets a recommended bit rate.
    Recommended {
        /// Whose modem.
        ue: UeId,
        /// MAC subheader and control element (TS 38.321 6.1.3.20).
        octets: [u8; 3],
    },
    /// The law marked it, and acknowledgements say so instead of the packet.
    ShortCircuited {
        /// Whose it is.
        ue: UeId,
        /// Its flow.
        flow: FlowId,
    },
    /// It is lost.
    Dropped {
        /// Whose it was.
        ue: UeId,
        /// Its flow.
        flow: FlowId,
        /// The bearer that was to carry it to the gNB, the DRB identity from 1; `None` for a downlink packet.
        up: Option<u8>,
        /// Why the cell dropped it; `None` where the machine was too slow for the cell.
        reason: Option<DropReason>,
    },
}

/// How the driver itself fares.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The time.
    pub now: Instant,
    /// State and counters of each UE.
    pub ues: &'a [UeStats],
    /// Counters of the bearers of each UE.
    pub bearers: &'a [Vec<DrbStats>],
    /// Resource blocks x symbols that the cell's downlink slots have had.
    pub resources: u64,
    /// The same of its uplink slots.
    pub uplink_resources: u64,
    /// How late deadlines were served, in nanoseconds.
    pub lateness: &'a Histogram<u64>,
    /// Processor time of the driver's thread.
    pub busy: Duration,
    /// Counters.
    pub counters: Counters,
    /// How the driver's thread is scheduled.
    pub priority: Priority,
}

/// What the driver counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets that came from the core.
    pub downlink: u64,
    /// Packets that came from UEs.
    pub uplink: u64,
    /// Packets handed to UEs and to the core.
    pub forwarded: u64,
    /// Packets for no UE of the cell.
    pub unroutable: u64,
    /// Packets that the kernel refused.
    pub refused: u64,
    /// Packets dropped because the machine was too slow for the cell.
    pub overload: u64,
}
