//! Types passed by value through the C interface. Layouts are checked here and by the tests in C and C++.

use tidemark_core::{Bytes, Duration};
use tidemark_marker::{Counters, DeliveryStatus, Estimate};

use crate::sized::Plain;

/// Handle of a UE in an instance, to be passed on unchanged. The handle of a removed UE, one of another instance, and one of zeros are
/// rejected.
///
/// QFIs identify QoS flows only within one PDU session (TS 23.501 5.7.1.1), so a UE with several PDU sessions needs a UE here for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct UeId {
    /// Slot of the UE, and its generation in the slot.
    pub bits: u64,
}

/// Settings of an instance.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct InstanceConfig {
    /// Size of this struct, `sizeof`; set by the caller. BAD_LENGTH without it.
    pub size: usize,
    /// Largest number of UEs at a time, 1 to 1048576. Each takes about 1 KiB from the start.
    pub max_ues: u32,
    /// Reserved for later use; must be 0.
    pub reserved: u32,
    /// Seed of the random draws: the same seed and the same calls give the same verdicts.
    pub seed: u64,
    /// Key of the flow hash, so that no outsider can craft packets that collide in the flow table.
    /// 16 random bytes, for example from getrandom(2); all zeros are rejected.
    pub secret: [u8; 16],
}

/// A QoS flow of a DRB.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct QosFlow {
    /// QoS flow identifier, 0 to 63.
    pub qfi: u8,
    /// 5QI of the flow (TS 23.501 table 5.7.4-1); 0 if not known.
    pub five_qi: u8,
}

/// Action of the caller on a downlink packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub enum Verdict {
    /// Forward it; it was not marked.
    Pass = 0,
    /// Forward it; CE was set in its IP header.
    Mark = 1,
    /// Discard it.
    Drop = 2,
}

impl From<tidemark_marker::Verdict> for Verdict {
    fn from(verdict: tidemark_marker::Verdict) -> Self {
        match verdict {
            tidemark_marker::Verdict::Pass => Self::Pass,
            tidemark_marker::Verdict::Mark => Self::Mark,
            tidemark_marker::Verdict::Drop => Self::Drop,
        }
    }
}

/// `highest_transmitted_sn` of a report is present.
pub const TIDEMARK_REPORT_TRANSMITTED: u32 = 1;
/// `highest_delivered_sn` of a report is present.
pub const TIDEMARK_REPORT_DELIVERED: u32 = 2;
/// `desired_buffer_size` of a report is present.
pub const TIDEMARK_REPORT_BUFFER_SIZE: u32 = 4;

/// `highest_retransmitted_sn` of a report is present.
pub const TIDEMARK_REPORT_RETRANSMITTED: u32 = 8;
/// `highest_delivered_retransmitted_sn` of a report is present.
pub const TIDEMARK_REPORT_DELIVERED_RETRANSMITTED: u32 = 16;

/// Report on a DRB's queue, from a DL DATA DELIVERY STATUS (TS 38.425 5.5.2.2). Every field may be missing; before the first
/// transmission all are.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Report {
    /// Size of this struct, `sizeof`; set by the caller. BAD_LENGTH without it.
    pub size: usize,
    /// Fields that are present: a sum of `TIDEMARK_REPORT_...`. Other bits are ignored.
    pub fields: u32,
    /// Highest PDCP SN whose first segment was handed to the lower layers.
    pub highest_transmitted_sn: u32,
    /// Highest PDCP SN delivered to the UE in sequence; RLC AM only.
    pub highest_delivered_sn: u32,
    /// Desired buffer size for the data radio bearer, in bytes.
    pub desired_buffer_size: u32,
    /// Highest PDCP SN handed to the lower layers among the retransmissions to the DU, for example after a handover.
    pub highest_retransmitted_sn: u32,
    /// Highest PDCP SN delivered in sequence among the retransmissions to the DU; RLC AM only.
    pub highest_delivered_retransmitted_sn: u32,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            fields: 0,
            highest_transmitted_sn: 0,
            highest_delivered_sn: 0,
            desired_buffer_size: 0,
            highest_retransmitted_sn: 0,
            highest_delivered_retransmitted_sn: 0,
        }
    }
}

impl From<&Report> for DeliveryStatus {
    fn from(report: &Report) -> Self {
        let field = |flag: u32, value: u32| (report.fields & flag != 0).then_some(value);
        Self {
            highest_transmitted: field(TIDEMARK_REPORT_TRANSMITTED, report.highest_transmitted_sn),
            highest_delivered: field(TIDEMARK_REPORT_DELIVERED, report.highest_delivered_sn),
            highest_retransmitted: field(TIDEMARK_REPORT_RETRANSMITTED, report.highest_retransmitted_sn),
            highest_delivered_retransmitted: field(
                TIDEMARK_REPORT_DELIVERED_RETRANSMITTED,
                report.highest_delivered_retransmitted_sn,
            ),
            desired_buffer_size: field(TIDEMARK_REPORT_BUFFER_SIZE, report.desired_buffer_size)
                .map(|bytes| Bytes(bytes.into())),
        }
    }
}

/// Counters of a UE's packets, apart from those of its DRBs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct UeCounters {
    /// Size of this struct, `sizeof`. The caller sets it before each call, which changes it to the number of bytes written.
    pub size: usize,
    /// Downlink packets.
    pub downlink: u64,
    /// Uplink packets.
    pub uplink: u64,
    /// Packets of either direction whose headers could not be read, or were not all in the given bytes; they pass unchanged.
    pub unparsed: u64,
    /// Downlink packets of a QoS flow that no DRB carries; they pass unchanged.
    pub unknown_qfi: u64,
    /// Reports and PDCP events for a DRB that is not set up.
    pub unknown_drb: u64,
}

impl From<tidemark_marker::path::UeCounters> for UeCounters {
    fn from(counters: tidemark_marker::path::UeCounters) -> Self {
        let tidemark_marker::path::UeCounters { downlink, uplink, unparsed, unknown_qfi, unknown_drb } = counters;
        Self { size: size_of::<Self>(), downlink, uplink, unparsed, unknown_qfi, unknown_drb }
    }
}

impl Default for UeCounters {
    fn default() -> Self {
        tidemark_marker::path::UeCounters::default().into()
    }
}

/// Counters of one DRB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct DrbCounters {
    /// Size of this struct, `sizeof`. The caller sets it before each call, which changes it to the number of bytes written.
    pub size: usize,
    /// Counters since the DRB was set up.
    pub counters: Counters,
}

impl From<Counters> for DrbCounters {
    fn from(counters: Counters) -> Self {
        Self { size: size_of::<Self>(), counters }
    }
}

impl Default for DrbCounters {
    fn default() -> Self {
        Counters::default().into()
    }
}

/// `egress_bps` and `egress_deviation_bps` of an estimate are known.
pub const TIDEMARK_ESTIMATE_EGRESS: u32 = 1;
/// `sojourn_ns` of an estimate is known.
pub const TIDEMARK_ESTIMATE_SOJOURN: u32 = 2;
/// `last_sojourn_ns` of an estimate is known.
pub const TIDEMARK_ESTIMATE_LAST_SOJOURN: u32 = 4;
/// `head_of_line_ns` of an estimate is known.
pub const TIDEMARK_ESTIMATE_HEAD_OF_LINE: u32 = 8;
/// `retransmission_ns` of an estimate is known.
pub const TIDEMARK_ESTIMATE_RETRANSMISSION: u32 = 16;

/// Estimates about a DRB. An unknown field is 0, and its flag is missing in `known`.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct DrbEstimate {
    /// Size of this struct, `sizeof`. The caller sets it before each call, which changes it to the number of bytes written.
    pub size: usize,
    /// Known fields, among those that can be unknown: a sum of `TIDEMARK_ESTIMATE_...`.
    pub known: u32,
    /// SDUs handed to the DU that no report has covered yet.
    pub packets: u32,
    /// Estimated bytes queued in the DU now, also between reports.
    pub backlog: u64,
    /// Bytes handed to the DU that no report has covered yet.
    pub standing: u64,
    /// Egress rate in bit/s.
    pub egress_bps: u64,
    /// Standard deviation of the egress rate in bit/s.
    pub egress_deviation_bps: u64,
    /// Predicted wait of a packet that arrives now, in ns.
    pub sojourn_ns: u64,
    /// Wait of the last SDU that was transmitted, as of its report, in ns.
    pub last_sojourn_ns: u64,
    /// Estimated age of the oldest SDU in the DU now, also between reports, in ns.
    pub head_of_line_ns: u64,
    /// Time from first transmission to delivery of the last SDU delivered, in ns; RLC AM only.
    pub retransmission_ns: u64,
    /// Time since the last report, or since a queue began after it, in ns.
    pub report_age_ns: u64,
    /// Probability of a mark or a drop that the law gave the last packet, 0 to 1.
    pub probability: f64,
}

impl From<Estimate> for DrbEstimate {
    fn from(estimate: Estimate) -> Self {
        let mut known = 0;
        let mut span = |flag: u32, span: Option<Duration>| {
            known |= if span.is_some() { flag } else { 0 };
            span.map_or(0, Duration::as_nanos)
        };
        let sojourn_ns = span(TIDEMARK_ESTIMATE_SOJOURN, estimate.sojourn);
        let last_sojourn_ns = span(TIDEMARK_ESTIMATE_LAST_SOJOURN, estimate.last_sojourn);
        let head_of_line_ns = span(TIDEMARK_ESTIMATE_HEAD_OF_LINE, estimate.head_of_line);
        let retransmission_ns = span(TIDEMARK_ESTIMATE_RETRANSMISSION, estimate.retransmission);
        known |= if estimate.egress.is_some() { TIDEMARK_ESTIMATE_EGRESS } else { 0 };
        let egress = estimate.egress.unwrap_or_default();
        Self {
            size: size_of::<Self>(),
            known,
            packets: estimate.packets,
            backlog: estimate.backlog.0,
            standing: estimate.standing.0,
            egress_bps: egress.rate.as_bps(),
            egress_deviation_bps: egress.deviation.as_bps(),
            sojourn_ns,
            last_sojourn_ns,
            head_of_line_ns,
            retransmission_ns,
            report_age_ns: estimate.report_age.as_nanos(),
            probability: estimate.probability.get(),
        }
    }
}

impl Default for DrbEstimate {
    fn default() -> Self {
        Estimate::default().into()
    }
}

// SAFETY: each is `repr(C)` and has its size first, then integers alone.
unsafe impl Plain for InstanceConfig {}
// SAFETY: as above.
unsafe impl Plain for Report {}

// As tests/layout.h has it for C and C++.
#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<UeId>() == 8);
    assert!(size_of::<InstanceConfig>() == 40 && offset_of!(InstanceConfig, secret) == 24);
    assert!(size_of::<QosFlow>() == 2);
    assert!(size_of::<Verdict>() == 4);
    assert!(size_of::<crate::status::Status>() == 4);
    assert!(size_of::<Report>() == 32 && offset_of!(Report, highest_delivered_retransmitted_sn) == 28);
    assert!(size_of::<UeCounters>() == 48 && offset_of!(UeCounters, unknown_drb) == 40);
    assert!(size_of::<DrbCounters>() == 224 && offset_of!(DrbCounters, counters.blind_drbs) == 176);
    assert!(size_of::<DrbEstimate>() == 96 && offset_of!(DrbEstimate, probability) == 88);
};
