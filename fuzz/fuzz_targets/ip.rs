//! IP and TCP: reading never fails badly, and rewriting touches nothing but what it is for.
#![no_main]

use core::net::IpAddr;

use libfuzzer_sys::fuzz_target;
use tidemark_core::packet::AccEcnChange;
use tidemark_core::{Ecn, Inspect, TcpFeedback};
use tidemark_wire::ip::{self, Headers};
use tidemark_wire::tcp::{self, Options, TcpOption};
use tidemark_wire::{View, ipv4, udp};

/// RFC 1071 in the plainest way.
fn checksum(bytes: &[u8]) -> u16 {
    let sum =
        bytes.chunks(2).fold(0u64, |sum, pair| sum + (u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0))));
    !((0..4).fold(sum, |sum, _| (sum & 0xFFFF) + (sum >> 16)) as u16)
}

fn pseudo_header(source: IpAddr, destination: IpAddr, segment: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for address in [source, destination] {
        match address {
            IpAddr::V4(v4) => bytes.extend(v4.octets()),
            IpAddr::V6(v6) => bytes.extend(v6.octets()),
        }
    }
    bytes.extend([0, tcp::PROTOCOL]);
    bytes.extend((segment.len() as u32).to_be_bytes());
    bytes.extend(segment);
    bytes
}

fn is_valid(bytes: &[u8]) -> bool {
    checksum(bytes) == 0
}

fn changed(before: &[u8], after: &[u8]) -> Vec<(usize, u8)> {
    assert_eq!(before.len(), after.len());
    before.iter().zip(after).enumerate().filter(|(_, (a, b))| a != b).map(|(at, (a, b))| (at, a ^ b)).collect()
}

fn marking(packet: &mut [u8], ecn: Ecn) {
    let Ok(headers) = Headers::parse(packet) else {
        let before = packet.to_vec();
        assert!(ip::set_ecn(packet, ecn).is_err());
        assert_eq!(before, packet);
        return;
    };
    let header = ipv4::Packet::new_checked(&*packet).ok().map(|packet| packet.header_len());
    if let Some(len) = header {
        packet[10..12].fill(0);
        let sum = checksum(&packet[..len]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    let before = packet.to_vec();
    ip::set_ecn(packet, ecn).unwrap();
    for (at, bits) in changed(&before, packet) {
        match (header, at) {
            (Some(_), 10 | 11) => (),
            (Some(_), 1) => assert_eq!(bits & !0b11, 0),
            (None, 1) => assert_eq!(bits & !0b11_0000, 0),
            _ => panic!("a mark changed byte {at}"),
        }
    }
    assert!(header.is_none_or(|len| is_valid(&packet[..len])));
    assert_eq!(Headers::parse(packet).unwrap(), Headers { ecn, ..headers });
}

/// Which bytes of a TCP header a rewriting of feedback may change: the places of AccECN counters, found by a walk of
/// the test's own.
fn counters_of(segment: &[u8]) -> Vec<usize> {
    let end = usize::from(segment[12] >> 4) * 4;
    let (mut at, mut places) = (20, Vec::new());
    while at < end {
        match (segment[at], segment.get(at + 1)) {
            (0, _) => break,
            (1, _) => at += 1,
            (kind, Some(&len)) if len >= 2 && at + usize::from(len) <= end => {
                if kind == 172 || kind == 174 {
                    places.extend(at + 2..at + 2 + (usize::from(len) - 2).min(9) / 3 * 3);
                }
                at += usize::from(len);
            }
            _ => break,
        }
    }
    places
}

fn feedback(packet: &mut [u8], change: AccEcnChange) {
    let Ok(headers) = Headers::parse(packet) else { return };
    let tuple = headers.five_tuple;
    let segment = headers.transport.clone().filter(|_| tuple.protocol == tcp::PROTOCOL);
    let readable = segment.clone().filter(|range| tcp::Packet::new_checked(&packet[range.clone()]).is_ok());
    if let Some(range) = readable.clone() {
        let segment = &mut packet[range];
        segment[16..18].fill(0);
        let sum = checksum(&pseudo_header(tuple.source, tuple.destination, segment));
        segment[16..18].copy_from_slice(&sum.to_be_bytes());
    }
    let before = packet.to_vec();
    let mut view = View::parse(packet).unwrap();
    let seen = view.tcp();
    assert_eq!(seen.is_some(), readable.is_some());
    view.set_tcp_feedback(TcpFeedback::AccEcn(change));
    let after = view.tcp();
    let Some(range) = readable else {
        assert_eq!(before, packet);
        return;
    };
    assert_eq!(after, seen.map(|seen| seen.with_feedback(TcpFeedback::AccEcn(change))));
    let places = counters_of(&before[range.clone()]);
    for (at, bits) in changed(&before, packet) {
        match at.checked_sub(range.start).unwrap() {
            12 => assert_eq!(bits, 1),
            13 => assert_eq!(bits & 0b0011_1111, 0),
            16 | 17 => (),
            at => assert!(places.contains(&at), "feedback changed byte {at} of the segment"),
        }
    }
    assert!(is_valid(&pseudo_header(tuple.source, tuple.destination, &packet[range])));
}

/// Options that could be read are written and read back the same.
fn options(bytes: &[u8]) {
    for option in Options::new(bytes).flatten() {
        let mut buffer = [0; 300];
        let len = option.emit(&mut buffer).unwrap();
        let mut again = Options::new(&buffer[..len]);
        assert_eq!(again.next(), Some(Ok(option)));
        assert_eq!(again.next(), None);
        assert!(!matches!(option, TcpOption::Unknown { kind: 172 | 174, .. }));
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&[ecn, ace, fields @ ..], packet)) = data.split_first_chunk::<14>() else { return };
    let field = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|byte| fields[4 * at + byte]));
    let change = AccEcnChange { ace, e0b: field(0), ceb: field(1), e1b: field(2) };
    let mut packet = packet.to_vec();
    marking(&mut packet.clone(), Ecn::from_bits(ecn));
    feedback(&mut packet, change);
    options(&packet);
    if let Ok(datagram) = udp::Packet::new_checked(&packet) {
        assert_eq!(datagram.payload().len() + udp::HEADER_LEN, datagram.total_len());
    }
});
