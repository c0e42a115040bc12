//! A UE moves to another CU-UP, and its connections with it.

use tidemark_core::Instant;
use tidemark_wire::ip::FiveTuple;

use crate::bearers::Bearers;
use crate::flow::Flow;
use crate::path::drbs::DrbId;
use crate::path::ue::Ue;
use crate::relocation::{self, Record, RelocationError, Wrong, check};

impl Ue {
    /// Bytes that [`export`](Self::export) writes now.
    pub fn export_len(&self) -> usize {
        relocation::len(self.drbs.all().map(|marker| marker.flows.export().count()).sum())
    }

    /// Writes the UE's TCP connections for the CU-UP that it moves to: their five-tuples, what their ends agreed on, what was added to their
    /// counters and the marks that no acknowledgement carried yet. Gives the length in bytes; `None` for a buffer that is shorter
    /// than [`export_len`](Self::export_len). Estimates and queues stay: they are of the old radio.
    ///
    /// The UE goes on as it was. What its acknowledgements carry after the export is lacking at the other CU-UP, so that the last packet comes
    /// before it.
    pub fn export(&self, buffer: &mut [u8]) -> Option<usize> {
        let length = self.export_len();
        let records = self
            .drbs
            .with_ids()
            .flat_map(|(drb, marker)| marker.flows.export().map(move |record| Record { drb: drb.0, ..record }));
        relocation::write(buffer.get_mut(..length)?, records);
        Some(length)
    }

    /// Takes in what another CU-UP has exported, before the UE's first packet here. Connections go to the DRB of the same identity, or to
    /// the first, as those of a DRB that is removed; where there is no room the weakest are forgotten, and counted. A connection whose opening was
    /// seen here stays as it is.
    ///
    /// # Errors
    /// As [`RelocationError`] lists; nothing has changed then.
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
