//! The ECN field of an IP header.

/// The two ECN bits (RFC 3168 5; RFC 9331 4 for the meaning of ECT(1)).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// 00: the transport does not understand ECN, so its packets can only be dropped.
    #[default]
    NotEct = 0b00,
    /// 01: ECT(1), the identifier of L4S.
    Ect1 = 0b01,
    /// 10: ECT(0), a classic ECN transport.
    Ect0 = 0b10,
    /// 11: congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// Reads the two low bits of a ToS or traffic class octet; the other bits are ignored.
    pub const fn from_bits(octet: u8) -> Self {
        match octet & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }
    /// The two bits.
    pub const fn bits(self) -> u8 {
        self as u8
    }
    /// True unless the packet is Not-ECT.
    pub const fn is_ect(self) -> bool {
        !matches!(self, Self::NotEct)
    }
    /// True for ECT(1) and CE, which RFC 9331 5.1 classifies into the L4S queue.
    pub const fn is_l4s(self) -> bool {
        matches!(self, Self::Ect1 | Self::Ce)
    }
    /// Gives the codepoint after a congestion mark; Not-ECT stays as it is, since it must never be marked.
    pub const fn marked(self) -> Self {
        if self.is_ect() { Self::Ce } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_survive_a_round_trip_and_the_dscp_does_not_matter() {
        for bits in 0..=3u8 {
            assert_eq!(Ecn::from_bits(bits).bits(), bits);
            assert_eq!(Ecn::from_bits(bits | 0xB8).bits(), bits);
        }
    }

    #[test]
    fn a_transport_without_ecn_is_never_marked() {
        assert_eq!(Ecn::NotEct.marked(), Ecn::NotEct);
        assert_eq!(Ecn::Ect1.marked(), Ecn::Ce);
        assert_eq!(Ecn::Ect0.marked(), Ecn::Ce);
    }
}
