//! Code block segmentation, TS 38.212 5.2.2, 6.2.2 and 7.2.2.

/// The code blocks into which a transport block is split.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CodeBlocks {
    /// Number of code blocks.
    pub count: u32,
    /// Information bits of each block, including its CRC. It is a mean: the standard chooses block sizes without a remainder.
    pub bits: f64,
}

impl CodeBlocks {
    /// The code blocks of a transport block of this many bits, at a code rate x 1024.
    pub fn of(bits: u32, rate: f64) -> Self {
        let small = bits <= 3824;
        let base_graph_2 = bits <= 292 || small && rate <= 0.67 * 1024.0 || rate <= 0.25 * 1024.0;
        let largest = if base_graph_2 { 3840 } else { 8448 };
        let with_crc = bits + if small { 16 } else { 24 };
        if with_crc <= largest {
            return Self { count: 1, bits: f64::from(with_crc) };
        }
        let count = with_crc.div_ceil(largest - 24);
        Self { count, bits: f64::from(with_crc + 24 * count) / f64::from(count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcs::McsTable;
    use crate::tbs::{Allocation, transport_block_bits};

    #[test]
    fn the_base_graph_follows_size_and_rate() {
        // 7.2.2: graph 2 up to 292 bits; up to 3824 at a rate of 0.67; at any size at a rate of 0.25.
        assert_eq!(CodeBlocks::of(292, 948.0), CodeBlocks { count: 1, bits: 308.0 });
        assert_eq!(CodeBlocks::of(3824, 686.0), CodeBlocks { count: 1, bits: 3840.0 });
        assert_eq!(CodeBlocks::of(3840, 256.0), CodeBlocks { count: 2, bits: 1956.0 });
        assert_eq!(CodeBlocks::of(8424, 308.0), CodeBlocks { count: 1, bits: 8448.0 });
        assert_eq!(CodeBlocks::of(8456, 308.0).count, 2);
    }

    #[test]
    fn the_tables_sizes_split_without_a_remainder() {
        for mcs in McsTable::Qam64.rows() {
            for prbs in 1..=273 {
                let allocation = Allocation { prbs, symbols: 12, dmrs: 12, overhead: 0, layers: 4 };
                let blocks = CodeBlocks::of(transport_block_bits(allocation, *mcs), mcs.rate);
                assert_eq!(blocks.bits.fract(), 0.0, "{mcs:?} over {prbs}: {blocks:?}");
                assert!(blocks.bits <= 8448.0);
            }
        }
    }
}
