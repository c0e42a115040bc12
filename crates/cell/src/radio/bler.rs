//! Block errors: how likely a transport block fails at a signal-to-noise ratio.
//!
//! The threshold of an MCS, where a tenth of its blocks fail, is Shannon's bound with a gap of 2 dB:
//! `10 log10(2^efficiency - 1) + 2`. It lies within 3.2 dB of the thresholds that srsRAN measured for table 1: within
//! 1 dB for QPSK, lowest below them around MCS 17, highest above them at 64QAM's top rates. Around it the error rate
//! falls like a Gaussian tail with a deviation of 0.6 dB, so that 1.5 dB lead from one block in a hundred to three in
//! four: the slope of a long LDPC code.

use tidemark_core::normal_cdf;

/// Distance of the code from Shannon's bound in dB.
const GAP_DB: f64 = 2.0;
/// Deviation of the error curve in dB.
const SLOPE_DB: f64 = 0.6;
/// The upper decile of the standard normal.
const DECILE: f64 = 1.281_551_565_5;

/// The SNR in dB at which a tenth of the blocks of this spectral efficiency (bit a resource element) fail.
pub fn threshold_db(efficiency: f64) -> f64 {
    10.0 * libm::log10(libm::exp2(efficiency) - 1.0) + GAP_DB
}

/// The chance that a block with this threshold fails at this SNR, both in dB.
pub fn block_error_rate(threshold_db: f64, snr_db: f64) -> f64 {
    let middle = threshold_db - DECILE * SLOPE_DB;
    let z = (snr_db - middle) / SLOPE_DB;
    // Beyond six deviations the tail is below 1e-9: the usual case of a static channel, and not worth a random draw.
    if z.abs() > 6.0 {
        return if z > 0.0 { 0.0 } else { 1.0 };
    }
    normal_cdf(-z)
}

#[cfg(test)]
mod tests {
    use super::super::mcs::McsTable;
    use super::*;

    #[test]
    fn a_tenth_fails_at_the_threshold_and_the_curve_falls_from_one_to_nothing() {
        for row in McsTable::Qam64.rows() {
            let threshold = threshold_db(row.efficiency());
            // As close as the normal distribution's table is.
            assert!((block_error_rate(threshold, threshold) - 0.1).abs() < 3e-8);
            assert!(block_error_rate(threshold, threshold - 4.0) > 0.999);
            assert!(block_error_rate(threshold, threshold + 2.0) < 1e-5);
        }
    }

    #[test]
    fn thresholds_lie_near_those_that_srsran_measured() {
        // srsRAN's table for 20 MHz TDD, one antenna, table 1, MCS 0 to 28, in dB.
        let measured = [
            -5.8, -3.6, -2.9, -2.6, -1.1, 1.0, 1.6, 2.5, 3.4, 4.4, 5.4, 5.8, 6.6, 7.6, 9.6, 10.4, 11.2, 12.1, 12.5,
            13.1, 13.5, 13.9, 14.1, 14.6, 15.0, 15.3, 15.9, 16.0, 16.6,
        ];
        for (mcs, (row, measured)) in McsTable::Qam64.rows().iter().zip(measured).enumerate() {
            let ours = threshold_db(row.efficiency());
            assert!((ours - measured).abs() < 3.2, "mcs {mcs}: {ours} for {measured}");
        }
    }
}
