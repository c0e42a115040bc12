//! Comparison of block errors with two independent link-level simulators. `bler/points.csv` has their figures:
//!
//! - `sionna`: LDPC of TS 38.212 with belief propagation in AWGN, with a known channel: Sionna (Hoydis et al., arXiv 2203.11854),
//!   version 1.2, `src/sionna/sys/bler_tables/PDSCH_table1.json` and `PDSCH_table2.json`. Its points are 1.6 to 1.8 dB apart. The
//!   file has those nearest to an error rate of 0.1, of its shortest and its longest code block between 500 and 2000 bits.
//! - `5g-lena`: the SINR at an error rate of 0.1, interpolated between the points of the longest code block, of 5G-LENA (Lagen et
//!   al., ICC 2020), `nr-eesm-t1.cc` and `nr-eesm-t2.cc`. It simulates a complete receiver.

use tidemark_radio::bler::Curve;
use tidemark_radio::mcs::{Mcs, McsTable};
use tidemark_radio::segmentation::CodeBlocks;

struct Point {
    mcs: Mcs,
    blocks: CodeBlocks,
    snr_db: f64,
    bler: f64,
}

fn points(source: &str) -> Vec<Point> {
    let lines = include_str!("bler/points.csv").lines().filter(|line| line.starts_with(source));
    lines
        .map(|line| {
            let number = |column: usize| line.split(',').nth(column).unwrap().parse::<f64>().unwrap();
            let table = if number(1) == 1.0 { McsTable::Qam64 } else { McsTable::Qam256 };
            Point {
                mcs: table.rows()[number(2) as usize],
                blocks: CodeBlocks { count: 1, bits: number(3) },
                snr_db: number(4),
                bler: number(5),
            }
        })
        .collect()
}

/// Greatest and root mean square distance.
fn spread(distances: &[f64]) -> (f64, f64) {
    let greatest = distances.iter().fold(0.0_f64, |greatest, distance| greatest.max(distance.abs()));
    let square = distances.iter().map(|distance| distance * distance).sum::<f64>() / distances.len() as f64;
    (greatest, libm::sqrt(square))
}

#[test]
fn the_curves_are_those_of_sionna_from_one_in_fifty_to_nearly_all() {
    let points = points("sionna");
    assert!(points.len() >= 50);
    let off = |point: &Point| Curve::of(point.mcs).threshold_db(point.blocks, point.bler) - point.snr_db;
    let (greatest, square) = spread(&points.iter().map(off).collect::<Vec<_>>());
    assert!(greatest < 0.3 && square < 0.1, "off by up to {greatest} dB, {square} dB in the mean square");
}

/// SNR in dB that a receiver needs if it knows the channel only from pilots and its decoder needs `snr_db`. The noise of the estimate
/// adds to that of every symbol: with pilots of `energy` symbols, `energy s^2 / (1 + (1 + energy) s)` is left of an SNR of `s`
/// (Hassibi and Hochwald 2003, eq. 13).
fn with_pilots(snr_db: f64, energy: f64) -> f64 {
    let needed = libm::exp10(snr_db / 10.0);
    let half = needed * (1.0 + energy) / 2.0;
    10.0 * libm::log10((half + libm::sqrt(half * half + energy * needed)) / energy)
}

#[test]
fn lena_needs_more_by_what_channel_estimation_from_1_4_symbols_of_pilots_costs() {
    let points = points("5g-lena");
    assert!(points.len() >= 30);
    let off =
        |point: &Point| with_pilots(Curve::of(point.mcs).threshold_db(point.blocks, point.bler), 1.4) - point.snr_db;
    let (greatest, square) = spread(&points.iter().map(off).collect::<Vec<_>>());
    // The loss itself runs from 2 dB at 256QAM to 5 dB at MCS 0.
    assert!(greatest < 0.7 && square < 0.25, "off by up to {greatest} dB, {square} dB in the mean square");
}

#[test]
fn who_just_meets_its_sensitivity_needs_two_to_three_decibels_more_than_the_decoder() {
    // The reference channel of 51 resource blocks at 30 kHz, of which a twentieth may fail: 4352 bits at MCS 4 (TS 38.104 A.1).
    let mcs = McsTable::Qam64.rows()[4];
    let decoder_db = Curve::of(mcs).threshold_db(CodeBlocks::of(4352, mcs.rate), 0.05);
    let thermal_dbm = -174.0 + 10.0 * libm::log10(51.0 * 12.0 * 30e3);
    // Sensitivity in dBm (TS 38.104 7.2.2, TS 38.101-1 7.3.2), noise figure and gain of a second antenna in dB.
    for (sensitivity_dbm, noise_figure_db, antennas_db, loss_db) in [(-95.6, 5.0, 0.0, 2.4), (-94.0, 9.0, 3.0, 3.0)] {
        let snr_db = sensitivity_dbm - thermal_dbm - noise_figure_db + antennas_db;
        let loss = snr_db - decoder_db;
        assert!((loss - loss_db).abs() < 0.05, "{loss} dB: {snr_db} dB where the decoder needs {decoder_db} dB");
    }
}
