//! Overload: a flow that goes on through marks gets drops, and one that answers never does.

use std::path::Path;

use itertools::iproduct;
use tidemark_marker::LawConfig;
use tidemark_sim::{FlowResult, RunResult};

use crate::common::{self, sampled};

const OVERLOAD: &str = include_str!("../../../scenarios/overload.toml");

fn run(text: &str, overrides: &[String]) -> RunResult {
    common::run(text, &overrides.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A run of the scenario, its flood and what is beside it.
fn overload(law: &str, seed: u64, overrides: &[&str]) -> RunResult {
    let set = [format!("marker.law=\"{law}\""), format!("seed={seed}")];
    run(OVERLOAD, &set.into_iter().chain(overrides.iter().map(|set| (*set).to_owned())).collect::<Vec<_>>())
}

fn flow<'a>(result: &'a RunResult, name: &str) -> &'a FlowResult {
    result.flows.iter().find(|flow| flow.name == name).unwrap()
}

fn median(flow: &FlowResult) -> f64 {
    flow.queue_ms.unwrap().p50
}

/// Laws that signal to L4S flows.
fn laws() -> Vec<&'static str> {
    LawConfig::names(|law| law.name != "none")
}

/// The round trip of the flow beside the flood, on which a protected queue is no more than a part of its delay. No law aims at
/// a longer queue than 100 ms (`drop-head`), and the protection at 250.
const BOUND_MS: f64 = 150.0;

#[test]
fn no_law_lets_a_flow_that_ignores_marks_fill_the_queue() {
    for (law, rate, seed) in sampled(3, iproduct!(laws(), ["30 Mbit/s", "60 Mbit/s"], [1, 2])) {
        let result = overload(law, seed, &[&format!("flow.flood.app.rate=\"{rate}\"")]);
        let queue = median(flow(&result, "flood"));
        assert!(queue < BOUND_MS, "{law} at {rate}, seed {seed}: {queue} ms");
    }
}

#[test]
fn whoever_answers_beside_a_flood_has_no_less_than_without_protection() {
    for (law, sender, seed) in sampled(5, iproduct!(laws(), ["prague", "cubic"], [1, 2])) {
        let sender_is = format!("flow.beside.sender={{ controller = \"{sender}\" }}");
        let [without, with] = [false, true].map(|protection| {
            let protection = format!("marker.overload_protection={protection}");
            let result = overload(law, seed, &[&sender_is, &protection, "duration=20 s"]);
            ["beside", "elsewhere"].map(|name| flow(&result, name).throughput_mbps)
        });
        let told = format!("{law}, {sender}, seed {seed}: {with:?} Mbit/s after {without:?}");
        // Laws that hold the queue by drops of everybody's packets leave a few packets a second either way.
        assert!(with[0] > 0.9 * without[0] - 0.05, "{told}");
        assert!(with[1] > 0.95 * without[1], "{told}");
    }
}

#[test]
fn under_l4span_a_flow_beside_a_flood_has_a_tenth_of_the_radio() {
    let [without, with] = [false, true].map(|protection| {
        let alone = ["flow.elsewhere.app={ app = \"constant\", rate = \"1 kbit/s\" }"];
        let protection = format!("marker.overload_protection={protection}");
        flow(&overload("l4span", 1, &[alone[0], "flow.flood.app.rate=\"60 Mbit/s\"", &protection]), "beside")
            .throughput_mbps
    });
    assert!(without < 0.1 && with > 4.0, "{with} Mbit/s after {without}");
}

#[test]
fn several_floods_are_held_as_one_is() {
    let flood = |index: u32| {
        format!(
            "[[flow]]\nname = \"flood-{index}\"\nue = \"phone\"\nround_trip = \"38 ms\"\n\
             sender = {{ controller = \"udp\", codepoint = \"ect1\" }}\n\
             app = {{ app = \"constant\", rate = \"4 Mbit/s\" }}\n"
        )
    };
    let several: String = (0..8).map(flood).collect();
    let text = format!("{OVERLOAD}\n{several}");
    for law in laws() {
        let set = [format!("marker.law=\"{law}\""), "flow.flood.app.rate=\"4 Mbit/s\"".into()];
        let queue = median(flow(&run(&text, &set), "flood-0"));
        assert!(queue < BOUND_MS, "{law}: {queue} ms");
    }
}

/// Rule of ANBR that draws Prague's rate towards the recommendation.
const GRADUAL: &str = ", rule = \"gradual\"";

/// Senders that answer, over channels that give them every reason to be taken for others: the runs with and without protection are one run.
#[test]
fn no_packet_of_a_sender_that_answers_is_dropped() {
    let channels = [
        ("{ model = \"static\", snr_db = 2 }", ""),
        // A rate that every sender can come down to.
        ("{ model = \"fixed\", rate = \"4 Mbit/s\" }", ""),
        ("{ model = \"pedestrian\" }", "handovers = [\"4 s\", \"7 s\", \"7.5 s\"]"),
        ("{ model = \"vehicular\" }", ""),
    ];
    let bulk = ["reno", "cubic", "bbr-v1", "bbr-v2", "bbr-v3", "prague", "udp-prague"].map(|name| (name, "", ""));
    let video = "app = { app = \"video\" }";
    let media = ["scream-v1", "scream", "gcc", "l4s-cc", "al4s"].map(|name| (name, "", video));
    // SDN-L4S has no place here: it leaves seconds of queue under most laws.
    let rules = [", rule = \"follow\"", ", rule = \"max\"", GRADUAL].map(|rule| ("anbr", rule, video));
    let senders = bulk.into_iter().chain(media).chain(rules);
    // These answer marks alone, of which CoDel gives few, and no drops.
    let answers = |law: &str, (sender, settings, _): &(&str, &str, &str)| {
        !["codel", "ecn-codel", "drop-head"].contains(&law)
            || !(["l4s-cc", "al4s"].contains(sender) || *settings == GRADUAL)
    };
    let cases = iproduct!(laws(), senders, channels.into_iter().enumerate());
    let mut changed = Vec::new();
    for (law, (sender, settings, app), (index, (channel, extra))) in
        sampled(13, cases.filter(|(law, sender, _)| answers(law, sender)))
    {
        let period = ["0 s", "5 ms", "10 ms", "20 ms", "250 ms"][(index + sender.len() + settings.len()) % 5];
        let sent = |protection: bool| {
            let text = format!(
                "name = \"answers\"\nduration = \"12 s\"\nwarmup = \"1 s\"\n\
                 cell = {{ f1u = {{ report_period = \"{period}\" }} }}\n\
                 marker = {{ law = \"{law}\", overload_protection = {protection} }}\n\
                 [[ue]]\nname = \"ue\"\nchannel = {channel}\nanbr = {{}}\n{extra}\n\
                 [[flow]]\nname = \"flow\"\nue = \"ue\"\nround_trip = \"38 ms\"\n\
                 sender = {{ controller = \"{sender}\"{settings} }}\n{app}\n"
            );
            let result = run(&text, &[]);
            let flow = &result.flows[0];
            (flow.sent_packets, flow.marked, flow.dropped, flow.queue_ms)
        };
        let (with, without) = (sent(true), sent(false));
        if with != without {
            changed.push(format!(
                "{law}, {sender}{settings}, {channel}, reports every {period}: {without:?} became {with:?}"
            ));
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

/// Senders whose radio has a fortieth of its rate left after 5 s: their window stands in the queue for seconds, and each mark waits as long.
#[test]
fn no_packet_is_dropped_of_a_window_that_has_become_40_times_too_long() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let text = include_str!("../../../scenarios/capacity-loss.toml");
    let mut dropped = Vec::new();
    for (index, law) in ["l4span", "ramp", "step", "tide", "upf"].into_iter().enumerate() {
        for (other, sender) in ["reno", "cubic", "bbr-v2", "prague", "udp-prague"].into_iter().enumerate() {
            let round_trip = ["10 ms", "38 ms", "106 ms"][(index + other) % 3];
            let period = ["5 ms", "10 ms", "20 ms", "100 ms"][(2 * index + other) % 4];
            let set = [
                format!("marker.law=\"{law}\""),
                format!("flow.download.sender={{ controller = \"{sender}\" }}"),
                format!("flow.download.round_trip=\"{round_trip}\""),
                format!("cell.f1u.report_period=\"{period}\""),
            ];
            let flow = common::run_in(&folder, text, &set.each_ref().map(String::as_str)).flows.remove(0);
            if flow.dropped > 0 {
                dropped.push(format!("{law}, {sender} over {round_trip}, reports every {period}: {}", flow.dropped));
            }
        }
    }
    assert!(dropped.is_empty(), "{}", dropped.join("\n"));
}
