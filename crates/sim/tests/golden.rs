//! Whole runs in integers: a change that alters results is seen, and accepted with `cargo insta review` where it is meant.

use std::fmt::Write as _;

use tidemark_marker::LawConfig;
use tidemark_sim::RunResult;

use crate::common;

const FIRST_LOOK: &str = include_str!("../../../scenarios/first-look.toml");

fn run(overrides: &[String]) -> RunResult {
    common::run(FIRST_LOOK, &overrides.iter().map(String::as_str).collect::<Vec<_>>())
}

/// One line a flow: packets, rates in kbit/s, delays in microseconds.
fn summary(result: &RunResult) -> String {
    let mut text = String::new();
    for flow in &result.flows {
        let micros = |ms: Option<f64>| ms.map_or(0, |ms| (ms * 1e3).round() as u64);
        let _ = writeln!(
            text,
            "{}: {} sent, {} marked, {} dropped, {} sent again, {} kbit/s, one way p50 {} us, p99 {} us, round trip p50 {} us",
            flow.name,
            flow.sent_packets,
            flow.marked,
            flow.dropped,
            flow.retransmissions.unwrap_or(0),
            (flow.throughput_mbps * 1e3).round() as u64,
            micros(flow.owd_ms.map(|owd| owd.p50)),
            micros(flow.owd_ms.map(|owd| owd.p99)),
            micros(flow.rtt_ms.map(|rtt| rtt.p50)),
        );
    }
    text
}

#[test]
fn first_look() {
    insta::assert_snapshot!(summary(&run(&[])));
}

#[test]
fn ideal_receivers_and_a_scheduler_without_lead() {
    let [ues, gnb] = ["ue.*", "cell.uplink"].map(|whose| format!("{whose}.receiver_loss_db=0"));
    let overrides = [ues, gnb, "cell.scheduling_lead=0".into()];
    insta::assert_snapshot!(summary(&run(&overrides)));
}

#[test]
fn every_marking_law() {
    let mut text = String::new();
    for law in LawConfig::names(|_| true) {
        let overrides = [format!("marker={{ law = \"{law}\" }}"), "duration=6 s".into(), "warmup=2 s".into()];
        let _ = writeln!(text, "{law}\n{}", summary(&run(&overrides)));
    }
    insta::assert_snapshot!(text);
}
