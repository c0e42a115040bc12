//! Buffer status reports (TS 38.321 6.1.3.1): the bytes that wait at a UE, by logical channel group.

use tidemark_core::Bytes;

use super::tables::{A, B, C};
use crate::{Error, Result};

/// The table into which a buffer size field is an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BufferTable {
    /// Table 6.1.3.1-1: short reports, 5 bits.
    A,
    /// Table 6.1.3.1-2: long reports, 8 bits.
    B,
    /// Table 6.1.3.1-3: refined long reports of Release 18, 8 bits, finer between 4751 and 750000 bytes.
    C,
}

/// The range of sizes that an index stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferSize {
    /// The buffer holds more than this; `None` for the index that means empty.
    pub above: Option<Bytes>,
    /// The buffer holds no more than this; `None` at the end of the table.
    pub at_most: Option<Bytes>,
}

impl BufferTable {
    const fn entries(self) -> &'static [u32] {
        match self {
            Self::A => &A,
            Self::B => &B,
            Self::C => &C,
        }
    }
    /// The last index with a meaning.
    const fn last(self) -> usize {
        match self {
            Self::A => 31,
            Self::B => 254,
            Self::C => 255,
        }
    }
    /// The sizes that an index stands for; `None` for an index that is reserved or too large.
    pub fn size(self, index: u8) -> Option<BufferSize> {
        let index = usize::from(index);
        if index > self.last() {
            return None;
        }
        let bytes = |entry: &u32| Bytes(u64::from(*entry));
        let above = match index.checked_sub(1) {
            Some(below) => self.entries().get(below).map(bytes),
            // The refined table begins where the common one is at 4751 bytes; the others begin with "empty".
            None => (self == Self::C).then_some(Bytes(4751)),
        };
        Some(BufferSize { above, at_most: self.entries().get(index).map(bytes) })
    }
    /// The index that reports `buffered` bytes; `None` below and above the range of the refined table.
    pub fn index(self, buffered: Bytes) -> Option<u8> {
        let index = self.entries().partition_point(|entry| Bytes(u64::from(*entry)) < buffered);
        let covered = index <= self.last() && (self != Self::C || buffered > Bytes(4751));
        covered.then_some(index as u8)
    }
}

/// A short or short truncated report, one octet: one logical channel group, table A.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShortBsr {
    /// Logical channel group, 3 bits.
    pub group: u8,
    /// Index into table A, 5 bits.
    pub index: u8,
}

impl ShortBsr {
    /// Reads the octet after the subheader.
    pub const fn parse(octet: u8) -> Self {
        Self { group: octet >> 5, index: octet & 0x1F }
    }
    /// The octet after the subheader.
    ///
    /// # Errors
    /// `Value` for a group above 7 or an index above 31.
    pub const fn emit(self) -> Result<u8> {
        if self.group < 8 && self.index < 32 { Ok(self.group << 5 | self.index) } else { Err(Error::Value) }
    }
}

/// A long report: an index into table B for each group that has data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LongBsr {
    /// The indices, by logical channel group.
    pub indices: [Option<u8>; 8],
}

impl LongBsr {
    /// Reads the content after the subheader: a bitmap of the groups, LCG 7 first, and their indices, LCG 0 first.
    ///
    /// # Errors
    /// `Truncated` if indices are missing. A long truncated report lacks some by design; [`Self::parse_truncated`] reads
    /// it.
    pub fn parse(content: &[u8]) -> Result<Self> {
        let (bitmap, indices) = content.split_first().ok_or(Error::Truncated)?;
        if bitmap.count_ones() as usize > indices.len() {
            Err(Error::Truncated)
        } else {
            Ok(Self::read(*bitmap, indices))
        }
    }
    /// Reads a long truncated report: the bitmap of the groups with data, and the indices that fit. The indices are in
    /// the order of the groups' priorities. Unless there is only one group, only the caller can assign them.
    ///
    /// # Errors
    /// `Truncated` for an empty report.
    pub fn parse_truncated(content: &[u8]) -> Result<(u8, &[u8])> {
        let (bitmap, indices) = content.split_first().ok_or(Error::Truncated)?;
        Ok((*bitmap, indices))
    }
    fn read(bitmap: u8, indices: &[u8]) -> Self {
        let mut report = Self::default();
        let groups = report.indices.iter_mut().enumerate().filter(|(group, _)| bitmap >> group & 1 != 0);
        groups.zip(indices).for_each(|((_, slot), index)| *slot = Some(*index));
        report
    }
    /// Writes the content after the subheader to the front of `buffer` and returns its length.
    ///
    /// # Errors
    /// `Truncated` for too short a buffer, `Value` for the reserved index.
    pub fn emit(self, buffer: &mut [u8]) -> Result<usize> {
        let len = 1 + self.indices.iter().flatten().count();
        let (bitmap, rest) = buffer.get_mut(..len).and_then(<[u8]>::split_first_mut).ok_or(Error::Truncated)?;
        *bitmap = 0;
        let mut rest = rest.iter_mut();
        for (group, index) in self.indices.into_iter().enumerate() {
            let Some(index) = index else { continue };
            if BufferTable::B.size(index).is_none() {
                return Err(Error::Value);
            }
            *bitmap |= 1 << group;
            *rest.next().ok_or(Error::Truncated)? = index;
        }
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_have_the_standards_shape() {
        for (table, last) in [(BufferTable::A, 31), (BufferTable::B, 254), (BufferTable::C, 255)] {
            let entries = table.entries();
            assert!(entries.is_sorted_by(|a, b| a < b));
            for index in 0..=255u8 {
                assert_eq!(table.size(index).is_some(), index <= last, "{table:?} {index}");
            }
        }
        // Both ends are given by the parameters of the tables' exponential law: B_k = B_min (1 + p)^k.
        assert_eq!(BufferTable::A.size(30).unwrap().at_most, Some(Bytes(150_000)));
        assert_eq!(BufferTable::A.size(31).unwrap(), BufferSize { above: Some(Bytes(150_000)), at_most: None });
        assert_eq!(BufferTable::B.size(253).unwrap().at_most, Some(Bytes(81_338_368)));
        assert_eq!(BufferTable::B.size(254).unwrap(), BufferSize { above: Some(Bytes(81_338_368)), at_most: None });
        assert_eq!(BufferTable::C.size(255).unwrap().at_most, Some(Bytes(750_000)));
    }

    #[test]
    fn the_tables_grow_by_a_constant_factor() {
        // A number typed in wrongly would break the factor at its position, by more than rounding does.
        for (table, factor) in [(BufferTable::A, 1.39317), (BufferTable::B, 1.0649113), (BufferTable::C, 1.019844)] {
            for pair in table.entries()[1..].windows(2) {
                let [low, high] = [f64::from(pair[0]), f64::from(pair[1])];
                assert!((high - low * factor).abs() < 2.0 + low * 2e-5, "{table:?} {pair:?} {}", low * factor);
            }
        }
    }

    #[test]
    fn a_buffer_is_reported_by_an_index_that_covers_it() {
        for table in [BufferTable::A, BufferTable::B, BufferTable::C] {
            for buffered in (0..100_000).step_by(7).chain([150_000, 150_001, 749_999, 750_000, 90_000_000]).map(Bytes) {
                let Some(index) = table.index(buffered) else {
                    assert!(table == BufferTable::C && !(4752..=750_000).contains(&buffered.0));
                    continue;
                };
                let size = table.size(index).unwrap();
                assert!(size.above.is_none_or(|above| above < buffered), "{table:?} {buffered}");
                assert!(size.at_most.is_none_or(|most| buffered <= most), "{table:?} {buffered}");
            }
        }
        assert_eq!(BufferTable::A.index(Bytes(0)), Some(0));
        assert_eq!(BufferTable::A.index(Bytes(1)), Some(1));
        assert_eq!(BufferTable::B.index(Bytes(4751)), Some(98));
    }

    #[test]
    fn short_reports() {
        for octet in 0..=255 {
            assert_eq!(ShortBsr::parse(octet).emit(), Ok(octet));
        }
        assert_eq!(ShortBsr { group: 5, index: 3 }.emit(), Ok(0b1010_0011));
        assert_eq!(ShortBsr { group: 8, index: 0 }.emit(), Err(Error::Value));
    }

    #[test]
    fn long_reports() {
        let mut report = LongBsr::default();
        report.indices[0] = Some(7);
        report.indices[7] = Some(254);
        let mut bytes = [0xFF; 9];
        assert_eq!(report.emit(&mut bytes), Ok(3));
        assert_eq!(bytes[..3], [0b1000_0001, 7, 254]);
        assert_eq!(LongBsr::parse(&bytes[..3]), Ok(report));
        assert_eq!(LongBsr::parse(&bytes[..2]), Err(Error::Truncated));
        assert_eq!(LongBsr::parse_truncated(&bytes[..2]), Ok((0b1000_0001, &[7][..])));
        assert_eq!(report.emit(&mut bytes[..2]), Err(Error::Truncated));
        report.indices[1] = Some(255);
        assert_eq!(report.emit(&mut bytes), Err(Error::Value));
    }
}
