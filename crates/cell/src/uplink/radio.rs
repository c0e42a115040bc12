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

/// Who is far away has at least so many resource blocks: a block of fewer at the lowest MCS holds no segment with its headers.
const LEAST_PRBS: u32 = 8;

/// What the uplink slots of a cell are like.
pub(crate) struct UplinkCarrier {
    /// Of the downlink: what a CQI stands for.
    downlink: LinkTable,
    table: LinkTable,
    sizes: BlockSizes,
    loss_db: f64,
    /// How much stronger a UE is that has all of its power on so many resource blocks, in dB.
    spread_db: Vec<f64>,
}

impl UplinkCarrier {
    /// As many symbols carry PUCCH and sounding as carry PDCCH in a downlink slot; DMRS and overhead are the downlink's.
    pub(crate) fn new(cell: &CellConfig) -> Self {
        let UplinkConfig { layers, mcs_table, snr_loss_db, .. } = cell.uplink;
        let spread_db = |prbs: u32| 10.0 * libm::log10(f64::from(cell.prbs) / f64::from(prbs.max(1)));
        let own = CellConfig { layers, mcs_table, ..cell.clone() };
        Self {
            downlink: LinkTable::new(cell),
            table: LinkTable::new(&own),
            sizes: BlockSizes::of_slots(&own, vec![SYMBOLS_PER_SLOT]),
            loss_db: snr_loss_db,
            spread_db: (0..=cell.prbs).map(spread_db).collect(),
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
    /// In a network: how much higher the SNR at the gNB is over the whole carrier than the UE's SINR, in dB.
    gain_db: Option<f64>,
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
            gain_db: None,
            stats: UplinkStats::default(),
        }
    }
    /// Forgets the cell at a handover.
    pub(crate) fn reset(&mut self, cell: &CellConfig) {
        self.outer = OuterLoop::new(cell.target_bler);
        (self.next_sounding, self.sounded) = (Instant::ZERO, None);
    }

    /// The UE is in a network: its power is what it is, on however many resource blocks.
    pub(crate) fn set_gain(&mut self, gain_db: f64) {
        self.gain_db = Some(gain_db);
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
            self.sounded = self.snr_db(carrier, channel, Instant::ZERO + self.period * occasion);
            self.next_sounding = Instant::ZERO + self.period * (occasion + 1);
        }
        let Some(snr_db) = self.sounded else { return fewest(carrier, RATE_CHANNEL_MCS, wanted, most) };
        if self.gain_db.is_none() {
            return fewest(carrier, self.outer.mcs(&carrier.table, carrier.table.cqi(snr_db)), wanted, most);
        }
        let cqi = |prbs: u32| carrier.table.cqi(snr_db + carrier.spread_db[prbs as usize]);
        // Who is far away has the power for some resource blocks only.
        let least = LEAST_PRBS.min(most);
        let most = first(least + 1, most + 1, |prbs| cqi(prbs) == 0) - 1;
        let bytes = |prbs: u32| {
            let mcs = self.outer.mcs(&carrier.table, cqi(prbs));
            (mcs, carrier.sizes(mcs)[prbs as usize])
        };
        let prbs = first(1, most, |prbs| u64::from(bytes(prbs).1) >= wanted);
        let (mcs, bytes) = bytes(prbs);
        Allocation { mcs, prbs, bytes }
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
        let Some(snr_db) = self.snr_db(carrier, channel, now) else { return true };
        let snr_db = snr_db + self.gain_db.map_or(0.0, |_| carrier.spread_db[block.prbs as usize]);
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

    /// The SNR at the gNB in dB, in a network over the whole carrier; `None` where the channel says a rate only.
    fn snr_db(&self, carrier: &UplinkCarrier, channel: &mut Channel, now: Instant) -> Option<f64> {
        let snr_db = match channel.at(now) {
            Quality::Snr(snr_db) => snr_db + self.gain_db.unwrap_or(0.0),
            Quality::Cqi(cqi) => carrier.downlink.snr_of_cqi(cqi),
            Quality::Rate(_) => return None,
        };
        Some(snr_db - carrier.loss_db)
    }
}

/// The fewest resource blocks of `most` that carry `wanted` bytes at an MCS, or all.
fn fewest(carrier: &UplinkCarrier, mcs: u8, wanted: u64, most: u32) -> Allocation {
    let sizes = &carrier.sizes(mcs)[..=most as usize];
    let prbs = sizes.partition_point(|bytes| u64::from(*bytes) < wanted).min(most as usize);
    Allocation { mcs, prbs: prbs as u32, bytes: sizes[prbs] }
}

/// The first number from `from` on that has a property, which those behind it have as well; `to` if none before it has.
fn first(mut from: u32, mut to: u32, has: impl Fn(u32) -> bool) -> u32 {
    while from < to {
        let middle = from + (to - from) / 2;
        if has(middle) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    to
}
