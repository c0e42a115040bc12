//! Test of the miniature CU-UP in examples/cu_up.cpp over loopback UDP, with segmented buffers. The test acts as the UPF, the DU and its slow radio.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods)] // a radio in real time

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{Link, compile};
use etherparse::{Ipv4Header, NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
use tidemark_wire::gtpu::{self, Extension, ExtensionType};
use tidemark_wire::nru::{DlDataDeliveryStatus, DlUserData, Pdu};
use tidemark_wire::pdu_session::DlInformation;
use tidemark_wire::{pdcp, pdu_session::UlInformation};

/// Tunnel endpoint identifiers, as the example has them.
const N3_TEID: u32 = 0x1001;
const UPF_TEID: u32 = 0x2001;
const F1U_TEID: u32 = 0x3000;
const DU_TEID: u32 = 0x4000;

const ECT1: u8 = 1;
const CE: u8 = 3;

struct CuUp {
    program: Child,
    upf: UdpSocket,
    du: UdpSocket,
}

impl Drop for CuUp {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// A PDCP PDU of a DRB, as the DU received it.
struct Received {
    drb: u32,
    sn: u32,
    polled: bool,
    packet: Vec<u8>,
}

impl CuUp {
    /// A CU-UP whose packets lie in segments of so many octets.
    fn start(name: &str, segment: u16) -> Option<Self> {
        let path = compile("examples/cu_up.cpp", "c++17", Link::Static, name)?;
        let socket = || {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            socket
        };
        let (upf, du) = (socket(), socket());
        let port = |socket: &UdpSocket| socket.local_addr().unwrap().port().to_string();
        let mut program = Command::new(path)
            .args(["0", "0", &port(&upf), &port(&du), "20", &segment.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        // One byte at a time: what it prints at its end is left in the pipe.
        let stdout = program.stdout.as_mut().unwrap();
        BufReader::with_capacity(1, stdout).read_line(&mut line).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["n3", n3, "f1-u", f1u] = words[..] else { panic!("{line}") };
        upf.connect((Ipv4Addr::LOCALHOST, n3.parse().unwrap())).unwrap();
        du.connect((Ipv4Addr::LOCALHOST, f1u.parse().unwrap())).unwrap();
        Some(Self { program, upf, du })
    }

    /// The UPF sends a packet of this QoS flow.
    fn downlink(&self, qfi: u8, packet: &[u8]) {
        let mut container = [0; 2];
        DlInformation { qfi, ..DlInformation::default() }.emit(&mut container).unwrap();
        self.upf.send(&wrap(N3_TEID, ExtensionType::PDU_SESSION_CONTAINER, &container, packet)).unwrap();
    }

    /// Receives the next PDU at the DU.
    fn at_du(&self) -> Received {
        let mut buffer = [0; 2_000];
        let len = self.du.recv(&mut buffer).unwrap();
        let message = gtpu::Packet::new_checked(&buffer[..len]).unwrap();
        assert_eq!(message.message_type(), gtpu::MessageType::GPdu);
        let frame = DlUserData::parse(message.extension(ExtensionType::NR_RAN_CONTAINER).unwrap()).unwrap();
        let pdu = pdcp::Pdu::parse(message.payload(), pdcp::SnLength::Bits18).unwrap();
        let pdcp::Pdu::Data { sn, data } = pdu else { panic!("{pdu:?}") };
        Received { drb: message.teid() - DU_TEID, sn, polled: frame.report_polling, packet: data.to_vec() }
    }

    /// The DU reports how far a DRB got, with an uplink packet or without.
    fn report(&self, drb: u32, transmitted: u32, uplink: &[u8]) {
        let status = DlDataDeliveryStatus {
            desired_buffer_size: 1_000_000,
            highest_transmitted: Some(transmitted),
            ..DlDataDeliveryStatus::default()
        };
        let mut frame = [0; 64];
        let len = Pdu::DlDataDeliveryStatus(status).emit(&mut frame).unwrap();
        let mut pdu = Vec::new();
        if !uplink.is_empty() {
            pdu.extend([0x80, 0, 0]);
            pdu.extend(uplink);
        }
        self.du.send(&wrap(F1U_TEID + drb, ExtensionType::NR_RAN_CONTAINER, &frame[..len], &pdu)).unwrap();
    }

    /// Receives the next packet at the UPF, with its QFI.
    fn at_upf(&self) -> (u8, Vec<u8>) {
        let mut buffer = [0; 2_000];
        let len = self.upf.recv(&mut buffer).unwrap();
        let message = gtpu::Packet::new_checked(&buffer[..len]).unwrap();
        assert_eq!(message.teid(), UPF_TEID);
        let info = UlInformation::parse(message.extension(ExtensionType::PDU_SESSION_CONTAINER).unwrap()).unwrap();
        (info.qfi, message.payload().to_vec())
    }

    /// The UPF says that nothing more comes; what the program prints then.
    fn end(mut self) -> String {
        let mut bytes = [0; 8];
        gtpu::Repr::end_marker(N3_TEID).emit(&mut bytes, &[], 0).unwrap();
        self.upf.send(&bytes).unwrap();
        let mut printed = String::new();
        self.program.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        assert!(self.program.wait().unwrap().success());
        printed
    }
}

fn wrap(teid: u32, kind: ExtensionType, content: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 100];
    let extension = [Extension { kind, content }];
    let len = gtpu::Repr::g_pdu(teid).emit(&mut bytes, &extension, payload.len()).unwrap();
    bytes.truncate(len);
    bytes.extend(payload);
    bytes
}

/// Sets the ECN field of a packet that etherparse built, and has it count the header's checksum anew.
fn with_ecn(mut packet: Vec<u8>, ecn: u8) -> Vec<u8> {
    packet[1] = ecn;
    let checksum = Ipv4Header::from_slice(&packet).unwrap().0.calc_header_checksum();
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    packet
}

/// The ECN field of a packet whose checksums are right, by etherparse.
fn checked_ecn(packet: &[u8]) -> u8 {
    let parsed = SlicedPacket::from_ip(packet).unwrap();
    let Some(NetSlice::Ipv4(ip)) = parsed.net else { panic!("no IPv4") };
    let header = ip.header().to_header();
    assert_eq!(header.header_checksum, header.calc_header_checksum());
    match parsed.transport {
        Some(TransportSlice::Tcp(tcp)) => {
            assert_eq!(tcp.checksum(), tcp.calc_checksum_ipv4(header.source, header.destination).unwrap());
        }
        Some(TransportSlice::Udp(udp)) => {
            let header = ip.header();
            let expected = udp.to_header().calc_checksum_ipv4(&header.to_header(), udp.payload()).unwrap();
            assert_eq!(udp.checksum(), expected);
        }
        _ => panic!("neither TCP nor UDP"),
    }
    packet[1] & 3
}

const SERVER: [u8; 4] = [192, 0, 2, 1];
const CLIENT: [u8; 4] = [10, 45, 0, 2];

fn datagram(ecn: u8) -> Vec<u8> {
    let mut packet = Vec::new();
    PacketBuilder::ipv4(SERVER, CLIENT, 60).udp(443, 50_000).write(&mut packet, &[0xA5; 1_201]).unwrap();
    with_ecn(packet, ecn)
}

/// A TCP header's AccECN bits: AE, CWR and ECE (RFC 9768 3.1).
fn tcp(down: bool, ace: u8, syn: bool, seq: u32, ack: Option<u32>, payload: &[u8]) -> Vec<u8> {
    let (source, destination, from, to) =
        if down { (SERVER, CLIENT, 443, 50_001) } else { (CLIENT, SERVER, 50_001, 443) };
    let mut header = etherparse::TcpHeader::new(from, to, seq, 60_000);
    (header.ns, header.cwr, header.ece) = (ace & 4 != 0, ace & 2 != 0, ace & 1 != 0);
    header.syn = syn;
    header.ack = ack.is_some();
    header.acknowledgment_number = ack.unwrap_or(0);
    let mut packet = Vec::new();
    PacketBuilder::ipv4(source, destination, 60).tcp_header(header).write(&mut packet, payload).unwrap();
    packet
}

fn ace(packet: &[u8]) -> u8 {
    (packet[32] & 1) << 2 | packet[33] >> 6
}

#[test]
fn a_queue_that_grows_in_the_du_is_marked_in_the_packets() {
    let Some(cu_up) = CuUp::start("cu_up-udp", 64) else { return };
    // Packets come at twice the rate of the radio. Whatever time this machine takes for a round, the queue grows by two.
    let (mut marks, mut sent, mut first_mark) = (0, 0u32, None);
    for _ in 0..300 {
        for _ in 0..4 {
            cu_up.downlink(1, &datagram(ECT1));
            let got = cu_up.at_du();
            assert_eq!((got.drb, got.sn), (1, sent));
            let ecn = checked_ecn(&got.packet);
            assert!(ecn == ECT1 || ecn == CE, "{ecn}");
            marks += u32::from(ecn == CE);
            if ecn == CE {
                first_mark.get_or_insert(sent);
            }
            sent += 1;
        }
        if sent % 20 == 0 {
            cu_up.report(1, sent / 2, &[]);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(first_mark.is_some_and(|first| first > 4), "the first of {marks} marks of {sent} packets: {first_mark:?}");
    assert!(marks > sent / 4, "{marks} of {sent}");
    // Not-ECT is left alone at the same queue, and so is a QoS flow without a law of its own.
    cu_up.downlink(1, &datagram(0));
    assert_eq!(checked_ecn(&cu_up.at_du().packet), 0);
    // The DU falls silent while a queue stands: the next frame asks.
    std::thread::sleep(Duration::from_millis(60));
    cu_up.downlink(1, &datagram(ECT1));
    assert!(cu_up.at_du().polled);
    let printed = cu_up.end();
    assert!(printed.contains(&format!("drb 1: {} packets, ", sent + 2)), "{printed}");
    assert!(printed.contains("drb 2: 0 packets, 0 marks"), "{printed}");
}

#[test]
fn marks_of_tcp_reach_the_sender_in_acknowledgements() {
    let Some(cu_up) = CuUp::start("cu_up-tcp", 100) else { return };
    let up = |packet: &[u8], transmitted: u32| {
        cu_up.report(2, transmitted, packet);
        let (qfi, got) = cu_up.at_upf();
        assert_eq!(qfi, 9);
        checked_ecn(&got);
        got
    };
    // The handshake of a client and a server that both have AccECN (RFC 9768 3.1.1).
    let syn = tcp(false, 0b111, true, 500, None, &[]);
    assert_eq!(up(&syn, 0), syn, "a SYN is never touched");
    cu_up.downlink(9, &tcp(true, 0b010, true, 1_000, Some(501), &[]));
    cu_up.at_du();
    up(&tcp(false, 0b010, false, 501, Some(1_001), &[]), 0);
    let (mut seq, mut sent, mut counted, mut last) = (1_001u32, 1u32, 0, 5);
    let payload = [0xA5; 1_201];
    for _ in 0..300 {
        for _ in 0..4 {
            cu_up.downlink(9, &with_ecn(tcp(true, 0, false, seq, Some(501), &payload), ECT1));
            let got = cu_up.at_du();
            assert_eq!((got.drb, got.sn), (2, sent));
            assert_eq!(checked_ecn(&got.packet), ECT1, "the mark waits for an acknowledgement, not in the packet");
            seq = seq.wrapping_add(1_201);
            sent += 1;
        }
        // The client saw no mark, as none came: its counter stays at 5.
        let ack = tcp(false, 5, false, 501, Some(seq), &[]);
        let got = up(&ack, sent / 2);
        // Fewer than 8 segments a round: how far the counter went is no question.
        counted += u32::from(ace(&got).wrapping_sub(last) & 7);
        last = ace(&got);
        std::thread::sleep(Duration::from_millis(1));
    }
    // The sender counted every mark, and nothing else.
    let printed = cu_up.end();
    assert!(counted > sent / 4, "{counted} of {sent}");
    assert!(printed.contains(&format!("drb 2: {sent} packets, {counted} marks, ")), "{counted} of {sent}: {printed}");
}

#[test]
fn the_outer_ecn_field_of_n3_reaches_the_packet() {
    let Some(cu_up) = CuUp::start("cu_up-n3", 2048) else { return };
    // Inner field, outer field, and what RFC 6040 figure 4 makes of them; the DRB's queue is empty, so that nothing else marks.
    let (not_ect, ect0) = (0, 2);
    for (inner, outer, expected) in [
        (ECT1, ECT1, Some(ECT1)),
        (ECT1, CE, Some(CE)),
        (ect0, CE, Some(CE)),
        (ect0, ECT1, Some(ECT1)),
        (not_ect, ect0, Some(not_ect)),
        (not_ect, CE, None),
        (CE, not_ect, Some(CE)),
    ] {
        rustix::net::sockopt::set_ip_tos(&cu_up.upf, outer).unwrap();
        cu_up.downlink(1, &datagram(inner));
        if expected.is_none() {
            // It is dropped: the next one that comes is another.
            rustix::net::sockopt::set_ip_tos(&cu_up.upf, 0).unwrap();
            cu_up.downlink(1, &datagram(CE));
        }
        assert_eq!(checked_ecn(&cu_up.at_du().packet), expected.unwrap_or(CE), "{inner} in {outer}");
    }
    assert!(cu_up.end().contains("drb 1: 7 packets, 0 marks"));
}

#[test]
fn the_example_survives_bytes_that_are_no_frame() {
    let Some(cu_up) = CuUp::start("cu_up-hostile", 64) else { return };
    let mut good = wrap(N3_TEID, ExtensionType::PDU_SESSION_CONTAINER, &[0, 1], &datagram(ECT1));
    for cut in 0..40 {
        cu_up.upf.send(&good[..cut]).unwrap();
        cu_up.du.send(&good[..cut]).unwrap();
    }
    // An extension header of no length, one that runs over the end, and a chain that does.
    for (at, value) in [(12, 0), (12, 255), (15, 0x84), (3, 255), (0, 0xFF)] {
        let was = std::mem::replace(&mut good[at], value);
        cu_up.upf.send(&good).unwrap();
        cu_up.du.send(&good).unwrap();
        good[at] = was;
    }
    // A delivery status that ends within its fields, and one for a tunnel that is not there.
    cu_up.du.send(&wrap(F1U_TEID + 1, ExtensionType::NR_RAN_CONTAINER, &[0x1F, 0xFF], &[])).unwrap();
    cu_up.report(9, 5, &[1, 2, 3]);
    cu_up.upf.send(&good).unwrap();
    // What was cut in its last bytes may have got through; the good one does in any case.
    while cu_up.at_du().packet != datagram(ECT1) {}
    cu_up.end();
}
