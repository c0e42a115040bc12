//! One UE as the gNB keeps it: channel, link adaptation, bearer and marker.

use std::collections::VecDeque;

use tidemark_core::{Bytes, Duration, FlowId, Inspect, Instant, Packet, Probability, Stream};
use tidemark_marker::{DeliveryStatus, DrbMarker, SnLength};

use crate::channel::{Channel, Quality};
use crate::config::{CellConfig, ConfigError, RlcMode, UeConfig, pdcp_header};
use crate::harq::{Again, Block};
use crate::output::UeStats;
use crate::radio::link::{LinkTable, OuterLoop};
use crate::rlc::{Bearer, Overhead, Segment};

/// Of a rate channel that offers less than this in a slot, the bytes are kept for the next.
const LEAST_BLOCK: f64 = 16.0;
/// More than this is not kept: a rate channel's opportunities pass.
const MOST_KEPT: f64 = 3_000.0;

/// What a channel offers in a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Offer {
    /// Blocks of this MCS.
    Mcs(u8),
    /// These bytes, for the whole carrier.
    Bytes(f64),
}

pub(crate) struct Ue<P> {
    pub(crate) channel: Channel,
    /// It has no coverage until then.
    pub(crate) silent_until: Instant,
    outer: OuterLoop,
    errors: Stream,
    cqi_period: Duration,
    /// Time from the UE's measurement to its use.
    cqi_delay: Duration,
    /// The UE's place in the reporting period.
    cqi_phase: Duration,
    /// Number of the report in use.
    report: Option<u64>,
    cqi: Option<u8>,
    mcs: u8,
    /// Bytes that a rate channel offered and that were too few to use.
    kept: f64,
    /// The slot in which it was last chosen.
    pub(crate) tried_in: Option<u64>,
    pub(crate) bearer: Bearer<P>,
    pub(crate) marker: DrbMarker,
    pub(crate) sn_length: SnLength,
    sn_count: u32,
    next_sn: u32,
    pdcp_header: u32,
    /// Blocks to be sent again, by slot.
    pub(crate) again: VecDeque<Again>,
    pub(crate) status: StatusReports,
    delivery: Delivery,
    pub(crate) stats: UeStats,
}

/// AM: what the receiver will say in its next status report (TS 38.322 5.3.4).
#[derive(Debug, Default)]
pub(crate) struct StatusReports {
    pub(crate) pending: bool,
    pub(crate) allowed: Instant,
    /// PDCP SN of the last SDU that arrived in order.
    pub(crate) delivered: Option<u32>,
    pub(crate) missing: Vec<Segment>,
}

/// What the DU has told the CU.
#[derive(Debug, Default)]
struct Delivery {
    reported: DeliveryStatus,
    /// As the gNB knows from status reports.
    delivered: Option<u32>,
    scheduled: bool,
}

impl<P: Inspect> Ue<P> {
    pub(crate) fn new(cell: &CellConfig, config: &UeConfig, id: u32, seed: u64) -> Result<Self, ConfigError> {
        let stream = |purpose| Stream::new(seed, id, purpose);
        let channel = Channel::new(&config.channel, stream("channel"))?;
        let pdcp_header = pdcp_header(config.rlc.pdcp_sn);
        let overhead = match channel.is_rate() {
            true => Overhead::NONE,
            false => Overhead::with_pdcp_header(pdcp_header),
        };
        // UEs report in turn, not all in one slot.
        let cqi_phase = Duration::from_nanos((cell.slot() * u64::from(id)).as_nanos() % cell.cqi_period.as_nanos());
        let marker = DrbMarker::new(&config.marker, config.rlc.pdcp_sn, stream("mark"))
            .map_err(|error| ConfigError::new(&format!("marker.{}", error.field), error.problem))?;
        Ok(Self {
            channel,
            silent_until: Instant::ZERO,
            outer: OuterLoop::new(cell.target_bler),
            errors: stream("block-error"),
            cqi_period: cell.cqi_period,
            cqi_delay: cell.cqi_delay,
            cqi_phase,
            report: None,
            cqi: None,
            mcs: 0,
            kept: 0.0,
            tried_in: None,
            bearer: Bearer::new(config.rlc.clone(), overhead),
            marker,
            sn_length: config.rlc.pdcp_sn,
            sn_count: config.rlc.pdcp_sn.modulus(),
            next_sn: 0,
            pdcp_header,
            again: VecDeque::new(),
            status: StatusReports::default(),
            delivery: Delivery::default(),
            stats: UeStats::default(),
        })
    }

    /// Gives a packet its PDCP SN and tells the marker.
    pub(crate) fn number(&mut self, now: Instant, packet: &Packet<P>) -> u32 {
        let sn = self.next_sn;
        self.next_sn = (sn + 1) % self.sn_count;
        self.marker.handle_pdcp_pdu(now, sn, packet.size + Bytes(u64::from(self.pdcp_header)));
        sn
    }

    /// Tells a marker that starts anew what stands in the queue.
    pub(crate) fn announce(&mut self, now: Instant) {
        let header = Bytes(u64::from(self.pdcp_header));
        self.bearer.standing().for_each(|(sn, size)| self.marker.handle_pdcp_pdu(now, sn, size + header));
    }

    /// What the channel offers in the slot at `now`, when the last downlink slot was at `before`.
    pub(crate) fn offer(&mut self, table: &LinkTable, before: Instant, now: Instant) -> Offer {
        if let Some(bytes) = self.channel.bytes_between(before, now) {
            return Offer::Bytes(bytes + self.kept);
        }
        // Report 0 is the one from admission; the others come at the UE's place in each period.
        let since_first = now.as_nanos().checked_sub((self.cqi_delay + self.cqi_phase).as_nanos());
        let report = since_first.map_or(0, |span| span / self.cqi_period.as_nanos() + 1);
        if self.report != Some(report) {
            self.report = Some(report);
            let measured = report.checked_sub(1).map(|past| self.cqi_period * past + self.cqi_phase);
            let at = Instant::ZERO + measured.unwrap_or(Duration::ZERO);
            let cqi = match self.channel.at(at) {
                Quality::Snr(snr_db) => table.cqi(snr_db),
                Quality::Cqi(cqi) => cqi,
                Quality::Rate(_) => 15,
            };
            self.cqi = Some(cqi);
            self.mcs = self.outer.mcs(table, cqi);
        }
        Offer::Mcs(self.mcs)
    }

    /// Resource blocks out of `free`, of `all`, that take the backlog on a rate channel, and what they carry.
    pub(crate) fn share_of(&mut self, bytes: f64, free: u32, all: u32) -> Option<(u32, f64)> {
        let wanted = f64::from(self.bearer.backlog()) * f64::from(all) / bytes;
        let prbs = if wanted < f64::from(free) { (wanted as u32 + 1).min(free) } else { free };
        let room = bytes * f64::from(prbs) / f64::from(all);
        if room < LEAST_BLOCK {
            self.kept = bytes.min(MOST_KEPT);
            return None;
        }
        Some((prbs, room))
    }
    /// Keeps for the next slot what a backlogged bearer could not use of a rate channel.
    pub(crate) fn keep(&mut self, room: f64, carried: u32) {
        self.kept = if self.bearer.has_data() { (room - f64::from(carried)).clamp(0.0, MOST_KEPT) } else { 0.0 };
    }

    /// Sends a block in the slot at `now`; true if the UE can decode it.
    pub(crate) fn transmit(&mut self, now: Instant, table: &LinkTable, block: &mut Block) -> bool {
        block.transmissions += 1;
        self.stats.resources += u64::from(block.prbs * block.symbols);
        let first = block.transmissions == 1;
        self.stats.blocks += u64::from(first);
        self.stats.harq_retransmissions += u64::from(!first);
        let Some(mcs) = block.mcs else { return true };
        self.stats.mcs_sum += if first { u64::from(mcs) } else { 0 };
        self.stats.mcs = Some(mcs);
        let snr_db = match self.channel.at(now) {
            Quality::Snr(snr_db) => snr_db,
            Quality::Cqi(cqi) => table.snr_of_cqi(cqi),
            Quality::Rate(_) => return true,
        };
        let met = if first { snr_db } else { 10.0 * libm::log10(block.energy + libm::exp10(snr_db / 10.0)) };
        let failed = self.errors.chance(Probability::new(table.block_error_rate(mcs, met)));
        if failed {
            block.energy += libm::exp10(snr_db / 10.0);
        }
        self.stats.failed_blocks += u64::from(first && failed);
        !failed
    }
    /// The acknowledgement of a first transmission has come.
    pub(crate) fn learn(&mut self, table: &LinkTable, acknowledged: bool) {
        self.outer.feedback(acknowledged);
        if let Some(cqi) = self.cqi {
            self.mcs = self.outer.mcs(table, cqi);
        }
    }

    /// The gNB learns from a status report what the UE has in order.
    pub(crate) fn acknowledged(&mut self, delivered: Option<u32>) {
        self.delivery.delivered = delivered.or(self.delivery.delivered);
    }
    /// True if the CU does not know what the DU knows.
    pub(crate) fn has_news(&self) -> bool {
        self.current_status() != self.delivery.reported
    }
    /// True once until the report is made.
    pub(crate) fn schedule_report(&mut self) -> bool {
        !core::mem::replace(&mut self.delivery.scheduled, true)
    }
    /// The delivery status that the DU sends now.
    pub(crate) fn make_report(&mut self) -> DeliveryStatus {
        self.delivery.scheduled = false;
        self.delivery.reported = self.current_status();
        self.delivery.reported
    }
    fn current_status(&self) -> DeliveryStatus {
        let am = self.bearer.mode() == RlcMode::Am;
        DeliveryStatus {
            highest_transmitted: self.bearer.highest_transmitted(),
            highest_delivered: if am { self.delivery.delivered } else { None },
            desired_buffer_size: None,
        }
    }

    /// True if a slot has something to do for it.
    pub(crate) fn is_active(&self) -> bool {
        self.bearer.has_data() || !self.again.is_empty()
    }
    pub(crate) fn stats(&self, now: Instant) -> UeStats {
        UeStats {
            cqi: self.cqi,
            queue: self.bearer.queue_state(now),
            // Marks of markers before this one are in the counter already.
            marked: self.stats.marked + self.marker.counters().marks(),
            ..self.stats
        }
    }
    pub(crate) fn held(&self, flow: FlowId) -> Bytes {
        self.bearer.held(flow)
    }
}
