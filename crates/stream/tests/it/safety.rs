//! Limits of what a hostile viewer can do.

use std::net::{Ipv4Addr, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rtc::rtcp;
use rtc::rtcp::raw_packet::RawPacket;
use rtc::rtcp::transport_feedbacks::cc_feedback_report::{
    CcFeedbackMetricBlock, CcFeedbackReport, CcFeedbackReportBlock, Ecn as Reported,
};
use rtc::rtcp::transport_feedbacks::transport_layer_nack::{NackPair, TransportLayerNack};
use tidemark_core::BitRate;
use tidemark_senders::media::RateLimits;
use tidemark_stream::{Choice, Feedback, Frames, MAX_OFFER, Server, Session, Settings, Size, State};

use crate::loopback::{Viewer, post};
use crate::path::{Marking, Path, SSRC, address, generated, named, video};
use crate::peer::Peer;

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn refusal(offer: &str) -> Option<String> {
    let video = video(s(1));
    let choice = Choice { controller: named("scream"), video: video.clone(), l4s: true, ssrc: 1 };
    Session::answer(Instant::now(), offer, address(1), choice, generated(&video)).err().map(|error| error.to_string())
}

#[test]
fn an_offer_that_cannot_be_answered_is_refused_with_what_would_be_right() {
    let (_, good) = Peer::offer(Instant::now(), address(2), address(1), Feedback::Rfc8888);
    assert_eq!(refusal(&good), None);
    assert!(refusal("").unwrap().contains("one video"));
    assert!(refusal(&good.replace("m=video", "m=audio")).unwrap().contains("one video"));
    assert!(refusal(&good.repeat(2)).unwrap().contains("nothing else"));
    assert!(refusal(&" ".repeat(MAX_OFFER + 1)).unwrap().contains("65537 bytes"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_offer_does_harm(cut in 0usize..4000, insert in ".{0,40}", remove in 0usize..60) {
        let (_, good) = Peer::offer(Instant::now(), address(2), address(1), Feedback::Rfc8888);
        let at = (0..=cut.min(good.len())).rev().find(|at| good.is_char_boundary(*at)).unwrap();
        let rest: String = good[at..].chars().skip(remove).collect();
        let _ = refusal(&format!("{}{insert}{rest}", &good[..at]));
    }
}

#[test]
fn datagrams_from_anybody_do_no_harm() {
    let mut path = Path::new(named("scream"), Feedback::Rfc8888, true, s(6));
    path.run(s(2));
    let mut bits = 0x9E37_79B9_u32;
    for length in 0..3000_usize {
        let bytes: Vec<u8> = (0..length % 300)
            .map(|index| {
                bits ^= bits << 13;
                bits ^= bits >> 17;
                bits ^= bits << 5;
                // Each kind that shares the port: STUN, DTLS, RTP, RTCP.
                if index == 0 { [0, 1, 22, 128, 129, 200][length % 6] } else { bits as u8 }
            })
            .collect();
        path.session.handle_datagram(path.now, address(2 + (length % 3) as u8), &bytes);
    }
    let status = path.run(s(5));
    assert_eq!(status.state, State::Streaming);
    assert!(path.rate_until(s(6)) > 0.5);
}

/// Blocks of a viewer that lies: packets as received without a mark.
type Lie = fn(&Path) -> Vec<(u16, usize)>;

/// Newest packet that arrived.
fn newest(path: &Path) -> u16 {
    path.peer.arrivals.last().unwrap().seq
}

/// Rate under marks on everything, with honest reports and every 200 ms a lie beside them.
fn rate_beside(name: &str, lie: Option<Lie>) -> f64 {
    let mut path = Path::new(named(name), Feedback::Rfc8888, true, s(20));
    path.marking = Marking::Always;
    path.run(s(4));
    while path.now < path.begin + s(12) {
        let metric = CcFeedbackMetricBlock { received: true, ecn: Reported::Ect1, arrival_time_offset: 0 };
        let media_ssrc = path.peer.ssrc();
        for (begin_sequence, length) in lie.map_or_else(Vec::new, |lie| lie(&path)) {
            let metric_blocks = vec![metric; length];
            path.peer.send_blocks(path.now, vec![CcFeedbackReportBlock { media_ssrc, begin_sequence, metric_blocks }]);
        }
        path.run(path.now.duration_since(path.begin) + Duration::from_millis(200));
    }
    path.rate_until(s(18))
}

#[test]
fn reports_that_lie_do_not_raise_the_rate() {
    let lies: [(&str, Lie); 4] = [
        ("packets that were never sent", |path| vec![(newest(path).wrapping_add(500), 400)]),
        ("numbers of the future", |path| vec![(newest(path).wrapping_add(20_000), 400), (newest(path) | 0x8000, 1)]),
        ("marks that go backwards", |path| {
            let reported = path.peer.arrivals.iter().rev().skip(10).take(60);
            reported.map(|arrival| (arrival.seq, 1)).collect()
        }),
        ("all of the past", |path| vec![(newest(path).wrapping_sub(500).min(newest(path)), 400)]),
    ];
    for name in ["scream", "prague-video", "al4s", "l4s-cc"] {
        let honest = rate_beside(name, None);
        for (what, lie) in lies {
            let lying = rate_beside(name, Some(lie));
            assert!(lying <= 1.05 * honest, "{name}, {what}: {honest} {lying}");
        }
    }
}

/// RTCP of a viewer as it pleases: feedback of each kind with any content, or a report of RFC 8888 with any numbers.
fn rtcp() -> impl Strategy<Value = Box<dyn rtcp::Packet>> {
    const KINDS: [(u8, u8); 11] = [
        (205, 1),
        (205, 11),
        (205, 15),
        (206, 1),
        (206, 4),
        (206, 15),
        (200, 0),
        (201, 1),
        (202, 1),
        (203, 1),
        (207, 0),
    ];
    let raw = (prop::sample::select(&KINDS[..]), prop::collection::vec(any::<u8>(), 8..400)).prop_map(
        |((kind, format), mut body)| {
            body.truncate(body.len() / 4 * 4);
            let words = (body.len() / 4) as u16;
            let head = [0x80 | format, kind, (words >> 8) as u8, words as u8];
            Box::new(RawPacket(head.into_iter().chain(body).collect())) as Box<dyn rtcp::Packet>
        },
    );
    let ecn = prop::sample::select(&[Reported::NotEct, Reported::Ect1, Reported::Ect0, Reported::Ce][..]);
    let metric = (any::<bool>(), ecn, 0u16..0x2000);
    let block = (any::<u16>(), prop::collection::vec(metric, 0..300));
    let report = (prop::collection::vec(block, 0..3), any::<u32>()).prop_map(|(blocks, report_timestamp)| {
        let block = |(begin_sequence, metrics): (u16, Vec<(bool, Reported, u16)>)| CcFeedbackReportBlock {
            media_ssrc: SSRC,
            begin_sequence,
            metric_blocks: metrics
                .into_iter()
                .map(|(received, ecn, arrival_time_offset)| CcFeedbackMetricBlock {
                    received,
                    ecn,
                    arrival_time_offset,
                })
                .collect(),
        };
        let report_blocks = blocks.into_iter().map(block).collect();
        Box::new(CcFeedbackReport { sender_ssrc: 1, report_blocks, report_timestamp }) as Box<dyn rtcp::Packet>
    });
    prop_oneof![raw, report]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_rtcp_does_harm(packets in prop::collection::vec(rtcp(), 1..60), name in prop::sample::select(&["scream", "prague-video", "gcc"][..])) {
        let mut path = Path::new(named(name), Feedback::Rfc8888, true, s(10));
        path.run(Duration::from_millis(500));
        for packet in packets {
            path.peer.send(path.now, packet);
            path.run(path.now.duration_since(path.begin) + Duration::from_millis(10));
        }
        let arrived = path.peer.arrivals.len();
        let status = path.run(s(3));
        prop_assert_eq!((status.state, path.peer.ssrc()), (State::Streaming, SSRC));
        let rate = status.sender.target_rate.unwrap();
        prop_assert!(rate >= BitRate::from_kbps(150) && rate <= BitRate::from_mbps(8), "{}", rate);
        prop_assert!(path.peer.arrivals.len() > arrived);
    }
}

#[test]
fn whoever_asks_for_everything_once_more_gets_an_eighth() {
    let mut path = Path::new(named("scream"), Feedback::Rfc8888, true, s(10));
    path.run(s(3));
    while path.now < path.begin + s(8) {
        let (media_ssrc, newest) = (path.peer.ssrc(), path.peer.arrivals.last().unwrap().seq);
        let pair = |back: u16| NackPair { packet_id: newest.wrapping_sub(back * 17), lost_packets: 0xFFFF };
        let nacks = (1..30).map(pair).collect();
        path.peer.send(path.now, Box::new(TransportLayerNack { sender_ssrc: 1, media_ssrc, nacks }));
        path.run(path.now.duration_since(path.begin) + Duration::from_millis(50));
    }
    let status = path.run(s(10));
    assert!(status.refused > 1000, "{status:?}");
    assert!(status.retransmitted * 7 < status.sender.packets_sent, "{status:?}");
}

#[test]
fn a_viewer_that_does_not_come_or_vanishes_is_forgotten() {
    let mut absent = Path::new(named("scream"), Feedback::Rfc8888, true, s(60));
    absent.is_cut = true;
    assert_eq!(absent.run(s(5)).state, State::Connecting);
    assert_eq!(absent.run(s(16)).state, State::Over);
    let mut path = Path::new(named("scream"), Feedback::Rfc8888, true, s(60));
    assert_eq!(path.run(s(5)).state, State::Streaming);
    path.is_cut = true;
    assert_eq!(path.run(s(20)).state, State::Over);
    assert_eq!(path.session.poll_transmit(path.now).map(|datagram| datagram.ecn), None);
}

#[test]
fn a_viewer_that_stops_reporting_is_not_flooded() {
    let mut path = Path::new(named("scream"), Feedback::Rfc8888, true, s(30));
    path.run(s(8));
    path.peer.is_silent = true;
    path.run(s(15));
    let rate = path.rate_until(s(20));
    assert!(rate < 0.5, "{rate}");
}

#[test]
fn a_place_is_free_once_its_viewer_has_vanished() {
    let rate = BitRate::from_mbps(1);
    let settings = Settings {
        controller: "prague-video".into(),
        l4s: true,
        frames: Frames::Generator,
        size: Size { width: 640, height: 360, frame_rate: 30 },
        rates: RateLimits { min: rate, initial: rate, max: rate },
        marking: None,
        viewers: 1,
        reference: None,
        out: None,
        cell: None,
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let page = listener.local_addr().unwrap();
    let server = Server::start(listener, settings);
    let mut viewer = Viewer::join(page, "");
    let deadline = Instant::now() + s(60);
    while viewer.peer.arrivals.is_empty() {
        assert!(Instant::now() < deadline, "no picture");
        viewer.step();
        thread::sleep(Duration::from_millis(1));
    }
    let (_, offer) = Peer::offer(Instant::now(), address(2), address(1), Feedback::Rfc8888);
    let refused = post(page, "/whep", &offer);
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("raise --viewers"), "{refused}");
    drop(viewer);
    while !post(page, "/whep", &offer).starts_with("HTTP/1.1 201") {
        assert!(Instant::now() < deadline, "the viewer is not forgotten");
        thread::sleep(Duration::from_millis(200));
    }
    server.close();
}
