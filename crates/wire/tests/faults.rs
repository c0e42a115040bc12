//! Known faults of published marking code in the bytes of packets, one test each.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tidemark_core::packet::{AccEcnChange, AccEcnCounters};
use tidemark_core::{Dscp, Ecn, Inspect, TcpFeedback, TcpFlags};
use tidemark_wire::tcp::{AccEcnOption, AccEcnOrder, Options, TcpOption};
use tidemark_wire::{Error, View, ipv4, ipv6, tcp};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

/// An acknowledgement with an AccECN option and `payload` bytes behind it, checksum filled in.
fn acknowledgement(source: IpAddr, destination: IpAddr, payload: usize) -> Vec<u8> {
    let counters = AccEcnCounters { e1b: Some(1), ceb: Some(2), e0b: Some(3) };
    let repr = tcp::Repr {
        source_port: 1,
        destination_port: 2,
        seq: 3,
        ack: 4,
        flags: TcpFlags { ack: true, ..TcpFlags::default() },
        push: false,
        urgent: None,
        window: 5,
        options: &[
            TcpOption::WindowScale(7), // three bytes, so that the counters lie at odd offsets
            TcpOption::AccEcn(AccEcnOption { order: AccEcnOrder::Ect1First, counters }),
        ],
    };
    let mut segment = vec![0; 60];
    let len = repr.emit(&mut segment).unwrap();
    segment.resize(len, 0);
    segment.extend((0..payload).map(|at| at as u8));
    tcp::Packet::new_checked(&mut segment).unwrap().fill_checksum(source, destination);
    segment
}

fn over_ipv4(options: &[u8], payload: &[u8]) -> Vec<u8> {
    let repr = ipv4::Repr {
        dscp: Dscp(0),
        ecn: Ecn::Ect1,
        identification: 1,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: 0,
        ttl: 3,
        protocol: tcp::PROTOCOL,
        source: A,
        destination: B,
        payload_len: (options.len() + payload.len()) as u16,
    };
    let mut bytes = vec![0; 20];
    repr.emit(&mut bytes).unwrap();
    bytes.extend(options);
    bytes[0] += options.len() as u8 / 4;
    bytes[10..12].fill(0);
    let sum = bytes.chunks(2).fold(0u32, |sum, pair| sum + u32::from(pair[0]) * 256 + u32::from(pair[1]));
    let checksum = !((sum & 0xFFFF) + (sum >> 16)) as u16;
    bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Marks and rewrites everything that can be.
fn touch(bytes: &mut [u8]) {
    let mut view = View::parse(bytes).unwrap();
    view.set_ecn(Ecn::Ce);
    let change = AccEcnChange { ace: 7, e1b: 0xAB_CDEF, ceb: 0xFF_FFFF, e0b: 0 };
    view.set_tcp_feedback(TcpFeedback::AccEcn(change));
}

#[test]
fn an_option_list_with_length_zero_does_not_loop() {
    assert_eq!(Options::new(&[172, 0, 1, 1]).collect::<Vec<_>>(), [Err(Error::Length)]);
}

#[test]
fn an_end_of_list_option_does_not_loop() {
    assert_eq!(Options::new(&[0, 0, 0, 0]).count(), 0);
}

#[test]
fn ipv6_is_not_parsed_as_ipv4_and_not_overwritten() {
    let (source, destination) = (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), Ipv6Addr::LOCALHOST);
    let segment = acknowledgement(source.into(), destination.into(), 0);
    let repr = ipv6::Repr {
        dscp: Dscp(5),
        ecn: Ecn::Ect1,
        flow_label: 0x1_2345,
        payload_len: segment.len() as u16,
        next_header: tcp::PROTOCOL,
        hop_limit: 9,
        source,
        destination,
    };
    let mut bytes = vec![0; 40];
    repr.emit(&mut bytes).unwrap();
    bytes.extend(&segment);
    touch(&mut bytes);
    let packet = ipv6::Packet::new_checked(&bytes).unwrap();
    assert_eq!(ipv6::Repr::parse(&packet), ipv6::Repr { ecn: Ecn::Ce, ..repr });
    let segment = tcp::Packet::new_checked(packet.payload()).unwrap();
    assert!(segment.has_valid_checksum(source.into(), destination.into()));
    assert_eq!(segment.flags().ace(), 7);
}

#[test]
fn the_checksum_is_right_for_odd_payload_lengths() {
    for payload in 0..4 {
        let mut bytes = over_ipv4(&[], &acknowledgement(A.into(), B.into(), payload));
        touch(&mut bytes);
        let packet = ipv4::Packet::new_checked(&bytes).unwrap();
        assert!(packet.has_valid_checksum());
        assert!(tcp::Packet::new_checked(packet.payload()).unwrap().has_valid_checksum(A.into(), B.into()));
    }
}

#[test]
fn the_checksum_is_right_with_ip_options() {
    for words in 0..=10 {
        let mut bytes = over_ipv4(&vec![1; 4 * words], &acknowledgement(A.into(), B.into(), 3));
        touch(&mut bytes);
        let packet = ipv4::Packet::new_checked(&bytes).unwrap();
        assert_eq!(packet.options(), vec![1; 4 * words]);
        assert!(packet.has_valid_checksum());
        assert!(tcp::Packet::new_checked(packet.payload()).unwrap().has_valid_checksum(A.into(), B.into()));
    }
}
