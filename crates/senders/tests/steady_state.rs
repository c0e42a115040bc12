//! Each controller against its law at fixed probabilities, over a decade of them.

use crate::laws::{self, How};
use crate::link::Fate;
use tidemark_senders::{CongestionControl as _, SenderConfig};

/// Controllers whose rate follows from the probability of marks or losses: each has a test below, and is drawn in
/// `results/controllers`.
const WITH_LAW: [&str; 6] = ["reno", "cubic", "prague", "udp-prague", "bbr-v2", "scream"];

/// Controllers without such a law, and why.
const WITHOUT_LAW: [(&str, &str); 16] = [
    ("udp", "answers nothing"),
    ("fixed", "answers nothing"),
    ("bbr-v1", "answers its model of the path alone"),
    ("bbr-v3", "answers its model, and losses above 2 % only"),
    ("prague-video", "UDP Prague's, in rounds of a frame, which end only with a report"),
    ("scream-v1", "answers delay, which a path of fixed delay does not have"),
    ("scream-2021", "its ramp climbs by seconds and not by round trips; answers delay as well"),
    ("gcc", "answers the gradient of the delay, which such a path does not have"),
    ("l4s-cc", "no law is published; its rate depends on the packets of a report"),
    ("al4s", "no law is published; answers the variation of the delay as well"),
    ("anbr", "answers recommendations"),
    ("oracle", "answers recommendations"),
    ("prague-hint", "Prague's, where there are no recommendations"),
    ("scream-hint", "SCReAM's, where there are no recommendations"),
    ("al4s-hint", "aL4S-CC's, where there are no recommendations"),
    ("sdn-l4s", "its share of marks is that of a whole run or of a window, which its own file tests"),
];

#[test]
fn every_controller_has_a_law_or_a_reason_to_have_none() {
    let named: Vec<_> = WITH_LAW.into_iter().chain(WITHOUT_LAW.map(|(name, _)| name)).collect();
    for sender in SenderConfig::all() {
        let times = named.iter().filter(|name| **name == sender.name()).count();
        assert_eq!(times, 1, "{} ({}): a law in these tests, or a reason", sender.name(), sender.properties().answers);
    }
    assert_eq!(named.len(), SenderConfig::all().len(), "a name that no controller has");
}

#[test]
fn every_law_is_drawn() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results");
    let [rows, pages] = ["controllers/laws.csv", "draw/pages.py"]
        .map(|file| std::fs::read_to_string(format!("{folder}/{file}")).unwrap());
    for name in WITH_LAW {
        assert!(rows.lines().any(|row| row.starts_with(&format!("{name},"))), "{name}: add it to examples/laws.rs");
        assert!(
            pages.contains(&format!("    \"{name}\": Panel(")),
            "{name}: add its panel to STEADY of results/draw/pages.py"
        );
    }
}

fn check(what: &str, p: f64, measured: f64, law: f64) {
    let ratio = measured / law;
    println!("{what} at {p}: {measured:.3}, {ratio:.3} of the law");
    assert!((0.9..1.1).contains(&ratio), "{what}: {measured} at {p} is {ratio} of the law");
}

fn windows(config: &SenderConfig, rtt: u64, ps: [f64; 3], fate: Fate, how: How, span: u64, law: impl Fn(f64) -> f64) {
    for p in ps {
        let measured = laws::window(config, rtt, p, fate, how, span);
        check(&format!("{how:?} {fate:?} over {rtt} ms"), p, measured, law(p));
    }
}

#[test]
fn reno() {
    windows(&laws::reno(), 40, [0.001, 0.003, 0.01], Fate::Mark, How::Regular, 200, laws::reno_regular);
    windows(&laws::reno(), 40, [0.0005, 0.0015, 0.005], Fate::Drop, How::Regular, 200, laws::reno_regular);
    windows(&laws::reno(), 40, [0.001, 0.003, 0.01], Fate::Drop, How::Random, 300, laws::reno_random);
}

/// RFC 9438 4.3: in the Reno-friendly region its window is Reno's.
#[test]
fn cubic_where_reno_would_be_faster() {
    windows(&laws::cubic(), 10, [0.001, 0.003, 0.01], Fate::Mark, How::Regular, 150, laws::reno_regular);
    windows(&laws::cubic(), 10, [0.001, 0.003, 0.01], Fate::Drop, How::Regular, 150, laws::reno_regular);
}

#[test]
fn cubic_in_its_own_region() {
    let law = |p| laws::cubic_regular(p, 0.1);
    windows(&laws::cubic(), 100, [3e-5, 1e-4, 3e-4], Fate::Mark, How::Regular, 500, law);
    windows(&laws::cubic(), 100, [3e-5, 1e-4, 3e-4], Fate::Drop, How::Regular, 500, law);
}

#[test]
fn prague_under_regular_marks() {
    for rtt in [25, 40] {
        windows(&laws::prague(), rtt, [0.01, 0.03, 0.1], Fate::Mark, How::Regular, 120, laws::prague_regular);
    }
}

/// Flows below the reference of 25 ms behave as one with that round-trip time: the window goes by RTT / 25 ms.
#[test]
fn prague_under_random_marks() {
    for rtt in [10, 25, 40] {
        let law = |p| laws::prague_random(p) * (rtt as f64 / 25.0).min(1.0);
        windows(&laws::prague(), rtt, [0.01, 0.03, 0.1], Fate::Mark, How::Random, 120, law);
    }
}

/// Linux waits whole round trips between reductions: 3.27 marks in 25 ms over 20 ms, 2.73 over 25 and more.
#[test]
fn prague_that_waits_whole_rounds() {
    for rtt in [10, 20, 25, 40] {
        let law = |p| match rtt {
            10 | 20 => laws::prague_whole_rounds(p, rtt as f64),
            _ => laws::prague_random(p),
        };
        windows(&laws::prague_whole(), rtt, [0.01, 0.03, 0.1], Fate::Mark, How::Random, 120, law);
    }
}

#[test]
fn udp_prague() {
    for rtt in [10, 40] {
        for p in [0.02, 0.06, 0.2] {
            check("UDP Prague", p, laws::udp_prague_rate(rtt, p), laws::udp_prague_law(rtt, p));
        }
    }
}

/// The DCTCP-like response of BBR version 2 is `1 - alpha / 3` a round, from probe to probe; the mean rate follows.
#[test]
fn bbr_v2() {
    for p in [0.02, 0.06, 0.2] {
        let (response, share) = laws::bbr_v2(p);
        check("BBR v2's response", p, response, 1.0);
        check("BBR v2's share", p, share, laws::bbr_v2_law(p));
    }
}

#[test]
fn scream() {
    for p in [0.01, 0.03, 0.1] {
        check("SCReAM", p, laws::scream_window(p), laws::scream_law(p));
    }
}

/// Marks in a round trip: of its authors' two 0.7 are left for a video; its documentation says why. What remains is
/// the law: the rate is as 1 / p.
#[test]
fn screams_marks_in_a_round_trip_do_not_depend_on_their_probability() {
    for p in [0.01, 0.03, 0.1] {
        check("SCReAM with a video", p, laws::scream_video(p).0, 0.72);
    }
}
