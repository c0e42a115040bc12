//! Real packets as the cell's payload.

use std::ops::Range;

use tidemark_core::{Bytes, Ecn, FlowId, Inspect, Instant, Packet, Selectors, TcpFeedback, TcpView};
use tidemark_marker::path::FlowKey;
use tidemark_wire::ip::{self, FiveTuple, Headers};
use tidemark_wire::{View, tcp};

use crate::core::Label;

/// Bytes of one IP packet, and the offsets of its TCP segment.
#[derive(Debug, Default)]
pub struct Datagram {
    bytes: Vec<u8>,
    tcp: Option<Range<usize>>,
}

impl Datagram {
    /// Writes a mark into the header, and gives the bytes to send on.
    pub(crate) fn finish(&mut self, ecn: Ecn) -> &[u8] {
        // A packet that could not be read has Not-ECT, and its bytes stay as they are.
        if ecn == Ecn::Ce {
            let _ = ip::set_ecn(&mut self.bytes, Ecn::Ce);
        }
        &self.bytes
    }
}

/// Payload of a live cell's packets.
#[derive(Debug)]
pub struct Stamped {
    /// Time at which the packet came from the core, or from its UE.
    pub arrived: Instant,
    /// Number among the packets that came from the core, or among those that came from UEs, from 1.
    pub number: u64,
    pub(crate) label: Label,
    pub(crate) datagram: Datagram,
}

impl Stamped {
    /// Makes the payload of a packet that came at this time, with its number.
    pub fn new(arrived: Instant, number: u64, datagram: Datagram) -> Self {
        Self { arrived, number, label: Label::None, datagram }
    }
}

impl Inspect for Stamped {
    fn selectors(&self) -> Option<Selectors> {
        self.datagram.selectors()
    }
    fn tcp(&self) -> Option<TcpView> {
        self.datagram.tcp()
    }
    fn set_tcp_feedback(&mut self, feedback: TcpFeedback) {
        self.datagram.set_tcp_feedback(feedback);
    }
}

/// Direction of a packet: down to a UE, or up from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    Down,
    Up,
}

/// Flow of all packets that cannot be read.
pub(crate) const NO_FLOW: FlowId = FlowId(u32::MAX);
/// Buffers kept for reuse.
const KEPT: usize = 4_096;

/// Makes packets of bytes and gives buffers out again.
#[derive(Debug)]
pub struct Reader {
    key: FlowKey,
    free: Vec<Vec<u8>>,
}

impl Reader {
    /// Makes a reader with the secret that five-tuples are hashed with.
    pub fn new(secret: &[u8; 16]) -> Self {
        Self { key: FlowKey::new(secret), free: Vec::with_capacity(KEPT) }
    }

    /// Makes a packet of `bytes`, with its five-tuple; `None` for bytes that cannot be read, which are a packet all the same.
    /// The flow of an uplink packet is that of the downlink packets it answers.
    pub(crate) fn packet(&mut self, bytes: &[u8], direction: Direction) -> (Packet<Datagram>, Option<FiveTuple>) {
        let packet = self.opaque(bytes);
        let Ok(headers) = Headers::parse(bytes) else { return (packet, None) };
        let tuple = headers.five_tuple;
        let flow = self.key.flow(&if direction == Direction::Down { tuple } else { tuple.reversed() });
        let tcp = headers.transport.filter(|_| tuple.protocol == tcp::PROTOCOL);
        let payload = Datagram { tcp, ..packet.payload };
        (Packet { flow, ecn: headers.ecn, payload, ..packet }, Some(tuple))
    }

    /// Makes a packet of bytes that are no IP packet.
    pub(crate) fn opaque(&mut self, bytes: &[u8]) -> Packet<Datagram> {
        let mut buffer = self.free.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(bytes);
        let payload = Datagram { bytes: buffer, tcp: None };
        Packet { flow: NO_FLOW, size: Bytes(bytes.len() as u64), ecn: Ecn::NotEct, payload }
    }

    /// Writes the packet's ECN field into its header, and gives the bytes to send on.
    pub(crate) fn finish(packet: &mut Packet<Datagram>) -> &[u8] {
        packet.payload.finish(packet.ecn)
    }

    /// Takes a buffer back.
    pub(crate) fn recycle(&mut self, datagram: Datagram) {
        if self.free.len() < KEPT {
            self.free.push(datagram.bytes);
        }
    }
}

impl Inspect for Datagram {
    fn selectors(&self) -> Option<Selectors> {
        Headers::parse(&self.bytes).ok().map(|headers| selectors(&headers))
    }
    fn tcp(&self) -> Option<TcpView> {
        let segment = self.bytes.get(self.tcp.clone()?)?;
        tcp::Packet::new_checked(segment).ok().map(|segment| segment.view())
    }
    fn set_tcp_feedback(&mut self, feedback: TcpFeedback) {
        let segment = self.tcp.clone().and_then(|range| self.bytes.get_mut(range));
        if let Some(mut segment) = segment.and_then(|segment| tcp::Packet::new_checked(segment).ok()) {
            segment.set_feedback(feedback);
        }
    }
}

/// IP packet in a borrowed buffer; `None` for one that cannot be read.
pub(crate) struct Viewed<'a>(Option<View<'a>>);

impl<'a> Viewed<'a> {
    /// Makes a packet of bytes. The flow of an uplink packet is that of the downlink packets it answers.
    pub(crate) fn packet(key: &FlowKey, bytes: &'a mut [u8], direction: Direction) -> Packet<Self> {
        let size = Bytes(bytes.len() as u64);
        let view = View::parse(bytes).ok();
        let headers = view.as_ref().map(View::headers);
        let flow = headers.map_or(NO_FLOW, |headers| match direction {
            Direction::Down => key.flow(&headers.five_tuple),
            Direction::Up => key.flow(&headers.five_tuple.reversed()),
        });
        let ecn = headers.map_or(Ecn::NotEct, |headers| headers.ecn);
        Packet { flow, size, ecn, payload: Self(view) }
    }

    /// Addresses and ports of the packet.
    pub(crate) fn tuple(&self) -> Option<FiveTuple> {
        Some(self.0.as_ref()?.headers().five_tuple)
    }

    /// Writes the ECN field into the packet.
    pub(crate) fn set_ecn(&mut self, ecn: Ecn) {
        if let Some(view) = &mut self.0 {
            view.set_ecn(ecn);
        }
    }
}

impl Inspect for Viewed<'_> {
    fn selectors(&self) -> Option<Selectors> {
        Some(selectors(self.0.as_ref()?.headers()))
    }
    fn tcp(&self) -> Option<TcpView> {
        self.0.as_ref()?.tcp()
    }
    fn set_tcp_feedback(&mut self, feedback: TcpFeedback) {
        if let Some(view) = &mut self.0 {
            view.set_tcp_feedback(feedback);
        }
    }
    fn answer_tcp(&mut self, answer: impl FnOnce(&TcpView) -> Option<TcpFeedback>) -> bool {
        self.0.as_mut().is_some_and(|view| view.answer_tcp(answer))
    }
}

fn selectors(headers: &Headers) -> Selectors {
    let FiveTuple { source, destination, protocol, ports } = headers.five_tuple;
    Selectors { source, destination, protocol, ports, dscp: headers.dscp }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ICMP over IPv4 with ECT(1), and its header checksum.
    const PACKET: [u8; 20] = [
        0x45, 0xB9, 0x00, 0x14, 0x00, 0x00, 0x40, 0x00, 0x40, 0xFD, 0xB7, 0x1B, 0xC0, 0xA8, 0x00, 0x01, 0xC0, 0xA8,
        0x00, 0xC7,
    ];

    #[test]
    fn a_mark_is_written_into_the_header_and_its_checksum() {
        let mut reader = Reader::new(&[1; 16]);
        let (mut packet, tuple) = reader.packet(&PACKET, Direction::Down);
        assert!(tuple.is_some());
        assert_eq!(packet.ecn, Ecn::Ect1);
        assert_eq!(Reader::finish(&mut packet), PACKET);
        packet.ecn = packet.ecn.marked();
        let sum: u32 = Reader::finish(&mut packet).chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
        assert_eq!(packet.payload.bytes[1], 0xBB);
        assert_eq!((sum & 0xFFFF) + (sum >> 16), 0xFFFF);
    }

    #[test]
    fn both_directions_of_a_flow_have_one_id() {
        let mut reader = Reader::new(&[1; 16]);
        let mut answer = PACKET;
        answer[12..16].copy_from_slice(&PACKET[16..20]);
        answer[16..20].copy_from_slice(&PACKET[12..16]);
        let down = reader.packet(&PACKET, Direction::Down).0.flow;
        assert_eq!(reader.packet(&answer, Direction::Up).0.flow, down);
        assert_ne!(reader.packet(&answer, Direction::Down).0.flow, down);
    }

    #[test]
    fn packet_filters_read_both_ip_versions() {
        let mut reader = Reader::new(&[1; 16]);
        let v4 = reader.packet(&PACKET, Direction::Down).0.payload.selectors().unwrap();
        assert_eq!((v4.source, v4.protocol, v4.ports, v4.dscp.0), ([192, 168, 0, 1].into(), 0xFD, None, 0xB9 >> 2));
        // UDP from 2001:db8::1 port 443 to ::2 port 50000, behind a hop-by-hop header; EF with ECT(1).
        let mut bytes = vec![0x6B, 0x90, 0, 0, 0, 16, 0, 64];
        bytes.extend("2001:db8::1".parse::<std::net::Ipv6Addr>().unwrap().octets());
        bytes.extend("::2".parse::<std::net::Ipv6Addr>().unwrap().octets());
        bytes.extend([17, 0, 1, 4, 0, 0, 0, 0, 1, 187, 195, 80, 0, 8, 0, 0]);
        let (packet, _) = reader.packet(&bytes, Direction::Down);
        let v6 = packet.payload.selectors().unwrap();
        assert_eq!((v6.source, v6.destination), ("2001:db8::1".parse().unwrap(), "::2".parse().unwrap()));
        assert_eq!((v6.protocol, v6.ports, v6.dscp.0, packet.ecn), (17, Some((443, 50_000)), 46, Ecn::Ect1));
    }

    #[test]
    fn bytes_that_are_no_ip_packet_pass_unchanged() {
        let mut reader = Reader::new(&[1; 16]);
        for bytes in [&[][..], &[0xFF; 3], &[0x45; 19], &[0x60; 60]] {
            let (mut packet, tuple) = reader.packet(bytes, Direction::Down);
            assert_eq!(tuple, None);
            packet.ecn = packet.ecn.marked();
            assert_eq!(Reader::finish(&mut packet), bytes);
        }
    }
}
