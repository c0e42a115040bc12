//! Headers of the two ends.

use crate::link::{Fate, Link, ecn_of, is_data};
use tidemark_core::{Bytes, Duration, Ecn, Inspect, Instant, Packet, TcpFlags};
use tidemark_senders::app::BulkConfig;
use tidemark_senders::controller::{CubicConfig, PragueConfig};
use tidemark_senders::{AppConfig, EcnMode, Payload, SenderConfig, TcpConfig};

fn bulk(size: u64) -> AppConfig {
    AppConfig::Bulk(BulkConfig { size: Some(Bytes(size)), ..BulkConfig::default() })
}

fn prague(tcp: TcpConfig) -> SenderConfig {
    SenderConfig::Prague(PragueConfig { tcp, ..PragueConfig::default() })
}

fn cubic(tcp: TcpConfig) -> SenderConfig {
    SenderConfig::Cubic(CubicConfig { tcp, ..CubicConfig::default() })
}

fn run(config: &SenderConfig, size: u64) -> Link {
    let mut link = Link::new(config, &bulk(size), Duration::from_millis(20));
    link.keep = true;
    link.run_for(Duration::from_secs(30));
    link
}

fn flags(packet: &(Instant, Packet<Payload>)) -> TcpFlags {
    packet.1.payload.tcp().map(|view| view.flags).unwrap_or_default()
}

#[test]
fn the_client_opens_and_the_first_packet_down_is_the_syn_ack() {
    let link = run(&SenderConfig::default(), 3000);
    let (syn, syn_ack) = (flags(&link.sent_up[0]), flags(&link.sent_down[0]));
    assert!(syn.syn && !syn.ack && syn_ack.syn && syn_ack.ack);
    assert_eq!(link.sent_up[1].0, Instant::from_millis(40), "the third segment leaves when the second arrives");
    assert_eq!(link.sent_down[1].0, Instant::from_millis(60), "and then the data");
    // A marker between the ends sees the handshake's numbers: SYN/ACK acknowledges 1, so does the third segment.
    assert_eq!(link.sent_down[0].1.payload.tcp().map(|view| (view.seq, view.ack)), Some((0, 1)));
    assert_eq!(link.sent_up[1].1.payload.tcp().map(|view| (view.seq, view.ack)), Some((1, 1)));
}

#[test]
fn each_combination_sends_its_codepoint() {
    let tcp = |server, client| TcpConfig { ecn: Some(server), client_ecn: Some(client), ..TcpConfig::default() };
    use EcnMode::{Accecn, Classic, Off};
    let rows = [
        (prague(tcp(Accecn, Accecn)), Ecn::Ect1),
        (prague(tcp(Accecn, Classic)), Ecn::Ect0),
        (prague(tcp(Accecn, Off)), Ecn::NotEct),
        (cubic(tcp(Accecn, Accecn)), Ecn::Ect0),
        (cubic(tcp(Classic, Accecn)), Ecn::Ect0),
        (cubic(tcp(Off, Accecn)), Ecn::NotEct),
    ];
    for (config, ect) in rows {
        let link = run(&config, 100_000);
        let data = ecn_of(&link.sent_down, true);
        assert!(data.len() > 60 && data.iter().all(|ecn| *ecn == ect), "{config:?}");
        assert_eq!(ecn_of(&link.sent_down, false), [Ecn::NotEct], "the SYN/ACK (RFC 3168 6.1.1)");
    }
}

#[test]
fn every_second_segment_is_acknowledged_and_a_lone_one_after_40_ms() {
    let link = run(&cubic(TcpConfig::default()), 1448 * 11);
    // SYN, third segment, five pairs, the eleventh.
    assert_eq!(link.sent_up.len(), 2 + 5 + 1);
    // IW is 10, so that the eleventh leaves alone, when the first acknowledgement is back.
    let (last_data, last_ack) = (link.sent_down.last().unwrap().0, link.sent_up.last().unwrap().0);
    assert_eq!(last_ack.since(last_data), Duration::from_millis(20 + 40));
}

#[test]
fn a_classic_sender_halves_once_a_round_and_says_cwr_on_the_next_new_segment() {
    let mut link = Link::new(&cubic(TcpConfig::default()), &bulk(600_000), Duration::from_millis(20));
    link.keep = true;
    let mut data = 0;
    link.down = Box::new(move |_, packet| {
        data += u32::from(is_data(packet));
        // Six marks in one round trip.
        if is_data(packet) && (40..46).contains(&data) { Fate::Mark } else { Fate::Deliver }
    });
    assert!(link.run_for(Duration::from_secs(30)));
    assert_eq!(link.stats().1.marks_received, 6);
    assert_eq!(link.stats().0.marks_reported, 1);
    assert_eq!(link.sent_down.iter().filter(|packet| flags(packet).cwr).count(), 1);
    let echoes: Vec<Instant> =
        link.sent_up.iter().filter(|packet| flags(packet).ece && !flags(packet).syn).map(|packet| packet.0).collect();
    let said = link.sent_down.iter().find(|packet| flags(packet).cwr).unwrap().0;
    assert!(echoes.iter().all(|echo| *echo <= said + Duration::from_millis(20)), "the echo ends when CWR arrives");
}

#[test]
fn each_mark_is_counted_once_even_if_acknowledgements_are_lost() {
    let mut link = Link::new(&prague(TcpConfig::default()), &bulk(3_000_000), Duration::from_millis(20));
    let mut data = 0;
    link.down = Box::new(move |_, packet| {
        data += u32::from(is_data(packet));
        if data % 5 == 0 { Fate::Mark } else { Fate::Deliver }
    });
    let mut acks = 0;
    link.up = Box::new(move |_, _| {
        acks += 1;
        if acks > 20 && acks % 3 == 0 { Fate::Drop } else { Fate::Deliver }
    });
    link.run_for(Duration::from_secs(60));
    let (server, client) = link.stats();
    assert_eq!(client.delivered, Bytes(3_000_000));
    assert!(client.marks_received > 400);
    assert_eq!(server.marks_reported, client.marks_received);
    // The last acknowledgement may be among the lost: one probe asks for it.
    assert!(server.retransmissions <= 1, "{server:?}");
}

#[test]
fn a_path_that_clears_the_ace_field_is_not_trusted_with_ect() {
    let mut link = Link::new(&prague(TcpConfig::default()), &bulk(100_000), Duration::from_millis(20));
    link.keep = true;
    // Bleaching is between the ends: the test does it on the third segment by hand.
    let mut client_first = true;
    while let Some(mut packet) = {
        link.client.handle_timeout(Instant::ZERO);
        link.client.poll_transmit(Instant::ZERO)
    } {
        if !std::mem::take(&mut client_first) {
            let Payload::Tcp(segment) = &mut packet.payload else { panic!("TCP") };
            segment.flags = segment.flags.with_ace(0);
        }
        link.server.handle_packet(Instant::ZERO, packet.as_ref());
        if let Some(answer) = link.server.poll_transmit(Instant::ZERO).filter(|answer| !is_data(answer)) {
            link.client.handle_packet(Instant::ZERO, answer.as_ref());
        } else {
            break;
        }
    }
    let data = link.server.poll_transmit(Instant::ZERO).expect("data flows");
    assert!(is_data(&data));
    assert_eq!(data.ecn, Ecn::NotEct);
}

#[test]
fn a_path_that_clears_the_ecn_field_is_found_out() {
    for config in
        [prague(TcpConfig::default()), cubic(TcpConfig { ecn: Some(EcnMode::Accecn), ..TcpConfig::default() })]
    {
        let mut link = Link::new(&config, &bulk(2_000_000), Duration::from_millis(20));
        link.keep = true;
        link.down = Box::new(|_, _| Fate::Bleach);
        assert!(link.run_for(Duration::from_secs(30)));
        let sent = ecn_of(&link.sent_down, true);
        let last = sent.iter().rposition(|ecn| ecn.is_ect()).unwrap();
        assert!((60..300).contains(&last), "ECT until packet {last}");
        assert!(link.stats().0.bleached);
    }
}

#[test]
fn three_sack_blocks_at_the_most_and_two_beside_the_counters() {
    let mut link = Link::new(&prague(TcpConfig::default()), &bulk(300_000), Duration::from_millis(20));
    link.keep = true;
    let mut data = 0;
    link.down = Box::new(move |_, packet| {
        data += u32::from(is_data(packet));
        if (30..60).contains(&data) && data % 3 == 0 { Fate::Drop } else { Fate::Deliver }
    });
    assert!(link.run_for(Duration::from_secs(30)));
    assert_eq!(link.stats().1.delivered, Bytes(300_000));
    let most = link.sent_up.iter().map(|packet| packet.1.size).max();
    assert!(most <= Some(Bytes(80)), "{most:?}");
    assert_eq!(link.stats().0.timeouts, 0);
}
