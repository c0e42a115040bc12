//! IPv6 headers and their extension headers (RFC 8200).

use core::net::Ipv6Addr;

use tidemark_core::{Dscp, Ecn};

use crate::{Error, Result};

/// Length of the fixed header.
pub const HEADER_LEN: usize = 40;

/// Largest number of extension headers that are walked. It bounds the work on hostile packets; no real packet has more.
pub const MAX_EXTENSIONS: usize = 8;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;
const MOBILITY: u8 = 135;
const HIP: u8 = 139;
const SHIM6: u8 = 140;

/// A view over an IPv6 packet whose length is known to be consistent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<T>(T);

/// End of the chain of extension headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UpperLayer {
    /// The last next header: the protocol of the payload, or of a header that was not walked.
    pub protocol: u8,
    /// Offset of the protocol's header, in bytes from the beginning of the packet.
    pub offset: usize,
    /// Offset and more-fragments flag of a fragment header, if there was one.
    pub fragment: Option<Fragment>,
    /// True after an authentication header, whose integrity check covers all bytes that follow (RFC 4302 3.3.3).
    pub is_authenticated: bool,
}

/// A fragment header (RFC 8200 4.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fragment {
    /// Offset of this fragment's payload, in units of 8 bytes.
    pub offset: u16,
    /// More fragments follow.
    pub more: bool,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks version and length. A jumbogram (RFC 2675) is read as a bare header, as its length field says.
    ///
    /// # Errors
    /// `Type` for another version, `Truncated` for a packet longer than the buffer.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let len = buffer.as_ref().len();
        Self::front_of(buffer, len)
    }

    /// Views the front of a packet of at most `len` bytes. The buffer may hold only a part of its payload.
    pub(crate) fn front_of(buffer: T, len: usize) -> Result<Self> {
        let bytes = buffer.as_ref();
        match bytes.first() {
            Some(octet) if octet >> 4 == 6 => (),
            Some(_) => return Err(Error::Type),
            None => return Err(Error::Truncated),
        }
        if bytes.len() < HEADER_LEN {
            return Err(Error::Truncated);
        }
        let packet = Self(buffer);
        if packet.total_len() > len {
            return Err(Error::Truncated);
        }
        Ok(packet)
    }

    fn word(&self, at: usize) -> u16 {
        let bytes = self.0.as_ref();
        u16::from_be_bytes([bytes[at], bytes[at + 1]])
    }
    fn address(&self, at: usize) -> Ipv6Addr {
        let mut octets = [0; 16];
        octets.copy_from_slice(&self.0.as_ref()[at..at + 16]);
        Ipv6Addr::from(octets)
    }

    /// The traffic class octet, which straddles the first two octets of the header.
    fn traffic_class(&self) -> u8 {
        (self.word(0) >> 4) as u8
    }
    /// The DSCP.
    pub fn dscp(&self) -> Dscp {
        Dscp(self.traffic_class() >> 2)
    }
    /// The ECN field.
    pub fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.traffic_class())
    }
    /// The flow label, 20 bits.
    pub fn flow_label(&self) -> u32 {
        u32::from(self.word(0) & 0xF) << 16 | u32::from(self.word(2))
    }
    /// Length of the packet, header included, in bytes.
    pub fn total_len(&self) -> usize {
        HEADER_LEN + usize::from(self.word(4))
    }
    /// The first next header.
    pub fn next_header(&self) -> u8 {
        self.0.as_ref()[6]
    }
    /// Hop limit.
    pub fn hop_limit(&self) -> u8 {
        self.0.as_ref()[7]
    }
    /// Source address.
    pub fn source(&self) -> Ipv6Addr {
        self.address(8)
    }
    /// Destination address.
    pub fn destination(&self) -> Ipv6Addr {
        self.address(24)
    }
    /// The bytes after the fixed header, extension headers included.
    pub fn payload(&self) -> &[u8] {
        &self.0.as_ref()[HEADER_LEN..self.total_len()]
    }

    /// Walks the extension headers to the upper layer.
    ///
    /// The walk ends at the first header that is not an extension, at ESP (its content is encrypted), and in any
    /// fragment but the first (its content may begin within a header).
    ///
    /// # Errors
    /// `Truncated` if an extension header passes the end, `Length` for more than [`MAX_EXTENSIONS`].
    pub fn upper_layer(&self) -> Result<UpperLayer> {
        let bytes = self.0.as_ref();
        let bytes = &bytes[..self.total_len().min(bytes.len())];
        let mut upper =
            UpperLayer { protocol: self.next_header(), offset: HEADER_LEN, fragment: None, is_authenticated: false };
        for _ in 0..=MAX_EXTENSIONS {
            let header = bytes.get(upper.offset..).unwrap_or_default();
            let len = |header: &[u8]| header.get(1).map(|&len| usize::from(len)).ok_or(Error::Truncated);
            let len = match upper.protocol {
                HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS | MOBILITY | HIP | SHIM6 => (len(header)? + 1) * 8,
                AUTHENTICATION => (len(header)? + 2) * 4,
                FRAGMENT => 8,
                _ => return Ok(upper),
            };
            let header = header.get(..len).ok_or(Error::Truncated)?;
            if upper.protocol == FRAGMENT {
                let field = u16::from_be_bytes([header[2], header[3]]);
                upper.fragment = Some(Fragment { offset: field >> 3, more: field & 1 != 0 });
            }
            upper.is_authenticated |= upper.protocol == AUTHENTICATION;
            upper.protocol = header[0];
            upper.offset += len;
            if upper.fragment.is_some_and(|fragment| fragment.offset != 0) {
                return Ok(upper);
            }
        }
        Err(Error::Length)
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
    /// Rewrites the ECN field. No checksum covers it.
    pub fn set_ecn(&mut self, ecn: Ecn) {
        let octet = &mut self.0.as_mut()[1];
        *octet = *octet & !0x30 | ecn.bits() << 4;
    }
    /// The bytes after the fixed header, mutable.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        let len = self.total_len();
        &mut self.0.as_mut()[HEADER_LEN..len]
    }
}

/// A fixed header as a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Repr {
    /// DSCP, 6 bits.
    pub dscp: Dscp,
    /// ECN field.
    pub ecn: Ecn,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Length of the payload in bytes, extension headers included.
    pub payload_len: u16,
    /// The first next header.
    pub next_header: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Source address.
    pub source: Ipv6Addr,
    /// Destination address.
    pub destination: Ipv6Addr,
}

impl Repr {
    /// Reads a header.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Self {
        Self {
            dscp: packet.dscp(),
            ecn: packet.ecn(),
            flow_label: packet.flow_label(),
            payload_len: (packet.total_len() - HEADER_LEN) as u16,
            next_header: packet.next_header(),
            hop_limit: packet.hop_limit(),
            source: packet.source(),
            destination: packet.destination(),
        }
    }
    /// Writes the header to the front of `buffer` and returns its length.
    ///
    /// # Errors
    /// `Value` for a field that is too large, `Truncated` for a buffer shorter than the header.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        if self.dscp.0 >= 1 << 6 || self.flow_label >= 1 << 20 {
            return Err(Error::Value);
        }
        let header = buffer.first_chunk_mut::<HEADER_LEN>().ok_or(Error::Truncated)?;
        let traffic_class = u32::from(self.dscp.0 << 2 | self.ecn.bits());
        header[..4].copy_from_slice(&(6 << 28 | traffic_class << 20 | self.flow_label).to_be_bytes());
        header[4..6].copy_from_slice(&self.payload_len.to_be_bytes());
        header[6] = self.next_header;
        header[7] = self.hop_limit;
        header[8..24].copy_from_slice(&self.source.octets());
        header[24..].copy_from_slice(&self.destination.octets());
        Ok(HEADER_LEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn packet(next_header: u8, payload: &[u8]) -> Vec<u8> {
        let repr = Repr {
            dscp: Dscp(46),
            ecn: Ecn::Ect1,
            flow_label: 0xABCDE,
            payload_len: payload.len() as u16,
            next_header,
            hop_limit: 64,
            source: Ipv6Addr::LOCALHOST,
            destination: Ipv6Addr::LOCALHOST,
        };
        let mut bytes = std::vec![0; HEADER_LEN];
        repr.emit(&mut bytes).unwrap();
        assert_eq!(Repr::parse(&Packet::new_checked([&bytes, payload].concat()).unwrap()), repr);
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn the_traffic_class_straddles_two_octets() {
        let mut bytes = packet(59, &[]);
        assert_eq!(bytes[..4], [0x6B, 0x9A, 0xBC, 0xDE]);
        let mut packet = Packet::new_checked(&mut bytes).unwrap();
        packet.set_ecn(Ecn::Ce);
        assert_eq!((packet.ecn(), packet.dscp(), packet.flow_label()), (Ecn::Ce, Dscp(46), 0xABCDE));
        assert_eq!(bytes[..4], [0x6B, 0xBA, 0xBC, 0xDE]);
    }

    #[test]
    fn extension_headers_are_walked_to_the_transport() {
        let mut payload = std::vec![DESTINATION_OPTIONS, 0, 1, 4, 0, 0, 0, 0]; // hop by hop, 8 bytes
        payload.extend([AUTHENTICATION, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]); // destination, 16 bytes
        payload.extend([FRAGMENT, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]); // authentication, (1 + 2) * 4 bytes
        payload.extend([6, 0, 0, 1, 0, 0, 0, 9]); // first fragment
        let bytes = packet(HOP_BY_HOP, &payload);
        let upper = Packet::new_checked(bytes).unwrap().upper_layer().unwrap();
        assert_eq!((upper.protocol, upper.offset), (6, 40 + 44));
        assert_eq!(upper.fragment, Some(Fragment { offset: 0, more: true }));
        assert!(upper.is_authenticated);
    }

    #[test]
    fn the_walk_ends_within_a_later_fragment() {
        let bytes = packet(FRAGMENT, &[HOP_BY_HOP, 0, 0x05, 0xA8, 0, 0, 0, 9]);
        let upper = Packet::new_checked(bytes).unwrap().upper_layer().unwrap();
        assert_eq!(
            upper,
            UpperLayer {
                protocol: HOP_BY_HOP,
                offset: 48,
                fragment: Some(Fragment { offset: 181, more: false }),
                is_authenticated: false
            }
        );
    }

    #[test]
    fn endless_extension_headers_are_refused() {
        let payload = [HOP_BY_HOP, 0, 0, 0, 0, 0, 0, 0].repeat(100);
        assert_eq!(Packet::new_checked(packet(HOP_BY_HOP, &payload)).unwrap().upper_layer(), Err(Error::Length));
        assert_eq!(Packet::new_checked(packet(HOP_BY_HOP, &[6, 1])).unwrap().upper_layer(), Err(Error::Truncated));
    }

    proptest! {
        #[test]
        fn any_payload_is_walked_within_bounds(next: u8, payload in proptest::collection::vec(any::<u8>(), 0..200)) {
            let bytes = packet(next, &payload);
            if let Ok(upper) = Packet::new_checked(&bytes).unwrap().upper_layer() {
                prop_assert!(upper.offset <= bytes.len());
            }
        }
    }
}
