//! Buffers that hold only the first bytes of a packet give the same headers as the whole packet, or `Truncated`.

use std::net::{Ipv4Addr, Ipv6Addr};

use tidemark_core::{Dscp, Ecn, Inspect, TcpFlags};
use tidemark_wire::ip::{self, Headers};
use tidemark_wire::tcp::{self, TcpOption};
use tidemark_wire::{Error, View, ipv4, ipv6, udp};

const ICMP: u8 = 1;
const HOP_BY_HOP: u8 = 0;
const PAYLOAD: usize = 50;

/// A TCP segment with eight bytes of options, 28 in its header.
fn segment() -> Vec<u8> {
    let repr = tcp::Repr {
        source_port: 443,
        destination_port: 50_000,
        seq: 1,
        ack: 2,
        flags: TcpFlags { ack: true, ..TcpFlags::default() },
        push: true,
        urgent: None,
        window: 3,
        options: &[TcpOption::MaximumSegmentSize(1_400), TcpOption::WindowScale(7)],
    };
    let mut bytes = vec![0; 28];
    assert_eq!(repr.emit(&mut bytes), Ok(28));
    bytes.resize(28 + PAYLOAD, 0xEE);
    bytes
}

/// A packet over IPv4 with this many words of options.
fn v4(protocol: u8, fragment_offset: u16, option_words: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 20];
    let repr = ipv4::Repr {
        dscp: Dscp(1),
        ecn: Ecn::Ect1,
        identification: 2,
        dont_fragment: false,
        more_fragments: false,
        fragment_offset,
        ttl: 3,
        protocol,
        source: Ipv4Addr::new(1, 2, 3, 4),
        destination: Ipv4Addr::new(5, 6, 7, 8),
        payload_len: payload.len() as u16 + 4 * u16::from(option_words),
    };
    repr.emit(&mut bytes).unwrap();
    bytes[0] += option_words;
    bytes.extend(vec![1; 4 * usize::from(option_words)]);
    bytes.extend(payload);
    bytes
}

fn v6(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 40];
    let repr = ipv6::Repr {
        dscp: Dscp(1),
        ecn: Ecn::Ect1,
        flow_label: 2,
        payload_len: payload.len() as u16,
        next_header,
        hop_limit: 3,
        source: Ipv6Addr::LOCALHOST,
        destination: Ipv6Addr::UNSPECIFIED,
    };
    repr.emit(&mut bytes).unwrap();
    bytes.extend(payload);
    bytes
}

fn behind_hop_by_hop(protocol: u8, payload: &[u8]) -> Vec<u8> {
    [&[protocol, 0, 1, 4, 0, 0, 0, 0][..], payload].concat()
}

/// Packets, each with the number of bytes up to the end of the headers that are read.
fn packets() -> Vec<(&'static str, Vec<u8>, usize)> {
    let (tcp, other) = (segment(), [0x11; PAYLOAD]);
    vec![
        ("TCP over IPv4", v4(tcp::PROTOCOL, 0, 0, &tcp), 48),
        ("TCP behind IPv4 options", v4(tcp::PROTOCOL, 0, 3, &tcp), 60),
        ("UDP over IPv4", v4(udp::PROTOCOL, 0, 0, &other), 24),
        ("UDP behind IPv4 options", v4(udp::PROTOCOL, 0, 1, &other), 28),
        ("ICMP behind IPv4 options", v4(ICMP, 0, 1, &other), 24),
        ("later fragment behind IPv4 options", v4(tcp::PROTOCOL, 4, 1, &tcp), 20),
        ("TCP over IPv6", v6(tcp::PROTOCOL, &tcp), 68),
        ("UDP over IPv6", v6(udp::PROTOCOL, &other), 44),
        ("ICMPv6", v6(58, &other), 40),
        ("TCP behind IPv6 options", v6(HOP_BY_HOP, &behind_hop_by_hop(tcp::PROTOCOL, &tcp)), 76),
        ("UDP behind IPv6 options", v6(HOP_BY_HOP, &behind_hop_by_hop(udp::PROTOCOL, &other)), 52),
    ]
}

#[test]
fn a_front_has_the_headers_of_the_whole_packet_or_is_truncated() {
    for (name, packet, headers) in packets() {
        let whole = Headers::parse(&packet).unwrap();
        assert_eq!(whole.len, packet.len(), "{name}");
        for cut in 0..=packet.len() {
            let expected = if cut < headers { Err(Error::Truncated) } else { Ok(whole.clone()) };
            assert_eq!(Headers::parse_front(&packet[..cut], packet.len()), expected, "{name}, {cut} bytes");
        }
    }
}

#[test]
fn a_packet_longer_than_the_buffer_says_is_refused_and_bytes_behind_it_are_not_read() {
    for (name, mut packet, headers) in packets() {
        let (whole, len) = (Headers::parse(&packet).unwrap(), packet.len());
        assert_eq!(Headers::parse_front(&packet[..headers], len - 1), Err(Error::Truncated), "{name}");
        assert_eq!(Headers::parse_front(&packet[..headers], len + 1), Ok(whole.clone()), "{name}");
        packet.extend([0xFF; 9]);
        assert_eq!(Headers::parse(&packet), Ok(whole), "{name}");
        assert_eq!(View::parse(&mut packet).unwrap().bytes().len(), len, "{name}");
    }
}

#[test]
fn a_packet_that_ends_within_its_tcp_header_has_an_ecn_field() {
    for packet in [v4(tcp::PROTOCOL, 0, 0, &[0; 9]), v6(tcp::PROTOCOL, &[0; 9])] {
        for beyond in 0..3 {
            let bytes = [&packet[..], &vec![0xFF; beyond]].concat();
            assert_eq!(Headers::parse(&bytes).map(|headers| headers.ecn), Ok(Ecn::Ect1));
        }
    }
}

#[test]
fn a_front_with_a_wrong_tcp_header_length_has_an_ecn_field() {
    let mut segment = segment();
    segment[12] = 4 << 4; // a word short of the fixed header
    let packet = v4(tcp::PROTOCOL, 0, 0, &segment);
    assert_eq!(Headers::parse_front(&packet[..45], packet.len()), Headers::parse(&packet));
}

#[test]
fn the_payload_of_a_segment_is_counted_beyond_the_front() {
    for (name, mut packet, headers) in packets() {
        let len = packet.len();
        let mut view = View::parse_front(&mut packet[..headers], len).unwrap();
        let mut seen = None;
        view.answer_tcp(|segment| {
            seen = Some(segment.payload);
            None
        });
        assert_eq!(seen, view.tcp().map(|segment| segment.payload), "{name}");
        assert_eq!(seen, name.starts_with("TCP").then_some(PAYLOAD as u32), "{name}");
    }
}

#[test]
fn a_mark_in_a_front_is_the_mark_in_the_whole_packet() {
    for (name, packet, _) in packets() {
        let (mut whole, mut front) = (packet.clone(), packet.clone());
        ip::set_ecn(&mut whole, Ecn::Ce).unwrap();
        let fixed = if packet[0] >> 4 == 4 { 20 } else { 40 };
        assert_eq!(ip::set_ecn_of_front(&mut front[..fixed - 1], packet.len(), Ecn::Ce), Err(Error::Truncated));
        assert_eq!(front, packet, "{name}");
        ip::set_ecn_of_front(&mut front[..fixed], packet.len(), Ecn::Ce).unwrap();
        assert_eq!(front, whole, "{name}");
    }
}

#[test]
fn a_packet_of_the_other_version_is_no_packet_of_this_one() {
    let (v4, v6) = (v4(udp::PROTOCOL, 0, 0, &[0; PAYLOAD]), v6(udp::PROTOCOL, &[0; PAYLOAD]));
    assert_eq!(ipv6::Packet::new_checked(&v4).map(drop), Err(Error::Type));
    assert_eq!(ipv4::Packet::new_checked(&v6).map(drop), Err(Error::Type));
}
