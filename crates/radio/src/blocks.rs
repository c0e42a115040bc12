//! Transport block sizes of a carrier, computed once.

use crate::SharedChannel;
use crate::slots::SlotPattern;
use crate::tbs::transport_block_bits;

/// Bytes of a transport block by symbols of the slot, MCS and resource blocks.
#[derive(Clone, Debug)]
pub struct BlockSizes {
    prbs: usize,
    rows: usize,
    /// Counts of symbols that occur, in ascending order.
    symbols: Vec<u32>,
    /// Capacity of a slot with each of these counts, as a share of that with the last count, from 0 to 1.
    capacity: Vec<f64>,
    bytes: Vec<u32>,
}

impl BlockSizes {
    /// Computes the sizes for the downlink slots of a pattern.
    pub fn new(channel: &SharedChannel, pattern: &SlotPattern) -> Self {
        let mut symbols: Vec<_> = pattern.downlink_symbols_of_period().filter(|symbols| *symbols > 0).collect();
        symbols.sort_unstable();
        symbols.dedup();
        Self::of_slots(channel, symbols)
    }
    /// Computes the sizes for slots with these counts of symbols, in ascending order.
    pub fn of_slots(channel: &SharedChannel, symbols: Vec<u32>) -> Self {
        let rows: &[_] = channel.mcs_table.rows();
        let mut bytes = Vec::new();
        for symbols in &symbols {
            for row in rows {
                for prbs in 0..=channel.prbs {
                    bytes.push(transport_block_bits(channel.allocation(prbs, *symbols), *row) / 8);
                }
            }
        }
        let elements = |symbols: &u32| f64::from(channel.allocation(1, *symbols).elements_per_block());
        let fullest = symbols.last().map_or(1.0, elements).max(1.0);
        let capacity = symbols.iter().map(|symbols| elements(symbols) / fullest).collect();
        Self { prbs: channel.prbs as usize + 1, rows: rows.len(), symbols, capacity, bytes }
    }

    /// Bytes by number of resource blocks, from none to the whole carrier.
    pub fn of(&self, symbols: u32, mcs: u8) -> &[u32] {
        self.in_slot(symbols).of(mcs)
    }
    /// Sizes in a slot with this many symbols.
    pub fn in_slot(&self, symbols: u32) -> SlotSizes<'_> {
        let kind = self.symbols.iter().position(|other| *other == symbols).unwrap_or(0);
        let all = self.rows * self.prbs;
        SlotSizes { prbs: self.prbs, capacity: self.capacity[kind], bytes: &self.bytes[kind * all..(kind + 1) * all] }
    }
    /// The fewest resource blocks that carry `wanted` bytes, or all of `free` if they are too few, and the bytes that they carry.
    pub fn fitting(&self, symbols: u32, mcs: u8, free: u32, wanted: u32) -> (u32, u32) {
        let sizes = &self.of(symbols, mcs)[..=free as usize];
        let too_small = |bytes: &u32| *bytes < wanted;
        let prbs = match sizes.last() {
            // Where much waits there is nothing to look for.
            Some(all) if too_small(all) => free as usize,
            _ => sizes.partition_point(too_small),
        };
        (prbs as u32, sizes[prbs])
    }
}

/// Bytes of a transport block in one slot, by MCS and resource blocks.
#[derive(Clone, Copy, Debug)]
pub struct SlotSizes<'a> {
    prbs: usize,
    /// Capacity of the slot as a share of that of the largest slots, from 0 to 1.
    pub capacity: f64,
    bytes: &'a [u32],
}

impl<'a> SlotSizes<'a> {
    /// Bytes by number of resource blocks, from none to the whole carrier.
    pub fn of(&self, mcs: u8) -> &'a [u32] {
        let start = usize::from(mcs) * self.prbs;
        &self.bytes[start..start + self.prbs]
    }
    /// Bytes on the whole carrier.
    pub fn whole(&self, mcs: u8) -> u32 {
        self.bytes[usize::from(mcs) * self.prbs + self.prbs - 1]
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Duration;

    use super::*;

    #[test]
    fn the_default_cell_carries_forty_megabits_at_its_highest_mcs() {
        let pattern = SlotPattern::parse("DDDDDDDSUU", 6, Duration::from_micros(500)).unwrap();
        let sizes = BlockSizes::new(&SharedChannel::TWENTY_MHZ, &pattern);
        let period: u32 = pattern
            .downlink_symbols_of_period()
            .filter(|symbols| *symbols > 0)
            .map(|symbols| sizes.of(symbols, 28)[51])
            .sum();
        // A period of ten slots takes 5 ms.
        let mbps = f64::from(period) * 8.0 * 200.0 / 1e6;
        assert!((39.0..41.0).contains(&mbps), "{mbps}");
        assert_eq!(sizes.of(14, 0)[0], 0);
    }
}
