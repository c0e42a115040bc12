//! Verdict on a packet, and the class that decides how it is signalled to.

use tidemark_core::Ecn;

/// Treatment of a downlink packet by the caller.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// Forward it unchanged.
    Pass,
    /// Set CE in its IP header and forward it. Only ever given for a packet that is ECT.
    Mark,
    /// Discard it.
    Drop,
}

/// Answer of a flow to congestion, as far as its ECN field tells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// Sends ECT(1): answers each mark a little (RFC 9331).
    L4s,
    /// Sends ECT(0): answers a mark like a loss (RFC 3168).
    Classic,
    /// Sends Not-ECT: answers losses only.
    NotEct,
}

impl Class {
    /// The class that one packet shows; `None` for CE, which either class may carry by the time it gets here.
    pub const fn of(ecn: Ecn) -> Option<Self> {
        match ecn {
            Ecn::Ect1 => Some(Self::L4s),
            Ecn::Ect0 => Some(Self::Classic),
            Ecn::NotEct => Some(Self::NotEct),
            Ecn::Ce => None,
        }
    }
}
