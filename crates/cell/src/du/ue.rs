//! One UE in the gNB: its channel, link adaptation, HARQ, and bearers.

use std::collections::VecDeque;
use std::ops::Range;

use tidemark_core::{Bytes, ConfigError, Duration, Instant, Probability, Stream};

use super::harq::{Block, Processes, Retransmission};
use super::scheduler::Offer;
use super::uplink::{UplinkCarrier, UplinkContext, UplinkRadio};
use crate::config::{CellConfig, UeConfig};
use crate::index::UeDrbs;
use crate::output::{DropReason, UeId, UeStats, UplinkStats};
use crate::ue_stack::block::{Allocation, UplinkBlock};
use crate::ue_stack::group::Group;
use tidemark_radio::channel::{Channel, Quality};
use tidemark_radio::link::{LinkTable, OuterLoop};
use tidemark_radio::slots::Slot;

/// Bytes kept at most: a rate channel's opportunities pass.
const MAX_KEPT: f64 = 3_000.0;

/// UE in the DU.
pub(crate) struct Ue {
    channel: Channel,
    /// Loss of the UE's receiver from an SNR, in dB.
    receiver_loss_db: f64,
    /// End of the time without coverage.
    silent_until: Instant,
    outer: OuterLoop,
    errors: Stream,
    cqi_period: Duration,
    /// Time from the UE's measurement to its use.
    cqi_delay: Duration,
    /// Offset of the UE's reports in the period.
    cqi_phase: Duration,
    /// Time at which the next CQI report comes into use.
    next_report: Instant,
    cqi: Option<u8>,
    mcs: u8,
    /// Bytes that a rate channel offered in an earlier slot and that were too few to use.
    kept: f64,
    /// Bearers, the default one first.
    drbs: UeDrbs,
    /// Uplink, and the logical channel groups that the UE reports by.
    pub(super) uplink: UplinkContext,
    pub(super) groups: Vec<Group>,
    /// Next occasions for a scheduling request and of a configured grant, if the UE has use for them.
    pub(super) request_in: Option<Slot>,
    pub(super) configured_in: Option<Slot>,
    uplink_radio: UplinkRadio,
    /// Time at which the UE sent last.
    uplink_last: Instant,
    /// Blocks to be retransmitted, by slot, and the processes of all that are under way.
    pub(super) retransmissions: VecDeque<Retransmission>,
    pub(super) processes: Processes,
    stats: UeStats,
}

impl Ue {
    /// A UE with these bearers.
    pub(crate) fn new(
        cell: &CellConfig,
        config: &UeConfig,
        id: UeId,
        drbs: UeDrbs,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        let stream = |purpose| Stream::new(seed, id.0, purpose);
        let channel = Channel::new(&config.channel, cell.band(), stream("channel"))?;
        // UEs report in turn, not all in one slot.
        let cqi_phase = Duration::from_nanos((cell.slot() * u64::from(id.0)).as_nanos() % cell.cqi_period.as_nanos());
        Ok(Self {
            channel,
            receiver_loss_db: config.receiver_loss_db,
            silent_until: Instant::ZERO,
            outer: OuterLoop::new(cell.target_bler),
            errors: stream("block-error"),
            cqi_period: cell.cqi_period,
            cqi_delay: cell.cqi_delay,
            cqi_phase,
            next_report: Instant::ZERO,
            cqi: None,
            mcs: 0,
            kept: 0.0,
            drbs,
            uplink: UplinkContext::default(),
            groups: Vec::new(),
            request_in: None,
            configured_in: None,
            uplink_radio: UplinkRadio::new(cell, config.receiver_loss_db, stream("uplink-error")),
            uplink_last: Instant::ZERO,
            retransmissions: VecDeque::new(),
            processes: Processes::default(),
            stats: UeStats::default(),
        })
    }

    /// Forgets the radio and the cell at a handover.
    pub(crate) fn reset(&mut self, cell: &CellConfig) {
        self.outer = OuterLoop::new(cell.target_bler);
        (self.next_report, self.cqi) = (Instant::ZERO, None);
        self.kept = 0.0;
        self.retransmissions.clear();
        self.processes = Processes::default();
        self.uplink = UplinkContext::default();
        self.uplink_radio.reset(cell);
        (self.request_in, self.configured_in) = (None, None);
    }

    /// Bearers, the default one first.
    pub(crate) fn drbs(&self) -> UeDrbs {
        self.drbs
    }

    /// True if the channel says a rate of the IP layer, without headers.
    pub(super) fn has_rate_channel(&self) -> bool {
        self.channel.is_rate()
    }
    /// Changes to another channel.
    ///
    /// # Errors
    /// A change between a rate and a radio quality, since RLC headers count in only one of them.
    pub(crate) fn set_channel(&mut self, channel: Channel) -> Result<(), ConfigError> {
        if channel.is_rate() != self.channel.is_rate() {
            return Err(ConfigError::new("channel.model", "can't change between a rate and a radio quality"));
        }
        self.channel = channel;
        Ok(())
    }
    /// Changes the means that the fading goes around: SINR of the downlink and SNR at the gNB, in dB, and the Rice factor.
    pub(crate) fn set_means(&mut self, sinr_db: f64, uplink_db: f64, rice_k: f64) {
        self.channel.set_mean(sinr_db, rice_k);
        self.uplink_radio.set_gain(uplink_db - sinr_db);
    }

    /// Takes the UE out of coverage until then.
    pub(crate) fn silence(&mut self, until: Instant) {
        self.silent_until = self.silent_until.max(until);
    }
    /// End of the time without coverage, where it has none at `at`.
    pub(super) fn silent_at(&self, at: Instant) -> Option<Instant> {
        Some(self.silent_until).filter(|until| *until > at)
    }
    /// True without coverage.
    pub(super) fn is_silent(&self, at: Instant) -> bool {
        self.silent_until > at
    }

    /// Counts a packet that reached its IP stack.
    pub(super) fn count_delivered(&mut self, size: Bytes) {
        self.stats.delivered += size;
    }
    /// Counts a downlink packet that is lost.
    pub(crate) fn count_dropped(&mut self, reason: DropReason) {
        self.count_all_dropped(reason, 1);
    }
    /// Counts downlink packets that are lost.
    pub(super) fn count_all_dropped(&mut self, reason: DropReason, packets: u64) {
        let stats = &mut self.stats;
        *match reason {
            DropReason::Law => &mut stats.dropped_by_law,
            DropReason::QueueFull => &mut stats.dropped_by_queue,
            DropReason::Radio => &mut stats.dropped_by_radio,
            DropReason::Handover => &mut stats.dropped_by_handover,
            DropReason::Discarded => &mut stats.dropped_by_timer,
        } += packets;
    }
    /// Counts a downlink block that HARQ gave up.
    pub(super) fn count_lost_block(&mut self) {
        self.stats.lost_blocks += 1;
    }

    /// Resource blocks for `wanted` bytes of the uplink, out of `limit`, by what the gNB knew at `known`.
    pub(super) fn allocate_up(
        &mut self,
        carrier: &UplinkCarrier,
        known: Instant,
        wanted: u64,
        limit: u32,
    ) -> Allocation {
        self.uplink_radio.allocate(carrier, &mut self.channel, known, (wanted, limit))
    }
    /// Sends an uplink block at `now`; true if the gNB can decode it.
    pub(super) fn transmit_up(&mut self, carrier: &UplinkCarrier, now: Instant, block: &mut UplinkBlock) -> bool {
        self.uplink_radio.transmit(carrier, &mut self.channel, now, block)
    }
    /// Notes that it fills a block of the uplink.
    pub(super) fn note_sent_up(&mut self, now: Instant) {
        self.uplink_last = now;
    }
    /// True if it filled a block of the uplink at `since` or later.
    pub(super) fn has_sent_up_since(&self, since: Instant) -> bool {
        self.uplink_last >= since
    }
    /// Counts an uplink block that HARQ gave up.
    pub(super) fn count_lost_block_up(&mut self) {
        self.uplink_radio.count_lost_block();
    }
    /// Resource blocks x symbols that its uplink took.
    pub(super) fn resources_up(&self) -> u64 {
        self.uplink_radio.stats().resources
    }

    /// Offer of the channel in a slot that is decided on at `now`; `opportunities` are those since the last downlink slot.
    pub(crate) fn offer(&mut self, table: &LinkTable, now: Instant, opportunities: Range<Instant>) -> Offer {
        // A rate channel has no radio quality to report: what it carries is given.
        if let Some(bytes) = self.channel.bytes_between(opportunities.start, opportunities.end) {
            return Offer::Bytes(bytes);
        }
        // Between two reports the gNB knows nothing new of the channel.
        if now >= self.next_report {
            // Report 0 is the one from admission; the others come at the UE's offset in each period.
            let first = Instant::ZERO + self.cqi_delay + self.cqi_phase;
            let since_first = now.as_nanos().checked_sub(first.as_nanos());
            let report = since_first.map_or(0, |span| span / self.cqi_period.as_nanos() + 1);
            self.next_report = first + self.cqi_period * report;
            let measured = report.checked_sub(1).map(|past| self.cqi_period * past + self.cqi_phase);
            let at = Instant::ZERO + measured.unwrap_or(Duration::ZERO);
            // A rate channel has no radio to report on: its best CQI keeps every rule of selection out of the way.
            let cqi = match self.channel.at(at) {
                Quality::Snr(snr_db) => table.cqi(snr_db - self.receiver_loss_db),
                Quality::Cqi(cqi) => cqi,
                Quality::Rate(_) => 15,
            };
            self.cqi = Some(cqi);
            self.mcs = self.outer.mcs(table, cqi);
        }
        Offer::Mcs(self.mcs)
    }

    /// True if it reported CQI 0 (TS 38.214 5.2.2.1): no MCS would reach it.
    pub(crate) fn is_out_of_range(&self) -> bool {
        self.cqi == Some(0)
    }

    /// The fewest resource blocks that carry `wanted` bytes, including kept ones, if a rate channel offers `bytes` on `all` blocks.
    pub(crate) fn fewest_prbs(&self, wanted: u32, bytes: f64, all: u32) -> u32 {
        (((f64::from(wanted) - self.kept).max(0.0) / bytes * f64::from(all)) as u32).saturating_add(1)
    }
    /// Takes the bytes of this many resource blocks, including kept ones, if a rate channel offers `bytes` on `all` blocks.
    pub(crate) fn room_on(&mut self, prbs: u32, bytes: f64, all: u32) -> f64 {
        bytes * f64::from(prbs) / f64::from(all) + std::mem::take(&mut self.kept)
    }
    /// Keeps for the next slot bytes that a rate channel offered, and that were too few to use.
    pub(crate) fn keep(&mut self, bytes: f64) {
        self.kept = (self.kept + bytes).clamp(0.0, MAX_KEPT);
    }

    /// Sends a block in the slot at `now`; true if the UE can decode it, as it can't without coverage.
    pub(crate) fn transmit(&mut self, now: Instant, table: &LinkTable, block: &mut Block) -> bool {
        block.transmissions += 1;
        self.stats.resources += u64::from(block.prbs * block.symbols);
        let first = block.transmissions == 1;
        self.stats.blocks += u64::from(first);
        self.stats.harq_retransmissions += u64::from(!first);
        let is_received = self.silent_until <= now;
        // A rate channel has no MCS: it says what arrives, and loses nothing but for want of coverage.
        let Some(mcs) = block.mcs else { return is_received };
        // The mean is over first transmissions, as the count of blocks is.
        self.stats.mcs_sum += if first { u64::from(mcs) } else { 0 };
        self.stats.mcs = Some(mcs);
        // A channel of CQIs stands for the SNR at which that CQI is chosen.
        let snr_db = match self.channel.at(now) {
            Quality::Snr(snr_db) => snr_db - self.receiver_loss_db,
            Quality::Cqi(cqi) => table.snr_of_cqi(cqi),
            Quality::Rate(_) => return is_received,
        };
        // Without coverage there is no energy to combine either.
        if !is_received {
            self.stats.failed_blocks += u64::from(first);
            return false;
        }
        // A receiver adds a retransmission to what it kept of those before.
        let met = if first { snr_db } else { 10.0 * libm::log10(block.energy + libm::exp10(snr_db / 10.0)) };
        let failed = self.errors.chance(Probability::new(table.block_error_rate(mcs, block.bytes, met)));
        // Nobody asks for the energy of a block that is decoded.
        if failed {
            block.energy += libm::exp10(snr_db / 10.0);
        }
        self.stats.failed_blocks += u64::from(first && failed);
        !failed
    }
    /// The acknowledgement of a first transmission has come.
    pub(crate) fn learn(&mut self, table: &LinkTable, acknowledged: bool) {
        self.outer.feedback(acknowledged);
        // The next block has the corrected MCS, whenever the next report comes.
        if let Some(cqi) = self.cqi {
            self.mcs = self.outer.mcs(table, cqi);
        }
    }

    /// State and counters, but for those of its bearers.
    pub(crate) fn stats(&self) -> UeStats {
        let uplink = UplinkStats { reported: self.uplink.estimate.total(), ..self.uplink_radio.stats() };
        UeStats { cqi: self.cqi, uplink, ..self.stats }
    }
}
