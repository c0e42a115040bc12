//! Verdict on a packet, and the class that decides how its flow is signalled.

use tidemark_core::Ecn;

/// Treatment of a downlink packet by the caller.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// Forward it unchanged.
    Pass,
    /// Set CE in its IP header and forward it. Only given for ECT packets.
    Mark,
    /// Discard it.
    Drop,
}

/// Response of a flow to congestion, from its ECN field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// Sends ECT(1): responds a little to each mark (RFC 9331).
    L4s,
    /// Sends ECT(0): responds to a mark as to a loss (RFC 3168).
    Classic,
    /// Sends Not-ECT: responds only to losses.
    NotEct,
}

impl Class {
    /// The class from the ECN field of one packet; `None` for CE, which a packet of either class may have when it arrives here.
    pub const fn of(ecn: Ecn) -> Option<Self> {
        match ecn {
            Ecn::Ect1 => Some(Self::L4s),
            Ecn::Ect0 => Some(Self::Classic),
            Ecn::NotEct => Some(Self::NotEct),
            Ecn::Ce => None,
        }
    }
}
