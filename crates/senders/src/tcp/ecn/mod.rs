//! Congestion feedback on an established connection: the counters of RFC 9768 and the latch of RFC 3168.
//!
//! [`Feedback`] is the end that received marks and tells of them, [`Decoder`] the end that reads this, [`SenderEcn`] the sender's
//! part in either mode.

mod decoder;
mod feedback;
mod sender;

use tidemark_core::{Bytes, Ecn};

use decoder::Decoder;
pub(super) use feedback::{Feedback, Urgency};
pub(super) use sender::SenderEcn;

/// The counters that both ends keep (RFC 9768 3.2): a receiver as `r.*`, a sender its copy as `s.*`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Counters {
    /// Packets with CE.
    cep: u64,
    /// Payload bytes with ECT(0), CE and ECT(1).
    e0b: u64,
    ceb: u64,
    e1b: u64,
}

/// Initial values tell apart a counter that never moved from one that a middlebox zeroed (RFC 9768 3.2.1).
const INITIAL: Counters = Counters { cep: 5, e0b: 1, ceb: 0, e1b: 1 };

/// The ACE value of the third segment of the handshake, by the IP-ECN field of the SYN/ACK (RFC 9768 3.2.2.1, table 3).
pub(in crate::tcp) const fn handshake_ace(syn_ack: Ecn) -> u8 {
    match syn_ack {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// Marks that an acknowledgement newly reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::tcp) struct Marks {
    /// Packets with CE.
    pub(in crate::tcp) packets: u32,
    /// Payload bytes with CE.
    pub(in crate::tcp) bytes: Bytes,
}
