//! Frames of a hop: Ethernet header and IP packet, one by one where the kernel bundled them.
//!
//! A sender's kernel leaves checksums and the cutting into segments to its network card, and a receiver's kernel joins what came.
//! The queue counts packets of the wire, so a hop does the card's work: it cuts bundles and completes checksums. Then nothing has
//! to be switched off at the interfaces.

use tidemark_core::{Duration, Ecn, FlowId, Inspect, Instant, Packet, Selectors, TcpFeedback, TcpView};
use tidemark_wire::checksum::Sum;
use tidemark_wire::ip::{FiveTuple, Headers};
use tidemark_wire::{tcp, udp};

use super::port::OFFLOAD_HEADER;
use crate::datagram::{Datagram, Direction, Reader};

/// Length of an Ethernet header without VLAN tags, and of a tag.
const ETHERNET: usize = 14;
const TAG: usize = 4;
/// Tags at most of which a header is read.
const MAX_TAGS: usize = 2;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
const VLANS: [u16; 2] = [0x8100, 0x88A8];

/// Flags and kinds of `struct virtio_net_hdr` (linux/virtio_net.h).
const NEEDS_CHECKSUM: u8 = 1;
const KIND_NONE: u8 = 0;
const KIND_TCP: [u8; 2] = [1, 4];
const KIND_UDP: u8 = 5;
const CWR_ONCE: u8 = 0x80;

/// Payload of a hop's packets.
#[derive(Debug)]
pub(super) struct Frame {
    /// Time at which it came.
    pub(super) arrived: Instant,
    /// True if it came with CE.
    pub(super) came_marked: bool,
    /// Time that it waited in the queue.
    pub(super) waited: Duration,
    header: [u8; ETHERNET + TAG * (MAX_TAGS + 1)],
    header_length: usize,
    pub(super) datagram: Datagram,
}

impl Frame {
    /// Writes the ECN field into the IP header; gives the bytes before the IP packet, and the packet.
    pub(super) fn parts(&mut self, ecn: Ecn) -> (&[u8], &[u8]) {
        (&self.header[..self.header_length], self.datagram.finish(ecn))
    }
}

impl Inspect for Frame {
    fn five_tuple(&self, flow: FlowId) -> FlowId {
        self.datagram.five_tuple(flow)
    }
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

/// Work that the kernel left to the network card: `struct virtio_net_hdr`.
#[derive(Clone, Copy, Debug)]
struct Offload {
    flags: u8,
    kind: u8,
    segment: usize,
    checksum_start: usize,
    checksum_offset: usize,
}

impl Offload {
    fn parse(bytes: &[u8]) -> Self {
        let word = |at: usize| usize::from(u16::from_ne_bytes([bytes[at], bytes[at + 1]]));
        Self { flags: bytes[0], kind: bytes[1], segment: word(4), checksum_start: word(6), checksum_offset: word(8) }
    }
}

/// Makes packets of what a port read, one for each frame of the wire. False for what can't be read or cut: it is lost.
pub(super) fn read(
    reader: &mut Reader,
    arrived: Instant,
    bytes: &mut [u8],
    vlan: Option<(u16, u16)>,
    mut each: impl FnMut(Packet<Frame>, Option<FiveTuple>),
) -> bool {
    if bytes.len() < OFFLOAD_HEADER + ETHERNET {
        return false;
    }
    let (offload, bytes) = bytes.split_at_mut(OFFLOAD_HEADER);
    let offload = Offload::parse(offload);
    let (network, is_ip) = network(bytes);
    let (link, packet) = bytes.split_at_mut(network);
    let mut header = [0; ETHERNET + TAG * (MAX_TAGS + 1)];
    let header_length = match vlan {
        Some((protocol, tci)) => {
            header[..12].copy_from_slice(&link[..12]);
            header[12..14].copy_from_slice(&protocol.to_be_bytes());
            header[14..16].copy_from_slice(&tci.to_be_bytes());
            header[16..link.len() + TAG].copy_from_slice(&link[12..]);
            link.len() + TAG
        }
        None => {
            header[..link.len()].copy_from_slice(link);
            link.len()
        }
    };
    let mut give = |bytes: &[u8]| {
        let (packet, tuple) = if is_ip { reader.packet(bytes, Direction::Down) } else { (reader.opaque(bytes), None) };
        let Packet { flow, size, ecn, payload: datagram } = packet;
        let (came_marked, waited) = (ecn == Ecn::Ce, Duration::ZERO);
        let payload = Frame { arrived, came_marked, waited, header, header_length, datagram };
        each(Packet { flow, size, ecn, payload }, tuple);
    };
    if offload.kind & !CWR_ONCE != KIND_NONE {
        return is_ip && cut(packet, offload, give).is_some();
    }
    if offload.flags & NEEDS_CHECKSUM != 0 {
        let Some(start) = offload.checksum_start.checked_sub(network) else { return false };
        let field = start + offload.checksum_offset;
        if field + 2 > packet.len() {
            return false;
        }
        // The field has the sum of the pseudo header already.
        let sum = Sum::ZERO.bytes(&packet[start..]).checksum();
        // UDP says 0 for none (RFC 768).
        let sum = if sum == 0 { 0xFFFF } else { sum };
        packet[field..field + 2].copy_from_slice(&sum.to_be_bytes());
    }
    give(packet);
    true
}

/// Offset of what follows the Ethernet header, and whether that is IP.
fn network(frame: &[u8]) -> (usize, bool) {
    let mut at = ETHERNET;
    for _ in 0..MAX_TAGS {
        let kind = u16::from_be_bytes([frame[at - 2], frame[at - 1]]);
        if !VLANS.contains(&kind) || frame.len() < at + TAG {
            break;
        }
        at += TAG;
    }
    let kind = u16::from_be_bytes([frame[at - 2], frame[at - 1]]);
    (at, matches!(kind, IPV4 | IPV6))
}

/// Cuts a bundle of segments into packets, as a network card does. `None` for what is no such bundle.
fn cut(packet: &[u8], offload: Offload, mut give: impl FnMut(&[u8])) -> Option<()> {
    let headers = Headers::parse(packet).ok()?;
    let FiveTuple { source, destination, protocol, .. } = headers.five_tuple;
    let transport = headers.transport.clone()?;
    let kind = offload.kind & !CWR_ONCE;
    let (is_tcp, is_udp) =
        (KIND_TCP.contains(&kind) && protocol == tcp::PROTOCOL, kind == KIND_UDP && protocol == udp::PROTOCOL);
    let transport_header = match (is_tcp, is_udp) {
        (true, _) => tcp::Packet::new_checked(&packet[transport.clone()]).ok()?.header_len(),
        (_, true) => udp::HEADER_LEN,
        _ => return None,
    };
    let data = transport.start + transport_header;
    let payload = packet.get(data..transport.end)?;
    let count = payload.len().div_ceil(offload.segment.max(1));
    if offload.segment == 0 || count == 0 {
        return None;
    }
    let is_v4 = packet[0] >> 4 == 4;
    let mut bytes = Vec::with_capacity(data + offload.segment);
    for (index, part) in payload.chunks(offload.segment).enumerate() {
        bytes.clear();
        bytes.extend_from_slice(&packet[..data]);
        bytes.extend_from_slice(part);
        let length = bytes.len();
        if is_v4 {
            let header = usize::from(packet[0] & 0xF) * 4;
            let id = u16::from_be_bytes([packet[4], packet[5]]).wrapping_add(index as u16);
            bytes[2..4].copy_from_slice(&(length as u16).to_be_bytes());
            bytes[4..6].copy_from_slice(&id.to_be_bytes());
            bytes[10..12].fill(0);
            let sum = Sum::ZERO.bytes(&bytes[..header]).checksum();
            bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        } else {
            bytes[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
        }
        let segment = &mut bytes[transport.start..];
        if is_tcp {
            let seq = u32::from_be_bytes([segment[4], segment[5], segment[6], segment[7]]);
            segment[4..8].copy_from_slice(&seq.wrapping_add((index * offload.segment) as u32).to_be_bytes());
            // FIN and PSH are the last segment's; CWR is the first one's where it is an answer to ECE (RFC 3168 6.1.2).
            if index + 1 < count {
                segment[13] &= !0b1001;
            }
            if index > 0 && offload.kind & CWR_ONCE != 0 {
                segment[13] &= !0x80;
            }
            tcp::Packet::new_checked(&mut *segment).ok()?.fill_checksum(source, destination);
        } else {
            let length = segment.len() as u16;
            segment[4..6].copy_from_slice(&length.to_be_bytes());
            udp::Packet::new_checked(&mut *segment).ok()?.fill_checksum(source, destination);
        }
        give(&bytes);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use tidemark_wire::ip;

    use super::*;

    /// Bundle of TCP or UDP over IPv4 behind a virtio header and an Ethernet header, with ECT(1).
    fn bundle(protocol: u8, kind: u8, flags: u8, segment: u16, payload: &[u8]) -> Vec<u8> {
        let transport_header = if protocol == tcp::PROTOCOL { 20 } else { 8 };
        let length = 20 + transport_header + payload.len();
        let mut bytes = vec![0; OFFLOAD_HEADER + ETHERNET];
        (bytes[0], bytes[1]) = (NEEDS_CHECKSUM, kind);
        bytes[4..6].copy_from_slice(&segment.to_ne_bytes());
        bytes[22..24].copy_from_slice(&IPV4.to_be_bytes());
        bytes.extend([0x45, 1]);
        bytes.extend((length as u16).to_be_bytes());
        bytes.extend([0, 7, 0x40, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
        let mut transport = vec![0; transport_header];
        transport[1..4].copy_from_slice(&[80, 1, 2]);
        if protocol == tcp::PROTOCOL {
            transport[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
            (transport[12], transport[13]) = (5 << 4, flags);
        }
        bytes.extend(transport);
        bytes.extend(payload);
        bytes
    }

    fn packets(bytes: &mut [u8]) -> Option<Vec<Vec<u8>>> {
        let mut found = Vec::new();
        let mut reader = Reader::new(&[1; 16]);
        let each = |mut packet: Packet<Frame>, _| found.push(packet.payload.parts(packet.ecn).1.to_vec());
        read(&mut reader, Instant::ZERO, bytes, None, each).then_some(found)
    }

    #[test]
    fn a_bundle_of_tcp_segments_is_cut_as_a_network_card_does() {
        let payload: Vec<u8> = (0..25).collect();
        // CWR, PSH and FIN.
        for (kind, later) in [(KIND_TCP[0] | CWR_ONCE, 0), (KIND_TCP[0], 0x80)] {
            let cut = packets(&mut bundle(tcp::PROTOCOL, kind, 0x89, 10, &payload)).unwrap();
            assert_eq!(cut.iter().map(Vec::len).collect::<Vec<_>>(), [50, 50, 45]);
            for (index, packet) in cut.iter().enumerate() {
                let headers = Headers::parse(packet).unwrap();
                let segment = tcp::Packet::new_checked(&packet[20..]).unwrap();
                let FiveTuple { source, destination, .. } = headers.five_tuple;
                assert!(segment.has_valid_checksum(source, destination));
                assert!(Sum::ZERO.bytes(&packet[..20]).is_valid());
                assert_eq!(segment.payload(), &payload[index * 10..(index * 10 + 10).min(25)]);
                assert_eq!(segment.seq(), u32::MAX.wrapping_add(index as u32 * 10));
                assert_eq!((packet[3], packet[5]), (packet.len() as u8, 7 + index as u8));
            }
            assert_eq!(cut.iter().map(|packet| packet[33]).collect::<Vec<_>>(), [0x80, later, later | 9]);
        }
    }

    #[test]
    fn a_bundle_of_datagrams_is_cut_and_one_of_no_known_kind_refused() {
        let cut = packets(&mut bundle(udp::PROTOCOL, KIND_UDP, 0, 4, &[9; 10])).unwrap();
        let valid = |packet: &Vec<u8>| {
            let tuple = Headers::parse(packet).unwrap().five_tuple;
            udp::Packet::new_checked(&packet[20..]).unwrap().has_valid_checksum(tuple.source, tuple.destination)
        };
        assert!(cut.len() == 3 && cut.iter().all(valid));
        assert_eq!(packets(&mut bundle(udp::PROTOCOL, 3, 0, 4, &[9; 10])), None);
        assert_eq!(packets(&mut bundle(tcp::PROTOCOL, KIND_TCP[0], 0, 0, &[9; 10])), None);
        assert_eq!(packets(&mut [0; 12]), None);
    }

    #[test]
    fn a_vlan_tag_comes_back_and_the_packet_behind_it_is_marked() {
        let mut frame = bundle(udp::PROTOCOL, KIND_NONE, 0, 0, &[]);
        frame[0] = 0;
        let mut reader = Reader::new(&[1; 16]);
        let mut found = Vec::new();
        let each = |mut packet: Packet<Frame>, _: Option<FiveTuple>| {
            assert_eq!((packet.ecn, packet.size.0), (Ecn::Ect1, 28));
            let (header, packet) = packet.payload.parts(Ecn::Ce);
            found = [header, packet].concat();
        };
        assert!(read(&mut reader, Instant::ZERO, &mut frame, Some((0x8100, 42)), each));
        assert_eq!((&found[12..16], &found[16..18]), (&[0x81, 0, 0, 42][..], &[8, 0][..]));
        assert_eq!(ip::ecn(&found[18..]).unwrap(), Ecn::Ce);
    }

    #[test]
    fn frames_without_ip_pass_as_they_are() {
        let mut frame = vec![0; OFFLOAD_HEADER + ETHERNET];
        frame[22..24].copy_from_slice(&[0x88, 0x47]);
        frame.extend([0x45; 40]);
        assert_eq!(packets(&mut frame), Some(vec![vec![0x45; 40]]));
    }
}
