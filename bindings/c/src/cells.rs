//! Cells of an instance's DRBs, by the numbers that the host has for them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use tidemark_marker::CellLoad;

/// Counts of the queues of cells. Calls that name a cell wait for each other here; the packet path never takes this lock.
#[derive(Default)]
pub(crate) struct Cells(Mutex<BTreeMap<u64, CellLoad>>);

impl Cells {
    /// Count of a cell's queues. A new cell takes the room of those that no DRB is in any more, so that there are never more of them than DRBs.
    pub(crate) fn load(&self, cell: u64) -> CellLoad {
        let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !cells.contains_key(&cell) {
            cells.retain(|_, load| load.is_shared());
        }
        cells.entry(cell).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_no_drb_is_in_are_forgotten() {
        let cells = Cells::default();
        let used = cells.load(1);
        (2..1_000).for_each(|cell| drop(cells.load(cell)));
        let known: Vec<u64> = cells.0.lock().unwrap().keys().copied().collect();
        assert_eq!(known, [1, 999]);
        drop(used);
        drop(cells.load(2));
        assert_eq!(cells.0.lock().unwrap().len(), 1);
    }
}
