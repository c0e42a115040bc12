//! IPv4 headers (RFC 791), with options and fragments.

use core::net::Ipv4Addr;

use tidemark_core::{Dscp, Ecn};

use crate::checksum::{self, Sum};
use crate::{Error, Result};

/// Length of a header without options.
pub const HEADER_LEN: usize = 20;

/// A view over an IPv4 packet whose lengths are known to be consistent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<T>(T);

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks version and lengths. Bytes beyond the total length, such as Ethernet padding, are not part of the packet.
    ///
    /// # Errors
    /// `Type` for another version, `Length` for a header longer than the packet, `Truncated` for a packet longer than
    /// the buffer.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let bytes = buffer.as_ref();
        match bytes.first() {
            Some(octet) if octet >> 4 == 4 => (),
            Some(_) => return Err(Error::Type),
            None => return Err(Error::Truncated),
        }
        if bytes.len() < HEADER_LEN {
            return Err(Error::Truncated);
        }
        let packet = Self(buffer);
        packet.check(packet.0.as_ref().len())?;
        Ok(packet)
    }
    /// Checks the lengths in the header against the bytes available.
    fn check(&self, available: usize) -> Result<()> {
        let (header_len, total_len) = (self.header_len(), self.total_len());
        if header_len < HEADER_LEN || total_len < header_len {
            return Err(Error::Length);
        }
        if total_len > available { Err(Error::Truncated) } else { Ok(()) }
    }

    fn octet(&self, at: usize) -> u8 {
        self.0.as_ref()[at]
    }
    fn word(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.octet(at), self.octet(at + 1)])
    }
    fn address(&self, at: usize) -> Ipv4Addr {
        Ipv4Addr::new(self.octet(at), self.octet(at + 1), self.octet(at + 2), self.octet(at + 3))
    }

    /// Length of the header with its options, in bytes.
    pub fn header_len(&self) -> usize {
        usize::from(self.octet(0) & 0xF) * 4
    }
    /// The DSCP.
    pub fn dscp(&self) -> Dscp {
        Dscp(self.octet(1) >> 2)
    }
    /// The ECN field.
    pub fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.octet(1))
    }
    /// Length of the packet, header included, in bytes.
    pub fn total_len(&self) -> usize {
        usize::from(self.word(2))
    }
    /// Identification, common to the fragments of one packet.
    pub fn identification(&self) -> u16 {
        self.word(4)
    }
    /// Don't fragment.
    pub fn dont_fragment(&self) -> bool {
        self.octet(6) & 0x40 != 0
    }
    /// More fragments follow.
    pub fn more_fragments(&self) -> bool {
        self.octet(6) & 0x20 != 0
    }
    /// Offset of this fragment's payload, in units of 8 bytes.
    pub fn fragment_offset(&self) -> u16 {
        self.word(6) & 0x1FFF
    }
    /// Time to live.
    pub fn ttl(&self) -> u8 {
        self.octet(8)
    }
    /// Protocol number of the payload (IANA registry).
    pub fn protocol(&self) -> u8 {
        self.octet(9)
    }
    /// The header's checksum field.
    pub fn checksum(&self) -> u16 {
        self.word(10)
    }
    /// True if the checksum field fits the header.
    pub fn has_valid_checksum(&self) -> bool {
        Sum::ZERO.bytes(&self.0.as_ref()[..self.header_len()]).is_valid()
    }
    /// Source address.
    pub fn source(&self) -> Ipv4Addr {
        self.address(12)
    }
    /// Destination address.
    pub fn destination(&self) -> Ipv4Addr {
        self.address(16)
    }
    /// The options, unread.
    pub fn options(&self) -> &[u8] {
        &self.0.as_ref()[HEADER_LEN..self.header_len()]
    }
    /// The bytes after the header.
    pub fn payload(&self) -> &[u8] {
        &self.0.as_ref()[self.header_len()..self.total_len()]
    }
}

impl<'a> Packet<&'a [u8; HEADER_LEN]> {
    /// The header without options of an IPv4 packet of at most `len` bytes, with lengths that are consistent. It is an array so that
    /// fields are read without a bounds check.
    #[inline]
    pub(crate) fn header_of(front: &'a [u8], len: usize) -> Result<Self> {
        let header = Self(front.first_chunk().ok_or(Error::Truncated)?);
        header.check(len)?;
        Ok(header)
    }
}

/// Rewrites the ECN field of a packet with a checked header.
#[inline]
pub(crate) fn set_ecn(bytes: &mut [u8], ecn: Ecn) {
    if let Some(header) = bytes.first_chunk_mut::<HEADER_LEN>() {
        Packet(header).set_ecn(ecn);
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Rewrites the ECN field and updates the checksum (RFC 1624).
    pub fn set_ecn(&mut self, ecn: Ecn) {
        let old = self.word(0);
        let new = old & !0b11 | u16::from(ecn.bits());
        let [high, low] = checksum::update(self.checksum(), old, new).to_be_bytes();
        let bytes = self.0.as_mut();
        bytes[1] = new as u8;
        bytes[10] = high;
        bytes[11] = low;
    }
    /// The bytes after the header, mutable.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        let range = self.header_len()..self.total_len();
        &mut self.0.as_mut()[range]
    }
}

/// A header without options, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Repr {
    /// DSCP, 6 bits.
    pub dscp: Dscp,
    /// ECN field.
    pub ecn: Ecn,
    /// Identification.
    pub identification: u16,
    /// Don't fragment.
    pub dont_fragment: bool,
    /// More fragments follow.
    pub more_fragments: bool,
    /// Fragment offset in units of 8 bytes, 13 bits.
    pub fragment_offset: u16,
    /// Time to live.
    pub ttl: u8,
    /// Protocol of the payload.
    pub protocol: u8,
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// Length of the payload in bytes.
    pub payload_len: u16,
}

impl Repr {
    /// Reads a header; its options are not kept.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Self {
        Self {
            dscp: packet.dscp(),
            ecn: packet.ecn(),
            identification: packet.identification(),
            dont_fragment: packet.dont_fragment(),
            more_fragments: packet.more_fragments(),
            fragment_offset: packet.fragment_offset(),
            ttl: packet.ttl(),
            protocol: packet.protocol(),
            source: packet.source(),
            destination: packet.destination(),
            payload_len: (packet.total_len() - packet.header_len()) as u16,
        }
    }
    /// Writes the header with its checksum to the front of `buffer` and returns its length.
    ///
    /// # Errors
    /// `Value` for a field that is too large, `Truncated` for a buffer shorter than the header.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let total = self.payload_len.checked_add(HEADER_LEN as u16).ok_or(Error::Value)?;
        if self.dscp.0 >= 1 << 6 || self.fragment_offset >= 1 << 13 {
            return Err(Error::Value);
        }
        let header = buffer.first_chunk_mut::<HEADER_LEN>().ok_or(Error::Truncated)?;
        let flags = u16::from(self.dont_fragment) << 14 | u16::from(self.more_fragments) << 13;
        header[0] = 0x45;
        header[1] = self.dscp.0 << 2 | self.ecn.bits();
        header[2..4].copy_from_slice(&total.to_be_bytes());
        header[4..6].copy_from_slice(&self.identification.to_be_bytes());
        header[6..8].copy_from_slice(&(flags | self.fragment_offset).to_be_bytes());
        header[8] = self.ttl;
        header[9] = self.protocol;
        header[10..12].fill(0);
        header[12..16].copy_from_slice(&self.source.octets());
        header[16..20].copy_from_slice(&self.destination.octets());
        let checksum = Sum::ZERO.bytes(header).checksum();
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        Ok(HEADER_LEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const REPR: Repr = Repr {
        dscp: Dscp(46),
        ecn: Ecn::Ect1,
        identification: 7,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: 0,
        ttl: 64,
        protocol: 17,
        source: Ipv4Addr::new(192, 168, 0, 1),
        destination: Ipv4Addr::new(192, 168, 0, 199),
        payload_len: 0,
    };

    #[test]
    fn tos_185_becomes_187_when_marked() {
        let mut bytes = [0; HEADER_LEN];
        REPR.emit(&mut bytes).unwrap();
        assert_eq!(bytes[1], 185);
        let mut packet = Packet::new_checked(&mut bytes[..]).unwrap();
        packet.set_ecn(Ecn::Ce);
        assert!(packet.has_valid_checksum());
        assert_eq!(packet.dscp(), Dscp(46));
        assert_eq!(bytes[1], 187);
    }

    #[test]
    fn the_header_checksum_of_a_known_packet() {
        // The example header of RFC 1071's usual textbook exercise.
        let bytes: [u8; 20] = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xB8, 0x61, 0xC0, 0xA8, 0x00, 0x01, 0xC0, 0xA8,
            0x00, 0xC7,
        ];
        let mut whole = [0; 0x73];
        whole[..20].copy_from_slice(&bytes);
        let packet = Packet::new_checked(&whole[..]).unwrap();
        assert!(packet.has_valid_checksum());
        let mut written = [0; 20];
        Repr::parse(&packet).emit(&mut written).unwrap();
        assert_eq!(written, bytes);
    }

    #[test]
    fn a_damaged_header_has_no_valid_checksum() {
        let mut bytes = [0; HEADER_LEN];
        REPR.emit(&mut bytes).unwrap();
        for at in 4..HEADER_LEN {
            bytes[at] ^= 1;
            assert!(!Packet::new_checked(bytes).unwrap().has_valid_checksum(), "{at}");
            bytes[at] ^= 1;
        }
    }

    #[test]
    fn lengths_that_contradict_are_refused() {
        let mut bytes = [0; 24];
        REPR.emit(&mut bytes).unwrap();
        let with = |at: usize, value: u8| {
            let mut changed = bytes;
            changed[at] = value;
            Packet::new_checked(changed).map(|_| ())
        };
        assert_eq!(with(0, 0x44), Err(Error::Length), "header shorter than 20");
        assert_eq!(with(0, 0x46), Err(Error::Length), "header longer than the packet");
        assert_eq!(with(0, 0x65), Err(Error::Type), "version 6");
        assert_eq!(with(3, 25), Err(Error::Truncated), "packet longer than the buffer");
        assert_eq!(with(3, 24), Ok(()));
        assert_eq!(Packet::new_checked(&bytes[..19]).map(|_| ()), Err(Error::Truncated));
    }

    proptest! {
        #[test]
        fn a_mark_changes_the_ecn_field_and_the_checksum_only(
            options in 0usize..=10,
            mut bytes in proptest::collection::vec(any::<u8>(), 60..80),
            ecn in (0u8..4).prop_map(Ecn::from_bits),
        ) {
            bytes[0] = 0x45 + options as u8;
            let total = bytes.len() as u16;
            bytes[2..4].copy_from_slice(&total.to_be_bytes());
            bytes[10..12].fill(0);
            let header = 20 + 4 * options;
            let check = Sum::ZERO.bytes(&bytes[..header]).checksum();
            bytes[10..12].copy_from_slice(&check.to_be_bytes());
            let before = bytes.clone();
            let mut packet = Packet::new_checked(&mut bytes).unwrap();
            packet.set_ecn(ecn);
            prop_assert!(packet.has_valid_checksum());
            prop_assert_eq!(packet.ecn(), ecn);
            let changed: Vec<usize> = (0..before.len()).filter(|&at| before[at] != bytes[at]).collect();
            prop_assert!(changed.iter().all(|at| [1, 10, 11].contains(at)));
            prop_assert_eq!(before[1] & !3, bytes[1] & !3);
        }
    }
}
