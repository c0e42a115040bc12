//! Limits of what a hostile viewer can do.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use rtc::rtcp::transport_feedbacks::cc_feedback_report::{
    CcFeedbackMetricBlock, CcFeedbackReportBlock, Ecn as Reported,
};
use rtc::rtcp::transport_feedbacks::transport_layer_nack::{NackPair, TransportLayerNack};
use tidemark_stream::{Choice, Feedback, MAX_OFFER, Session, State};

use crate::path::{Marking, Path, address, generated, named, video};
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

#[test]
fn a_report_on_what_was_never_sent_or_was_reported_does_not_raise_the_rate() {
    let run = |lie: bool| {
        let mut path = Path::new(named("scream"), Feedback::Rfc8888, true, s(30));
        path.marking = Marking::Always;
        path.run(s(5));
        while path.now < path.begin + s(20) {
            if lie {
                // All of the numbers, as received and not marked: those that were sent have been reported with their marks.
                let ssrc = path.peer.ssrc();
                let newest = path.peer.arrivals.last().unwrap().seq;
                let metric = CcFeedbackMetricBlock { received: true, ecn: Reported::Ect1, arrival_time_offset: 0 };
                for begin_sequence in [newest.wrapping_add(500), newest.wrapping_sub(500).min(newest)] {
                    let metric_blocks = vec![metric; if begin_sequence == newest { 1 } else { 400 }];
                    path.peer.send_blocks(
                        path.now,
                        vec![CcFeedbackReportBlock { media_ssrc: ssrc, begin_sequence, metric_blocks }],
                    );
                }
            }
            path.run(path.now.duration_since(path.begin) + Duration::from_millis(200));
        }
        path.rate_until(s(25))
    };
    let (honest, lying) = (run(false), run(true));
    assert!(lying <= 1.05 * honest, "{honest} {lying}");
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
