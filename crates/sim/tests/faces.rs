//! Agreement of both faces of the marker: a run of the simulator, whose cell calls the marker with values, is captured as packets with
//! real headers and replayed through the packet path, which reads bytes. Every packet gets the same verdict and leaves with
//! the same bytes, and every acknowledgement is rewritten alike.

use tidemark_marker::{Decides, LawConfig};
use tidemark_sim::{Capture, Simulation};

use crate::common;
use crate::replay::{Replay, Tally};

/// A fading channel with block errors, reports every 5 ms, one UE of every kind of flow and one that moves.
const SCENARIO: &str = r#"
name = "faces"
duration = "6 s"
seed = 7

[cell.f1u]
report_period = "5 ms"
delay = "1 ms"
rlc_in_sight = false

[marker]
short_circuit = true
law = "l4span"

[[ue]]
name = "walker"
channel = { model = "pedestrian", snr_db = 14 }
handovers = ["2 s", "4500 ms"]
rlc = { pdcp_sn = "12", queue_sdus = 300 }

[[ue]]
name = "driver"
channel = { model = "vehicular", snr_db = 10 }
rlc = { mode = "um" }

[[flow]]
name = "prague"
ue = "walker"
round_trip = "30 ms"
sender = { controller = "prague" }

[[flow]]
name = "cubic"
ue = "walker"
round_trip = "40 ms"
sender = { controller = "cubic", tcp = { ecn = "classic" } }

[[flow]]
name = "plain"
ue = "driver"
round_trip = "20 ms"
sender = { controller = "cubic", tcp = { ecn = "off" } }

[[flow]]
name = "prague-udp"
ue = "driver"
round_trip = "25 ms"
sender = { controller = "udp-prague" }

[[flow]]
name = "video"
ue = "driver"
round_trip = "20 ms"
sender = { controller = "scream" }
app = { app = "video" }

[[flow]]
name = "web"
ue = "walker"
round_trip = "20 ms"
sender = { controller = "prague" }
app = { app = "short-flows", size = "40 kB" }
"#;

/// Runs the scenario with these values replaced, and replays what was captured.
fn replayed(overrides: &[&str]) -> Tally {
    let scenario = common::read(SCENARIO, overrides);
    let folder = tempfile::tempdir().unwrap();
    let capture = Capture::create(folder.path()).unwrap();
    let mut simulation = Simulation::new(&scenario).unwrap();
    simulation.capture(&capture);
    simulation.run(|_| true).unwrap();
    capture.finish().unwrap();
    Replay::new(&scenario).run(folder.path())
}

#[test]
fn l4span_with_the_short_circuit() {
    let tally = replayed(&[]);
    assert!(tally.marked > 200 && tally.rewritten > 300 && tally.handovers == 2, "{tally:?}");
}

#[test]
fn l4span_that_marks_packets_and_drops_flows_without_ecn() {
    let tally = replayed(&["marker.short_circuit=false", "marker.not_ect=drop"]);
    assert!(tally.marked > 500 && tally.dropped > 5 && tally.rewritten == 0, "{tally:?}");
}

#[test]
fn laws_on_the_head_of_line_delay_of_the_reports() {
    for law in LawConfig::names(|law| law.looks_at_head) {
        let tally = replayed(&[&format!("marker.law={law}"), "duration=3 s"]);
        assert!(tally.marked > 100, "{law}: {tally:?}");
    }
}

#[test]
fn reports_with_every_slot_and_full_queues() {
    let tally =
        replayed(&["cell.f1u.report_period=0 s", "cell.f1u.delay=0 s", "ue.0.rlc.queue_sdus=40", "duration=3 s"]);
    assert!(tally.marked > 100 && tally.full > 20, "{tally:?}");
}

#[test]
fn laws_that_decide_as_packets_leave_the_rlc_queue() {
    for law in LawConfig::names(|law| law.decides == Decides::OnLeaving) {
        // Losses alone hold the senders back where a law does not mark, so the queue is long enough for each.
        let tally = replayed(&[&format!("marker.law={law}"), "marker.short_circuit=false", "duration=4 s"]);
        let [_, marked, dropped] = tally.left;
        let marks = LawConfig::names(|law| law.marks).contains(&law);
        assert!((marked > 20) == marks && dropped > 20, "{law}: {tally:?}");
        assert_eq!((tally.marked, tally.dropped), (0, 0), "{law} passes everything on arrival");
    }
}

#[test]
fn pdcp_discards() {
    let tally =
        replayed(&["marker.law=none", "ue.*.rlc.discard_timer=60 ms", "ue.*.rlc.t_reordering=50 ms", "duration=3 s"]);
    assert!(tally.discarded > 100, "{tally:?}");
    let tally = replayed(&["ue.*.rlc.discard_timer=30 ms", "ue.*.rlc.t_reordering=50 ms", "duration=3 s"]);
    assert!(tally.discarded > 20 && tally.marked > 50, "{tally:?}");
}

/// Named QoS flows on bearers of their own: each has its law, its SNs and its random draws.
#[test]
fn ues_with_several_bearers() {
    let tally = replayed(&[
        r#"ue.0.drb=[{ rlc = { pdcp_sn = "18" }, qos_flow = [{ qfi = 5 }] }, { marker = { law = "ramp" }, qos_flow = [{ qfi = 6 }] }]"#,
        "flow.prague.qfi=5",
        "flow.web.qfi=6",
        r#"ue.1.drb=[{ marker = { law = "ecn-codel" }, qos_flow = [{ qfi = 7 }] }]"#,
        "flow.prague-udp.qfi=7",
        "duration=5 s",
    ]);
    assert!(tally.dedicated > 200 && tally.rewritten > 100 && tally.left[1] > 10 && tally.handovers == 2, "{tally:?}");
}

/// A filter for the ECN field parts each connection: its opening and acknowledgements take the default bearer, its data the L4S
/// one, whose marks go into those acknowledgements.
#[test]
fn connections_that_a_filter_for_the_ecn_field_parts() {
    let l4s = r#"{ qos_flow = [{ qfi = 2, five_qi = 80, filter = [{ ecn = ["ect1", "ce"] }] }] }"#;
    // Answers take the bearer of what they answer, or one of their own.
    let answers =
        r#"{ qos_flow = [{ qfi = 3, filter = [{ ecn = ["not-ect"], direction = "uplink", precedence = 1 }] }] }"#;
    for drbs in [l4s.to_string(), format!("{l4s}, {answers}")] {
        let tally = replayed(&[&format!("ue.*.drb=[{drbs}]"), "duration=5 s"]);
        assert!(tally.dedicated > 300 && tally.handovers == 2, "{tally:?}");
    }
}
