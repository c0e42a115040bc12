//! What a running CU can be asked and told.

use std::sync::mpsc::{SyncSender, sync_channel};

use tidemark_cell::UeId;
use tidemark_core::{Bytes, Instant};
use tidemark_marker::{Counters, Estimate, MarkerConfig};

use crate::control::{Control, Refusal};

/// What a running CU can be asked and told.
#[derive(Debug)]
pub enum CuCommand {
    /// End.
    Stop,
    /// The bearer of this tunnel is marked by another law from now on, or with other thresholds.
    Marker(usize, Box<MarkerConfig>, SyncSender<Result<(), Refusal>>),
    /// Say how it is.
    Look(SyncSender<CuState>),
}

/// A CU at one time.
#[derive(Clone, Debug, Default)]
pub struct CuState {
    /// Since its start.
    pub now: Instant,
    /// What it counted.
    pub counters: CuCounters,
    /// The bearers, in the order of their tunnels.
    pub bearers: Vec<CuBearer>,
}

/// What a CU counts.
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
    /// Packets that waited since the DU wanted no more.
    pub held: u64,
    /// Packets dropped since too many waited.
    pub overflow: u64,
    /// Delivery statuses.
    pub reports: u64,
    /// Packets for no UE of the cell.
    pub unroutable: u64,
}

/// A bearer of a CU.
#[derive(Clone, Copy, Debug)]
pub struct CuBearer {
    /// Whose it is.
    pub ue: UeId,
    /// DRB identity, from 1.
    pub drb: u8,
    /// What its marker counted.
    pub marker: Counters,
    /// What its marker believes.
    pub estimate: Estimate,
    /// PDCP PDUs sent to the DU.
    pub sent: Bytes,
    /// PDCP PDUs that wait until the DU wants them.
    pub held: Bytes,
    /// NR-U sequence numbers that the DU reported as lost.
    pub lost: u64,
}

impl Control<CuCommand> {
    /// How the CU is; `None` if it has ended.
    pub fn look(&self) -> Option<CuState> {
        let (reply, answer) = sync_channel(1);
        self.tell(CuCommand::Look(reply));
        answer.recv().ok()
    }

    /// Changes the law of a tunnel's bearer, or its thresholds, and waits until that is done.
    ///
    /// # Errors
    /// Why it was not done.
    pub fn set_marker(&self, tunnel: usize, config: MarkerConfig) -> Result<(), Refusal> {
        let (reply, answer) = sync_channel(1);
        self.tell(CuCommand::Marker(tunnel, Box::new(config), reply));
        answer.recv().unwrap_or(Err(Refusal::Ended))
    }
}
