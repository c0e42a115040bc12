//! The recommended bit rate control element and its query (TS 38.321 5.18.10, 6.1.3.20).

use tidemark_core::BitRate;

use super::tables::BIT_RATE;
use crate::{Error, Result};

/// Direction of the recommended rate. AT commands number the directions differently: [`crate::at`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Code 0.
    Downlink,
    /// Code 1.
    Uplink,
}

/// `bitRateMultiplier` of the logical channel (TS 38.331): the factor that the X bit applies to the rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BitRateMultiplier {
    /// Times 40.
    X40,
    /// Times 70.
    X70,
    /// Times 100.
    X100,
    /// Times 200.
    X200,
}

impl BitRateMultiplier {
    /// The factor as a number.
    pub const fn factor(self) -> u64 {
        match self {
            Self::X40 => 40,
            Self::X70 => 70,
            Self::X100 => 100,
            Self::X200 => 200,
        }
    }
}

/// An index into the table of bit rates, 6 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BitRateIndex(u8);

impl BitRateIndex {
    /// No recommendation, or in a query no requested rate.
    pub const NONE: Self = Self(0);

    /// Makes an index, 0..=56; `None` for a reserved one.
    pub const fn new(index: u8) -> Option<Self> {
        if (index as usize) <= BIT_RATE.len() { Some(Self(index)) } else { None }
    }
    /// The index as a number, 0..=56.
    pub const fn get(self) -> u8 {
        self.0
    }
    /// The rate at this index, if any.
    pub fn rate(self) -> Option<BitRate> {
        let kbps = BIT_RATE.get(usize::from(self.0).checked_sub(1)?)?;
        Some(BitRate::from_kbps(u64::from(*kbps)))
    }
    /// The index of the highest rate that is not above `rate`, since a recommendation must not promise more.
    pub fn at_most(rate: BitRate) -> Self {
        Self(BIT_RATE.partition_point(|kbps| BitRate::from_kbps(u64::from(*kbps)) <= rate) as u8)
    }
}

/// The control element, two octets: a recommendation from the gNB or a query from the UE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecommendedBitRate {
    /// Logical channel, 6 bits.
    pub lcid: u8,
    /// The direction to which the rate applies.
    pub direction: Direction,
    /// The rate at the physical layer, before the multiplier.
    pub bit_rate: BitRateIndex,
    /// X: the rate is to be multiplied by the channel's `bitRateMultiplier`.
    pub multiplied: bool,
}

impl RecommendedBitRate {
    /// Reads the two octets after the subheader.
    ///
    /// # Errors
    /// `Truncated` for fewer octets, `Value` for a reserved bit rate.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let bits = u16::from_be_bytes(*octets.first_chunk().ok_or(Error::Truncated)?);
        Ok(Self {
            lcid: (bits >> 10) as u8,
            direction: if bits >> 9 & 1 == 0 { Direction::Downlink } else { Direction::Uplink },
            bit_rate: BitRateIndex::new((bits >> 3 & 0x3F) as u8).ok_or(Error::Value)?,
            multiplied: bits >> 2 & 1 != 0,
        })
    }
    /// The two octets after the subheader.
    ///
    /// # Errors
    /// `Value` for a logical channel of more than 6 bits.
    pub fn emit(self) -> Result<[u8; 2]> {
        if self.lcid >= 1 << 6 {
            return Err(Error::Value);
        }
        let direction = u16::from(self.direction == Direction::Uplink);
        let bits = u16::from(self.lcid) << 10
            | direction << 9
            | u16::from(self.bit_rate.0) << 3
            | u16::from(self.multiplied) << 2;
        Ok(bits.to_be_bytes())
    }
    /// The recommended rate, given the channel's multiplier; `None` if nothing is recommended, or if the X bit is set and
    /// the channel has no multiplier.
    pub fn rate(self, multiplier: Option<BitRateMultiplier>) -> Option<BitRate> {
        let factor = if self.multiplied { multiplier?.factor() } else { 1 };
        Some(BitRate::from_bps(self.bit_rate.rate()?.as_bps() * factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_lie_where_the_standard_puts_them() {
        // TS 38.321 figure 6.1.3.20-1: LCID (6), UL/DL (1), bit rate (1 + 5), X (1), R (2).
        let element = RecommendedBitRate {
            lcid: 0b00_0101,
            direction: Direction::Uplink,
            bit_rate: BitRateIndex::new(0b10_0110).unwrap(),
            multiplied: true,
        };
        assert_eq!(element.emit(), Ok([0b0001_0111, 0b0011_0100]));
        assert_eq!(RecommendedBitRate::parse(&[0b0001_0111, 0b0011_0111]), Ok(element));
        assert_eq!(element.rate(None), None);
        assert_eq!(element.rate(Some(BitRateMultiplier::X40)), Some(BitRate::from_mbps(52)));
    }

    #[test]
    fn values_of_the_nr_table() {
        for (index, kbps) in [(1, 0), (2, 9), (3, 11), (16, 104), (26, 300), (40, 1500), (56, 8000)] {
            assert_eq!(BitRateIndex::new(index).unwrap().rate(), Some(BitRate::from_kbps(kbps)), "{index}");
        }
        assert_eq!(BitRateIndex::NONE.rate(), None);
        assert_eq!(BitRateIndex::new(57), None);
    }

    #[test]
    fn a_rate_is_never_rounded_up() {
        for index in 1..=56 {
            let index = BitRateIndex::new(index).unwrap();
            let rate = index.rate().unwrap();
            assert_eq!(BitRateIndex::at_most(rate), index);
            assert_eq!(BitRateIndex::at_most(BitRate::from_bps(rate.as_bps() + 1)), index);
        }
        assert_eq!(BitRateIndex::at_most(BitRate::from_mbps(500)).get(), 56);
        assert_eq!(BitRateIndex::at_most(BitRate::from_bps(8_999)).get(), 1);
    }

    #[test]
    fn every_valid_element_comes_back_and_reserved_rates_are_refused() {
        for bits in 0..=u16::MAX {
            let octets = (bits & !0b11).to_be_bytes();
            match RecommendedBitRate::parse(&octets) {
                Ok(element) => assert_eq!(element.emit(), Ok(octets)),
                Err(error) => assert!(error == Error::Value && bits >> 3 & 0x3F > 56),
            }
        }
        assert_eq!(RecommendedBitRate::parse(&[0]), Err(Error::Truncated));
    }
}
