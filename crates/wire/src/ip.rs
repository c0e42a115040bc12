//! IP packets of either version: the position of the headers, the flow, and the ECN field.

use core::net::IpAddr;
use core::ops::Range;

use tidemark_core::{Dscp, Ecn};

use crate::{Error, Result, ipv4, ipv6, tcp};

/// SCTP's protocol number; like TCP and UDP it begins with its ports.
const SCTP: u8 = 132;
const DCCP: u8 = 33;
const UDP_LITE: u8 = 136;

/// The five fields that identify a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FiveTuple {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Protocol above IP and its extension headers.
    pub protocol: u8,
    /// Source and destination port, if the protocol has ports. Only the first fragment of a packet has them.
    pub ports: Option<(u16, u16)>,
}

impl FiveTuple {
    /// The five-tuple of packets in the other direction.
    pub fn reversed(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            protocol: self.protocol,
            ports: self.ports.map(|(source, destination)| (destination, source)),
        }
    }
}

/// The part of a datagram that a packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fragment {
    /// All of it.
    Whole,
    /// The beginning, with the transport header.
    First,
    /// A part after the beginning.
    Later,
}

/// Result of one walk over the headers of an IP packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Headers {
    /// The flow.
    pub five_tuple: FiveTuple,
    /// ECN field.
    pub ecn: Ecn,
    /// DSCP.
    pub dscp: Dscp,
    /// Length of the packet, header included, in bytes; the buffer may be longer.
    pub len: usize,
    /// The part of a datagram that the packet carries.
    pub fragment: Fragment,
    /// Range of the transport header and the bytes after it. It passes the end of a buffer that ends before the packet. `None` in a
    /// later fragment, after IPv6 extension headers that cannot be read, and after an authentication header: its check covers these
    /// bytes, so a packet changed there would be dropped.
    pub transport: Option<Range<usize>>,
}

impl Headers {
    /// Walks the headers at the front of `bytes`.
    ///
    /// # Errors
    /// Those of [`ipv4::Packet::new_checked`] and [`ipv6::Packet::new_checked`]. A fault above the IP header is no
    /// error, because the packet still has an ECN field.
    // Always part of its caller, who then has in registers what it uses, and makes nothing of the rest: most of the cost is in moving
    // values that are never read.
    #[inline(always)]
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        Self::parse_front(bytes, bytes.len())
    }

    /// Walks the headers of a packet of at most `len` bytes; `front` need only hold the first of them.
    ///
    /// # Errors
    /// Those of [`parse`](Self::parse), for a packet longer than `len`, and `Truncated` if `front` ends within the headers: IP with options
    /// and extension headers, then TCP with options or the ports of another protocol that has ports.
    #[inline(always)]
    pub fn parse_front(front: &[u8], len: usize) -> Result<Self> {
        match version(front)? {
            Version::V4 => {
                let headers = Self::of_v4(front, &ipv4::Packet::header_of(front, len)?);
                if front.len() < headers.len {
                    headers_are_whole(front, headers.five_tuple.protocol, &headers.transport)?;
                }
                Ok(headers)
            }
            Version::V6 => Self::of_v6(front, len),
        }
    }

    #[inline(always)]
    fn of_v4(bytes: &[u8], header: &ipv4::Packet<&[u8; ipv4::HEADER_LEN]>) -> Self {
        let fragment = match (header.fragment_offset(), header.more_fragments()) {
            (0, false) => Fragment::Whole,
            (0, true) => Fragment::First,
            _ => Fragment::Later,
        };
        let transport = (fragment != Fragment::Later).then(|| header.header_len()..header.total_len());
        Self {
            five_tuple: FiveTuple {
                source: header.source().into(),
                destination: header.destination().into(),
                protocol: header.protocol(),
                ports: ports(bytes, header.protocol(), &transport),
            },
            ecn: header.ecn(),
            dscp: header.dscp(),
            len: header.total_len(),
            fragment,
            transport,
        }
    }

    // Its own function, so that the other is short enough to be part of its callers.
    #[inline(never)]
    fn of_v6(bytes: &[u8], len: usize) -> Result<Self> {
        let packet = ipv6::Packet::front_of(bytes, len)?;
        let is_cut = bytes.len() < packet.total_len();
        let upper = match packet.upper_layer() {
            // The chain of headers may go on behind the front.
            Err(Error::Truncated) if is_cut => return Err(Error::Truncated),
            upper => upper.ok(),
        };
        let fragment = match upper.and_then(|upper| upper.fragment) {
            None | Some(ipv6::Fragment { offset: 0, more: false }) => Fragment::Whole,
            Some(ipv6::Fragment { offset: 0, more: true }) => Fragment::First,
            Some(_) => Fragment::Later,
        };
        let protocol = upper.map_or(packet.next_header(), |upper| upper.protocol);
        let transport = upper.filter(|_| fragment != Fragment::Later).map(|upper| upper.offset..packet.total_len());
        if is_cut {
            headers_are_whole(bytes, protocol, &transport)?;
        }
        Ok(Self {
            five_tuple: FiveTuple {
                source: packet.source().into(),
                destination: packet.destination().into(),
                protocol,
                ports: ports(bytes, protocol, &transport),
            },
            ecn: packet.ecn(),
            dscp: packet.dscp(),
            len: packet.total_len(),
            fragment,
            transport: transport.filter(|_| !upper.is_some_and(|upper| upper.is_authenticated)),
        })
    }
}

#[inline]
fn has_ports(protocol: u8) -> bool {
    matches!(protocol, tcp::PROTOCOL | crate::udp::PROTOCOL | SCTP | DCCP | UDP_LITE)
}

#[inline]
fn ports(bytes: &[u8], protocol: u8, transport: &Option<Range<usize>>) -> Option<(u16, u16)> {
    if !has_ports(protocol) {
        return None;
    }
    let &[a, b, c, d] = present(bytes, transport.clone()?)?.first_chunk()?;
    Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
}

/// The part of this range of a packet that the buffer holds.
#[inline]
pub(crate) fn present(bytes: &[u8], range: Range<usize>) -> Option<&[u8]> {
    bytes.get(range.start..range.end.min(bytes.len()))
}

/// Rejects a front that ends within a header that is read.
#[cold]
#[inline(never)]
fn headers_are_whole(front: &[u8], protocol: u8, transport: &Option<Range<usize>>) -> Result<()> {
    // Of a fragment without its transport header no more is read than the front of the IP header.
    let Some(transport) = transport else { return Ok(()) };
    let rest = front.get(transport.start..).ok_or(Error::Truncated)?;
    match protocol {
        tcp::PROTOCOL if tcp::Packet::new_checked(rest) == Err(Error::Truncated) => Err(Error::Truncated),
        _ if has_ports(protocol) && rest.len() < 4 => Err(Error::Truncated),
        _ => Ok(()),
    }
}

enum Version {
    V4,
    V6,
}

fn version(bytes: &[u8]) -> Result<Version> {
    match bytes.first().map(|octet| octet >> 4) {
        Some(4) => Ok(Version::V4),
        Some(6) => Ok(Version::V6),
        Some(_) => Err(Error::Type),
        None => Err(Error::Truncated),
    }
}

/// The ECN field of the IP packet at the front of `bytes`.
///
/// # Errors
/// Those of [`Headers::parse`].
#[inline]
pub fn ecn(bytes: &[u8]) -> Result<Ecn> {
    ecn_of_front(bytes, bytes.len())
}

/// The ECN field of a packet of at most `len` bytes; `front` need only hold the IP header without options and extension headers.
///
/// # Errors
/// Those of [`ecn`].
#[inline]
pub fn ecn_of_front(front: &[u8], len: usize) -> Result<Ecn> {
    match version(front)? {
        Version::V4 => ipv4::Packet::header_of(front, len).map(|packet| packet.ecn()),
        Version::V6 => ipv6::Packet::front_of(front, len).map(|packet| packet.ecn()),
    }
}

/// Rewrites the ECN field of the IP packet at the front of `bytes`, and its header checksum if it has one.
///
/// # Errors
/// Those of [`Headers::parse`]; the bytes are then unchanged.
#[inline]
pub fn set_ecn(bytes: &mut [u8], ecn: Ecn) -> Result<()> {
    let len = bytes.len();
    set_ecn_of_front(bytes, len, ecn)
}

/// Rewrites the ECN field of a packet of at most `len` bytes, and its header checksum if it has one; `front` need only hold the
/// first bytes of the packet.
///
/// # Errors
/// Those of [`ecn_of_front`]; the bytes are then unchanged.
#[inline]
pub fn set_ecn_of_front(front: &mut [u8], len: usize, ecn: Ecn) -> Result<()> {
    match version(front)? {
        Version::V4 => {
            ipv4::Packet::header_of(front, len)?;
            ipv4::set_ecn(front, ecn);
        }
        Version::V6 => ipv6::Packet::front_of(front, len)?.set_ecn(ecn),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::{Ipv4Addr, Ipv6Addr};
    use proptest::prelude::*;
    use std::vec::Vec;

    fn v4(protocol: u8, fragment_offset: u16, more_fragments: bool, payload: &[u8]) -> Vec<u8> {
        let mut bytes = std::vec![0; 20];
        let repr = ipv4::Repr {
            dscp: Dscp(0),
            ecn: Ecn::Ect1,
            identification: 1,
            dont_fragment: false,
            more_fragments,
            fragment_offset,
            ttl: 3,
            protocol,
            source: Ipv4Addr::new(1, 2, 3, 4),
            destination: Ipv4Addr::new(5, 6, 7, 8),
            payload_len: payload.len() as u16,
        };
        repr.emit(&mut bytes).unwrap();
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn only_a_first_fragment_has_ports() {
        let payload = [0, 80, 0, 90, 0, 0, 0, 0];
        for (offset, more, fragment, ports) in [
            (0, false, Fragment::Whole, Some((80, 90))),
            (0, true, Fragment::First, Some((80, 90))),
            (1, true, Fragment::Later, None),
            (1, false, Fragment::Later, None),
        ] {
            let headers = Headers::parse(&v4(17, offset, more, &payload)).unwrap();
            assert_eq!((headers.fragment, headers.five_tuple.ports), (fragment, ports));
            assert_eq!(headers.transport.is_some(), ports.is_some());
        }
    }

    #[test]
    fn protocols_without_ports_have_none() {
        for (protocol, has) in [(6, true), (17, true), (132, true), (33, true), (136, true), (1, false), (50, false)] {
            let headers = Headers::parse(&v4(protocol, 0, false, &[0; 8])).unwrap();
            assert_eq!(headers.five_tuple.ports.is_some(), has, "{protocol}");
        }
        assert_eq!(Headers::parse(&v4(6, 0, false, &[0; 3])).unwrap().five_tuple.ports, None);
    }

    #[test]
    fn a_packet_with_unreadable_extension_headers_keeps_its_ecn_field() {
        let repr = ipv6::Repr {
            dscp: Dscp(1),
            ecn: Ecn::Ect0,
            flow_label: 0,
            payload_len: 4,
            next_header: 0,
            hop_limit: 1,
            source: Ipv6Addr::LOCALHOST,
            destination: Ipv6Addr::UNSPECIFIED,
        };
        let mut bytes = [0; 44];
        repr.emit(&mut bytes).unwrap();
        bytes[41] = 9; // longer than the packet
        let headers = Headers::parse(&bytes).unwrap();
        assert_eq!((headers.ecn, headers.transport, headers.five_tuple.ports), (Ecn::Ect0, None, None));
        set_ecn(&mut bytes, Ecn::Ce).unwrap();
        assert_eq!(ecn(&bytes), Ok(Ecn::Ce));
    }

    #[test]
    fn a_reversed_five_tuple_reversed_is_the_same() {
        let tuple = Headers::parse(&v4(6, 0, false, &[0, 1, 0, 2, 0, 0, 0, 0])).unwrap().five_tuple;
        assert_eq!(tuple.reversed().ports, Some((2, 1)));
        assert_eq!(tuple.reversed().reversed(), tuple);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic_and_a_mark_touches_three_bytes_at_most(
            first in prop_oneof![Just(0x45u8), Just(0x60), any::<u8>()],
            mut bytes in proptest::collection::vec(any::<u8>(), 1..100),
            honest_length: bool,
            new in (0u8..4).prop_map(Ecn::from_bits),
        ) {
            bytes[0] = first;
            if honest_length && bytes.len() >= 40 {
                let len = bytes.len() as u16;
                let (at, value) = if first >> 4 == 4 { (2, len) } else { (4, len - 40) };
                bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
            }
            let before = bytes.clone();
            let headers = Headers::parse(&bytes);
            let outcome = set_ecn(&mut bytes, new);
            prop_assert_eq!(outcome.is_ok(), headers.is_ok());
            let changed: Vec<usize> = (0..before.len()).filter(|&at| before[at] != bytes[at]).collect();
            match headers {
                Err(_) => prop_assert_eq!(changed, Vec::<usize>::new()),
                Ok(headers) => {
                    prop_assert!(changed.iter().all(|at| [1, 10, 11].contains(at)));
                    prop_assert_eq!(ecn(&bytes), Ok(new));
                    let after = Headers::parse(&bytes).unwrap();
                    prop_assert_eq!(Headers { ecn: new, ..headers }, after);
                }
            }
        }
    }
}
