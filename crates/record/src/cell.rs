//! Record of a cell of a network.

use tidemark_cell::CellStats;
use tidemark_core::Duration;

use crate::result::{CellPlace, NetworkCellResult};
use crate::series::CellPoint;
use crate::ue::share;
use crate::unit::mbps;

/// One cell of a network.
#[derive(Debug, Default)]
pub(crate) struct CellRecord {
    last: CellStats,
    pub(crate) points: Vec<CellPoint>,
}

impl CellRecord {
    /// Ends an interval of the series, in which the cell had this many resources and at whose end it has this many UEs.
    pub(crate) fn sample(&mut self, now: CellStats, available: u64, ues: u32) {
        let used = now.resources - self.last.resources;
        self.points.push(CellPoint {
            delivered: now.delivered - self.last.delivered,
            load: (available > 0).then(|| used as f64 / available as f64),
            ues,
            handovers: now.handovers - self.last.handovers,
        });
        self.last = now;
    }
    /// Result between two states of the counters, of this many resources; `warm` intervals come before the first.
    pub(crate) fn result(
        &self,
        (name, place): (String, CellPlace),
        (before, after): (&CellStats, &CellStats),
        resources: u64,
        (span, warm): (Duration, usize),
    ) -> NetworkCellResult {
        let points = self.points.get(warm..).unwrap_or_default();
        let ues: u32 = points.iter().map(|point| point.ues).sum();
        NetworkCellResult {
            name,
            utilisation: share(after.resources - before.resources, resources),
            throughput_mbps: mbps(after.delivered - before.delivered, span),
            ues: (!points.is_empty()).then(|| f64::from(ues) / points.len() as f64),
            handovers: after.handovers - before.handovers,
            satisfied: None,
            place: Some(place),
        }
    }
}
