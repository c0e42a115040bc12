//! The shared channel of a carrier: PDSCH in the downlink, PUSCH in the uplink.

use crate::mcs::McsTable;
use crate::tbs::{Allocation, transport_block_bits};

/// Properties of PDSCH or PUSCH that determine the size of a transport block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedChannel {
    /// Resource blocks of the carrier.
    pub prbs: u32,
    /// Symbols at the start of a slot that carry control.
    pub control_symbols: u32,
    /// Resource elements for DMRS in each resource block.
    pub dmrs: u32,
    /// Resource elements of other overhead in each resource block: `xOverhead`, 0, 6, 12 or 18.
    pub overhead: u32,
    /// Layers.
    pub layers: u32,
    /// MCS table.
    pub mcs_table: McsTable,
}

impl SharedChannel {
    /// PDSCH of 20 MHz at 30 kHz, with the overhead of a default cell.
    #[cfg(test)]
    pub(crate) const TWENTY_MHZ: Self =
        Self { prbs: 51, control_symbols: 2, dmrs: 36, overhead: 6, layers: 1, mcs_table: McsTable::Qam64 };

    /// Resource elements for data in this many resource blocks and symbols of a slot.
    pub fn allocation(&self, prbs: u32, symbols: u32) -> Allocation {
        Allocation {
            prbs,
            symbols: symbols.saturating_sub(self.control_symbols),
            dmrs: self.dmrs,
            overhead: self.overhead,
            layers: self.layers,
        }
    }

    /// Bytes of a transport block over the whole carrier, by the row of the MCS table.
    pub fn whole_block(&self, symbols: u32, mcs: usize) -> u32 {
        transport_block_bits(self.allocation(self.prbs, symbols), self.mcs_table.rows()[mcs]) / 8
    }
}
