//! Requests of a viewer: retransmissions and key frames.

use std::time::Duration;

use rtc::rtcp::payload_feedbacks::picture_loss_indication::PictureLossIndication;
use rtc::rtcp::transport_feedbacks::transport_layer_nack::{NackPair, TransportLayerNack};
use tidemark_stream::Feedback;

use crate::path::{Path, named};

#[test]
fn a_packet_that_is_missing_comes_once_more() {
    let mut path = Path::new(named("scream"), Feedback::Rfc8888, true, Duration::from_secs(5));
    path.run(Duration::from_secs(3));
    let first = path.peer.arrivals.len();
    path.loss = 50;
    let missing = loop {
        path.run(path.now.duration_since(path.begin) + Duration::from_millis(20));
        let mut pairs = path.peer.arrivals[first..].windows(2);
        if let Some(pair) = pairs.find(|pair| pair[1].seq == pair[0].seq.wrapping_add(2)) {
            break pair[0].seq.wrapping_add(1);
        }
    };
    path.loss = 0;
    let media_ssrc = path.peer.ssrc();
    let nacks = vec![NackPair { packet_id: missing, lost_packets: 0 }];
    path.peer.send(path.now, Box::new(TransportLayerNack { sender_ssrc: 1, media_ssrc, nacks }));
    let before = path.peer.arrivals.len();
    let status = path.run(Duration::from_millis(4500));
    assert_eq!((status.retransmitted, status.refused), (1, 0));
    assert_eq!(path.peer.arrivals[before..].iter().filter(|arrival| arrival.seq == missing).count(), 1);
}

#[test]
fn a_key_frame_that_is_asked_for_reaches_the_source() {
    let mut path = Path::new(named("scream"), Feedback::Rfc8888, true, Duration::from_secs(5));
    path.run(Duration::from_secs(2));
    let media_ssrc = path.peer.ssrc();
    path.peer.send(path.now, Box::new(PictureLossIndication { sender_ssrc: 1, media_ssrc }));
    assert_eq!(path.run(Duration::from_secs(3)).refreshes, 1);
}
