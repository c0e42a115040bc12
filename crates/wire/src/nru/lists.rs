//! The counted lists within NR-U frames, as views over their bytes.

use crate::cursor::{Reader, Writer};
use crate::{Error, Result};

/// PDCP SNs to discard: `len` of them from `start` on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiscardBlock {
    /// The first SN, 24 bits.
    pub start: u32,
    /// Number of SNs.
    pub len: u8,
}

/// A range of sequence numbers, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SnRange {
    /// The first, 24 bits.
    pub start: u32,
    /// The last, 24 bits.
    pub end: u32,
}

/// DL discard blocks (TS 38.425 5.5.3): four octets each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiscardBlocks<'a>(&'a [[u8; 4]]);

/// Ranges of lost NR-U SNs, or of PDCP SNs delivered out of sequence: six octets each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SnRanges<'a>(&'a [[u8; 6]]);

impl<'a> DiscardBlocks<'a> {
    /// Packs blocks into `storage`, to be written into a frame.
    ///
    /// # Errors
    /// `Truncated` for too little storage, `Value` for more than 255 blocks or an SN above 24 bits.
    pub fn pack(blocks: &[DiscardBlock], storage: &'a mut [[u8; 4]]) -> Result<Self> {
        let storage = storage.get_mut(..blocks.len()).ok_or(Error::Truncated)?;
        for (octets, block) in storage.iter_mut().zip(blocks) {
            let mut writer = Writer::new(octets);
            writer.u24(block.start)?;
            writer.u8(block.len)?;
        }
        if storage.len() > 255 { Err(Error::Value) } else { Ok(Self(storage)) }
    }
    /// The blocks.
    pub fn iter(self) -> impl ExactSizeIterator<Item = DiscardBlock> + 'a {
        self.0.iter().map(|&[a, b, c, len]| DiscardBlock { start: u32::from_be_bytes([0, a, b, c]), len })
    }
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let count = usize::from(reader.u8()?);
        reader.take(count * 4).map(|bytes| Self(bytes.as_chunks().0))
    }
    pub(super) fn write(self, writer: &mut Writer<'_>) -> Result<()> {
        writer.u8(self.0.len() as u8)?;
        writer.put(self.0.as_flattened())
    }
}

impl<'a> SnRanges<'a> {
    /// Packs ranges into `storage`, to be written into a frame.
    ///
    /// # Errors
    /// `Truncated` for too little storage, `Value` for more ranges than the 161 that fit into a frame (TS 38.425 5.5.3)
    /// or an SN above 24 bits.
    pub fn pack(ranges: &[SnRange], storage: &'a mut [[u8; 6]]) -> Result<Self> {
        let storage = storage.get_mut(..ranges.len()).ok_or(Error::Truncated)?;
        for (octets, range) in storage.iter_mut().zip(ranges) {
            let mut writer = Writer::new(octets);
            writer.u24(range.start)?;
            writer.u24(range.end)?;
        }
        if storage.len() > 161 { Err(Error::Value) } else { Ok(Self(storage)) }
    }
    /// The ranges.
    pub fn iter(self) -> impl ExactSizeIterator<Item = SnRange> + 'a {
        self.0.iter().map(|&[a, b, c, d, e, f]| SnRange {
            start: u32::from_be_bytes([0, a, b, c]),
            end: u32::from_be_bytes([0, d, e, f]),
        })
    }
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let count = usize::from(reader.u8()?);
        reader.take(count * 6).map(|bytes| Self(bytes.as_chunks().0))
    }
    pub(super) fn write(self, writer: &mut Writer<'_>) -> Result<()> {
        writer.u8(self.0.len() as u8)?;
        writer.put(self.0.as_flattened())
    }
}
