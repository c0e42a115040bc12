//! Link adaptation: chooses the MCS of the next transport block from the SNR that a UE reported.

use crate::SharedChannel;
use crate::bler::Curve;
use crate::mcs::Mcs;
use crate::segmentation::CodeBlocks;
use crate::slots::SYMBOLS_PER_SLOT;
use crate::tbs::transport_block_bits;

/// The share of blocks that may fail at a CQI (TS 38.214 5.2.2.1).
const TOLERATED: f64 = 0.1;

/// Range of the outer loop: it may move the threshold by this many dB.
const REACH_DB: f64 = 10.0;
/// Step of the threshold for one failed block, in dB.
const STEP_DOWN_DB: f64 = 0.5;

/// Error curves of the rows in an MCS table, and the thresholds of the rows and CQIs.
#[derive(Clone, Debug)]
pub struct LinkTable {
    rows: &'static [Mcs],
    curves: Vec<Curve>,
    thresholds: Vec<f64>,
    cqi: [f64; 15],
}

impl LinkTable {
    /// The curves of a cell's table. Thresholds are those of a block over the whole carrier, which is the CSI reference resource
    /// (TS 38.214 5.2.2.5).
    pub fn new(channel: &SharedChannel) -> Self {
        let whole = channel.allocation(channel.prbs, SYMBOLS_PER_SLOT);
        let threshold = |mcs: Mcs| {
            let blocks = CodeBlocks::of(transport_block_bits(whole, mcs), mcs.rate);
            Curve::of(mcs).threshold_db(blocks, TOLERATED)
        };
        let rows = channel.mcs_table.rows();
        Self {
            rows,
            curves: rows.iter().map(|row| Curve::of(*row)).collect(),
            thresholds: rows.iter().map(|row| threshold(*row)).collect(),
            cqi: channel.mcs_table.cqi().map(threshold),
        }
    }
    /// The highest CQI whose block would fail at most one time in ten (TS 38.214 5.2.2.1); 0 is out of range.
    pub fn cqi(&self, snr_db: f64) -> u8 {
        self.cqi.iter().filter(|threshold| snr_db >= **threshold).count() as u8
    }
    /// The SNR that a CQI stands for: the threshold of the CQI.
    pub fn snr_of_cqi(&self, cqi: u8) -> f64 {
        match usize::from(cqi) {
            0 => self.cqi[0] - 3.0,
            cqi => self.cqi[cqi.min(15) - 1],
        }
    }
    /// The probability that a transport block of this many bytes fails at this MCS.
    pub fn block_error_rate(&self, mcs: u8, bytes: u32, snr_db: f64) -> f64 {
        let mcs = usize::from(mcs);
        self.curves[mcs].error_rate(CodeBlocks::of(8 * bytes, self.rows[mcs].rate), snr_db)
    }
    /// The highest MCS whose threshold is not above `snr_db`.
    fn mcs(&self, snr_db: f64) -> u8 {
        let above = self.thresholds.iter().rposition(|threshold| snr_db >= *threshold);
        above.unwrap_or(0) as u8
    }
}

/// The outer loop of one UE. It corrects the SNR of the CQI until the share of failed first transmissions meets
/// the target.
#[derive(Clone, Debug)]
pub struct OuterLoop {
    offset_db: f64,
    step_up_db: f64,
}

impl OuterLoop {
    /// Aims at this share of failed first transmissions.
    pub fn new(target: f64) -> Self {
        Self { offset_db: 0.0, step_up_db: STEP_DOWN_DB * target / (1.0 - target) }
    }
    /// The MCS to use at the last reported CQI.
    pub fn mcs(&self, table: &LinkTable, cqi: u8) -> u8 {
        table.mcs(table.snr_of_cqi(cqi) + self.offset_db)
    }
    /// Takes the outcome of a first transmission.
    pub fn feedback(&mut self, acknowledged: bool) {
        let step = if acknowledged { self.step_up_db } else { -STEP_DOWN_DB };
        self.offset_db = (self.offset_db + step).clamp(-REACH_DB, REACH_DB);
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{Probability, Stream};

    use super::*;

    #[test]
    fn the_outer_loop_finds_its_target_at_any_snr_inside_the_table() {
        let table = LinkTable::new(&SharedChannel::TWENTY_MHZ);
        for snr_db in [0.0, 5.3, 9.9, 15.0] {
            for (target, bytes) in [(0.1, 2000), (0.01, 2000), (0.1, 100)] {
                let (mut outer, mut stream) = (OuterLoop::new(target), Stream::new(1, 0, "test"));
                let cqi = table.cqi(snr_db);
                let (blocks, mut failed) = (100_000, 0);
                for _ in 0..blocks {
                    let error = table.block_error_rate(outer.mcs(&table, cqi), bytes, snr_db);
                    let failure = stream.chance(Probability::new(error));
                    failed += u32::from(failure);
                    outer.feedback(!failure);
                }
                let share = f64::from(failed) / f64::from(blocks);
                assert!((share / target - 1.0).abs() < 0.1, "{share} for {target} at {snr_db} dB");
            }
        }
    }

    #[test]
    fn cqi_and_mcs_end_at_the_tables_ends() {
        let table = LinkTable::new(&SharedChannel::TWENTY_MHZ);
        assert_eq!(table.cqi(-20.0), 0);
        assert_eq!(table.cqi(40.0), 15);
        assert_eq!(OuterLoop::new(0.1).mcs(&table, 15), 28);
        assert_eq!(OuterLoop::new(0.1).mcs(&table, 0), 0);
    }
}
