//! Packets of a server and a UE as bytes, with the values from which they were made.
#![allow(dead_code)] // each test file uses its own part of it

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tidemark_core::packet::AccEcnCounters;
use tidemark_core::{Dscp, Ecn, Inspect, TcpFeedback, TcpFlags, TcpView};
use tidemark_wire::ip::FiveTuple;
use tidemark_wire::{ipv4, ipv6, tcp, udp};

/// A packet's transport, as value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transport {
    pub tcp: Option<TcpView>,
    /// Feedback that was written into the acknowledgement.
    pub rewritten: Option<TcpFeedback>,
}

impl Inspect for Transport {
    fn tcp(&self) -> Option<TcpView> {
        self.tcp
    }
    fn set_tcp_feedback(&mut self, feedback: TcpFeedback) {
        self.rewritten = Some(feedback);
    }
}

#[derive(Clone, Copy)]
pub struct Flow {
    pub v6: bool,
    pub port: u16,
}

impl Flow {
    fn addresses(&self, downlink: bool) -> (IpAddr, IpAddr) {
        let (server, ue): (IpAddr, IpAddr) = if self.v6 {
            (
                Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(),
                Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 2).into(),
            )
        } else {
            (Ipv4Addr::new(192, 0, 2, 1).into(), Ipv4Addr::new(10, 45, 0, 2).into())
        };
        if downlink { (server, ue) } else { (ue, server) }
    }

    /// The five-tuple of its downlink packets.
    pub fn tuple(&self, protocol: u8) -> FiveTuple {
        let (source, destination) = self.addresses(true);
        FiveTuple { source, destination, protocol, ports: Some((443, self.port)) }
    }

    fn wrap(&self, downlink: bool, ecn: Ecn, protocol: u8, transport: &[u8]) -> Vec<u8> {
        let (source, destination) = self.addresses(downlink);
        let mut bytes = vec![0; 40];
        let len = match (source, destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => ipv4::Repr {
                dscp: Dscp(10),
                ecn,
                identification: 7,
                dont_fragment: true,
                more_fragments: false,
                fragment_offset: 0,
                ttl: 60,
                protocol,
                source,
                destination,
                payload_len: transport.len() as u16,
            }
            .emit(&mut bytes)
            .unwrap(),
            (IpAddr::V6(source), IpAddr::V6(destination)) => ipv6::Repr {
                dscp: Dscp(10),
                ecn,
                flow_label: 0x12345,
                payload_len: transport.len() as u16,
                next_header: protocol,
                hop_limit: 60,
                source,
                destination,
            }
            .emit(&mut bytes)
            .unwrap(),
            _ => unreachable!("both ends are of one version"),
        };
        bytes.truncate(len);
        bytes.extend(transport);
        bytes
    }

    /// A TCP segment, with AccECN counters in an option where the view has them.
    pub fn tcp(&self, downlink: bool, ecn: Ecn, view: &TcpView) -> Vec<u8> {
        self.wrap(downlink, ecn, tcp::PROTOCOL, &self.segment(downlink, view, None))
    }

    /// A TCP segment with a further option before its own.
    pub fn tcp_with(&self, downlink: bool, ecn: Ecn, view: &TcpView, option: tcp::TcpOption<'_>) -> Vec<u8> {
        self.wrap(downlink, ecn, tcp::PROTOCOL, &self.segment(downlink, view, Some(option)))
    }

    /// A TCP segment behind an IPv6 authentication header.
    pub fn tcp_behind_ah(&self, downlink: bool, ecn: Ecn, view: &TcpView) -> Vec<u8> {
        // Next header, length in words less 2, SPI 256, sequence number, a check value of 12 bytes.
        let header = [&[tcp::PROTOCOL, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1][..], &[0x5A; 12]].concat();
        self.wrap(downlink, ecn, 51, &[header, self.segment(downlink, view, None)].concat())
    }

    fn segment(&self, downlink: bool, view: &TcpView, further: Option<tcp::TcpOption<'_>>) -> Vec<u8> {
        let (source_port, destination_port) = if downlink { (443, self.port) } else { (self.port, 443) };
        let order = tcp::AccEcnOrder::Ect1First;
        let own = view.accecn.map(|counters| tcp::TcpOption::AccEcn(tcp::AccEcnOption { order, counters }));
        let options: Vec<_> = further.into_iter().chain(own).collect();
        let mut segment = vec![0; 60 + view.payload as usize];
        let repr = tcp::Repr {
            source_port,
            destination_port,
            seq: view.seq,
            ack: view.ack,
            flags: view.flags,
            push: false,
            urgent: None,
            window: 5_000,
            options: &options,
        };
        let header = repr.emit(&mut segment).unwrap();
        segment.truncate(header + view.payload as usize);
        let (source, destination) = self.addresses(downlink);
        tcp::Packet::new_checked(&mut segment).unwrap().fill_checksum(source, destination);
        segment
    }

    /// A UDP datagram with so many bytes of payload.
    pub fn udp(&self, downlink: bool, ecn: Ecn, payload: u16) -> Vec<u8> {
        let (source_port, destination_port) = if downlink { (443, self.port) } else { (self.port, 443) };
        let mut datagram = vec![0; 8 + usize::from(payload)];
        udp::Repr { source_port, destination_port, payload_len: payload }.emit(&mut datagram).unwrap();
        self.wrap(downlink, ecn, udp::PROTOCOL, &datagram)
    }
}

/// A segment's header as value.
pub fn view(ace: u8, syn: bool, ack: Option<u32>, seq: u32, payload: u32, accecn: Option<[u32; 3]>) -> TcpView {
    let flags = TcpFlags { syn, ack: ack.is_some(), ..TcpFlags::default() }.with_ace(ace);
    let accecn = accecn.map(|[e0b, ceb, e1b]| AccEcnCounters { e0b: Some(e0b), ceb: Some(ceb), e1b: Some(e1b) });
    TcpView { flags, seq, ack: ack.unwrap_or(0), payload, accecn, is_authenticated: false }
}

/// True if the IP header's and the TCP segment's checksums are right.
pub fn checksums_are_valid(bytes: &[u8]) -> bool {
    match bytes[0] >> 4 {
        4 => {
            let packet = ipv4::Packet::new_checked(bytes).unwrap();
            let segment = tcp::Packet::new_checked(packet.payload());
            packet.has_valid_checksum()
                && (packet.protocol() != tcp::PROTOCOL
                    || segment.unwrap().has_valid_checksum(packet.source().into(), packet.destination().into()))
        }
        _ => {
            let packet = ipv6::Packet::new_checked(bytes).unwrap();
            packet.next_header() != tcp::PROTOCOL
                || tcp::Packet::new_checked(packet.payload())
                    .unwrap()
                    .has_valid_checksum(packet.source().into(), packet.destination().into())
        }
    }
}
