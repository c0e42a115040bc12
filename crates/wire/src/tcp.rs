//! TCP headers (RFC 9293), and the rewriting of their congestion feedback (RFC 3168, RFC 9768).

use core::net::IpAddr;

use tidemark_core::packet::{AccEcnChange, AccEcnCounters};
use tidemark_core::{TcpFeedback, TcpFlags, TcpView};

use crate::checksum::{self, Sum};
use crate::{Error, Result};

mod option;
pub use option::{AccEcnOption, AccEcnOrder, Options, SackBlocks, TcpOption};

/// TCP's protocol number.
pub const PROTOCOL: u8 = 6;

/// Length of a header without options.
pub const HEADER_LEN: usize = 20;

const CHECKSUM: usize = 16;

/// A view over a TCP segment whose header is known to lie within the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<T>(T);

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks the header's length.
    ///
    /// # Errors
    /// `Length` for a data offset below 5 words, `Truncated` for a header that passes the end of the buffer.
    pub fn new_checked(buffer: T) -> Result<Self> {
        header_of(buffer.as_ref())?;
        Ok(Self(buffer))
    }

    fn word(&self, at: usize) -> u16 {
        let bytes = self.0.as_ref();
        u16::from_be_bytes([bytes[at], bytes[at + 1]])
    }
    fn long(&self, at: usize) -> u32 {
        u32::from(self.word(at)) << 16 | u32::from(self.word(at + 2))
    }

    /// Source port.
    pub fn source_port(&self) -> u16 {
        self.word(0)
    }
    /// Destination port.
    pub fn destination_port(&self) -> u16 {
        self.word(2)
    }
    /// Sequence number of the first payload byte.
    pub fn seq(&self) -> u32 {
        self.long(4)
    }
    /// Acknowledgement number.
    pub fn ack(&self) -> u32 {
        self.long(8)
    }
    /// Length of the header with its options, in bytes.
    pub fn header_len(&self) -> usize {
        usize::from(self.0.as_ref()[12] >> 4) * 4
    }
    /// The flags, without PSH and URG.
    #[inline]
    pub fn flags(&self) -> TcpFlags {
        let bits = self.word(12);
        let flag = |bit: u32| bits >> bit & 1 != 0;
        TcpFlags { fin: flag(0), syn: flag(1), rst: flag(2), ack: flag(4), ece: flag(6), cwr: flag(7), ae: flag(8) }
    }
    /// PSH.
    pub fn push(&self) -> bool {
        self.word(12) & 1 << 3 != 0
    }
    /// The urgent pointer, if the URG flag is set.
    pub fn urgent(&self) -> Option<u16> {
        (self.word(12) & 1 << 5 != 0).then(|| self.word(18))
    }
    /// The window field, not scaled.
    pub fn window(&self) -> u16 {
        self.word(14)
    }
    /// The checksum field.
    pub fn checksum(&self) -> u16 {
        self.word(CHECKSUM)
    }
    fn sum(&self, source: IpAddr, destination: IpAddr) -> Sum {
        let bytes = self.0.as_ref();
        Sum::ZERO.pseudo_header(source, destination, PROTOCOL, bytes.len() as u32).bytes(bytes)
    }
    /// True if the checksum fits the whole buffer, sent between these addresses.
    pub fn has_valid_checksum(&self, source: IpAddr, destination: IpAddr) -> bool {
        self.sum(source, destination).is_valid()
    }
    /// The options.
    pub fn options(&self) -> Options<'_> {
        Options::new(&self.0.as_ref()[HEADER_LEN..self.header_len()])
    }
    /// The bytes after the header.
    pub fn payload(&self) -> &[u8] {
        &self.0.as_ref()[self.header_len()..]
    }
    /// A marker's view of the segment. If there are several AccECN options, it has the first.
    pub fn view(&self) -> TcpView {
        let header = &self.0.as_ref()[..self.header_len()];
        view(self, header.len() + self.payload().len(), accecn(header), is_signed(self.flags(), header))
    }
}

/// A marker's view of a segment of this length; `is_signed` is the result of [`is_signed`].
#[inline(always)]
fn view<T: AsRef<[u8]>>(
    fixed: &Packet<T>,
    len: usize,
    accecn: Option<(usize, AccEcnCounters)>,
    is_signed: bool,
) -> TcpView {
    TcpView {
        flags: fixed.flags(),
        seq: fixed.seq(),
        ack: fixed.ack(),
        payload: (len - fixed.header_len()) as u32,
        accecn: accecn.map(|(_, counters)| counters),
        is_authenticated: is_signed,
    }
}

/// The result of [`Packet::view`] for a segment of `len` bytes that begins with these, from one pass over the bytes; `None` for bytes
/// that are no segment.
// Part of its caller, as `Headers::parse`.
#[inline(always)]
pub(crate) fn view_of(front: &[u8], len: usize) -> Option<TcpView> {
    let Ok((fixed, header)) = header_of(front) else { return None };
    // Fields of an array are read without a look at its length.
    let is_signed = is_signed(Packet(fixed).flags(), header);
    Some(view(&Packet(fixed), len, accecn(header), is_signed))
}

/// Shows a segment of `len` bytes that begins with these to a closure, and writes the congestion feedback that it returns and the
/// checksum. True if there was feedback. Bytes that are no segment stay unchanged.
#[inline(always)]
pub(crate) fn answer(front: &mut [u8], len: usize, answer: impl FnOnce(&TcpView) -> Option<TcpFeedback>) -> bool {
    let Ok((fixed, header)) = header_of(front) else { return false };
    let is_signed = is_signed(Packet(fixed).flags(), header);
    let (header_len, accecn) = (header.len(), accecn(header));
    let Some(feedback) = answer(&view(&Packet(fixed), len, accecn, is_signed)) else {
        return false;
    };
    let Some((fixed, _)) = front.split_first_chunk_mut::<HEADER_LEN>() else { return false };
    match feedback {
        TcpFeedback::Classic { ece } => Packet(fixed).set_ece(ece),
        TcpFeedback::AccEcn(change) => {
            let sum = add_to_ace(fixed, change.ace, Sum::from_checksum(Packet(&*fixed).checksum()));
            let sum = match accecn {
                Some((at, _)) => add_to_counters(&mut front[..header_len], at, &change, sum),
                None => sum,
            };
            Packet(front).set_checksum(sum.checksum());
        }
    }
    true
}

/// The header at the front of a segment: without options, and with them.
#[inline]
fn header_of(segment: &[u8]) -> Result<(&[u8; HEADER_LEN], &[u8])> {
    let fixed = segment.first_chunk().ok_or(Error::Truncated)?;
    match Packet(fixed).header_len() {
        len if len < HEADER_LEN => Err(Error::Length),
        len => Ok((fixed, segment.get(..len).ok_or(Error::Truncated)?)),
    }
}

/// The position and the counters of the first AccECN option of a header.
#[inline]
fn accecn(header: &[u8]) -> Option<(usize, AccEcnCounters)> {
    let mut at = HEADER_LEN;
    while let Some(Ok((kind, data))) = option::next_option(header, &mut at) {
        if let Some(order) = AccEcnOrder::from_kind(kind) {
            return Some((data.start - 2, AccEcnOption::parse(order, &header[data]).counters));
        }
    }
    None
}

/// True for a SYN or SYN/ACK with a signature. All segments of its connection are then signed.
// No other segment's options are walked for it.
#[inline(always)]
fn is_signed(flags: TcpFlags, header: &[u8]) -> bool {
    flags.syn && has_signature(header)
}

#[cold]
#[inline(never)]
fn has_signature(header: &[u8]) -> bool {
    let mut at = HEADER_LEN;
    while let Some(Ok((kind, _))) = option::next_option(header, &mut at) {
        if matches!(kind, option::MD5_SIGNATURE | option::AUTHENTICATION) {
            return true;
        }
    }
    false
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Computes the checksum over the whole buffer from scratch.
    pub fn fill_checksum(&mut self, source: IpAddr, destination: IpAddr) {
        self.0.as_mut()[CHECKSUM..CHECKSUM + 2].fill(0);
        let checksum = self.sum(source, destination).checksum();
        self.set_checksum(checksum);
    }
    fn set_checksum(&mut self, checksum: u16) {
        self.0.as_mut()[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
    }
    /// Replaces the flags in `mask` by those in `flags`. Both have the layout of octets 12 and 13 of the header.
    fn set_flag_bits(&mut self, mask: u16, flags: u16) {
        let old = self.word(12);
        let new = old & !mask | flags & mask;
        let checksum = checksum::update(self.checksum(), old, new);
        self.0.as_mut()[12..14].copy_from_slice(&new.to_be_bytes());
        self.set_checksum(checksum);
    }
    /// Rewrites ECE and updates the checksum.
    pub fn set_ece(&mut self, ece: bool) {
        self.set_flag_bits(1 << 6, u16::from(ece) << 6);
    }
    /// Rewrites CWR and updates the checksum.
    pub fn set_cwr(&mut self, cwr: bool) {
        self.set_flag_bits(1 << 7, u16::from(cwr) << 7);
    }
    /// Writes the low three bits of `ace` into the ACE field (AE, CWR and ECE) and updates the checksum.
    pub fn set_ace(&mut self, ace: u8) {
        self.set_flag_bits(0b111 << 6, u16::from(ace) << 6);
    }
    /// Rewrites the congestion feedback and updates the checksum. It never adds an option.
    pub fn set_feedback(&mut self, feedback: TcpFeedback) {
        let segment = self.0.as_mut();
        answer(segment, segment.len(), |_| Some(feedback));
    }
}

#[inline]
fn add_to_ace(fixed: &mut [u8; HEADER_LEN], ace: u8, sum: Sum) -> Sum {
    const ACE: u16 = 0b111 << 6;
    let old = u16::from_be_bytes([fixed[12], fixed[13]]);
    let new = old & !ACE | old.wrapping_add(u16::from(ace) << 6) & ACE;
    [fixed[12], fixed[13]] = new.to_be_bytes();
    sum.replace(old.into(), new.into())
}

/// Adds to the counters of every AccECN option of a header. The first option begins at `at`.
#[inline(always)]
fn add_to_counters(header: &mut [u8], mut at: usize, change: &AccEcnChange, mut sum: Sum) -> Sum {
    while let Some(Ok((kind, data))) = option::next_option(header, &mut at) {
        let Some(order) = AccEcnOrder::from_kind(kind) else { continue };
        let is_odd = !data.start.is_multiple_of(2);
        let changed = AccEcnOption::add(order, &mut header[data], change);
        sum = sum.plus(if is_odd { changed.odd() } else { changed });
    }
    sum
}

/// A header as a value, without checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Repr<'a> {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number of the first payload byte.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Flags.
    pub flags: TcpFlags,
    /// PSH.
    pub push: bool,
    /// The urgent pointer, with its flag.
    pub urgent: Option<u16>,
    /// The window field, not scaled.
    pub window: u16,
    /// The options, in this order and without padding between them.
    pub options: &'a [TcpOption<'a>],
}

impl Repr<'_> {
    /// Writes the header, without checksum, to the front of `buffer` and returns its length. Options are padded with
    /// zeros to whole words.
    ///
    /// # Errors
    /// `Value` for more than 40 bytes of options or an option with an invalid value; `Truncated` for a buffer shorter
    /// than the header.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let mut options = [0; 40];
        let mut len = 0;
        for option in self.options {
            len += option.emit(&mut options[len..]).map_err(|_| Error::Value)?;
        }
        let len = len.next_multiple_of(4);
        let header = buffer.get_mut(..HEADER_LEN + len).ok_or(Error::Truncated)?;
        let flags = &self.flags;
        let bits = (5 + len as u16 / 4) << 12
            | u16::from(flags.ace()) << 6
            | u16::from(self.urgent.is_some()) << 5
            | u16::from(flags.ack) << 4
            | u16::from(self.push) << 3
            | u16::from(flags.rst) << 2
            | u16::from(flags.syn) << 1
            | u16::from(flags.fin);
        header[..2].copy_from_slice(&self.source_port.to_be_bytes());
        header[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        header[4..8].copy_from_slice(&self.seq.to_be_bytes());
        header[8..12].copy_from_slice(&self.ack.to_be_bytes());
        header[12..14].copy_from_slice(&bits.to_be_bytes());
        header[14..16].copy_from_slice(&self.window.to_be_bytes());
        header[16..18].fill(0);
        header[18..20].copy_from_slice(&self.urgent.unwrap_or(0).to_be_bytes());
        header[20..].copy_from_slice(&options[..len]);
        Ok(HEADER_LEN + len)
    }
}

#[cfg(test)]
mod tests;
