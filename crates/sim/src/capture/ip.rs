//! A packet of the simulator as bytes: real headers, with a payload of zeros where the simulator has none.

use std::net::IpAddr;

use tidemark_core::{Ecn, FlowId, Instant, Packet};
use tidemark_senders::Payload;
use tidemark_senders::payload::{Metrics, Report, RtpPacket, TcpSegment};
use tidemark_wire::tcp::{AccEcnOption, AccEcnOrder, SackBlocks, TcpOption};
use tidemark_wire::{Error, Result, ipv4, rfc8888, tcp, udp};

use crate::stamped::Stamped;

/// Receive windows are scaled by this shift (RFC 7323 2).
const WINDOW_SHIFT: u8 = 10;
/// Kind of an experimental option, and the identifier of recommendations in it, which nobody has registered (RFC 6994 3).
const EXPERIMENT: u8 = 253;
const EXPERIMENT_ID: [u8; 2] = *b"TM";
/// RTP's clock for video.
const RTP_HZ: u64 = 90_000;

const IP_LEN: usize = 20;
const UDP_LEN: usize = 8;

/// Writes a packet with the ECN field `ecn`.
///
/// # Errors
/// A packet that its size has no room for.
pub(super) fn write(packet: &Packet<Stamped>, ecn: Ecn, out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    out.resize(packet.size.0 as usize, 0);
    let payload = packet.payload.payload();
    let read = packet.payload.addresses.selectors(payload, packet.payload.up);
    let (IpAddr::V4(source), IpAddr::V4(destination), Some(ports)) = (read.source, read.destination, read.ports) else {
        return Err(Error::Value);
    };
    let transport = match payload {
        Payload::Tcp(segment) => segment_into(segment, ports, &mut out[IP_LEN..])?,
        other => datagram_into(other, packet.flow, ports, &mut out[IP_LEN..])?,
    };
    let protocol = read.protocol;
    if transport != out.len() - IP_LEN {
        return Err(Error::Length);
    }
    let header = ipv4::Repr {
        dscp: read.dscp,
        ecn,
        identification: 0,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: 0,
        ttl: 64,
        protocol,
        source,
        destination,
        payload_len: transport as u16,
    };
    header.emit(out)?;
    let (source, destination) = (source.into(), destination.into());
    match protocol {
        tcp::PROTOCOL => tcp::Packet::new_checked(&mut out[IP_LEN..])?.fill_checksum(source, destination),
        _ => udp::Packet::new_checked(&mut out[IP_LEN..])?.fill_checksum(source, destination),
    }
    Ok(())
}

/// Writes a segment and gives its length.
fn segment_into(segment: &TcpSegment, (source_port, destination_port): (u16, u16), out: &mut [u8]) -> Result<usize> {
    let millis = |at: Instant| (at.as_nanos() / 1_000_000) as u32;
    let timestamps = TcpOption::Timestamps { value: millis(segment.timestamp), echo: millis(segment.echo) };
    let mut options = Vec::with_capacity(4);
    let syn = segment.flags.syn;
    let recommendation = segment.recommended.map(|rate| {
        let kbps = u32::try_from(rate.as_bps() / 1_000).unwrap_or(u32::MAX).to_be_bytes();
        [EXPERIMENT_ID[0], EXPERIMENT_ID[1], kbps[0], kbps[1], kbps[2], kbps[3]]
    });
    if syn {
        options.extend([TcpOption::MaximumSegmentSize(1_460), TcpOption::SackPermitted, timestamps]);
        options.push(TcpOption::WindowScale(WINDOW_SHIFT));
    } else {
        options.push(timestamps);
        let blocks: Vec<_> = segment.sack.iter(segment.ack).map(|(from, to)| (from as u32, to as u32)).collect();
        if !blocks.is_empty() {
            options.push(TcpOption::Sack(SackBlocks::new(&blocks).ok_or(Error::Value)?));
        }
        // The order in which the counters that are left out come last.
        let order = |e0b: Option<u32>| if e0b.is_some() { AccEcnOrder::Ect0First } else { AccEcnOrder::Ect1First };
        let accecn = |counters| AccEcnOption { order: order(segment.accecn.and_then(|all| all.e0b)), counters };
        options.extend(segment.accecn.map(|counters| TcpOption::AccEcn(accecn(counters))));
        options.extend(recommendation.as_ref().map(|data| TcpOption::Unknown { kind: EXPERIMENT, data }));
    }
    let window = if syn { segment.window } else { segment.window >> WINDOW_SHIFT };
    let header = tcp::Repr {
        source_port,
        destination_port,
        seq: segment.seq as u32,
        ack: if segment.flags.ack { segment.ack as u32 } else { 0 },
        flags: segment.flags,
        push: false,
        urgent: None,
        window: window.min(0xFFFF) as u16,
        options: &options,
    };
    Ok(header.emit(out)? + segment.payload as usize)
}

/// Writes a datagram and gives its length.
fn datagram_into(
    payload: &Payload,
    flow: FlowId,
    (source_port, destination_port): (u16, u16),
    out: &mut [u8],
) -> Result<usize> {
    let len = out.len();
    let content = out.get_mut(UDP_LEN..).ok_or(Error::Truncated)?;
    match payload {
        Payload::Rtp(packet) => rtp_into(packet, flow, content)?,
        Payload::Report(report) => report_into(report, flow, content)?,
        _ => {}
    }
    udp::Repr { source_port, destination_port, payload_len: (len - UDP_LEN) as u16 }.emit(out)?;
    Ok(len)
}

/// An RTP header with a one-byte extension that numbers packets over the transport (RFC 3550 5.1, RFC 8285 4.2).
fn rtp_into(packet: &RtpPacket, flow: FlowId, out: &mut [u8]) -> Result<()> {
    let out = out.get_mut(..20).ok_or(Error::Truncated)?;
    let timestamp = packet.frame.captured.as_nanos() / 1_000 * RTP_HZ / 1_000_000;
    let number = (packet.seq as u16).to_be_bytes();
    out[0] = 0x90; // version 2, with an extension
    out[1] = u8::from(packet.marker) << 7 | 96;
    out[2..4].copy_from_slice(&number);
    out[4..8].copy_from_slice(&(timestamp as u32).to_be_bytes());
    out[8..12].copy_from_slice(&ssrc(flow).to_be_bytes());
    out[12..16].copy_from_slice(&[0xBE, 0xDE, 0, 1]);
    out[16] = 1 << 4 | 1; // element 1, two bytes
    out[17..19].copy_from_slice(&number);
    Ok(())
}

/// A report after RFC 8888. Transport-wide feedback and what goes with either stays zero.
fn report_into(report: &Report, flow: FlowId, out: &mut [u8]) -> Result<()> {
    let Metrics::Ccfb(metrics) = &report.metrics else { return Ok(()) };
    let mut builder = rfc8888::Builder::new(out, ssrc(flow) + 1)?;
    let packets = metrics.iter().map(|metric| {
        let offset = match metric.0 & 0x1FFF {
            0x1FFE => rfc8888::ArrivalOffset::TooLong,
            0x1FFF => rfc8888::ArrivalOffset::Unavailable,
            units => rfc8888::ArrivalOffset::Before(units),
        };
        (metric.0 >> 15 == 1).then(|| rfc8888::Arrival { ecn: Ecn::from_bits((metric.0 >> 13) as u8 & 3), offset })
    });
    builder.stream(ssrc(flow), report.begin as u16, packets)?;
    // The middle of an NTP timestamp: 16 bits of seconds, 16 of their fraction.
    let timestamp = u128::from(report.timestamp.as_nanos()) * 65_536 / 1_000_000_000;
    builder.finish(timestamp as u32).map(drop)
}

fn ssrc(flow: FlowId) -> u32 {
    0x7144_0000 | flow.0 << 1 & 0xFFFF
}
