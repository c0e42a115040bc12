//! Capacity of constellations: for each modulation and code rate in the tables of TS 38.214, the SNR at which the constellation
//! carries exactly the information of the code, and the slope of the capacity there.
//!
//! The numbers are integrals over the noise, which the test below computes again: mean and variance of the information that a
//! symbol gives about its bits, each bit by itself (bit-interleaved coded modulation; Caire, Taricco, Biglieri 1998), for the Gray
//! labels of TS 38.211 5.1. A code of `K` information bits fills `K / efficiency` symbols. The information that they carry has
//! that mean, and a deviation that falls with the square root of their number. By the normal approximation (Polyanskiy, Poor,
//! Verdu 2010) the best code fails if this information is less than `K`.

use crate::mcs::Mcs;

/// The lowest rate that base graph 2 has (TS 38.212 5.3.2, 5.4.2.1). Rates below it repeat its bits.
#[cfg(test)]
const MOTHER_RATE: f64 = 0.2;

/// Modulation order, code rate x 1024, SNR in dB, deviations a dB and root of an information bit.
const POINTS: [(u32, f64, f64, f64); 38] = [
    (2, 78.0, -9.135, 0.1351),
    (2, 120.0, -7.264, 0.1351),
    (2, 157.0, -6.097, 0.1351),
    (2, 193.0, -5.201, 0.1351),
    (2, 251.0, -3.907, 0.1348),
    (2, 308.0, -2.822, 0.1344),
    (2, 379.0, -1.662, 0.1337),
    (2, 449.0, -0.651, 0.1327),
    (2, 526.0, 0.367, 0.1313),
    (2, 602.0, 1.318, 0.1294),
    (2, 679.0, 2.264, 0.1266),
    (4, 340.0, 2.338, 0.1217),
    (4, 378.0, 3.038, 0.1209),
    (4, 434.0, 4.007, 0.1197),
    (4, 490.0, 4.928, 0.1183),
    (4, 553.0, 5.929, 0.1164),
    (4, 616.0, 6.913, 0.1143),
    (4, 658.0, 7.568, 0.1129),
    (6, 438.0, 7.947, 0.1052),
    (6, 466.0, 8.521, 0.1049),
    (6, 517.0, 9.537, 0.1042),
    (6, 567.0, 10.506, 0.1034),
    (6, 616.0, 11.444, 0.1023),
    (6, 666.0, 12.400, 0.1009),
    (6, 719.0, 13.425, 0.0991),
    (6, 772.0, 14.469, 0.0971),
    (6, 822.0, 15.484, 0.0949),
    (6, 873.0, 16.575, 0.0918),
    (6, 910.0, 17.437, 0.0883),
    (6, 948.0, 18.457, 0.0826),
    (8, 682.5, 17.249, 0.0902),
    (8, 711.0, 17.908, 0.0896),
    (8, 754.0, 18.915, 0.0885),
    (8, 797.0, 19.945, 0.0870),
    (8, 841.0, 21.032, 0.0852),
    (8, 885.0, 22.167, 0.0829),
    (8, 916.5, 23.038, 0.0804),
    (8, 948.0, 24.007, 0.0765),
];

/// The point where the capacity of a constellation meets the rate of a code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    /// SNR in dB at which a symbol carries the code's efficiency in the mean.
    pub(super) snr_db: f64,
    /// Standard deviations of what a block carries by which it gains on the code's rate with each dB, divided by the root of the
    /// block's information bits.
    pub(super) steepness: f64,
}

/// The crossing of a modulation and code rate: of the nearest rate that the tables have.
pub(super) fn crossing(mcs: Mcs) -> Crossing {
    let distance = |point: &(u32, f64, f64, f64)| (point.0.abs_diff(mcs.order), (point.1 - mcs.rate).abs());
    let mut nearest = POINTS[0];
    for point in POINTS {
        if distance(&point) < distance(&nearest) {
            nearest = point;
        }
    }
    Crossing { snr_db: nearest.2, steepness: nearest.3 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcs::McsTable;

    /// Mean and variance of the information in bits that a symbol gives about its bits, at an SNR in dB.
    fn information(order: u32, snr_db: f64) -> (f64, f64) {
        // One of two independent dimensions: amplitudes with Gray labels and unit power.
        let (bits, levels) = (order / 2, 1_usize << (order / 2));
        let scale = libm::sqrt(3.0 / (levels * levels - 1) as f64);
        let amplitude = |level: usize| (2.0 * level as f64 + 1.0 - levels as f64) * scale;
        let label = |level: usize| level ^ (level >> 1);
        let deviation = libm::exp10(-snr_db / 20.0);
        let (mut mean, mut square) = (0.0, 0.0);
        let step = 0.1;
        for sent in 0..levels {
            for position in -60..=60 {
                let noise = f64::from(position) * step;
                let weight = libm::exp(-noise * noise / 2.0) / libm::sqrt(std::f64::consts::TAU) * step / levels as f64;
                let received = amplitude(sent) + deviation * noise;
                let likely = |level: usize| {
                    let distance = (received - amplitude(level)) / deviation;
                    libm::exp(-distance * distance / 2.0)
                };
                let total: f64 = (0..levels).map(likely).sum();
                let density: f64 = (0..bits)
                    .map(|bit| {
                        let agree = |level: &usize| (label(*level) ^ label(sent)) >> bit & 1 == 0;
                        1.0 + libm::log2((0..levels).filter(agree).map(likely).sum::<f64>() / total)
                    })
                    .sum();
                mean += weight * density;
                square += weight * density * density;
            }
        }
        (2.0 * mean, 2.0 * (square - mean * mean))
    }

    #[test]
    fn each_crossing_is_where_the_integrals_have_it() {
        for (order, rate, snr_db, steepness) in POINTS {
            let mother = (rate / 1024.0).max(MOTHER_RATE);
            let efficiency = f64::from(order) * mother;
            // Bits that are repeated add up their energy.
            let one_symbol = snr_db + 10.0 * libm::log10(mother * 1024.0 / rate);
            let (mean, variance) = information(order, one_symbol);
            let slope = (information(order, one_symbol + 0.05).0 - information(order, one_symbol - 0.05).0) / 0.1;
            let off_db = (mean - efficiency) / slope;
            assert!(off_db.abs() < 0.002, "order {order}, rate {rate}: off by {off_db} dB");
            let expected = slope / libm::sqrt(variance * efficiency);
            assert!(
                (steepness / expected - 1.0).abs() < 2e-3,
                "order {order}, rate {rate}: {steepness}, not {expected}"
            );
        }
    }

    #[test]
    fn every_row_of_the_tables_has_its_own_crossing() {
        for table in [McsTable::Qam64, McsTable::Qam256] {
            for mcs in table.rows().iter().chain(table.cqi()) {
                assert!(POINTS.iter().any(|point| point.0 == mcs.order && point.1 == mcs.rate), "{mcs:?}");
                // Shannon's bound holds.
                let bound = 10.0 * libm::log10(libm::exp2(mcs.efficiency()) - 1.0);
                assert!(crossing(*mcs).snr_db > bound, "{mcs:?}");
            }
        }
    }
}
