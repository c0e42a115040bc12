//! The radio of one UE's uplink: what the gNB knows of it, and what becomes of a transmission.

use tidemark_core::{Duration, Instant, Probability, Stream};

use super::UplinkConfig;
use super::block::UplinkBlock;
use crate::channel::{Channel, Quality};
use crate::config::CellConfig;
use crate::output::UplinkStats;
use crate::radio::blocks::BlockSizes;
use crate::radio::link::{LinkTable, OuterLoop};
use crate::radio::slots::SYMBOLS_PER_SLOT;

/// MCS where the channel says a rate of the downlink only: 16QAM.
const RATE_CHANNEL_MCS: u8 = 16;

/// What the uplink slots of a cell are like.
pub(crate) struct UplinkCarrier {
    /// Of the downlink: what a CQI stands for.
    downlink: LinkTable,
    table: LinkTable,
    sizes: BlockSizes,
    loss_db: f64,
}

impl UplinkCarrier {
    /// As many symbols carry PUCCH and sounding as carry PDCCH in a downlink slot; DMRS and overhead are the downlink's.
    pub(crate) fn new(cell: &CellConfig) -> Self {
        let UplinkConfig { layers, mcs_table, snr_loss_db, .. } = cell.uplink;
        let own = CellConfig { layers, mcs_table, ..cell.clone() };
        Self {
            downlink: LinkTable::new(cell),
            table: LinkTable::new(&own),
            sizes: BlockSizes::of_slots(&own, vec![SYMBOLS_PER_SLOT]),
            loss_db: snr_loss_db,
        }
    }
    /// Bytes of a block by its resource blocks.
    fn sizes(&self, mcs: u8) -> &[u32] {
        self.sizes.of(SYMBOLS_PER_SLOT, mcs)
    }
}

/// Resource blocks of a UE in a slot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Allocation {
    pub(crate) mcs: u8,
    pub(crate) prbs: u32,
    pub(crate) bytes: u32,
}

/// The uplink of one UE.
pub(crate) struct UplinkRadio {
    outer: OuterLoop,
    errors: Stream,
    period: Duration,
    /// When the UE is sounded next, and the SNR that it had then.
    next_sounding: Instant,
    sounded: Option<f64>,
    pub(crate) stats: UplinkStats,
}

impl UplinkRadio {
    pub(crate) fn new(cell: &CellConfig, errors: Stream) -> Self {
        Self {
            outer: OuterLoop::new(cell.target_bler),
            errors,
            period: cell.cqi_period,
            next_sounding: Instant::ZERO,
            sounded: None,
            stats: UplinkStats::default(),
        }
    }
    /// Forgets the cell at a handover.
    pub(crate) fn reset(&mut self, cell: &CellConfig) {
        self.outer = OuterLoop::new(cell.target_bler);
        (self.next_sounding, self.sounded) = (Instant::ZERO, None);
    }

    /// The fewest resource blocks out of `most` that carry `wanted` bytes, or all, by what the gNB knew at `known`.
    pub(crate) fn allocate(
        &mut self,
        carrier: &UplinkCarrier,
        channel: &mut Channel,
        known: Instant,
        (wanted, most): (u64, u32),
    ) -> Allocation {
        if known >= self.next_sounding {
            let occasion = known.as_nanos() / self.period.as_nanos();
            self.sounded = snr_db(carrier, channel, Instant::ZERO + self.period * occasion);
            self.next_sounding = Instant::ZERO + self.period * (occasion + 1);
        }
        let mcs =
            self.sounded.map_or(RATE_CHANNEL_MCS, |snr_db| self.outer.mcs(&carrier.table, carrier.table.cqi(snr_db)));
        let sizes = &carrier.sizes(mcs)[..=most as usize];
        let prbs = sizes.partition_point(|bytes| u64::from(*bytes) < wanted).min(most as usize);
        Allocation { mcs, prbs: prbs as u32, bytes: sizes[prbs] }
    }

    /// A block is sent at `now`; true if the gNB can decode it.
    pub(crate) fn transmit(
        &mut self,
        carrier: &UplinkCarrier,
        channel: &mut Channel,
        now: Instant,
        block: &mut UplinkBlock,
    ) -> bool {
        block.transmissions += 1;
        let first = block.transmissions == 1;
        self.stats.resources += u64::from(block.prbs * SYMBOLS_PER_SLOT);
        self.stats.blocks += u64::from(first);
        self.stats.harq_retransmissions += u64::from(!first);
        self.stats.mcs_sum += if first { u64::from(block.mcs) } else { 0 };
        let Some(snr_db) = snr_db(carrier, channel, now) else { return true };
        block.energy += libm::exp10(snr_db / 10.0);
        let met = if first { snr_db } else { 10.0 * libm::log10(block.energy) };
        let rate = carrier.table.block_error_rate(block.mcs, block.bytes, met);
        let failed = self.errors.chance(Probability::new(rate));
        if first {
            self.outer.feedback(!failed);
            self.stats.failed_blocks += u64::from(failed);
        }
        !failed
    }
}

/// The SNR at the gNB in dB; `None` where the channel says a rate only.
fn snr_db(carrier: &UplinkCarrier, channel: &mut Channel, now: Instant) -> Option<f64> {
    match channel.at(now) {
        Quality::Snr(snr_db) => Some(snr_db - carrier.loss_db),
        Quality::Cqi(cqi) => Some(carrier.downlink.snr_of_cqi(cqi) - carrier.loss_db),
        Quality::Rate(_) => None,
    }
}
