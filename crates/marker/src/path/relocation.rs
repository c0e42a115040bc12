//! Move of a UE, with its connections, to another CU-UP.

use tidemark_core::Instant;
use tidemark_wire::ip::FiveTuple;

use crate::bearers::Bearers;
use crate::flow::Flow;
use crate::path::drbs::DrbId;
use crate::path::ue::Ue;
use crate::relocation::{self, Record, RelocationError, Wrong, check};

impl Ue {
    /// Number of bytes that [`export`](Self::export) would write now.
    pub fn export_len(&self) -> usize {
        relocation::len(self.drbs.all().map(|marker| marker.flows.export().count()).sum())
    }

    /// Writes the UE's TCP connections for the CU-UP to which it moves: their five-tuples, the agreed ECN mode, the additions to their
    /// counters, and the marks that no acknowledgement carried yet. Gives the length in bytes, or `None` for a buffer shorter than
    /// [`export_len`](Self::export_len). Estimates and queues are left out, because they belong to the old radio.
    ///
    /// The UE itself does not change. Export after its last packet here: marks carried by acknowledgements after the export would be
    /// missing at the other CU-UP.
    pub fn export(&self, buffer: &mut [u8]) -> Option<usize> {
        let length = self.export_len();
        let records = self
            .drbs
            .with_ids()
            .flat_map(|(drb, marker)| marker.flows.export().map(move |record| Record { drb: drb.0, ..record }));
        relocation::write(buffer.get_mut(..length)?, records)?;
        Some(length)
    }

    /// Imports the state that another CU-UP has exported. Call it before the UE's first packet here. Connections go to the DRB of the same
    /// identity, or to the first DRB, like those of a DRB that is removed. If there is no room, the weakest are forgotten and counted. A
    /// connection whose handshake was seen here is not changed.
    ///
    /// # Errors
    /// Those of [`RelocationError`]; nothing has changed then.
    pub fn import(&mut self, now: Instant, bytes: &[u8]) -> Result<(), RelocationError> {
        let connections = relocation::read(bytes, |record| Connection::restore(now, record))?;
        // Without a DRB there is no table to take the connections in.
        if self.drbs.all().next().is_none() {
            return Err(RelocationError::NoDrb);
        }
        for Connection { drb, tuple, flow } in connections {
            let id = self.key.flow(&tuple);
            // Its SYN came here before the relocation: what this CU-UP saw itself is newer.
            if let Some(keeper) = self.drbs.markers().find(|marker| marker.flows.knows_opening(id)) {
                keeper.flows.count_let_go(&flow);
                continue;
            }
            // The old CU-UP's DRB may have another number here.
            let drb = if self.drbs.get(drb).is_some() { self.drbs.get_mut(drb) } else { self.drbs.markers().next() };
            if let Some(marker) = drb {
                marker.flows.import(id, flow, tuple);
            }
        }
        Ok(())
    }
}

/// A connection from another CU-UP.
struct Connection {
    drb: DrbId,
    tuple: FiveTuple,
    flow: Flow,
}

impl Connection {
    fn restore(now: Instant, record: &Record) -> Result<Self, Wrong> {
        let drb = DrbId(record.drb);
        check(drb.is_valid(), "drb", "must be 1 to 32")?;
        Ok(Self { drb, tuple: record.five_tuple()?, flow: Flow::import(now, record)? })
    }
}
