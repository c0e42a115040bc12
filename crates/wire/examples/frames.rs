//! Writes one frame of every kind that this crate emits into a capture file, to test it with independent decoders.
//!
//! `cargo run --example frames -- frames.pcapng`. The comment of each packet is its name; the tests in `tests/wire`
//! use it to find the packet.

use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use tidemark_core::packet::{AccEcnChange, AccEcnCounters};
use tidemark_core::{BitRate, Bytes, Dscp, Ecn, Inspect, TcpFeedback, TcpFlags};
use tidemark_wire::gtpu::{self, Extension, ExtensionType};
use tidemark_wire::mac::{BitRateIndex, BufferTable, Direction, LongBsr, RecommendedBitRate, ShortBsr, lcid};
use tidemark_wire::nru::{
    AssistanceField, AssistanceFields, AssistanceInformationData, AssistanceType, Cause, DiscardBlock, DiscardBlocks,
    DlDataDeliveryStatus, DlUserData, Pdu, SnRange, SnRanges,
};
use tidemark_wire::pdcp::{self, SnLength};
use tidemark_wire::pdu_session::{Congestion, DlInformation, PduSetInformation, Timestamps, UlInformation};
use tidemark_wire::rfc8888::{Arrival, ArrivalOffset, Builder};
use tidemark_wire::tcp::{AccEcnOption, AccEcnOrder, SackBlocks, TcpOption};
use tidemark_wire::{Result, View, ipv4, ipv6, sdap, tcp, tunnel, twcc, udp};

const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const CLIENT: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);
const SERVER6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
const CLIENT6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 7);

/// Port at which Wireshark finds MAC and PDCP PDUs by their signature, and RTCP by its settings.
const FRAMED_PORT: u16 = 9999;
const RTCP_PORT: u16 = 5005;

type Frames = Vec<(&'static str, Vec<u8>)>;

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "frames.pcapng".into());
    let frames = frames().expect("every frame fits its buffer");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path)?);
    write_capture(&mut file, &frames)?;
    println!("{} frames in {path}", frames.len());
    Ok(())
}

fn frames() -> Result<Frames> {
    let mut frames = Frames::new();
    ip_and_tcp(&mut frames)?;
    gtp(&mut frames)?;
    nr_user_plane(&mut frames)?;
    radio(&mut frames)?;
    rtcp(&mut frames)?;
    Ok(frames)
}

/// Collects the bytes that an emitter writes at the front of a buffer.
fn emitted(emit: impl FnOnce(&mut [u8]) -> Result<usize>) -> Result<Vec<u8>> {
    let mut bytes = vec![0; 2000];
    let len = emit(&mut bytes)?;
    bytes.truncate(len);
    Ok(bytes)
}

fn over_ipv4(protocol: u8, ecn: Ecn, payload: &[u8]) -> Result<Vec<u8>> {
    let header = ipv4::Repr {
        dscp: Dscp(0),
        ecn,
        identification: 0x1234,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: 0,
        ttl: 64,
        protocol,
        source: SERVER,
        destination: CLIENT,
        payload_len: payload.len() as u16,
    };
    Ok([emitted(|bytes| header.emit(bytes))?, payload.to_vec()].concat())
}

fn over_udp(source_port: u16, destination_port: u16, ecn: Ecn, payload: &[u8]) -> Result<Vec<u8>> {
    let header = udp::Repr { source_port, destination_port, payload_len: payload.len() as u16 };
    let mut datagram = [emitted(|bytes| header.emit(bytes))?, payload.to_vec()].concat();
    udp::Packet::new_checked(&mut datagram)?.fill_checksum(SERVER.into(), CLIENT.into());
    over_ipv4(udp::PROTOCOL, ecn, &datagram)
}

fn segment(flags: TcpFlags, options: &[TcpOption<'_>], payload: &[u8]) -> Result<Vec<u8>> {
    let header = tcp::Repr {
        source_port: 443,
        destination_port: 50_000,
        seq: 1000,
        ack: if flags.ack { 2000 } else { 0 },
        flags,
        push: false,
        urgent: None,
        window: 0x1234,
        options,
    };
    let mut segment = [emitted(|bytes| header.emit(bytes))?, payload.to_vec()].concat();
    tcp::Packet::new_checked(&mut segment)?.fill_checksum(SERVER.into(), CLIENT.into());
    over_ipv4(tcp::PROTOCOL, Ecn::Ect1, &segment)
}

fn ip_and_tcp(frames: &mut Frames) -> Result<()> {
    let ack = TcpFlags { ack: true, ..TcpFlags::default() };
    let timestamps = TcpOption::Timestamps { value: 11, echo: 22 };
    let syn_options =
        [TcpOption::MaximumSegmentSize(1460), TcpOption::SackPermitted, timestamps, TcpOption::WindowScale(7)];
    let syn = TcpFlags { syn: true, ..TcpFlags::default() }.with_ace(0b111);
    frames.push(("tcp-syn", segment(syn, &syn_options, &[])?));

    let counters = AccEcnCounters { e1b: Some(0x01_0203), ceb: Some(0x04_0506), e0b: Some(0x07_0809) };
    let all = TcpOption::AccEcn(AccEcnOption { order: AccEcnOrder::Ect1First, counters });
    let accecn1 = segment(ack.with_ace(5), &[timestamps, all], b"odd")?;
    frames.push(("tcp-accecn1", accecn1.clone()));

    let two = AccEcnCounters { e0b: Some(0x11_1213), ceb: Some(0x14_1516), e1b: None };
    let sack = TcpOption::Sack(SackBlocks::new(&[(3000, 4000), (5000, 6000)]).ok_or(tidemark_wire::Error::Value)?);
    let accecn0 = TcpOption::AccEcn(AccEcnOption { order: AccEcnOrder::Ect0First, counters: two });
    frames.push(("tcp-accecn0-sack", segment(ack, &[sack, accecn0], &[])?));

    let mut rewritten = accecn1;
    let mut view = View::parse(&mut rewritten)?;
    // From 5 to 0b010, 0x010203 to 0x212223 and 0x040506 to 0x242526.
    let change = AccEcnChange { ace: 5, e1b: 0x20_2020, ceb: 0x20_2020, e0b: 0 };
    view.set_tcp_feedback(TcpFeedback::AccEcn(change));
    view.set_ecn(Ecn::Ce);
    frames.push(("tcp-rewritten", rewritten));

    let mut classic = segment(ack, &[timestamps], &[])?;
    View::parse(&mut classic)?.set_tcp_feedback(TcpFeedback::Classic { ece: true });
    frames.push(("tcp-classic-ece", classic));

    let datagram = udp::Repr { source_port: 4000, destination_port: 4001, payload_len: 5 };
    let mut datagram = [emitted(|bytes| datagram.emit(bytes))?, b"hello".to_vec()].concat();
    udp::Packet::new_checked(&mut datagram)?.fill_checksum(SERVER6.into(), CLIENT6.into());
    let header = ipv6::Repr {
        dscp: Dscp(46),
        ecn: Ecn::Ect0,
        flow_label: 0xA_BCDE,
        payload_len: datagram.len() as u16,
        next_header: udp::PROTOCOL,
        hop_limit: 64,
        source: SERVER6,
        destination: CLIENT6,
    };
    let mut packet = [emitted(|bytes| header.emit(bytes))?, datagram].concat();
    frames.push(("ipv6-udp", packet.clone()));
    View::parse(&mut packet)?.set_ecn(Ecn::Ce);
    frames.push(("ipv6-udp-marked", packet));

    let esp = [&[0, 0, 0x12, 0x34, 0, 0, 0, 9][..], &[0xC1; 40]].concat();
    frames.push(("esp", over_ipv4(tunnel::ESP, tunnel::encapsulate(tunnel::Mode::Normal, Ecn::Ect1), &esp)?));
    Ok(())
}

/// A G-PDU with these extension headers, around a payload.
fn g_pdu(extensions: &[Extension<'_>], ecn: Ecn, payload: &[u8]) -> Result<Vec<u8>> {
    let header = emitted(|bytes| gtpu::Repr::g_pdu(0x0102_0304).emit(bytes, extensions, payload.len()))?;
    over_udp(gtpu::PORT, gtpu::PORT, ecn, &[header, payload.to_vec()].concat())
}

fn gtp(frames: &mut Frames) -> Result<()> {
    let user = over_udp(4000, 4001, Ecn::Ect1, b"user data")?;
    let outer = tunnel::encapsulate(tunnel::Mode::Normal, Ecn::Ect1);
    let mut push = |name, kind, content: Vec<u8>| -> Result<()> {
        frames.push((name, g_pdu(&[Extension { kind, content: &content }], outer, &user)?));
        Ok(())
    };
    let session = ExtensionType::PDU_SESSION_CONTAINER;
    let dl = DlInformation { qfi: 9, rqi: true, ..DlInformation::default() };
    push("gtpu-dl", session, emitted(|bytes| dl.emit(bytes))?)?;
    let dl = DlInformation { ppi: Some(5), sending_timestamp: Some(0x0102_0304_0506_0708), qfi_sn: Some(77), ..dl };
    push("gtpu-dl-all", session, emitted(|bytes| dl.emit(bytes))?)?;
    let ul = UlInformation { qfi: 5, dl_congestion: Congestion::new(1234), ..UlInformation::default() };
    push("gtpu-ul-congestion", session, emitted(|bytes| ul.emit(bytes))?)?;
    let ul = UlInformation {
        timestamps: Some(Timestamps { dl_sent: 1, dl_received: 2, ul_sent: 3 }),
        dl_delay: Some(4),
        ul_delay: Some(5),
        qfi_sn: Some(6),
        n3_n9_delay: Some(7),
        ul_pdcp_delay: Some(8),
        ul_congestion: Congestion::new(9999),
        ..ul
    };
    push("gtpu-ul-all", session, emitted(|bytes| ul.emit(bytes))?)?;
    let set = PduSetInformation {
        qfi: 9,
        end_of_set: true,
        set_sn: 513,
        importance: 3,
        pdu_sn: 4,
        set_size: Some(20_000),
        ..PduSetInformation::default()
    };
    push("gtpu-pdu-set", ExtensionType::PDU_SET_INFORMATION, emitted(|bytes| set.emit(bytes))?)?;

    let mut path = |name, message: Vec<u8>| -> Result<()> {
        frames.push((name, over_udp(gtpu::PORT, gtpu::PORT, Ecn::NotEct, &message)?));
        Ok(())
    };
    path("gtpu-echo-request", emitted(|bytes| gtpu::Repr::echo_request(7).emit(bytes, &[], 0))?)?;
    path("gtpu-echo-response", emitted(|bytes| gtpu::emit_echo_response(7, bytes))?)?;
    let error = gtpu::ErrorIndication { teid: 0x0102_0304, address: CLIENT6.into() };
    path("gtpu-error-indication", emitted(|bytes| error.emit(bytes))?)?;
    let known = [ExtensionType::NR_RAN_CONTAINER, ExtensionType::PDU_SESSION_CONTAINER];
    path("gtpu-supported", emitted(|bytes| gtpu::emit_supported_extension_headers(&known, bytes))?)?;
    path("gtpu-end-marker", emitted(|bytes| gtpu::Repr::end_marker(9).emit(bytes, &[], 0))?)
}

fn nr_user_plane(frames: &mut Frames) -> Result<()> {
    let mut push = |name, pdu: Pdu<'_>, payload: &[u8]| -> Result<()> {
        let content = emitted(|bytes| pdu.emit(bytes))?;
        let extension = Extension { kind: ExtensionType::NR_RAN_CONTAINER, content: &content };
        frames.push((name, g_pdu(&[extension], Ecn::NotEct, payload)?));
        Ok(())
    };
    let range = |start, end| SnRange { start, end };
    let (mut blocks, mut lost, mut delivered, mut fields) = ([[0; 4]; 2], [[0; 6]; 1], [[0; 6]; 2], [0; 20]);
    let discard = [DiscardBlock { start: 100, len: 3 }, DiscardBlock { start: 200, len: 1 }];
    let data = DlUserData { sn: 0x01_0203, user_data_exists: true, ..DlUserData::default() };
    push("nru-user-data", Pdu::DlUserData(data), &[0x80, 1, 0xC1, 0xC2])?;
    let data = DlUserData {
        report_polling: true,
        flush: Some(50),
        discard_blocks: Some(DiscardBlocks::pack(&discard, &mut blocks)?),
        retransmission: true,
        assistance_polling: true,
        report_delivered: Some(60),
        request_out_of_sequence_report: true,
        ..data
    };
    push("nru-user-data-all", Pdu::DlUserData(data), &[0x80, 2, 0xC1, 0xC2])?;

    let status = DlDataDeliveryStatus { desired_buffer_size: 3000, ..DlDataDeliveryStatus::default() };
    push("nru-status-first", Pdu::DlDataDeliveryStatus(status), &[])?;
    let status = DlDataDeliveryStatus {
        highest_transmitted: Some(4095),
        highest_delivered: Some(4090),
        ..DlDataDeliveryStatus::default()
    };
    push(
        "nru-status",
        Pdu::DlDataDeliveryStatus(DlDataDeliveryStatus { desired_buffer_size: 1_000_000, ..status }),
        &[],
    )?;
    let status = DlDataDeliveryStatus {
        final_frame: true,
        desired_buffer_size: 123_456,
        desired_data_rate: Some(5_000_000),
        lost: Some(SnRanges::pack(&[range(10, 12)], &mut lost)?),
        cause: Some(Cause::DownlinkOutage),
        highest_delivered_retransmitted: Some(30),
        highest_retransmitted: Some(31),
        ..status
    };
    push("nru-status-all", Pdu::DlDataDeliveryStatus(status), &[])?;
    let status = DlDataDeliveryStatus {
        delivered_out_of_sequence: Some(SnRanges::pack(&[range(4092, 4093), range(4095, 4095)], &mut delivered)?),
        ..DlDataDeliveryStatus::default()
    };
    push("nru-status-ranges", Pdu::DlDataDeliveryStatus(status), &[])?;

    let list = [
        AssistanceField { kind: AssistanceType::AverageCqi, value: &[11] },
        AssistanceField { kind: AssistanceType::DlRadioQuality, value: &[77] },
    ];
    let assistance = AssistanceInformationData {
        duplicate: Some(true),
        fields: Some(AssistanceFields::pack(&list, &mut fields)?),
        ul_delay: Some(12),
        dl_delay: Some(13),
    };
    push("nru-assistance", Pdu::AssistanceInformationData(assistance), &[])
}

/// SDAP, PDCP and MAC do not occur by themselves in a capture of IP packets. Wireshark reads them after a signature and
/// tags, which carry the facts that it would otherwise know from signalling.
fn radio(frames: &mut Frames) -> Result<()> {
    let user = over_udp(4000, 4001, Ecn::Ce, b"user data")?;
    let mut pdcp = |name, sn, length: SnLength, downlink: bool, sdap: u8| -> Result<()> {
        let header = emitted(|bytes| pdcp::emit_data_header(sn, length, bytes))?;
        let mut tags = b"pdcp-nr\x02".to_vec(); // user plane
        tags.extend([2, length.bits() as u8, 3, u8::from(downlink), 4, 1, 5, 1, 6, 0, 1]); // SN, direction, bearer, UE
        tags.extend([0x10, if downlink { 2 } else { 1 }, 1]); // SDAP in this direction; here comes the PDU
        frames.push((
            name,
            over_udp(FRAMED_PORT, FRAMED_PORT, Ecn::NotEct, &[tags, header, vec![sdap], user.clone()].concat())?,
        ));
        Ok(())
    };
    pdcp("pdcp-12-sdap-dl", 0xABC, SnLength::Bits12, true, sdap::Downlink { rdi: true, rqi: false, qfi: 9 }.emit()?)?;
    pdcp("pdcp-18-sdap-ul", 0x2_ABCD, SnLength::Bits18, false, sdap::Uplink::Data { qfi: 5 }.emit()?)?;

    let mut mac = |name, downlink: bool, pdu: &[u8]| -> Result<()> {
        let tags = [b"mac-nr\x01", &[u8::from(downlink), 3, 2, 0x12, 0x34, 1][..]].concat(); // FDD, C-RNTI 0x1234
        let padding = [63, 0, 0, 0];
        frames.push((name, over_udp(FRAMED_PORT, FRAMED_PORT, Ecn::NotEct, &[&tags, pdu, &padding].concat())?));
        Ok(())
    };
    let recommended = RecommendedBitRate {
        lcid: 4,
        direction: Direction::Uplink,
        bit_rate: BitRateIndex::at_most(BitRate::from_mbps(5)),
        multiplied: false,
    };
    mac("mac-recommended", true, &[&[lcid::RECOMMENDED_BIT_RATE][..], &recommended.emit()?].concat())?;
    let query = RecommendedBitRate { direction: Direction::Downlink, ..recommended };
    mac("mac-query", false, &[&[lcid::RECOMMENDED_BIT_RATE_QUERY][..], &query.emit()?].concat())?;
    let short = ShortBsr { group: 5, index: BufferTable::A.index(Bytes(1000)).unwrap_or(0) };
    mac("mac-short-bsr", false, &[lcid::SHORT_BSR, short.emit()?])?;
    let mut long = LongBsr::default();
    long.indices[0] = BufferTable::B.index(Bytes(1000));
    long.indices[6] = BufferTable::B.index(Bytes(100_000_000));
    let content = emitted(|bytes| long.emit(bytes))?;
    mac("mac-long-bsr", false, &[&[lcid::LONG_BSR, content.len() as u8], &content[..]].concat())
}

fn rtcp(frames: &mut Frames) -> Result<()> {
    let arrival = |ecn, units| Some(Arrival { ecn, offset: ArrivalOffset::Before(units) });
    let ccfb = emitted(|bytes| {
        let mut builder = Builder::new(bytes, 0x0102_0304)?;
        builder.stream(9, 0xFFFF, [arrival(Ecn::Ect1, 1024), None, arrival(Ecn::Ce, 0)])?;
        builder.stream(10, 5, [arrival(Ecn::Ect0, 7)])?;
        builder.finish(0x1122_3344)
    })?;
    frames.push(("rtcp-ccfb", over_udp(RTCP_PORT, RTCP_PORT, Ecn::Ect1, &ccfb)?));
    let repr =
        twcc::Repr { sender_ssrc: 1, media_ssrc: 2, base_sequence: 100, reference_time: 1000, feedback_count: 3 };
    let deltas = [Some(4), None, Some(300), Some(-8), Some(1), Some(2), Some(3), Some(4)];
    let twcc = emitted(|bytes| twcc::emit(&repr, &deltas, bytes))?;
    frames.push(("rtcp-twcc", over_udp(RTCP_PORT, RTCP_PORT, Ecn::NotEct, &twcc)?));
    Ok(())
}

/// A capture in the pcapng format: a section, an interface of raw IP, and a block for each packet with its comment.
fn write_capture(file: &mut impl Write, frames: &Frames) -> std::io::Result<()> {
    const SECTION: u32 = 0x0A0D_0D0A;
    const INTERFACE: u32 = 1;
    const ENHANCED_PACKET: u32 = 6;
    const RAW_IP: u16 = 101;
    let mut block = |kind: u32, mut body: Vec<u8>| {
        body.resize(body.len().next_multiple_of(4), 0);
        let len = (body.len() as u32 + 12).to_le_bytes();
        file.write_all(&[&kind.to_le_bytes(), &len, &body[..], &len].concat())
    };
    let magic_and_version = [0x1A2B_3C4Du32.to_le_bytes(), [1, 0, 0, 0]].concat();
    block(SECTION, [magic_and_version, (-1i64).to_le_bytes().to_vec()].concat())?;
    block(INTERFACE, [&RAW_IP.to_le_bytes()[..], &[0; 6]].concat())?;
    for (at, (name, bytes)) in frames.iter().enumerate() {
        let mut body = Vec::new();
        for field in [0, 0, at as u32 * 1000, bytes.len() as u32, bytes.len() as u32] {
            body.extend(field.to_le_bytes());
        }
        body.extend(bytes);
        body.resize(body.len().next_multiple_of(4), 0);
        body.extend([1, 0, name.len() as u8, 0]); // opt_comment
        body.extend(name.as_bytes());
        body.resize(body.len().next_multiple_of(4), 0);
        body.extend([0; 4]); // opt_endofopt
        block(ENHANCED_PACKET, body)?;
    }
    file.flush()
}
