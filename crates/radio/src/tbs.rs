//! Transport block size, TS 38.214 5.1.3.2.

use crate::mcs::Mcs;

/// Resources of a PDSCH allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// Resource blocks.
    pub prbs: u32,
    /// PDSCH symbols.
    pub symbols: u32,
    /// Resource elements for DMRS in each resource block.
    pub dmrs: u32,
    /// Resource elements of other overhead in each resource block: `xOverhead`, 0, 6, 12 or 18.
    pub overhead: u32,
    /// Layers.
    pub layers: u32,
}

impl Allocation {
    /// Resource elements for data in a resource block, N'_RE of TS 38.214 5.1.3.2 and at most 156, over all layers.
    pub fn elements_per_block(self) -> u32 {
        (12 * self.symbols).saturating_sub(self.dmrs + self.overhead).min(156) * self.layers
    }
}

/// Sizes up to 3824 bits, table 5.1.3.2-1.
const SMALL: [u32; 93] = [
    24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 208, 224, 240,
    256, 272, 288, 304, 320, 336, 352, 368, 384, 408, 432, 456, 480, 504, 528, 552, 576, 608, 640, 672, 704, 736, 768,
    808, 848, 888, 928, 984, 1032, 1064, 1128, 1160, 1192, 1224, 1256, 1288, 1320, 1352, 1416, 1480, 1544, 1608, 1672,
    1736, 1800, 1864, 1928, 2024, 2088, 2152, 2216, 2280, 2408, 2472, 2536, 2600, 2664, 2728, 2792, 2856, 2976, 3104,
    3240, 3368, 3496, 3624, 3752, 3824,
];

/// The size in bits of the transport block that the allocation carries at this MCS; zero if there is no room for data.
pub fn transport_block_bits(allocation: Allocation, mcs: Mcs) -> u32 {
    let info = f64::from(allocation.elements_per_block() * allocation.prbs) * mcs.efficiency();
    if info <= 0.0 {
        return 0;
    }
    if info <= 3824.0 {
        let n = (log2_floor(info) - 6).max(3) as u32;
        let quantised = (((info as u32) >> n) << n).max(24);
        return SMALL.into_iter().find(|size| *size >= quantised).unwrap_or(3824);
    }
    let n = (log2_floor(info - 24.0) - 5) as u32;
    let unit = f64::from(1u32 << n);
    // Ties round up, as the standard's note has it.
    let quantised = (((info - 24.0) / unit + 0.5).floor() * unit).max(3840.0) as u32;
    let with_crc = quantised + 24;
    let blocks = if mcs.rate <= 256.0 {
        with_crc.div_ceil(3816)
    } else if quantised > 8424 {
        with_crc.div_ceil(8424)
    } else {
        1
    };
    8 * blocks * with_crc.div_ceil(8 * blocks) - 24
}

fn log2_floor(value: f64) -> i32 {
    (value as u64).max(1).ilog2() as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcs::McsTable;

    /// One DMRS symbol of 12 resource elements a block, 13 PDSCH symbols, the best MCS of table 2.
    fn best(prbs: u32, layers: u32, dmrs: u32) -> u32 {
        transport_block_bits(Allocation { prbs, symbols: 13, dmrs, overhead: 0, layers }, McsTable::Qam256.rows()[27])
    }
    /// Seven downlink and one special slot of six symbols (five for data) in ten slots of half a millisecond, Mbit/s.
    fn tdd(prbs: u32, layers: u32, dmrs: u32) -> f64 {
        f64::from(best(prbs, layers, dmrs)) * 1400.0 / 1e6
    }

    #[test]
    fn sizes_worked_out_from_the_standard_elsewhere() {
        assert_eq!(best(51, 1, 12), 54_296);
        assert_eq!(best(273, 4, 12), 1_179_864);
    }

    /// `tests/tbs/cases.py` works the standard's procedure out a second time, in rational numbers, for every MCS of both
    /// tables; py3gpp's `nrTBS` agrees with each of its lines.
    #[test]
    fn each_size_is_the_standards_to_the_bit() {
        let mut cases = 0;
        for line in include_str!("../tests/tbs/cases.csv").lines().skip(1) {
            let number = |column: usize| line.split(',').nth(column).unwrap().parse::<u32>().unwrap();
            let table = if number(0) == 1 { McsTable::Qam64 } else { McsTable::Qam256 };
            let allocation = Allocation {
                prbs: number(2),
                symbols: number(3),
                dmrs: number(4),
                overhead: number(5),
                layers: number(6),
            };
            let bits = transport_block_bits(allocation, table.rows()[number(1) as usize]);
            assert_eq!(bits, number(8), "{line}");
            cases += 1;
        }
        assert!(cases >= 200, "{cases}");
    }

    #[test]
    fn peak_rates_lie_below_ts_38_306() {
        // 38.306 4.1.2 with overhead 0.14: 109.1 and 2337 Mbit/s in FDD at 30 kHz.
        assert!((f64::from(best(51, 1, 12)) * 2000.0 / 1e6 - 108.6).abs() < 0.1);
        assert!((f64::from(best(273, 4, 12)) * 2000.0 / 1e6 - 2360.0).abs() < 1.0);
        assert!((tdd(51, 1, 12) - 76.0).abs() < 0.1);
        assert!((tdd(51, 1, 36) / tdd(51, 1, 12) - 66.7 / 79.6).abs() < 0.01);
    }

    #[test]
    fn small_blocks_come_from_the_table_and_no_room_gives_nothing() {
        let allocation = Allocation { prbs: 1, symbols: 12, dmrs: 12, overhead: 0, layers: 1 };
        // 132 elements x 0.234375 = 30.9 bits: n = 3, quantised to 24.
        assert_eq!(transport_block_bits(allocation, McsTable::Qam64.rows()[0]), 24);
        let none = Allocation { symbols: 1, ..allocation };
        assert_eq!(transport_block_bits(none, McsTable::Qam64.rows()[0]), 0);
    }

    #[test]
    fn more_blocks_or_a_higher_mcs_never_carry_less() {
        for table in [McsTable::Qam64, McsTable::Qam256] {
            for (index, mcs) in table.rows().iter().enumerate() {
                let size = |prbs| {
                    transport_block_bits(Allocation { prbs, symbols: 12, dmrs: 12, overhead: 0, layers: 1 }, *mcs)
                };
                for prbs in 1..273 {
                    assert!(size(prbs + 1) >= size(prbs), "mcs {index} at {prbs}");
                }
            }
        }
    }
}
