//! Rates that the controllers reach, and marks that both ends count.

use std::time::Duration;

use tidemark_core::{BitRate, Ecn};
use tidemark_stream::{Feedback, State};

use crate::path::{Marking, Path, named};

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn frames_arrive_at_the_paths_rate_with_a_short_queue_and_equal_marks() {
    for name in ["scream", "prague-video", "al4s", "l4s-cc"] {
        let mut path = Path::new(named(name), Feedback::Rfc8888, true, s(20));
        path.run(s(10));
        let from = path.waits.len();
        let rate = path.rate_until(s(20));
        let p95 = path.p95(from);
        // The stream has ended, and every report has come.
        let status = path.run(s(22));
        let media = path.media.len();
        let marked = path.peer.arrivals.iter().filter(|arrival| arrival.ecn == Ecn::Ce).count() as u64;
        eprintln!("{name}: {rate:.2} Mbit/s, p95 {p95:?}, {marked} of {media} marked, {} reports", status.reports);
        assert_eq!((status.state, status.feedback), (State::Streaming, Feedback::Rfc8888), "{name}");
        assert!((1.2..4.0).contains(&rate), "{name}: {rate}");
        assert!(p95 < Duration::from_millis(40), "{name}: {p95:?}");
        assert_eq!(status.sender.marks_reported, marked, "{name}");
        assert!(name != "scream" || marked > 0);
        // RFC 9331 4.1: media alone is sent as ECT(1), and all of it.
        assert!(path.media.iter().all(|ecn| *ecn == Ecn::Ect1) && path.others.iter().all(|ecn| *ecn == Ecn::NotEct));
        assert_eq!(path.peer.arrivals.len(), media, "{name}");
    }
}

#[test]
fn every_controller_backs_off_where_everything_is_marked() {
    // SCReAM's window has a floor of 3000 bytes, here in each 36 ms: its round trip and the wait for a report. Without a delay it would not
    // back off at all.
    for (name, floor) in [("scream", 0.7), ("prague-video", 0.2), ("al4s", 0.2), ("l4s-cc", 0.2)] {
        let mut path = Path::new(named(name), Feedback::Rfc8888, true, s(30));
        path.marking = Marking::Never;
        let before = path.rate_until(s(10));
        path.marking = Marking::Always;
        path.run(s(20));
        let after = path.rate_until(s(25));
        eprintln!("{name}: {before:.2} to {after:.2} Mbit/s");
        assert!(before > 1.2 && after < floor, "{name}: {before} {after}");
    }
}

#[test]
fn without_l4s_nothing_is_sent_as_ect() {
    let mut path = Path::new(named("scream"), Feedback::Rfc8888, false, s(10));
    let status = path.run(s(10));
    assert!(path.media.len() > 300 && path.media.iter().chain(&path.others).all(|ecn| *ecn == Ecn::NotEct));
    assert_eq!(status.sender.marks_reported, 0);
}

#[test]
fn without_marks_only_scream_and_prague_yield_to_a_queue() {
    for (name, yields) in [("scream", true), ("prague-video", true), ("al4s", false), ("l4s-cc", false)] {
        let mut path = Path::new(named(name), Feedback::Rfc8888, false, s(20));
        let target = path.run(s(20)).sender.target_rate.unwrap();
        assert_eq!(target < BitRate::from_mbps(5), yields, "{name}: {target} on a path of 4 Mbit/s");
    }
}

#[test]
fn without_reports_of_marks_nothing_is_sent_as_ect() {
    for feedback in [Feedback::TransportWide, Feedback::None] {
        let mut path = Path::new(named("scream"), feedback, true, s(4));
        path.run(s(4));
        assert!(path.media.len() > 100 && path.media.iter().all(|ecn| *ecn == Ecn::NotEct), "{feedback:?}");
        assert!(!path.session.is_l4s());
    }
}

#[test]
fn gcc_climbs_by_transport_wide_feedback() {
    let mut path = Path::new(named("gcc"), Feedback::TransportWide, true, s(20));
    let status = path.run(s(10));
    let rate = path.rate_until(s(20));
    eprintln!("gcc: {rate:.2} Mbit/s, {} reports", status.reports);
    assert_eq!(status.feedback, Feedback::TransportWide);
    assert!(status.reports > 50 && rate > 2.0, "{rate} {status:?}");
}

#[test]
fn without_feedback_the_first_rate_stays() {
    let mut path = Path::new(named("scream"), Feedback::None, true, s(10));
    path.run(s(2));
    let rate = path.rate_until(s(10));
    assert!((0.85..1.0).contains(&rate), "{rate}");
    assert_eq!(path.run(s(10)).reports, 0);
}
