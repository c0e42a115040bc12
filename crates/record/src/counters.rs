//! Counters that the cells and endpoints keep, at one time.

use tidemark_cell::network::UeRadio;
use tidemark_cell::{CellStats, DrbStats, UeStats};
use tidemark_core::{BitRate, Instant};
use tidemark_senders::Stats;

/// Counters of a run at one time, from its beginning. Results are differences of two states; a counter that is missing
/// in one of them counts as zero.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Time of the reading.
    pub at: Instant,
    /// Counters of each UE.
    pub ues: Vec<UeStats>,
    /// Counters of each UE's bearers, the default one first.
    pub bearers: Vec<Vec<DrbStats>>,
    /// Counters of each cell.
    pub cells: Vec<CellStats>,
    /// Place and measurements of each UE of a network.
    pub radio: Vec<Option<UeRadio>>,
    /// Counters of the flows' servers, which send the data; empty where the endpoints are not ours.
    pub servers: Vec<Stats>,
    /// Counters of the flows' clients.
    pub clients: Vec<Stats>,
    /// Rate of each router's link now.
    pub link_rates: Vec<BitRate>,
    /// Resource blocks x symbols that a cell's downlink slots have had.
    pub resources: u64,
    /// Resource blocks x symbols that a cell's uplink slots have had.
    pub uplink_resources: u64,
}

impl Counters {
    /// Counters of a UE.
    pub(crate) fn ue(&self, index: usize) -> UeStats {
        self.ues.get(index).copied().unwrap_or_default()
    }
    /// Counters of a UE's bearer with this DRB identity, from 1.
    pub(crate) fn bearer(&self, ue: usize, drb: u8) -> DrbStats {
        let bearer = self.bearers.get(ue).and_then(|bearers| bearers.get(usize::from(drb).checked_sub(1)?));
        bearer.copied().unwrap_or_default()
    }
}
