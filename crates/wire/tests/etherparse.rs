//! Cross-checks with etherparse, an independent crate: each side reads the packets that the other writes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::{
    IpDscp, IpEcn, IpFragOffset, IpNumber, Ipv4Header, Ipv6Extensions, Ipv6FlowLabel, Ipv6FragmentHeader, Ipv6Header,
    Ipv6RawExtHeader, TcpHeader, TcpOptionElement, UdpHeader,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use tidemark_core::packet::AccEcnChange;
use tidemark_core::{Dscp, Ecn, Inspect, TcpFeedback};
use tidemark_wire::tcp::{SackBlocks, TcpOption};
use tidemark_wire::{View, ip, ipv4, ipv6, tcp, udp};

fn ecn() -> impl Strategy<Value = Ecn> {
    (0u8..4).prop_map(Ecn::from_bits)
}

fn theirs(ecn: Ecn) -> IpEcn {
    match ecn {
        Ecn::NotEct => IpEcn::NotEct,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ce => IpEcn::CongestionExperienced,
    }
}

prop_compose! {
    fn ipv4_header()(
        dscp in 0u8..64, ecn in ecn(), identification: u16, dont_fragment: bool, time_to_live: u8,
        source: [u8; 4], destination: [u8; 4], options in 0usize..=10, octets: [u8; 40],
    ) -> Ipv4Header {
        let mut header = Ipv4Header::new(0, time_to_live, IpNumber::TCP, source, destination).unwrap();
        header.dscp = IpDscp::try_new(dscp).unwrap();
        header.ecn = theirs(ecn);
        header.identification = identification;
        header.dont_fragment = dont_fragment;
        header.options = octets[..options * 4].try_into().unwrap();
        header
    }
}

prop_compose! {
    fn tcp_header()(
        ports: (u16, u16), sequence: u32, acknowledgment: u32, window: u16, urgent: u16, flags: [bool; 9],
        options in vec(prop_oneof![
            Just(TcpOptionElement::Noop),
            any::<u16>().prop_map(TcpOptionElement::MaximumSegmentSize),
            any::<u8>().prop_map(TcpOptionElement::WindowScale),
            Just(TcpOptionElement::SelectiveAcknowledgementPermitted),
            any::<((u32, u32), Option<(u32, u32)>)>()
                .prop_map(|(first, second)| TcpOptionElement::SelectiveAcknowledgement(first, [second, None, None])),
            any::<(u32, u32)>().prop_map(|(value, echo)| TcpOptionElement::Timestamp(value, echo)),
        ], 0..3),
    ) -> TcpHeader {
        let mut header = TcpHeader::new(ports.0, ports.1, sequence, window);
        header.acknowledgment_number = acknowledgment;
        header.urgent_pointer = urgent;
        [header.ns, header.fin, header.syn, header.rst, header.psh, header.ack, header.urg, header.ece, header.cwr] = flags;
        header.set_options(&options).unwrap();
        header
    }
}

fn option(element: &TcpOptionElement) -> Option<TcpOption<'static>> {
    match element {
        TcpOptionElement::Noop => None,
        TcpOptionElement::MaximumSegmentSize(size) => Some(TcpOption::MaximumSegmentSize(*size)),
        TcpOptionElement::WindowScale(shift) => Some(TcpOption::WindowScale(*shift)),
        TcpOptionElement::SelectiveAcknowledgementPermitted => Some(TcpOption::SackPermitted),
        TcpOptionElement::SelectiveAcknowledgement(first, more) => {
            let blocks: Vec<_> = [Some(*first)].into_iter().chain(*more).flatten().collect();
            Some(TcpOption::Sack(SackBlocks::new(&blocks).unwrap()))
        }
        TcpOptionElement::Timestamp(value, echo) => Some(TcpOption::Timestamps { value: *value, echo: *echo }),
    }
}

fn assert_same_tcp(ours: &tcp::Packet<&[u8]>, theirs: &TcpHeader) {
    assert_eq!((ours.source_port(), ours.destination_port()), (theirs.source_port, theirs.destination_port));
    assert_eq!((ours.seq(), ours.ack()), (theirs.sequence_number, theirs.acknowledgment_number));
    assert_eq!((ours.window(), ours.checksum()), (theirs.window_size, theirs.checksum));
    assert_eq!(ours.urgent(), theirs.urg.then_some(theirs.urgent_pointer));
    let flags = ours.flags();
    assert_eq!(
        [flags.ae, flags.fin, flags.syn, flags.rst, ours.push(), flags.ack, flags.ece, flags.cwr],
        [theirs.ns, theirs.fin, theirs.syn, theirs.rst, theirs.psh, theirs.ack, theirs.ece, theirs.cwr],
    );
    let read: Vec<_> = ours.options().map(Result::unwrap).collect();
    let expected: Vec<_> = theirs.options_iterator().filter_map(|element| option(&element.unwrap())).collect();
    assert_eq!(read, expected);
}

proptest! {
    #[test]
    fn tcp_over_ipv4_by_etherparse_is_read_and_its_rewriting_accepted(
        mut ip_header in ipv4_header(), mut tcp_header in tcp_header(), payload in vec(any::<u8>(), 0..50),
        mark in ecn(), ace in 0u8..8,
    ) {
        ip_header.set_payload_len(tcp_header.header_len() + payload.len()).unwrap();
        ip_header.header_checksum = ip_header.calc_header_checksum();
        tcp_header.checksum = tcp_header.calc_checksum_ipv4(&ip_header, &payload).unwrap();
        let mut bytes = ip_header.to_bytes().to_vec();
        bytes.extend(tcp_header.to_bytes());
        bytes.extend(&payload);

        let mut view = View::parse(&mut bytes).unwrap();
        let headers = view.headers().clone();
        prop_assert_eq!(headers.five_tuple.source, IpAddr::from(ip_header.source));
        prop_assert_eq!(headers.five_tuple.destination, IpAddr::from(ip_header.destination));
        prop_assert_eq!(headers.five_tuple.ports, Some((tcp_header.source_port, tcp_header.destination_port)));
        prop_assert_eq!((headers.dscp, theirs(headers.ecn)), (Dscp(ip_header.dscp.value()), ip_header.ecn));
        assert_same_tcp(&tcp::Packet::new_checked(&view.bytes()[headers.transport.unwrap()]).unwrap(), &tcp_header);
        prop_assert_eq!(view.tcp().unwrap().payload as usize, payload.len());

        view.set_ecn(mark);
        let before = view.tcp().unwrap().flags.ace();
        let change = AccEcnChange { ace: (8 + ace - before) % 8, ..AccEcnChange::default() };
        view.set_tcp_feedback(TcpFeedback::AccEcn(change));

        let (ip_after, rest) = Ipv4Header::from_slice(&bytes).unwrap();
        prop_assert_eq!(ip_after.header_checksum, ip_after.calc_header_checksum());
        let (tcp_after, rest) = TcpHeader::from_slice(rest).unwrap();
        prop_assert_eq!(rest, &payload[..]);
        prop_assert_eq!(tcp_after.checksum, tcp_after.calc_checksum_ipv4(&ip_after, rest).unwrap());
        tcp_header.checksum = tcp_after.checksum;
        (tcp_header.ns, tcp_header.cwr, tcp_header.ece) = (ace & 4 != 0, ace & 2 != 0, ace & 1 != 0);
        prop_assert_eq!(tcp_after, tcp_header);
        ip_header.ecn = theirs(mark);
        ip_header.header_checksum = ip_after.header_checksum;
        prop_assert_eq!(ip_after, ip_header);
    }

    #[test]
    fn udp_behind_extension_headers_by_etherparse_is_found(
        traffic_class: u8, label in 0u32..1 << 20, hop_limit: u8, source: [u8; 16], destination: [u8; 16],
        hop_by_hop: bool, destination_options: bool, fragment in of((0u16..1 << 13, any::<bool>())),
        ports: (u16, u16), payload in vec(any::<u8>(), 0..50), mark in ecn(),
    ) {
        let raw = |present: bool| present.then(|| Ipv6RawExtHeader::new_raw(IpNumber::UDP, &[1, 4, 0, 0, 0, 0]).unwrap());
        let mut extensions = Ipv6Extensions {
            hop_by_hop_options: raw(hop_by_hop),
            destination_options: raw(destination_options),
            fragment: fragment.map(|(offset, more)| {
                Ipv6FragmentHeader::new(IpNumber::UDP, IpFragOffset::try_new(offset).unwrap(), more, 7)
            }),
            ..Ipv6Extensions::default()
        };
        let next_header = extensions.set_next_headers(IpNumber::UDP);
        let mut ip_header = Ipv6Header {
            traffic_class, hop_limit, source, destination, next_header,
            flow_label: Ipv6FlowLabel::try_new(label).unwrap(),
            payload_length: (extensions.header_len() + 8 + payload.len()) as u16,
        };
        let udp_header = UdpHeader::with_ipv6_checksum(ports.0, ports.1, &ip_header, &payload).unwrap();
        let mut bytes = ip_header.to_bytes().to_vec();
        extensions.write(&mut bytes, next_header).unwrap();
        bytes.extend(udp_header.to_bytes());
        bytes.extend(&payload);

        let headers = ip::Headers::parse(&bytes).unwrap();
        prop_assert_eq!(headers.five_tuple.protocol, udp::PROTOCOL);
        prop_assert_eq!(headers.len, bytes.len());
        let expected = match fragment {
            None | Some((0, false)) => ip::Fragment::Whole,
            Some((0, true)) => ip::Fragment::First,
            Some(_) => ip::Fragment::Later,
        };
        prop_assert_eq!(headers.fragment, expected);
        let first = expected != ip::Fragment::Later;
        prop_assert_eq!(headers.five_tuple.ports, first.then_some(ports));
        if first {
            let datagram = udp::Packet::new_checked(&bytes[headers.transport.unwrap()]).unwrap();
            prop_assert_eq!(datagram.payload(), &payload[..]);
            prop_assert!(datagram.has_valid_checksum(headers.five_tuple.source, headers.five_tuple.destination));
        }

        let before = bytes.clone();
        ip::set_ecn(&mut bytes, mark).unwrap();
        let (after, _) = Ipv6Header::from_slice(&bytes).unwrap();
        ip_header.set_ecn(theirs(mark));
        prop_assert_eq!(after, ip_header);
        prop_assert_eq!(&bytes[40..], &before[40..]);
    }

    #[test]
    fn etherparse_reads_emitted_headers(
        dscp in 0u8..64, ecn in ecn(), identification: u16, ttl: u8, a: u32, b: u32, ports: (u16, u16),
        seq: u32, ack: u32, window: u16, urgent: Option<u16>, push: bool, ace in 0u8..8,
        payload in vec(any::<u8>(), 0..50),
    ) {
        let (source, destination) = (Ipv4Addr::from(a), Ipv4Addr::from(b));
        let flags = tidemark_core::TcpFlags { ack: true, ..Default::default() }.with_ace(ace);
        let options = [
            TcpOption::Timestamps { value: seq, echo: ack },
            TcpOption::Sack(SackBlocks::new(&[(1, 2), (3, 4)]).unwrap()),
        ];
        let tcp = tcp::Repr {
            source_port: ports.0, destination_port: ports.1, seq, ack, flags, push, urgent, window, options: &options,
        };
        let mut bytes = vec![0; 200];
        let tcp_len = tcp.emit(&mut bytes[20..]).unwrap();
        let ip = ipv4::Repr {
            dscp: Dscp(dscp), ecn, identification, dont_fragment: true, more_fragments: false, fragment_offset: 0, ttl,
            protocol: tcp::PROTOCOL, source, destination, payload_len: (tcp_len + payload.len()) as u16,
        };
        ip.emit(&mut bytes).unwrap();
        bytes.truncate(20 + tcp_len);
        bytes.extend(&payload);
        tcp::Packet::new_checked(&mut bytes[20..]).unwrap().fill_checksum(source.into(), destination.into());

        let (ip_read, rest) = Ipv4Header::from_slice(&bytes).unwrap();
        prop_assert_eq!(ip_read.header_checksum, ip_read.calc_header_checksum());
        prop_assert_eq!((ip_read.dscp.value(), ip_read.ecn), (dscp, theirs(ecn)));
        prop_assert_eq!((ip_read.source, ip_read.destination), (source.octets(), destination.octets()));
        let (tcp_read, rest) = TcpHeader::from_slice(rest).unwrap();
        prop_assert_eq!(rest, &payload[..]);
        prop_assert_eq!(tcp_read.checksum, tcp_read.calc_checksum_ipv4(&ip_read, rest).unwrap());
        assert_same_tcp(&tcp::Packet::new_checked(&bytes[20..]).unwrap(), &tcp_read);
    }

    #[test]
    fn etherparse_reads_udp_over_ipv6_that_we_emit(
        dscp in 0u8..64, ecn in ecn(), flow_label in 0u32..1 << 20, hop_limit: u8, a: u128, b: u128,
        ports: (u16, u16), payload in vec(any::<u8>(), 0..50),
    ) {
        let (source, destination) = (Ipv6Addr::from(a), Ipv6Addr::from(b));
        let mut bytes = vec![0; 48];
        let ip = ipv6::Repr {
            dscp: Dscp(dscp), ecn, flow_label, payload_len: 8 + payload.len() as u16, next_header: udp::PROTOCOL,
            hop_limit, source, destination,
        };
        ip.emit(&mut bytes).unwrap();
        let repr = udp::Repr { source_port: ports.0, destination_port: ports.1, payload_len: payload.len() as u16 };
        repr.emit(&mut bytes[40..]).unwrap();
        bytes.extend(&payload);
        udp::Packet::new_checked(&mut bytes[40..]).unwrap().fill_checksum(source.into(), destination.into());

        let (ip_read, rest) = Ipv6Header::from_slice(&bytes).unwrap();
        prop_assert_eq!((ip_read.dscp().value(), ip_read.ecn()), (dscp, theirs(ecn)));
        prop_assert_eq!((ip_read.flow_label.value(), ip_read.hop_limit), (flow_label, hop_limit));
        let (udp_read, rest) = UdpHeader::from_slice(rest).unwrap();
        prop_assert_eq!(rest, &payload[..]);
        prop_assert_eq!(udp_read.checksum, udp_read.calc_checksum_ipv6(&ip_read, rest).unwrap());
        prop_assert_eq!((udp_read.source_port, udp_read.destination_port), ports);
    }
}
