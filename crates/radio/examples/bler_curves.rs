//! The curves of `docs/measured/limits.md`, as CSV on standard output:
//!
//! `cargo run --release -p tidemark-radio --example bler_curves > results/link/curve.csv`
//!
//! For each MCS and number of information bits, it gives the SNR in dB at which a tenth of the transport blocks of one code block
//! fails. For some it also gives the share of failures around that SNR. `results/draw` plots the file.

use tidemark_radio::bler::Curve;
use tidemark_radio::mcs::McsTable;
use tidemark_radio::segmentation::CodeBlocks;

const SIZES: [u32; 3] = [500, 2000, 8192];

fn main() {
    println!("table,mcs,code_block_bits,snr_db,bler");
    for (name, table) in [(1, McsTable::Qam64), (2, McsTable::Qam256)] {
        for (mcs, row) in table.rows().iter().enumerate() {
            for bits in SIZES {
                let (curve, blocks) = (Curve::of(*row), CodeBlocks { count: 1, bits: f64::from(bits) });
                println!("{name},{mcs},{bits},{:.3},0.1", curve.threshold_db(blocks, 0.1));
                if bits < 8192 && mcs % 3 == 0 {
                    for step in -20..=20 {
                        let snr_db = curve.threshold_db(blocks, 0.1) + f64::from(step) / 10.0;
                        let share = curve.error_rate(blocks, snr_db);
                        if (0.005..0.9999).contains(&share) {
                            println!("{name},{mcs},{bits},{snr_db:.3},{share:.5}");
                        }
                    }
                }
            }
        }
    }
}
