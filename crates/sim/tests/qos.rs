//! Packet filters and bearers end to end: which bearer a flow takes by what its headers say, and what a run tells of it.

use std::path::Path;

use tidemark_record::files::File;
use tidemark_sim::scenario::{Direction, Scenario};
use tidemark_sim::{BearerResult, RunResult};

use crate::common;

/// One phone, five bearers; each flow has a rate of its own, by which it is found again.
const TEXT: &str = r#"
name = "qos"
duration = "4 s"
warmup = "1 s"
marker = { law = "none" }

[[ue]]
name = "phone"
channel = { model = "fixed", rate = "40 Mbit/s" }

[[ue.drb]]
marker = { law = "ramp", low = "5 ms", high = "10 ms" }
[[ue.drb.qos_flow]]
qfi = 2
five_qi = 80
filter = [{ ecn = ["ect1", "ce"] }]

[[ue.drb]]
[[ue.drb.qos_flow]]
qfi = 3
five_qi = 7
filter = [{ dscp = [46], precedence = 20 }, { remote_port = "6000-6999", protocol = "udp" }]

[[ue.drb]]
[[ue.drb.qos_flow]]
qfi = 4
five_qi = 6
filter = [{ remote_address = "203.0.113.0/24", precedence = 30 }]

[[flow]]
name = "l4s"
ue = "phone"
round_trip = "20 ms"
sender = { controller = "udp", codepoint = "ect1" }
app = { app = "constant", rate = "1 Mbit/s" }

[[flow]]
name = "expedited"
ue = "phone"
round_trip = "20 ms"
# Of the rules that match, QFI 3's has the lower precedence value, although QFI 4's asks for this address.
remote_address = "203.0.113.7"
dscp = 46
sender = { controller = "udp" }
app = { app = "constant", rate = "2 Mbit/s" }

[[flow]]
name = "game"
ue = "phone"
round_trip = "20 ms"
remote_port = 6500
sender = { controller = "udp" }
app = { app = "constant", rate = "4 Mbit/s" }

[[flow]]
name = "partner"
ue = "phone"
round_trip = "20 ms"
count = 2
remote_address = "203.0.113.8"
sender = { controller = "udp" }
app = { app = "constant", rate = "4 Mbit/s" }

[[flow]]
name = "rest"
ue = "phone"
round_trip = "20 ms"
sender = { controller = "udp" }
app = { app = "constant", rate = "16 Mbit/s" }
"#;

fn run(overrides: &[&str]) -> RunResult {
    common::run(TEXT, overrides)
}

/// Bearers of the phone, with what they carried.
fn down(result: &RunResult) -> impl Iterator<Item = &BearerResult> {
    result.bearers.iter().filter(|bearer| bearer.direction == Direction::Downlink)
}

/// Rates of the bearers in whole Mbit/s.
fn rates(result: &RunResult) -> Vec<u32> {
    down(result).map(|bearer| bearer.throughput_mbps.round() as u32).collect()
}

#[test]
fn each_flow_takes_the_bearer_that_its_headers_say() {
    let result = run(&[]);
    assert_eq!(rates(&result), [16, 1, 2 + 4, 8]);
    let laws: Vec<_> = result.flows.iter().map(|flow| flow.law.as_str()).collect();
    assert_eq!(laws, ["ramp", "none", "none", "none", "none", "none"]);
}

#[test]
fn precedence_and_direction_decide() {
    // The rule for the address goes first now, and that for L4S looks at what the phone sends only.
    let result = run(&["ue.phone.drb=[
        { qos_flow = [{ qfi = 2, filter = [{ ecn = [\"ect1\"], direction = \"uplink\" }] }] },
        { qos_flow = [{ qfi = 3, filter = [{ dscp = [46], precedence = 20 }] }] },
        { qos_flow = [{ qfi = 4, filter = [{ remote_address = \"203.0.113.0/24\", precedence = 19 }] }] }]"]);
    assert_eq!(rates(&result), [16 + 1 + 4, 0, 0, 2 + 8]);
}

#[test]
fn a_bearer_says_what_its_flows_are_due_and_how_much_of_it_they_had() {
    // 44 Mbit/s into 40: what exceeds it waits in the default bearer, or is lost there.
    // Without the scheduler's lead, which is a part of every queue's delay.
    let result = run(&["flow.rest.app.rate=30 Mbit/s", "ue.phone.rlc.queue_sdus=400", "cell.scheduling_lead=0"]);
    let bearers: Vec<_> = down(&result).collect();
    let [rest, l4s, game, partner] = bearers[..] else { panic!() };
    assert_eq!((rest.drb, &rest.qfi[..], &rest.five_qi[..]), (1, &[1][..], &[9][..]));
    assert_eq!((l4s.drb, &l4s.qfi[..], &l4s.five_qi[..], l4s.law.as_str()), (2, &[2][..], &[80][..], "ramp"));
    assert_eq!((rest.delay_budget_ms, l4s.delay_budget_ms, game.delay_budget_ms), (300.0, 10.0, 100.0));
    assert!(rest.dropped > 0 && l4s.dropped + game.dropped + partner.dropped == 0);
    let met = |bearer: &BearerResult| bearer.in_budget.unwrap();
    assert!(met(l4s) > 0.99 && met(game) > 0.99 && met(rest) < 0.99, "{} {} {}", met(l4s), met(game), met(rest));
    assert!(
        l4s.queue_ms.unwrap().p95 < 5.0 && rest.queue_ms.unwrap().p50 > 50.0,
        "{:?} {:?}",
        l4s.queue_ms,
        rest.queue_ms
    );
    assert_eq!(result.ues[0].dropped, rest.dropped);
    let sum: f64 = bearers.iter().map(|bearer| bearer.throughput_mbps).sum();
    assert!((sum - result.ues[0].throughput_mbps).abs() < 0.01, "{sum} {}", result.ues[0].throughput_mbps);
    let csv = File::named("bearers.csv").unwrap().text(&result).unwrap();
    // Nobody answers these packets, so nothing goes up.
    assert_eq!(csv.lines().count(), 5, "{csv}");
    assert!(csv.lines().nth(2).unwrap().starts_with("phone,2,downlink,[2],[80],ramp,"), "{csv}");
}

/// Two uploads from a phone that a gNB marks by what it reports: one that has a bearer of its own and answers marks, and one in the
/// default bearer that goes first and has room for a single packet.
const UPLOADS: &str = r#"
name = "uploads"
duration = "8 s"
warmup = "2 s"
cell = { uplink = { bsr = "long" } }

[[ue]]
name = "phone"
channel = { model = "static" }
uplink_marker = { law = "ramp", low = "5 ms", high = "20 ms" }
five_qi = 5
rlc = { queue_sdus = 1 }
[[ue.drb]]
rlc = { queue_sdus = 1000 }
[[ue.drb.qos_flow]]
qfi = 2
five_qi = 80
filter = [{ ecn = ["ect1", "ce"] }]

[[flow]]
name = "l4s"
ue = "phone"
direction = "uplink"
round_trip = "20 ms"
sender = { controller = "prague" }

[[flow]]
name = "constant"
ue = "phone"
direction = "uplink"
round_trip = "20 ms"
sender = { controller = "udp" }
app = { app = "constant", rate = "1 Mbit/s" }
"#;

#[test]
fn a_phones_upload_is_reported_by_bearer_as_its_flows_have_it() {
    let result = common::run(UPLOADS, &[]);
    let up: Vec<_> = result.bearers.iter().filter(|bearer| bearer.direction == Direction::Uplink).collect();
    let [default, own] = up[..] else { panic!("{:?}", result.bearers) };
    assert_eq!((default.drb, &default.qfi[..], own.drb, &own.qfi[..]), (1, &[1][..], 2, &[2][..]));
    assert_eq!((default.law.as_str(), own.law.as_str(), own.delay_budget_ms), ("ramp", "ramp", 10.0));
    // Each bearer has one flow. Counted at the gNB and half a round trip later, they differ by what was on the wire.
    for (bearer, flow) in [(own, &result.flows[0]), (default, &result.flows[1])] {
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.02;
        assert!(near(bearer.throughput_mbps, flow.throughput_mbps), "{bearer:?} {}", flow.throughput_mbps);
        assert!(near(bearer.queue_ms.unwrap().p95, flow.queue_ms.unwrap().p95), "{bearer:?}");
        assert!(bearer.marked.unwrap().abs_diff(flow.marked) <= 20, "{:?} {}", bearer.marked, flow.marked);
        assert!(bearer.dropped.abs_diff(flow.dropped) <= 1, "{} {}", bearer.dropped, flow.dropped);
        // A flow's delay has 10 ms of wire that the budget is not held against.
        let in_time = 1.0 - flow.owd.share_above(bearer.delay_budget_ms + 10.0).unwrap();
        let in_budget = in_time * flow.owd.count() as f64 / (flow.owd.count() + flow.dropped) as f64;
        assert!((bearer.in_budget.unwrap() - in_budget).abs() < 0.02, "{bearer:?} {in_budget}");
    }
    assert!(own.marked > Some(0) && default.marked == Some(0) && default.dropped > 0);
    let sum = default.throughput_mbps + own.throughput_mbps;
    assert!((sum - result.ues[0].uplink.unwrap().throughput_mbps).abs() < 1e-5, "{sum}");
}

#[test]
fn of_two_qos_flows_on_one_bearer_one_is_marked() {
    let text = |law: &str, marked: bool| {
        format!(
            r#"
name = "marked"
duration = "4 s"
[[ue]]
name = "phone"
channel = {{ model = "fixed", rate = "40 Mbit/s" }}
[[ue.drb]]
marker = {{ law = "{law}" }}
[[ue.drb.qos_flow]]
qfi = 2
filter = [{{ remote_port = "5000" }}]
[[ue.drb.qos_flow]]
qfi = 3
marked = {marked}
filter = [{{ remote_port = "6000" }}]
[[flow]]
name = "a"
ue = "phone"
round_trip = "20 ms"
remote_port = 5000
sender = {{ controller = "prague" }}
[[flow]]
name = "b"
ue = "phone"
round_trip = "20 ms"
remote_port = 6000
sender = {{ controller = "prague" }}
"#
        )
    };
    let parse = |law, marked| Scenario::parse("marked.toml", &text(law, marked), Path::new(""), &[]);
    let marks = |marked| {
        let result = common::run(&text("l4span", marked), &[]);
        [0, 1].map(|flow: usize| result.flows[flow].marked)
    };
    let [a, b] = marks(true);
    assert!(a > 50 && b > 50, "{a} and {b}");
    let [a, b] = marks(false);
    assert!(a > 50 && b == 0, "{a} and {b}");
    // A law that decides where packets leave the queue knows no QoS flow there.
    assert!(parse("ecn-codel", true).is_ok());
    let refused = parse("ecn-codel", false).unwrap_err().to_string();
    assert!(refused.contains("drb.0.qos_flow.1.marked"), "{refused}");
}

/// A download over Prague to somebody who walks.
const WALK: &str = r#"
name = "walk"
duration = "20 s"
warmup = "8 s"
marker = { law = "tide", mode = "by-5qi" }

[[ue]]
name = "phone"
channel = { model = "pedestrian" }

[[flow]]
name = "download"
ue = "phone"
round_trip = "38 ms"
sender = { controller = "prague" }
"#;

#[test]
fn the_5qi_says_whether_throughput_or_delay_comes_first() {
    let run = |overrides: &[&str]| {
        let result = common::run(WALK, overrides);
        (result.ues[0].throughput_mbps, result.ues[0].queue_ms.unwrap().mean)
    };
    let (best_effort, rendering) = (run(&[]), run(&["ue.0.five_qi=80"]));
    // Either keeps the radio busy, so that the rates are near one another, and the queues are not.
    assert!(best_effort.0 > 1.02 * rendering.0 && rendering.1 < 0.7 * best_effort.1, "{best_effort:?} {rendering:?}");
    // A bearer of its own has the mode of its first QoS flow.
    let own = run(&["ue.0.drb=[{ qos_flow = [{ qfi = 2, five_qi = 80, filter = [{ ecn = [\"ect1\", \"ce\"] }] }] }]"]);
    assert!((own.0 / rendering.0 - 1.0).abs() < 0.05, "{own:?} {rendering:?}");
    // A mode that is named holds for every 5QI.
    assert_eq!(run(&["marker.mode=throughput-first", "ue.0.five_qi=80"]), best_effort);
    assert_eq!(run(&["marker.mode=delay-first", "ue.0.five_qi=80"]), rendering);
}
