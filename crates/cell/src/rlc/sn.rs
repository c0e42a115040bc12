//! The length of RLC's sequence numbers, and the values that depend on it.

/// Length of RLC's SN (TS 38.322 6.2.3.3): 12 or 18 bits in AM, 6 or 12 in UM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RlcSn {
    /// 6 bits: a window of 32.
    #[cfg_attr(feature = "serde", serde(rename = "6"))]
    Bits6,
    /// 12 bits: a window of 2048.
    #[cfg_attr(feature = "serde", serde(rename = "12"))]
    Bits12,
    /// 18 bits: a window of 131072.
    #[cfg_attr(feature = "serde", serde(rename = "18"))]
    Bits18,
}

impl RlcSn {
    /// Number of bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bits6 => 6,
            Self::Bits12 => 12,
            Self::Bits18 => 18,
        }
    }
    /// AM_Window_Size and UM_Window_Size (TS 38.322 7.2): half of the SNs.
    pub const fn window(self) -> u32 {
        1 << (self.bits() - 1)
    }
    /// Bytes of an SN with the flags before it: the header of an AMD PDU without a segment offset, or of a UMD PDU with the
    /// first segment of an SDU (TS 38.322 6.2.2.3, 6.2.2.4).
    pub(super) const fn octets(self) -> u32 {
        match self {
            Self::Bits6 => 1,
            Self::Bits12 => 2,
            Self::Bits18 => 3,
        }
    }
}
