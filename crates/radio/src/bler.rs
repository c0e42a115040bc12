//! Block errors: the probability that a transport block fails at a signal-to-noise ratio.
//!
//! The error rate of a code block is the normal approximation for the best code over its constellation (`constellation`), shifted by
//! the extra SNR that the LDPC code of TS 38.212 with belief propagation needs. That gap is fitted to AWGN results that Sionna
//! publishes (`tests/bler/points.csv`): 1.09 dB at rate 0 and 0.49 dB less at rate 1, for every modulation and size, with a root
//! mean square error of 0.08 dB. The curves are also less steep than that of the best code, and longer blocks more so: by an eighth
//! at 1500 bits, by a fifth at 5000 in the results of 5G-LENA. At 100 bits the approximation is off by up to 1 dB with 64QAM and
//! above.
//!
//! The SNR is that of the decoder: losses of the receiver are already subtracted. `docs/measured/limits.md` compares the two.

use tidemark_core::normal_cdf;

use crate::constellation::crossing;
use crate::mcs::Mcs;
use crate::segmentation::CodeBlocks;

/// Gap in dB to the best code at rate 0, and by how much it is smaller at rate 1.
const GAP_DB: f64 = 1.09;
const LESS_AT_RATE_1_DB: f64 = 0.49;
/// Steepness relative to the best code for short blocks, and the square root of the information bits at which half of it is left.
const SHORT: f64 = 1.044;
const HALF_LEFT: f64 = 208.0;

/// The error curve of a modulation and code rate.
#[derive(Clone, Copy, Debug)]
pub struct Curve {
    /// SNR in dB at which half of the code blocks fail.
    middle_db: f64,
    steepness: f64,
}

impl Curve {
    /// The curve of a row in the MCS and CQI tables of TS 38.214.
    pub fn of(mcs: Mcs) -> Self {
        let best = crossing(mcs);
        let gap = GAP_DB - LESS_AT_RATE_1_DB * mcs.rate / 1024.0;
        Self { middle_db: best.snr_db + gap, steepness: best.steepness * SHORT }
    }

    /// The probability that a transport block fails at an SNR in dB: that at least one of its code blocks fails.
    pub fn error_rate(self, blocks: CodeBlocks, snr_db: f64) -> f64 {
        let root = libm::sqrt(blocks.bits);
        let z = (snr_db - self.middle_db) * self.steepness * root / (1.0 + root / HALF_LEFT);
        // Beyond six deviations the tail is below 1e-9: the usual case of a static channel, and not worth a random draw.
        if z.abs() > 6.0 {
            return if z > 0.0 { 0.0 } else { 1.0 };
        }
        let one = normal_cdf(-z);
        if blocks.count == 1 { one } else { 1.0 - libm::pow(1.0 - one, f64::from(blocks.count)) }
    }

    /// The SNR in dB at which this share of such transport blocks fails.
    pub fn threshold_db(self, blocks: CodeBlocks, share: f64) -> f64 {
        let (mut low, mut high) = (self.middle_db - 40.0, self.middle_db + 40.0);
        for _ in 0..50 {
            let middle = (low + high) / 2.0;
            if self.error_rate(blocks, middle) > share {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mcs::McsTable;

    #[test]
    fn the_curve_falls_from_one_to_nothing_and_a_tenth_fails_at_the_threshold() {
        for mcs in McsTable::Qam256.rows() {
            let (curve, blocks) = (Curve::of(*mcs), CodeBlocks { count: 3, bits: 6000.0 });
            let threshold = curve.threshold_db(blocks, 0.1);
            assert!((curve.error_rate(blocks, threshold) - 0.1).abs() < 1e-6);
            assert_eq!(curve.error_rate(blocks, threshold - 4.0), 1.0);
            assert_eq!(curve.error_rate(blocks, threshold + 4.0), 0.0);
        }
    }

    #[test]
    fn a_higher_mcs_needs_more() {
        let blocks = CodeBlocks { count: 1, bits: 3000.0 };
        for table in [McsTable::Qam64, McsTable::Qam256] {
            for pair in table.rows().windows(2).chain(table.cqi().windows(2)) {
                let [low, high] = [pair[0], pair[1]].map(|mcs| Curve::of(mcs).threshold_db(blocks, 0.1));
                assert!(high > low, "{:?}: {low} dB, {:?}: {high} dB", pair[0], pair[1]);
            }
        }
    }

    proptest! {
        #[test]
        fn errors_fall_with_the_snr_and_rise_with_the_number_of_code_blocks(
            row in 0..28_usize, snr_db in -12.0..30.0, more in 0.0..3.0, bits in 40.0..8448.0, count in 1..100_u32,
        ) {
            let curve = Curve::of(McsTable::Qam256.rows()[row]);
            let blocks = CodeBlocks { count, bits };
            let error = curve.error_rate(blocks, snr_db);
            prop_assert!((0.0..=1.0).contains(&error));
            prop_assert!(curve.error_rate(blocks, snr_db + more) <= error);
            let one_more = CodeBlocks { count: count + 1, bits };
            prop_assert!(curve.error_rate(one_more, snr_db) >= error);
        }

        #[test]
        fn a_longer_code_block_needs_less(row in 0..28_usize, bits in 40.0..8000.0, more in 1.0..448.0) {
            let curve = Curve::of(McsTable::Qam256.rows()[row]);
            let threshold = |bits| curve.threshold_db(CodeBlocks { count: 1, bits }, 0.1);
            prop_assert!(threshold(bits + more) < threshold(bits));
        }
    }
}
