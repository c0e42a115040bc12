//! TCP options, read one after the other. Any value in a length octet is handled.

use core::ops::Range;

use tidemark_core::packet::{AccEcnChange, AccEcnCounters};

use crate::checksum::Sum;
use crate::cursor::Writer;
use crate::{Error, Result};

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MAXIMUM_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
/// TCP MD5 signature (RFC 2385 3.0).
pub(super) const MD5_SIGNATURE: u8 = 19;
/// TCP-AO (RFC 5925 2.2).
pub(super) const AUTHENTICATION: u8 = 29;
const ACCECN0: u8 = 172;
const ACCECN1: u8 = 174;

/// One TCP option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TcpOption<'a> {
    /// Maximum segment size in bytes (RFC 9293 3.7.1).
    MaximumSegmentSize(u16),
    /// Window scale, a shift count (RFC 7323 2).
    WindowScale(u8),
    /// Selective acknowledgements are permitted (RFC 2018 2).
    SackPermitted,
    /// Selective acknowledgements (RFC 2018 3).
    Sack(SackBlocks),
    /// Timestamps (RFC 7323 3).
    Timestamps {
        /// TSval.
        value: u32,
        /// TSecr.
        echo: u32,
    },
    /// AccECN byte counters (RFC 9768 3.2.3).
    AccEcn(AccEcnOption),
    /// An option of another kind, or one of the above with an invalid length.
    Unknown {
        /// The kind octet.
        kind: u8,
        /// The bytes after kind and length.
        data: &'a [u8],
    },
}

/// At most four blocks of selectively acknowledged sequence numbers. A block is its first number and the one after its last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks([Option<(u32, u32)>; 4]);

impl SackBlocks {
    /// Makes a list of blocks, in the order in which they are sent; `None` for more than four.
    pub fn new(blocks: &[(u32, u32)]) -> Option<Self> {
        let mut all = [None; 4];
        all.get_mut(..blocks.len())?.iter_mut().zip(blocks).for_each(|(slot, block)| *slot = Some(*block));
        Some(Self(all))
    }
    /// The blocks, in the order in which they were sent.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.0.iter().flatten().copied()
    }
}

/// Order in which an AccECN option carries its counters (RFC 9768 3.2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccEcnOrder {
    /// Kind 172: EE0B, ECEB, EE1B.
    Ect0First,
    /// Kind 174: EE1B, ECEB, EE0B.
    Ect1First,
}

impl AccEcnOrder {
    /// The order that an option kind stands for.
    pub const fn from_kind(kind: u8) -> Option<Self> {
        match kind {
            ACCECN0 => Some(Self::Ect0First),
            ACCECN1 => Some(Self::Ect1First),
            _ => None,
        }
    }
    /// The option kind.
    pub const fn kind(self) -> u8 {
        match self {
            Self::Ect0First => ACCECN0,
            Self::Ect1First => ACCECN1,
        }
    }
    /// Puts the values for ECT(0), CE and ECT(1) into this order.
    const fn fields<T: Copy>(self, e0b: T, ceb: T, e1b: T) -> [T; 3] {
        match self {
            Self::Ect0First => [e0b, ceb, e1b],
            Self::Ect1First => [e1b, ceb, e0b],
        }
    }
}

/// An AccECN option. It has the first zero to three fields of its order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccEcnOption {
    /// The order of the fields.
    pub order: AccEcnOrder,
    /// The counters, 24 bits each.
    pub counters: AccEcnCounters,
}

impl AccEcnOption {
    /// Reads as many whole counters as fit, as RFC 9768 3.2.3 requires for an unexpected length.
    #[inline]
    pub(super) fn parse(order: AccEcnOrder, data: &[u8]) -> Self {
        let (first, second, third) = match data.first_chunk() {
            Some(whole) => {
                let [first, second, third] = counters(whole);
                (Some(first), Some(second), Some(third))
            }
            None => match *data {
                [a, b, c, d, e, f, ..] => (Some(counter([a, b, c])), Some(counter([d, e, f])), None),
                [a, b, c, ..] => (Some(counter([a, b, c])), None, None),
                _ => (None, None, None),
            },
        };
        let [e0b, ceb, e1b] = order.fields(first, second, third);
        Self { order, counters: AccEcnCounters { e0b, ceb, e1b } }
    }

    /// Adds to the counters present in the data of an option. Returns the change of the sum over the data, for data that
    /// begins at an even offset.
    #[inline]
    pub(super) fn add(order: AccEcnOrder, data: &mut [u8], change: &AccEcnChange) -> Sum {
        let mut fields = order.fields(change.e0b, change.ceb, change.e1b);
        if let Some(whole) = data.first_chunk_mut() {
            return add_to_whole(whole, fields);
        }
        // A shorter one is like the front of a whole one, whose rest stays as it is.
        let len = data.len() / COUNTER * COUNTER;
        let mut whole = [0; WHOLE];
        whole[..len].copy_from_slice(&data[..len]);
        fields[len / COUNTER..].fill(0);
        let sum = add_to_whole(&mut whole, fields);
        data[..len].copy_from_slice(&whole[..len]);
        sum
    }
}

/// Length of a counter, and of all three.
const COUNTER: usize = 3;
const WHOLE: usize = 3 * COUNTER;

const fn counter([a, b, c]: [u8; COUNTER]) -> u32 {
    u32::from_be_bytes([0, a, b, c])
}

/// The counters of an option with all three. It reads one word and splits it, which is faster than reading bytes.
#[inline]
const fn counters(data: &[u8; WHOLE]) -> [u32; 3] {
    let [a, b, c, d, e, f, g, h, last] = *data;
    let word = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    [(word >> 40) as u32, (word >> 16) as u32 & 0xFF_FFFF, (word as u16 as u32) << 8 | last as u32]
}

#[inline]
fn add_to_whole(data: &mut [u8; WHOLE], more: [u32; 3]) -> Sum {
    let split = |[first, second, third]: [u32; 3]| {
        let word = u64::from(first) << 40 | u64::from(second) << 16 | u64::from(third >> 8);
        ((word >> 32) as u32, word as u32, third as u8)
    };
    let before = counters(data);
    let after = [0, 1, 2].map(|index| before[index].wrapping_add(more[index]) & 0xFF_FFFF);
    let (old, new) = (split(before), split(after));
    let ([a, b, c, d], [e, f, g, h]) = (new.0.to_be_bytes(), new.1.to_be_bytes());
    *data = [a, b, c, d, e, f, g, h, new.2];
    let last = |byte: u8| u32::from(byte) << 8;
    Sum::ZERO.replace(old.0, new.0).replace(old.1, new.1).replace(last(old.2), last(new.2))
}

/// Finds the option that begins at or after `at` within the header `bytes`: its kind and the range of its data.
///
/// Afterwards `at` is the beginning of the next option, or the end of the header after the last option or an error.
#[inline]
pub(crate) fn next_option(bytes: &[u8], at: &mut usize) -> Option<Result<(u8, Range<usize>)>> {
    while bytes.get(*at) == Some(&NO_OPERATION) {
        *at += 1;
    }
    let start = core::mem::replace(at, bytes.len());
    let kind = *bytes.get(start)?;
    if kind == END {
        return None;
    }
    // The length counts kind and length; a smaller one would never let the walk go on.
    let end = match bytes.get(start + 1) {
        Some(0 | 1) => return Some(Err(Error::Length)),
        Some(&len) => start + usize::from(len),
        None => return Some(Err(Error::Truncated)),
    };
    if end > bytes.len() {
        return Some(Err(Error::Truncated));
    }
    *at = end;
    Some(Ok((kind, start + 2..end)))
}

/// The options of a header. One that cannot be read gives an error and ends the list.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Options<'a> {
    /// The options in the bytes between the fixed header and the payload.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<TcpOption<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = next_option(self.bytes, &mut self.at)?;
        Some(found.map(|(kind, data)| TcpOption::parse(kind, &self.bytes[data])))
    }
}

impl<'a> TcpOption<'a> {
    /// Reads an option's data, which follows kind and length.
    fn parse(kind: u8, data: &'a [u8]) -> Self {
        if let Some(order) = AccEcnOrder::from_kind(kind) {
            return Self::AccEcn(AccEcnOption::parse(order, data));
        }
        match (kind, data) {
            (MAXIMUM_SEGMENT_SIZE, &[a, b]) => Self::MaximumSegmentSize(u16::from_be_bytes([a, b])),
            (WINDOW_SCALE, &[shift]) => Self::WindowScale(shift),
            (SACK_PERMITTED, []) => Self::SackPermitted,
            (TIMESTAMPS, &[a, b, c, d, e, f, g, h]) => {
                Self::Timestamps { value: u32::from_be_bytes([a, b, c, d]), echo: u32::from_be_bytes([e, f, g, h]) }
            }
            (SACK, _) if matches!(data.len(), 8 | 16 | 24 | 32) => {
                let mut blocks = SackBlocks::default();
                for (slot, block) in blocks.0.iter_mut().zip(data.as_chunks::<8>().0) {
                    let [a, b, c, d, e, f, g, h] = *block;
                    *slot = Some((u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])));
                }
                Self::Sack(blocks)
            }
            _ => Self::Unknown { kind, data },
        }
    }

    /// Writes the option to the front of `buffer` and returns its length.
    ///
    /// # Errors
    /// `Truncated` for too short a buffer; `Value` for a counter above 24 bits, counters that are not the first of their
    /// order, an empty list of SACK blocks, or an unknown option longer than a header.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let [kind_octet, len_octet, data @ ..] = buffer else { return Err(Error::Truncated) };
        let mut writer = Writer::new(data);
        *kind_octet = match self {
            Self::MaximumSegmentSize(size) => writer.u16(*size).map(|()| MAXIMUM_SEGMENT_SIZE),
            Self::WindowScale(shift) => writer.u8(*shift).map(|()| WINDOW_SCALE),
            Self::SackPermitted => Ok(SACK_PERMITTED),
            Self::Sack(blocks) if *blocks == SackBlocks::default() => Err(Error::Value),
            Self::Sack(blocks) => blocks
                .iter()
                .try_for_each(|(left, right)| writer.u32(left).and_then(|()| writer.u32(right)))
                .map(|()| SACK),
            Self::Timestamps { value, echo } => {
                writer.u32(*value).and_then(|()| writer.u32(*echo)).map(|()| TIMESTAMPS)
            }
            Self::AccEcn(AccEcnOption { order, counters }) => {
                let fields = order.fields(counters.e0b, counters.ceb, counters.e1b);
                let present = fields.iter().take_while(|field| field.is_some()).count();
                if fields[present..].iter().any(Option::is_some) {
                    return Err(Error::Value);
                }
                fields.iter().flatten().try_for_each(|field| writer.u24(*field)).map(|()| order.kind())
            }
            Self::Unknown { kind, data } => writer.put(data).map(|()| *kind),
        }?;
        *len_octet = u8::try_from(2 + writer.len()).map_err(|_| Error::Value)?;
        Ok(2 + writer.len())
    }
}
