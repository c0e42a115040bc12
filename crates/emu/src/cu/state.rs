//! Commands to a running CU, and its state.

use std::sync::mpsc::{SyncSender, sync_channel};

use tidemark_cell::UeId;
use tidemark_core::{Bytes, Instant};
use tidemark_marker::{Counters, Estimate, MarkerConfig};

use crate::control::{Control, Refusal};
use crate::refused::Refused;

/// Command to a running CU.
#[derive(Debug)]
pub enum CuCommand {
    /// Ends the CU.
    Stop,
    /// Gives the bearer of this tunnel another law, or other thresholds.
    Marker(usize, Box<MarkerConfig>, SyncSender<Result<(), Refusal>>),
    /// Asks for the state.
    State(SyncSender<CuState>),
}

/// State of a CU at one time.
#[derive(Clone, Debug, Default)]
pub struct CuState {
    /// Time since the start of the CU.
    pub now: Instant,
    /// Counters of the CU.
    pub counters: CuCounters,
    /// Bearers, in the order of their tunnels.
    pub bearers: Vec<CuBearer>,
}

/// Counters of a CU, since its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CuCounters {
    /// Packets sent to the DU.
    pub downlink: u64,
    /// Packets from the DU.
    pub uplink: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets dropped by the law.
    pub dropped: u64,
    /// Packets that had to wait because the DU wanted no more.
    pub held: u64,
    /// Packets dropped because too many waited.
    pub overflow: u64,
    /// Delivery statuses received.
    pub reports: u64,
    /// Packets for no UE of the cell.
    pub unroutable: u64,
    /// Counters of what was refused at F1-U, or from UEs.
    pub refused: Refused,
}

/// State of a CU's bearer.
#[derive(Clone, Copy, Debug)]
pub struct CuBearer {
    /// UE of the bearer.
    pub ue: UeId,
    /// DRB identity, from 1.
    pub drb: u8,
    /// Counters of the marker.
    pub marker: Counters,
    /// Estimate of the marker.
    pub estimate: Estimate,
    /// PDCP PDUs sent to the DU.
    pub sent: Bytes,
    /// PDCP PDUs that wait until the DU wants them.
    pub held: Bytes,
    /// NR-U sequence numbers that the DU reported as lost.
    pub lost: u64,
}

impl Control<CuCommand> {
    /// State of the CU; `None` if it has ended.
    pub fn state(&self) -> Option<CuState> {
        let (reply, answer) = sync_channel(1);
        self.send(CuCommand::State(reply));
        answer.recv().ok()
    }

    /// Changes the law of a tunnel's bearer, or its thresholds, and waits until that is done.
    ///
    /// # Errors
    /// Reason why the change was refused.
    pub fn set_marker(&self, tunnel: usize, config: MarkerConfig) -> Result<(), Refusal> {
        let (reply, answer) = sync_channel(1);
        self.send(CuCommand::Marker(tunnel, Box::new(config), reply));
        answer.recv().unwrap_or(Err(Refusal::Ended))
    }
}
