//! Listeners to a driver: to its cell's events, to the devices around the cell, and to the driver itself.

use hdrhistogram::Histogram;
use tidemark_cell::{BearerId, DrbStats, Event, UeId, UeStats};
use tidemark_core::{Duration, FlowId, Instant};
use tidemark_wire::ip::FiveTuple;

use crate::datagram::Stamped;
use crate::realtime::Priority;
use crate::refused::Refused;

/// Listener to a driver, on the driver's thread: it must not wait for anything.
pub trait Observer: Send + 'static {
    /// Handles an event of the cell.
    fn handle_cell(&mut self, at: Instant, bearer: BearerId, event: &Event<'_, Stamped>);
    /// Handles what the driver itself did with a packet.
    fn handle_driver(&mut self, at: Instant, event: &DriverEvent<'_>);
    /// Ends an interval.
    fn sample(&mut self, progress: &Progress<'_>);
}

/// Event outside of the cell: at the devices that it lies between, on an IP packet with its header.
#[derive(Clone, Copy, Debug)]
pub enum DriverEvent<'a> {
    /// A packet came from the core.
    FromCore {
        /// UE that it is for.
        ue: UeId,
        /// Flow of the packet.
        flow: FlowId,
        /// Five-tuple of the packet; `None` where it has no readable header.
        tuple: Option<FiveTuple>,
        /// Whole packet.
        bytes: &'a [u8],
    },
    /// A packet leaves towards the core, with what the short-circuit wrote.
    ToCore {
        /// UE that sent it.
        ue: UeId,
        /// Whole packet.
        bytes: &'a [u8],
    },
    /// A packet came from a UE's device.
    FromUe {
        /// UE that sent it.
        ue: UeId,
        /// Whole packet.
        bytes: &'a [u8],
    },
    /// A packet goes to a UE's device, with its mark.
    ToUe {
        /// UE that it is for.
        ue: UeId,
        /// Whole packet.
        bytes: &'a [u8],
    },
    /// A packet was dropped before it entered the cell, since the machine is too slow for the cell.
    Overloaded {
        /// UE of the packet.
        ue: UeId,
        /// Flow of the packet.
        flow: FlowId,
        /// DRB identity, from 1, of the bearer that was to carry it to the gNB; `None` for a downlink packet.
        up: Option<u8>,
    },
}

/// State of the driver itself at one time.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Time since the start of the run.
    pub now: Instant,
    /// State and counters of each UE.
    pub ues: &'a [UeStats],
    /// Counters of the bearers of each UE.
    pub bearers: &'a [Vec<DrbStats>],
    /// Resource blocks x symbols that the cell's downlink slots have had.
    pub resources: u64,
    /// Resource blocks x symbols that the cell's uplink slots have had.
    pub uplink_resources: u64,
    /// Lateness of the deadlines that were served, in nanoseconds.
    pub lateness: &'a Histogram<u64>,
    /// Processor time of the driver's thread.
    pub busy: Duration,
    /// Counters of the driver.
    pub counters: Counters,
    /// Scheduling of the driver's thread.
    pub priority: Priority,
}

/// Counters of a driver, since its start.
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
    /// Counters of the core side's socket; `None` where it is none.
    pub not_admitted: Option<Refused>,
}
