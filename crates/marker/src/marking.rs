//! Marking of a QoS flow, as its request has it.

/// Treatment of the downlink packets of a QoS flow: what the IE "ECN Marking or Congestion Information Reporting Request" asks of a
/// gNB (TS 38.413 9.3.1.266; E1AP hands it on to the CU-UP).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Marking {
    /// Marked here, by the law of the DRB.
    #[default]
    Downlink,
    /// Marked nowhere.
    Off,
    /// Marked at the UPF, by the congestion that is reported to it, or nowhere while somebody wants to know of it. A report
    /// may be had of `Off` too, but overload protection leaves that alone: its sender hears of no mark that it could ignore.
    Report,
}
