//! RTCP feedback: what was read is written and read back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemark_wire::rfc8888::{Builder, Feedback};
use tidemark_wire::twcc;

fn rfc8888(packet: &[u8]) {
    let Ok(feedback) = Feedback::parse(packet) else { return };
    let mut bytes = vec![0; packet.len() + 8];
    let mut builder = Builder::new(&mut bytes, feedback.sender_ssrc).unwrap();
    for stream in feedback.streams() {
        builder.stream(stream.ssrc, stream.begin_seq, stream.packets().map(|(_, arrival)| arrival)).unwrap();
    }
    let len = builder.finish(feedback.report_timestamp).unwrap();
    let again = Feedback::parse(&bytes[..len]).unwrap();
    assert_eq!((again.sender_ssrc, again.report_timestamp), (feedback.sender_ssrc, feedback.report_timestamp));
    assert!(
        again
            .streams()
            .map(|stream| (stream.ssrc, stream.packets().collect::<Vec<_>>()))
            .eq(feedback.streams().map(|stream| (stream.ssrc, stream.packets().collect::<Vec<_>>())))
    );
}

fn transport_wide(packet: &[u8]) {
    let Ok(feedback) = twcc::Feedback::parse(packet) else { return };
    let deltas: Vec<_> = feedback.deltas().map(|(_, delta)| delta).collect();
    assert_eq!(feedback.arrivals().count(), deltas.len());
    let mut bytes = vec![0; 200_000];
    let len = twcc::emit(&feedback.repr, &deltas, &mut bytes).unwrap();
    let again = twcc::Feedback::parse(&bytes[..len]).unwrap();
    assert_eq!(again.repr, feedback.repr);
    assert!(again.deltas().eq(feedback.deltas()));
}

fuzz_target!(|bytes: &[u8]| {
    rfc8888(bytes);
    transport_wide(bytes);
    let mut packet = bytes.to_vec();
    // The common header is put right, since chance would seldom do it.
    if packet.len() >= 4 {
        let words = (packet.len() / 4 - 1) as u16;
        packet[1] = 205;
        packet[2..4].copy_from_slice(&words.to_be_bytes());
        packet[0] = packet[0] & 0x20 | 0x8B;
        rfc8888(&packet);
        packet[0] = packet[0] & 0x20 | 0x8F;
        transport_wide(&packet);
    }
});
