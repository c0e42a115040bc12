//! What media and UDP Prague send beside RTCP feedback: RTP, presence, and Prague's messages.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemark_wire::rtcp::{self, Presence, Recommendation};
use tidemark_wire::rtp::{HEADER_LEN, Header};
use tidemark_wire::udp_prague::{self, Message};

/// What was read is a part of what came, and comes back from what is written.
fn rtp(packet: &[u8]) {
    let Ok((header, payload)) = Header::parse(packet) else { return };
    let mut again = vec![0; HEADER_LEN];
    let len = header.emit(&mut again).unwrap();
    assert!(len <= packet.len() && 12 + payload.len() <= packet.len());
    assert_eq!(len, if header.send_time.is_some() { HEADER_LEN } else { 12 });
    again.truncate(len);
    again.extend(payload);
    assert_eq!(Header::parse(&again), Ok((header, payload)));
    // Without contributing sources, padding and an extension the header is the first twelve bytes.
    if packet[0] == 0x80 {
        assert_eq!(again, packet);
    }
    // Padding and sources are no payload.
    let (sources, is_padded) = (usize::from(packet[0] & 0xF), packet[0] & 0x20 != 0);
    let padding = if is_padded { usize::from(*packet.last().unwrap()) } else { 0 };
    assert!(12 + 4 * sources + payload.len() + padding <= packet.len());
    assert!(packet[..packet.len() - padding].ends_with(payload));
}

/// A message is written to the bytes that it was read from, whatever filling follows.
fn prague(datagram: &[u8]) {
    let mut again = vec![0; datagram.len()];
    match Message::parse(datagram) {
        Ok(Message::Data(data)) => {
            let len = data.emit(&mut again).unwrap();
            assert_eq!(again[..len], datagram[..len]);
        }
        Ok(Message::Ack(ack)) => {
            let len = ack.emit(&mut again).unwrap();
            // The last octet is a flag: whatever is not zero is one.
            assert_eq!(again[..len - 1], datagram[..len - 1]);
            assert_eq!(Message::parse(&again), Ok(Message::Ack(ack)));
        }
        Ok(Message::Report(report)) => {
            let len = udp_prague::emit_report(report.begin, report.words(), &mut again).unwrap();
            assert_eq!(again[..len], datagram[..len]);
        }
        Err(_) => {}
    }
}

fn presence(packet: &[u8]) {
    let Ok(presence) = Presence::parse(packet) else { return };
    let ssrc = u32::from_be_bytes([packet[4], packet[5], packet[6], packet[7]]);
    let again = presence.emit(ssrc);
    assert_eq!(Presence::parse(&again), Ok(presence));
    assert_eq!((again[..2].to_vec(), &again[4..]), (packet[..2].to_vec(), &packet[4..8]));
}

/// A bit rate comes back from what is written, and the packets of a compound have lengths that lead on.
fn application(packet: &[u8]) {
    match rtcp::length(packet) {
        Ok(len) => assert!(packet.len() >= 4 && len >= 4 && len % 4 == 0),
        Err(_) => assert!(packet.len() < 4),
    }
    let Ok(recommendation) = Recommendation::parse(packet) else { return };
    let ssrc = u32::from_be_bytes([packet[4], packet[5], packet[6], packet[7]]);
    let again = recommendation.emit(ssrc);
    assert_eq!(Recommendation::parse(&again), Ok(recommendation));
    assert_eq!(rtcp::length(&again), Ok(again.len()));
}

fuzz_target!(|bytes: &[u8]| {
    rtp(bytes);
    prague(bytes);
    presence(bytes);
    application(bytes);
    // The first octets are put right, since chance would seldom do it.
    let mut packet = bytes.to_vec();
    if let Some(first) = packet.first_mut() {
        *first = *first & 0x3F | 0x80;
        rtp(&packet);
        for kind in [1, 2, 17, 18] {
            packet[0] = kind;
            prague(&packet);
        }
    }
    if packet.len() >= 2 {
        for head in [[0x80, 201], [0x81, 203]] {
            packet[..2].copy_from_slice(&head);
            presence(&packet);
        }
    }
    if packet.len() >= 12 {
        packet[..4].copy_from_slice(&[0x80, 204, 0, 3]);
        packet[8..12].copy_from_slice(b"ANBR");
        application(&packet);
    }
});
