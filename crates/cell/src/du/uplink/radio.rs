//! The radio of one UE's uplink: the gNB's knowledge of it, and the outcome of a transmission.

use std::ops::RangeInclusive;

use tidemark_core::{BitRate, Bytes, Duration, Instant, Probability, Stream};

use super::UplinkConfig;
use crate::config::CellConfig;
use crate::output::UplinkStats;
use crate::ue_stack::block::{Allocation, UplinkBlock};
use tidemark_radio::blocks::BlockSizes;
use tidemark_radio::channel::{Channel, Quality};
use tidemark_radio::link::{LinkTable, OuterLoop};
use tidemark_radio::slots::SYMBOLS_PER_SLOT;

/// MCS where the channel says a rate of the downlink only: 16QAM.
const RATE_CHANNEL_MCS: u8 = 16;

/// Resource blocks of a UE that is far away, at least: a block of fewer at the lowest MCS holds no segment with its headers.
const MIN_PRBS: u32 = 8;

/// Carrier of a cell's uplink.
pub(crate) struct UplinkCarrier {
    /// Downlink's table, by which a CQI stands for an SNR.
    downlink: LinkTable,
    table: LinkTable,
    sizes: BlockSizes,
    /// Capacity of the downlink at its highest MCS.
    downlink_peak: BitRate,
    /// Loss of the SNR on its way to the gNB and in its receiver, in dB.
    loss_db: f64,
    /// Gain of a UE that has all of its power on this many resource blocks, in dB.
    spread_db: Vec<f64>,
}

impl UplinkCarrier {
    /// Works out the tables of a cell.
    pub(crate) fn new(cell: &CellConfig) -> Self {
        let UplinkConfig { snr_loss_db, receiver_loss_db, .. } = cell.uplink;
        let spread_db = |prbs: u32| 10.0 * libm::log10(f64::from(cell.prbs) / f64::from(prbs.max(1)));
        let pusch = cell.pusch();
        Self {
            downlink: LinkTable::new(&cell.pdsch()),
            table: LinkTable::new(&pusch),
            sizes: BlockSizes::of_slots(&pusch, vec![SYMBOLS_PER_SLOT]),
            downlink_peak: downlink_peak(cell),
            loss_db: snr_loss_db + receiver_loss_db,
            spread_db: (0..=cell.prbs).map(spread_db).collect(),
        }
    }
    /// Bytes of a block by its resource blocks.
    fn sizes(&self, mcs: u8) -> &[u32] {
        self.sizes.of(SYMBOLS_PER_SLOT, mcs)
    }
    /// Width of a carrier with this peak rate, as a multiple of this cell's carrier. A rate channel may have a higher rate than this
    /// carrier.
    fn times_as_wide(&self, peak: Option<BitRate>) -> f64 {
        peak.map_or(1.0, |peak| (peak.as_mbps() / self.downlink_peak.as_mbps()).max(1.0))
    }
}

/// Capacity of a cell's downlink slots at the highest MCS.
fn downlink_peak(cell: &CellConfig) -> BitRate {
    let Some(pattern) = cell.pattern() else { return BitRate::default() };
    let pdsch = cell.pdsch();
    let highest = cell.mcs_table.rows().len() - 1;
    let symbols = pattern.downlink_symbols_of_period().filter(|symbols| *symbols > 0);
    let bytes = symbols.map(|symbols| u64::from(pdsch.whole_block(symbols, highest))).sum();
    BitRate::from_bytes_in(Bytes(bytes), pattern.slot() * pattern.period())
}

/// The uplink of one UE.
pub(crate) struct UplinkRadio {
    outer: OuterLoop,
    errors: Stream,
    period: Duration,
    /// Loss of the UE's own receiver, in dB: a CQI has that in it.
    receiver_loss_db: f64,
    /// Time of the UE's next sounding.
    next_sounding: Instant,
    /// SNR of the last sounding, in dB.
    sounded: Option<f64>,
    /// SNR at the gNB over the whole carrier less the UE's SINR, in dB; `None` outside of a network.
    gain_db: Option<f64>,
    stats: UplinkStats,
}

impl UplinkRadio {
    pub(crate) fn new(cell: &CellConfig, receiver_loss_db: f64, errors: Stream) -> Self {
        Self {
            outer: OuterLoop::new(cell.target_bler),
            errors,
            period: cell.cqi_period,
            receiver_loss_db,
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

    /// Counters of its blocks.
    pub(crate) fn stats(&self) -> UplinkStats {
        self.stats
    }
    /// Counts a block that HARQ gave up.
    pub(crate) fn count_lost_block(&mut self) {
        self.stats.lost_blocks += 1;
    }

    /// Notes that the UE is in a network, where its total power is the same on any number of resource blocks.
    pub(crate) fn set_gain(&mut self, gain_db: f64) {
        self.gain_db = Some(gain_db);
    }

    /// The fewest resource blocks out of `limit` that carry `wanted` bytes, or the number that carries the most, by what the gNB knew at
    /// `known`. It never grants more blocks for fewer bytes.
    pub(crate) fn allocate(
        &mut self,
        carrier: &UplinkCarrier,
        channel: &mut Channel,
        known: Instant,
        (wanted, limit): (u64, u32),
    ) -> Allocation {
        // Between two soundings the gNB knows nothing new of the UE's channel.
        if known >= self.next_sounding {
            let occasion = known.as_nanos() / self.period.as_nanos();
            self.sounded = self.snr_db(carrier, channel, Instant::ZERO + self.period * occasion);
            self.next_sounding = Instant::ZERO + self.period * (occasion + 1);
        }
        let Some(snr_db) = self.sounded else {
            // What the phone measured in more than this carrier has, it measured on a wider one, whose uplink is wider, too.
            let wide = carrier.times_as_wide(channel.peak_rate());
            let block = fewest(carrier, RATE_CHANNEL_MCS, libm::ceil(wanted as f64 / wide) as u64, 0..=limit);
            return Allocation { bytes: (f64::from(block.bytes) * wide) as u32, ..block };
        };
        if self.gain_db.is_none() {
            // Who is out of range is granted nothing.
            let cqi = Some(carrier.table.cqi(snr_db)).filter(|cqi| *cqi > 0);
            let mcs = cqi.map(|cqi| self.outer.mcs(&carrier.table, cqi));
            return mcs.map_or(Allocation::default(), |mcs| fewest(carrier, mcs, wanted, 0..=limit));
        }
        let cqi = |prbs: u32| carrier.table.cqi(snr_db + carrier.spread_db[prbs as usize]);
        // Who is far away has the power for some resource blocks only.
        let least = MIN_PRBS.min(limit);
        let limit = first(least + 1, limit + 1, |prbs| cqi(prbs) == 0) - 1;
        // With its power on more of them it is weaker on each: bytes rise as long as the CQI stays, and fall with it.
        let mut best = Allocation::default();
        let mut from = 1;
        // One step a CQI and not a resource block: the MCS is that of the CQI.
        while from <= limit {
            let here = cqi(from);
            let to = first(from + 1, limit + 1, |prbs| cqi(prbs) != here) - 1;
            let mcs = self.outer.mcs(&carrier.table, here);
            let last = fewest(carrier, mcs, wanted, from..=to);
            // More resource blocks at a lower MCS may carry less.
            if last.bytes > best.bytes {
                best = last;
            }
            // Enough: more would be granted for nothing.
            if u64::from(best.bytes) >= wanted {
                break;
            }
            from = to + 1;
        }
        best
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
        // The mean is over first transmissions, as the count of blocks is.
        self.stats.mcs_sum += if first { u64::from(block.mcs) } else { 0 };
        // A channel that says a rate only loses nothing.
        let Some(snr_db) = self.snr_db(carrier, channel, now) else { return true };
        let snr_db = snr_db + self.gain_db.map_or(0.0, |_| carrier.spread_db[block.prbs as usize]);
        block.energy += libm::exp10(snr_db / 10.0);
        // The first transmission has nothing to be combined with.
        let met = if first { snr_db } else { 10.0 * libm::log10(block.energy) };
        let rate = carrier.table.block_error_rate(block.mcs, block.bytes, met);
        let failed = self.errors.chance(Probability::new(rate));
        // A retransmission's outcome is that of the sum of its energies, and says nothing of the MCS.
        if first {
            self.outer.feedback(!failed);
            self.stats.failed_blocks += u64::from(failed);
        }
        !failed
    }

    /// The SNR behind the gNB's receiver in dB, in a network over the whole carrier; `None` where the channel says a rate only.
    fn snr_db(&self, carrier: &UplinkCarrier, channel: &mut Channel, now: Instant) -> Option<f64> {
        let snr_db = match channel.at(now) {
            Quality::Snr(snr_db) => snr_db + self.gain_db.unwrap_or(0.0),
            Quality::Cqi(cqi) => carrier.downlink.snr_of_cqi(cqi) + self.receiver_loss_db,
            Quality::Rate(_) => return None,
        };
        Some(snr_db - carrier.loss_db)
    }
}

/// The fewest resource blocks of these numbers that carry `wanted` bytes at an MCS, or those that carry the most.
fn fewest(carrier: &UplinkCarrier, mcs: u8, wanted: u64, numbers: RangeInclusive<u32>) -> Allocation {
    let (least, most) = (*numbers.start() as usize, *numbers.end() as usize);
    let sizes = &carrier.sizes(mcs)[..=most];
    let wanted = wanted.min(u64::from(sizes[most]));
    let prbs = least + sizes[least..].partition_point(|bytes| u64::from(*bytes) < wanted);
    Allocation { mcs, prbs: prbs as u32, bytes: sizes[prbs] }
}

/// The first number from `from` on that has a property, which those behind it have as well; `to` if none before it has.
fn first(mut from: u32, mut to: u32, has: impl Fn(u32) -> bool) -> u32 {
    while from < to {
        let middle = from + (to - from) / 2;
        // By halves: 273 resource blocks would be looked at one by one in each grant.
        if has(middle) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_radio::channel::{ChannelConfig, StaticConfig};

    const ALL: u32 = 51;

    /// A UE whose SNR at the gNB is so low over the whole carrier, of 51 resource blocks, that it cannot use all of it.
    fn at_the_edge(snr_db: f64) -> (UplinkCarrier, UplinkRadio, Channel) {
        let cell = CellConfig { prbs: ALL, ..CellConfig::default() };
        let channel = ChannelConfig::Static(StaticConfig { snr_db });
        let mut radio = UplinkRadio::new(&cell, 0.0, Stream::new(1, 0, "error"));
        radio.set_gain(0.0);
        (UplinkCarrier::new(&cell), radio, Channel::new(&channel, cell.band(), Stream::new(1, 0, "channel")).unwrap())
    }

    #[test]
    fn the_fewest_blocks_that_carry_it_are_granted_or_those_that_carry_the_most() {
        for decibels in -30..30 {
            let (carrier, mut radio, mut channel) = at_the_edge(f64::from(decibels) / 2.0);
            let mut allocate = |wanted, most| radio.allocate(&carrier, &mut channel, Instant::ZERO, (wanted, most));
            // What each number of blocks carries: enough is never too much for one byte more than all fewer carry.
            let mut most_so_far = 0;
            for most in 1..=ALL {
                let Allocation { prbs, bytes, .. } = allocate(u64::MAX, most);
                assert!(
                    prbs <= most && bytes >= most_so_far,
                    "{decibels}: {bytes} B of {most}, {most_so_far} B of fewer"
                );
                assert!((bytes > most_so_far) == (prbs == most), "{decibels}: {prbs} of {most} blocks");
                let all = allocate(u64::from(bytes), ALL);
                assert_eq!((all.prbs, all.bytes), (prbs, bytes), "{decibels}: no more than it takes");
                most_so_far = bytes;
            }
            // A second round for more finds no fewer.
            let mut before = 0;
            for wanted in (1..2_000).step_by(7) {
                let Allocation { prbs, .. } = allocate(wanted, ALL);
                assert!(prbs >= before, "{decibels}: {before}, then {prbs} blocks for {wanted} B");
                before = prbs;
            }
        }
    }
}
