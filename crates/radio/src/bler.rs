//! Block errors: how likely a transport block fails at a signal-to-noise ratio.
//!
//! A code block fails by the normal approximation over its constellation (`constellation`), behind the best code by
//! what the LDPC code of TS 38.212 with belief propagation needs more. That is measured on AWGN results that Sionna publishes
//! (`tests/bler/points.csv`): 1.09 dB at rate 0, 0.49 dB less at rate 1, at every modulation and size, 0.08 dB around it in the mean square.
//! The curves are less steep than the best code's as well, the more the longer the block: by an eighth at 1500 bits, by a
//! fifth at 5000 in the results of 5G-LENA. At 100 bits the approximation is off by up to 1 dB with 64QAM and above.
//!
//! The SNR is the one that the decoder sees, less what the receiver loses in front of it. `docs/measured/limits.md` compares.

use tidemark_core::normal_cdf;

use crate::constellation::crossing;
use crate::mcs::Mcs;
use crate::segmentation::CodeBlocks;

/// Distance in dB from the best code at rate 0, and how much less it is at rate 1.
const GAP_DB: f64 = 1.09;
const LESS_AT_RATE_1_DB: f64 = 0.49;
/// Steepness against the best code's for short blocks, and the root of the information bits at which half of it is left.
const SHORT: f64 = 1.044;
const HALF_LEFT: f64 = 208.0;

/// The error curve of a modulation and code rate.
#[derive(Clone, Copy, Debug)]
pub struct Curve {
    /// There one of two code blocks fails, in dB.
    middle_db: f64,
    steepness: f64,
}

impl Curve {
    /// The curve of a row of TS 38.214's MCS and CQI tables.
    pub fn of(mcs: Mcs) -> Self {
        let best = crossing(mcs);
        let gap = GAP_DB - LESS_AT_RATE_1_DB * mcs.rate / 1024.0;
        Self { middle_db: best.snr_db + gap, steepness: best.steepness * SHORT }
    }

    /// The chance that one of the code blocks fails, and with it the transport block, at an SNR in dB.
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
