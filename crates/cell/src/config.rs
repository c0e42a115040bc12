//! Configuration of a cell and of a UE.

use tidemark_core::{Bounded, Bytes, ConfigError, Duration, Range, bounds};
use tidemark_marker::{Characteristics, KNOWN_FIVE_QIS, LawConfig, MarkerConfig, SnLength};
use tidemark_radio::SharedChannel;
use tidemark_radio::carrier::{bandwidths, resource_blocks};
use tidemark_radio::channel::{Band, ChannelConfig};
use tidemark_radio::mcs::McsTable;
use tidemark_radio::slots::{SYMBOLS_PER_SLOT, SlotPattern};

use crate::du::anbr::AnbrConfig;
use crate::du::scheduler::SchedulerConfig;
use crate::du::uplink::UplinkConfig;

use crate::handover::HandoverExecution;
use crate::qos::{DrbConfig, QosFlowConfig};
use crate::rlc::RlcSn;

/// One NR cell.
///
/// The default is a 20 MHz TDD cell at 30 kHz. Two symbols of each slot carry control, three carry DMRS without data,
/// and `xOverhead` is 6. At MCS 28 of table 1 that leaves 28.9 kbit a slot, 40 Mbit/s in total.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<CellConfig>))]
pub struct CellConfig {
    /// Numerology: subcarriers of 15 kHz x 2^numerology (TS 38.211 4.2). Default 1, 30 kHz.
    pub numerology: u8,
    /// Resource blocks of the carrier, if `bandwidth_mhz` is not set. Default 51: 20 MHz at 30 kHz (TS 38.101-1 5.3.2).
    pub prbs: u32,
    /// Bandwidth of the channel in MHz, which gives the number of resource blocks by TS 38.101-1 table 5.3.2-1, or TS 38.101-2 at
    /// numerology 3. Default: `prbs` gives the number.
    pub bandwidth_mhz: Option<u32>,
    /// One carrier for both directions, or two. Default `tdd`.
    pub duplex: Duplex,
    /// Pattern of downlink (`D`), special (`S`) and uplink (`U`) slots, 0.5, 0.625, 1, 1.25, 2, 2.5, 4, 5, 10 or 20 ms long, since one
    /// or two successive periods must divide 20 ms (TS 38.213 11.1). FDD ignores it. Default `DDDDDDDSUU`.
    pub tdd: String,
    /// Downlink symbols of a special slot. Default 6.
    pub special_symbols: u32,
    /// Symbols at the start of a downlink slot that carry control. Default 2.
    pub control_symbols: u32,
    /// Resource elements for DMRS in each resource block. Default 36: three symbols with pilots and no data.
    pub dmrs: u32,
    /// Further overhead in each resource block, `xOverhead` of TS 38.214 5.1.3.2. Default 6.
    pub overhead: u32,
    /// Spatial layers. Default 1.
    pub layers: u32,
    /// MCS and CQI tables. Default `qam64`.
    pub mcs_table: McsTable,
    /// Target share of failed first transmissions for outer-loop link adaptation. Default 0.1.
    pub target_bler: f64,
    /// Period of CQI reports. Default 20 ms.
    pub cqi_period: Duration,
    /// Age of a CQI when the scheduler first uses it. Default 4 ms.
    pub cqi_delay: Duration,
    /// Largest number of transmissions of a transport block, including the first. Default 4.
    pub harq_transmissions: u32,
    /// Slots from a decision of the scheduler to its slot. Packets and reports that come after the decision wait. Default: 5 in TDD and
    /// 2 in FDD, as in OCUDU's gNB (`max_proc_delay`); OpenAirInterface plans 6 ahead (`sl_ahead`).
    pub scheduling_lead: Option<u64>,
    /// Slots from a transport block to its acknowledgement, k1. The acknowledgement goes in the next uplink slot from there. Default 4.
    pub harq_k1: u64,
    /// Slots that the gNB needs from an acknowledgement to the retransmission. They are never fewer than 1 + `scheduling_lead`, since the
    /// slot is planned after the acknowledgement is received. Default 4.
    pub harq_processing: u64,
    /// Scheduler of the downlink. Uplink grants follow its order where possible. Default `proportional-fair`.
    pub scheduler: SchedulerConfig,
    /// Resource blocks of a group, which the scheduler gives to one UE before it ranks the UEs again. Default: 2, 4, 8 or 16 by the width of
    /// the carrier (TS 38.214 table 5.1.2.2.1-1, configuration 1). With all blocks of the carrier in one group, a UE gets all that it needs
    /// before the next one.
    pub rbg_size: Option<u32>,
    /// Largest number of blocks in a downlink slot, including retransmissions, for which PDCCH has room. Default 16, as in srsRAN and OCUDU
    /// (`MAX_UE_PDUS_PER_SLOT`).
    pub ues_per_slot: u32,
    /// The interface between CU and DU.
    pub f1u: F1uConfig,
    /// Requests, reports and grants of the uplink.
    pub uplink: UplinkConfig,
    /// Handover for a UE's `handovers` and for `tidemark ctl handover`. A network uses `network.handover` instead.
    pub handover: HandoverExecution,
}

/// Sharing of the spectrum between downlink and uplink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Duplex {
    /// One carrier, shared by the directions with the pattern `tdd`.
    #[default]
    Tdd,
    /// Two carriers, one for each direction, in every slot.
    Fdd,
}

/// The interface between CU and DU (TS 38.425).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<F1uConfig>))]
pub struct F1uConfig {
    /// One-way delay between CU and DU. Default 0 s: both on one machine.
    pub delay: Duration,
    /// Period of DL DATA DELIVERY STATUS. Default 0 s: a report after each slot that sent something. Real gNBs
    /// report every 5 or 10 ms.
    pub report_period: Duration,
    /// True if the marker sees the true state of the RLC queue, as in a gNB whose CU and DU are one. Laws that act on the
    /// head-of-line delay then need no estimate. Default: yes.
    pub rlc_in_sight: bool,
}

impl Default for F1uConfig {
    fn default() -> Self {
        Self { delay: Duration::ZERO, report_period: Duration::ZERO, rlc_in_sight: true }
    }
}

impl Default for CellConfig {
    fn default() -> Self {
        Self {
            numerology: 1,
            prbs: 51,
            bandwidth_mhz: None,
            duplex: Duplex::Tdd,
            tdd: "DDDDDDDSUU".into(),
            special_symbols: 6,
            control_symbols: 2,
            dmrs: 36,
            overhead: 6,
            layers: 1,
            mcs_table: McsTable::Qam64,
            target_bler: 0.1,
            cqi_period: Duration::from_millis(20),
            cqi_delay: Duration::from_millis(4),
            harq_transmissions: 4,
            scheduling_lead: None,
            harq_k1: 4,
            harq_processing: 4,
            scheduler: SchedulerConfig::default(),
            rbg_size: None,
            ues_per_slot: 16,
            f1u: F1uConfig::default(),
            uplink: UplinkConfig::default(),
            handover: HandoverExecution::default(),
        }
    }
}

bounds! { CellConfig {
    numerology: Range::at_most(3u8).because("15 to 120 kHz"),
    prbs: Range::between(1u32, 275).unit("resource blocks"),
    special_symbols: Range::at_most(SYMBOLS_PER_SLOT - 1).unit("symbols"),
    control_symbols: Range::at_most(3u32).unit("symbols"),
    dmrs: Range::at_most(48u32).unit("resource elements"),
    overhead: Range::one_of(&[0u32, 6, 12, 18]).because("TS 38.214 5.1.3.2"),
    layers: Range::between(1u32, 4),
    target_bler: Range::between(0.001, 0.5),
    cqi_period: Range::between(Duration::from_millis(1), Duration::from_secs(10)),
    cqi_delay: Range::at_most(Duration::from_secs(1)),
    harq_transmissions: Range::between(1u32, 8),
    scheduling_lead: Range::at_most(30u64).unit("slots"),
    harq_k1: Range::between(1u64, 64).unit("slots"),
    harq_processing: Range::at_most(64u64).unit("slots"),
    rbg_size: Range::between(1u32, 275).unit("resource blocks"),
    ues_per_slot: Range::between(1u32, 275),
    ..bandwidth_mhz, duplex, tdd, mcs_table, scheduler, f1u, uplink, handover
} }

bounds! { F1uConfig {
    delay: Range::at_most(Duration::from_secs(1)),
    report_period: Range::at_most(Duration::from_secs(1)),
    ..rlc_in_sight
} }

impl CellConfig {
    /// Checks every field.
    ///
    /// # Errors
    /// The first field that cannot be used, and the rule that it breaks.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        if let Some(mhz) = self.bandwidth_mhz.filter(|mhz| resource_blocks(self.numerology, *mhz).is_none()) {
            let choice: Vec<_> = bandwidths(self.numerology).iter().map(|(mhz, _)| mhz.to_string()).collect();
            let problem = format!("no channel has {mhz} MHz at this numerology: use {}", choice.join(", "));
            return Err(ConfigError::new("bandwidth_mhz", problem));
        }
        self.f1u.check_bounds().map_err(|error| error.within("f1u"))?;
        self.uplink.validate().map_err(|error| error.within("uplink"))?;
        self.handover.check_bounds().map_err(|error| error.within("handover"))?;
        self.validate_slots()?;
        self.scheduler.validate().map_err(|error| error.within("scheduler"))
    }

    /// Length of a slot.
    pub fn slot(&self) -> Duration {
        Duration::from_nanos(1_000_000 >> self.numerology)
    }

    /// Slots from a decision of the scheduler to its slot, as configured or by the duplex mode.
    pub fn scheduling_lead(&self) -> u64 {
        self.scheduling_lead.unwrap_or(match self.duplex {
            Duplex::Tdd => 5,
            Duplex::Fdd => 2,
        })
    }

    /// Band of the carrier, for the channel model.
    pub fn band(&self) -> Band {
        let width_hz = f64::from(self.resource_blocks() * 12 * (15_000 << self.numerology));
        Band { width_hz, slot: self.slot() }
    }

    /// Resource blocks of the carrier, from `bandwidth_mhz` or `prbs`.
    pub fn resource_blocks(&self) -> u32 {
        self.bandwidth_mhz.and_then(|mhz| resource_blocks(self.numerology, mhz)).unwrap_or(self.prbs)
    }

    /// Resource blocks of a group, as configured or by the width of the carrier (TS 38.214 table 5.1.2.2.1-1, configuration 1).
    pub(crate) fn resource_block_group(&self) -> u32 {
        self.rbg_size.unwrap_or(match self.resource_blocks() {
            ..=36 => 2,
            37..=72 => 4,
            73..=144 => 8,
            _ => 16,
        })
    }

    /// PDSCH of the cell.
    pub(crate) fn pdsch(&self) -> SharedChannel {
        SharedChannel {
            prbs: self.resource_blocks(),
            control_symbols: self.control_symbols,
            dmrs: self.dmrs,
            overhead: self.overhead,
            layers: self.layers,
            mcs_table: self.mcs_table,
        }
    }

    /// PUSCH of the cell: as many symbols carry PUCCH and sounding as carry PDCCH in a downlink slot; DMRS and overhead are the downlink's.
    pub(crate) fn pusch(&self) -> SharedChannel {
        SharedChannel { layers: self.uplink.layers, mcs_table: self.uplink.mcs_table, ..self.pdsch() }
    }

    /// Longest time for which a packet waits for a downlink slot if it finds no queue; `None` if `tdd` is not a valid pattern.
    pub fn longest_downlink_wait(&self) -> Option<Duration> {
        Some(self.pattern()?.longest_wait())
    }

    pub(crate) fn pattern(&self) -> Option<SlotPattern> {
        match self.duplex {
            Duplex::Tdd => SlotPattern::parse(&self.tdd, self.special_symbols, self.slot()),
            Duplex::Fdd => Some(SlotPattern::paired(self.slot())),
        }
    }
}

/// One UE with its data radio bearers.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<UeConfig>))]
pub struct UeConfig {
    /// Radio channel of the UE.
    pub channel: ChannelConfig,
    /// SNR that the UE's receiver loses by channel estimation and imperfect hardware, in dB. It is subtracted before blocks fail and CQIs are
    /// chosen. A trace of CQIs or rates already includes it. Default 2 dB (docs/measured/limits.md).
    pub receiver_loss_db: f64,
    /// RLC entity of the default bearer.
    pub rlc: RlcConfig,
    /// Marking law of the default bearer.
    pub marker: MarkerConfig,
    /// 5QI of the default QoS flow, which can't be a GBR one. Default 9.
    pub five_qi: u8,
    /// Bearers besides the default one.
    pub drb: Vec<DrbConfig>,
    /// Bit rate recommendations for each bearer of the UE. Default: none.
    pub anbr: Option<AnbrConfig>,
    /// Law by which the gNB marks the UE's uplink packets, from the UE's buffer status reports for each bearer's logical channel group:
    /// `ramp`, `step` or `dualpi2`. Default: none.
    pub uplink_marker: Option<MarkerConfig>,
}

impl Default for UeConfig {
    fn default() -> Self {
        Self {
            channel: ChannelConfig::default(),
            receiver_loss_db: DEFAULT_RECEIVER_LOSS_DB,
            rlc: RlcConfig::default(),
            marker: MarkerConfig::default(),
            five_qi: 9,
            drb: Vec::new(),
            anbr: None,
            uplink_marker: None,
        }
    }
}

/// Limit of a UE's bearers (TS 38.331 `maxDRB`).
const MAX_DRBS: usize = 29;

/// Default loss of a receiver, in dB (docs/measured/limits.md).
pub(crate) const DEFAULT_RECEIVER_LOSS_DB: f64 = 2.0;
/// Losses that a receiver may have.
pub const RECEIVER_LOSS_DB: Range<f64> = Range::between(0.0, 20.0).unit("dB");

bounds! { UeConfig {
    receiver_loss_db: RECEIVER_LOSS_DB,
    ..channel, rlc, marker, five_qi, drb, anbr, uplink_marker
} }

/// Configuration of one bearer of a UE, including the values taken from the UE.
#[derive(Clone, Copy, Debug)]
pub struct BearerConfig<'a> {
    /// RLC entity.
    pub rlc: &'a RlcConfig,
    /// Marking law of the downlink.
    pub marker: &'a MarkerConfig,
    /// Law by which the gNB marks the UE's uplink packets.
    pub uplink_marker: Option<&'a MarkerConfig>,
    /// QoS flows; empty for the default bearer, which has only the default QoS flow.
    pub qos_flows: &'a [QosFlowConfig],
    /// 5QI of the first QoS flow.
    pub five_qi: u8,
}

impl UeConfig {
    /// Bearers of the UE, the default one first. A value that a bearer leaves out is taken from the UE.
    pub fn bearers(&self) -> impl Iterator<Item = BearerConfig<'_>> {
        let uplink_marker = self.uplink_marker.as_ref();
        let default =
            BearerConfig { rlc: &self.rlc, marker: &self.marker, uplink_marker, qos_flows: &[], five_qi: self.five_qi };
        let dedicated = self.drb.iter().map(move |drb| BearerConfig {
            rlc: drb.rlc.as_ref().unwrap_or(default.rlc),
            marker: drb.marker.as_ref().unwrap_or(default.marker),
            uplink_marker: drb.uplink_marker.as_ref().or(uplink_marker),
            qos_flows: &drb.qos_flow,
            five_qi: drb.qos_flow.first().map_or(default.five_qi, |flow| flow.five_qi),
        });
        std::iter::once(default).chain(dedicated)
    }

    /// Names the first field that cannot be used.
    ///
    /// # Errors
    /// The field and what would be right.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.channel.validate()?;
        self.check_bounds()?;
        self.rlc.validate()?;
        self.marker.validate().map_err(|error| error.within("marker"))?;
        match Characteristics::of(self.five_qi) {
            None => return Err(ConfigError::of_value("five_qi", KNOWN_FIVE_QIS)),
            Some(row) if row.is_gbr() => {
                return Err(ConfigError::of_value(
                    "five_qi",
                    "must not be a GBR 5QI: the default QoS flow has no guaranteed rate",
                ));
            }
            Some(_) => {}
        }
        if self.drb.len() >= MAX_DRBS {
            return Err(ConfigError::of_value("drb", "a UE has at most 29 bearers, including the default one"));
        }
        if let Some(anbr) = &self.anbr {
            anbr.validate().map_err(|error| error.within("anbr"))?;
        }
        self.uplink_marker.as_ref().map_or(Ok(()), validate_uplink_marker)?;
        let mut qfis = Vec::new();
        for (index, drb) in self.drb.iter().enumerate() {
            drb.validate().map_err(|error| error.within(&format!("drb.{index}")))?;
            for (position, flow) in drb.qos_flow.iter().enumerate() {
                if qfis.contains(&flow.qfi) {
                    let field = format!("drb.{index}.qos_flow.{position}.qfi");
                    return Err(ConfigError::new(field, "is taken by an earlier QoS flow of this UE"));
                }
                qfis.push(flow.qfi);
            }
        }
        self.validate_unmarked()
    }

    /// Refuses QoS flows that are not marked beside a law that is asked where packets leave the queue: it is told of no QoS flow there.
    fn validate_unmarked(&self) -> Result<(), ConfigError> {
        for (index, bearer) in self.bearers().enumerate().filter(|(_, bearer)| bearer.marker.law.decides_on_leaving()) {
            if let Some(position) = bearer.qos_flows.iter().position(|flow| !flow.marked) {
                let right = "must be true: this law decides when packets leave the queue, without their QoS flow. Give the flow a bearer of its own, with the law `none`";
                return Err(ConfigError::new(format!("drb.{}.qos_flow.{position}.marked", index - 1), right));
            }
        }
        Ok(())
    }
}

/// An RLC entity (TS 38.322) and the PDCP entity above it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<RlcConfig>))]
pub struct RlcConfig {
    /// Mode of the entity, acknowledged or not. Default `am`.
    pub mode: RlcMode,
    /// Limit of the queue in SDUs, at most half of the SNs (2048 with 12 bits). Default 16384, as in the L4Span paper.
    pub queue_sdus: u32,
    /// Limit of the queue in bytes. Default: none.
    pub queue_bytes: Option<Bytes>,
    /// Length of PDCP's sequence numbers. `12` needs a `queue_sdus` of at most 2048, half of the SNs (TS 38.323 5.2.1).
    /// Default `18` bits.
    pub pdcp_sn: SnLength,
    /// Side of the queue on which PDCP gives packets their SNs. Default `on-arrival`.
    pub numbering: Numbering,
    /// True for a pacer as in TC-RAN, behind the queue that PDCP numbers on leaving. It keeps RLC's queue short, and the law uses only the wait
    /// before the pacer. It needs `numbering = "on-leaving"` and no `discard_timer`. Default: no.
    pub paced: bool,
    /// Length of RLC's sequence numbers: `12` or `18` in AM, `6` or `12` in UM. It determines RLC's headers, status reports and windows
    /// (TS 38.322 6.2.2, 7.2). Default `18` in AM, `12` in UM.
    pub rlc_sn: Option<RlcSn>,
    /// Time that the receiver waits for a missing part, t-Reassembly. Default 20 ms.
    pub t_reassembly: Duration,
    /// AM: shortest time between two status reports, t-StatusProhibit. Default 10 ms.
    pub t_status_prohibit: Duration,
    /// AM: limit of an SDU's retransmissions, maxRetxThreshold. Default 32.
    pub max_retransmissions: u8,
    /// AM: PDUs after which the sender polls, pollPDU. Default 16, as in srsRAN for 5QI 9. If it is not set, only bytes and the end
    /// of data cause polls.
    pub poll_pdus: Option<u32>,
    /// AM: bytes after which the sender polls, pollByte. Default: no limit.
    pub poll_bytes: Option<Bytes>,
    /// AM: time without an answer after which the sender polls again, t-PollRetransmit. Default 100 ms.
    pub t_poll_retransmit: Duration,
    /// Time for which PDCP's receiver waits for a missing SDU before it delivers later ones, t-Reordering. Default in AM: infinite
    /// (TS 38.331), since RLC repairs or gives up, but 220 ms with a law that drops packets when they leave the queue, whose SNs never come.
    /// Default in UM: 50 ms, longer than HARQ needs.
    pub t_reordering: Option<Duration>,
    /// Age at which the sender discards an SDU, PDCP's discardTimer. Default: none, no SDU is discarded.
    pub discard_timer: Option<Duration>,
}

/// Mode of an RLC entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RlcMode {
    /// Acknowledged: lost segments are retransmitted.
    #[default]
    Am,
    /// Unacknowledged: lost segments stay lost.
    Um,
}

/// Side of the queue on which PDCP gives packets their SNs. If a packet is dropped in the queue, by a law that decides when packets leave
/// or by the discardTimer, the receiver misses it only if it had an SN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Numbering {
    /// SNs are given before the queue, which belongs to RLC. A dropped packet leaves a hole, for which the receiver waits `t_reordering`.
    #[default]
    OnArrival,
    /// SNs are given after the queue, which is above PDCP, as in TC-RAN and Brunello et al. A dropped packet leaves no hole.
    OnLeaving,
}

/// Bytes of PDCP's header (TS 38.323 6.2.2).
pub(crate) fn pdcp_header(length: SnLength) -> u32 {
    match length {
        SnLength::Bits12 => 2,
        SnLength::Bits18 => 3,
    }
}

impl Default for RlcConfig {
    fn default() -> Self {
        Self {
            mode: RlcMode::Am,
            queue_sdus: 16_384,
            queue_bytes: None,
            pdcp_sn: SnLength::Bits18,
            numbering: Numbering::OnArrival,
            paced: false,
            rlc_sn: None,
            t_reassembly: Duration::from_millis(20),
            t_status_prohibit: Duration::from_millis(10),
            max_retransmissions: 32,
            poll_pdus: Some(16),
            poll_bytes: None,
            t_poll_retransmit: Duration::from_millis(100),
            t_reordering: None,
            discard_timer: None,
        }
    }
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

bounds! { RlcConfig {
    queue_sdus: Range::between(1u32, 131_072).unit("SDUs").because("half of the 18-bit SNs may be under way"),
    queue_bytes: Range::at_least(Bytes(1_500)).because("one packet"),
    t_reassembly: Range::at_most(ms(2_200)).because("TS 38.331"),
    t_status_prohibit: Range::at_most(ms(2_400)).because("TS 38.331"),
    max_retransmissions: Range::between(1u8, 32).because("TS 38.331"),
    poll_pdus: Range::at_least(1u32).unit("PDUs"),
    poll_bytes: Range::at_least(Bytes(1)),
    t_poll_retransmit: Range::between(ms(5), ms(4_000)).because("TS 38.331"),
    t_reordering: Range::at_most(ms(3_000)).because("TS 38.331"),
    discard_timer: Range::between(ms(1), ms(1_500)).because("TS 38.331; left out for infinity"),
    ..mode, pdcp_sn, numbering, paced, rlc_sn
} }

impl RlcConfig {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        self.check().map_err(|error| error.within("rlc"))
    }

    fn check(&self) -> Result<(), ConfigError> {
        let error = |field, problem| Err(ConfigError::new(field, problem));
        self.check_bounds()?;
        if self.queue_sdus > self.max_under_way() {
            let right = "must be 1 to 2048 with 12-bit SNs, half of which may be under way";
            return Err(ConfigError::new("queue_sdus", right).found(self.queue_sdus));
        }
        match (self.mode, self.rlc_sn()) {
            (RlcMode::Am, RlcSn::Bits6) => return error("rlc_sn", "must be 12 or 18 in AM"),
            (RlcMode::Um, RlcSn::Bits18) => return error("rlc_sn", "must be 6 or 12 in UM"),
            _ => {}
        }
        if self.paced && (self.numbering == Numbering::OnArrival || self.discard_timer.is_some()) {
            return error("paced", "the queue is above PDCP: set `numbering` to `on-leaving`, and no `discard_timer`");
        }
        let makes_holes = self.discard_timer.is_some() && self.numbering == Numbering::OnArrival;
        if makes_holes && self.t_reordering().is_none() {
            let right = "must be set with `discard_timer`: a receiver would wait for a discarded SDU for ever";
            return error("t_reordering", right);
        }
        Ok(())
    }

    /// SDUs that may be under way: half of the SNs, since more could not be told apart (TS 38.323 5.2.1, note 1).
    pub(crate) fn max_under_way(&self) -> u32 {
        self.pdcp_sn.modulus() / 2
    }

    /// RLC's SNs, as configured or as the mode has them.
    pub(crate) fn rlc_sn(&self) -> RlcSn {
        self.rlc_sn.unwrap_or(match self.mode {
            RlcMode::Am => RlcSn::Bits18,
            RlcMode::Um => RlcSn::Bits12,
        })
    }

    /// t-Reordering, as configured or as the mode has it.
    pub(crate) fn t_reordering(&self) -> Option<Duration> {
        let usual = match self.mode {
            RlcMode::Am => None,
            RlcMode::Um => Some(Duration::from_millis(50)),
        };
        self.t_reordering.or(usual)
    }
}

/// Refuses a law that can't mark by the UE's buffer status reports.
pub(crate) fn validate_uplink_marker(marker: &MarkerConfig) -> Result<(), ConfigError> {
    marker.validate().map_err(|error| error.within("uplink_marker"))?;
    if marker.law.properties().marks_reported {
        return Ok(());
    }
    let usable = LawConfig::names(|law| law.marks && law.marks_reported).join(", ");
    let right = format!("can't mark the uplink, for which there are no F1-U reports: use one of {usable}");
    Err(ConfigError::of_value("uplink_marker.law", right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_field_is_named() {
        type Spoil = fn(&mut CellConfig);
        let wrong: [(&str, Spoil); 17] = [
            ("numerology", |c| c.numerology = 4),
            ("prbs", |c| c.prbs = 0),
            ("bandwidth_mhz", |c| c.bandwidth_mhz = Some(21)),
            ("tdd", |c| c.tdd = "DDX".into()),
            ("tdd", |c| c.tdd = "DDD".into()),
            ("tdd", |c| c.tdd = "DDDDDSU".into()),
            ("tdd", |c| c.tdd = "D".repeat(100_000) + "U"),
            ("special_symbols", |c| c.special_symbols = 14),
            ("special_symbols", |c| (c.tdd, c.special_symbols) = ("SU".into(), 2)),
            ("special_symbols", |c| {
                (c.tdd, c.special_symbols, c.dmrs, c.overhead) = ("SU".into(), 6, 48, 18);
            }),
            ("prbs", |c| c.prbs = 1),
            ("overhead", |c| c.overhead = 5),
            ("layers", |c| c.layers = 5),
            ("target_bler", |c| c.target_bler = f64::NAN),
            ("cqi_period", |c| c.cqi_period = Duration::ZERO),
            ("harq_transmissions", |c| c.harq_transmissions = 0),
            ("scheduling_lead", |c| c.scheduling_lead = Some(31)),
        ];
        for (field, spoil) in wrong {
            let mut config = CellConfig::default();
            assert!(config.validate().is_ok());
            spoil(&mut config);
            assert_eq!(config.validate().unwrap_err().field(), field);
        }
    }

    #[test]
    fn a_wrong_field_of_a_ue_is_named_with_its_part() {
        let mut config = UeConfig::default();
        assert!(config.validate().is_ok());
        config.rlc.queue_sdus = 0;
        assert_eq!(config.validate().unwrap_err().field(), "rlc.queue_sdus");
        let drb = DrbConfig { qos_flow: vec![Default::default()], ..DrbConfig::default() };
        let config = UeConfig { drb: vec![drb.clone(), drb], ..UeConfig::default() };
        assert_eq!(config.validate().unwrap_err().field(), "drb.1.qos_flow.0.qfi");
        let config = UeConfig { five_qi: 3, ..UeConfig::default() };
        assert_eq!(config.validate().unwrap_err().field(), "five_qi");
        let config = UeConfig { receiver_loss_db: -1.0, ..UeConfig::default() };
        assert_eq!(config.validate().unwrap_err().field(), "receiver_loss_db");
    }
}
