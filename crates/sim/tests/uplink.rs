//! Uploads: the same transports the other way round, marked at the gNB by what their UEs report.

use std::path::Path;

use tidemark_sim::scenario::Scenario;
use tidemark_sim::{RunResult, Simulation};

const TEXT: &str = include_str!("../../../scenarios/uplink-l4s.toml");

fn run(overrides: &[&str]) -> RunResult {
    let overrides: Vec<_> = overrides.iter().map(ToString::to_string).collect();
    let scenario = Scenario::parse("uplink-l4s.toml", TEXT, Path::new(""), &overrides).unwrap();
    Simulation::new(&scenario).unwrap().run(|_| true).unwrap()
}

#[test]
fn marking_by_reports_takes_the_queue_out_of_the_phone_and_keeps_the_rate() {
    let (with, without) = (run(&[]), run(&["ue.*.uplink_marker={ law = \"none\" }"]));
    let total = |result: &RunResult| result.flows.iter().map(|flow| flow.throughput_mbps).sum::<f64>();
    let owd = |result: &RunResult| result.flows[0].owd_ms.unwrap();
    println!("with: {:.2} Mbit/s, {:?}", total(&with), owd(&with));
    println!("without: {:.2} Mbit/s, {:?}", total(&without), owd(&without));
    // Who uploads without end fills the uplink, and sees to it as the figures say.
    let up = |result: &RunResult| result.cell.uplink_utilisation.unwrap();
    assert!(up(&without) > 0.97 && (0.8..=1.0).contains(&up(&with)), "{}, {}", up(&without), up(&with));
    let uplink = without.ues.iter().map(|ue| ue.uplink.unwrap());
    assert!(uplink.clone().all(|uplink| uplink.mcs_mean > 5.0 && (0.0..0.2).contains(&uplink.bler)));
    assert!((uplink.map(|uplink| uplink.prb_share).sum::<f64>() - up(&without)).abs() < 1e-5);
    assert!(with.flows.iter().all(|flow| flow.marked > 0) && without.flows.iter().all(|flow| flow.marked == 0));
    assert!(owd(&with).p50 * 4.0 < owd(&without).p50, "{:?} against {:?}", owd(&with), owd(&without));
    assert!(total(&with) > 0.85 * total(&without), "{} against {}", total(&with), total(&without));
}

#[test]
fn coarser_reports_make_queues_look_longer_and_are_marked_sooner() {
    let (long, short) = (run(&[]), run(&["cell.uplink.bsr=short"]));
    for result in [&long, &short] {
        assert!(result.flows.iter().all(|flow| flow.owd_ms.unwrap().p95 < 150.0));
    }
    println!("long: {:?}\nshort: {:?}", long.flows[0].owd_ms, short.flows[0].owd_ms);
    let median = |result: &RunResult| result.flows.iter().map(|flow| flow.owd_ms.unwrap().p50).sum::<f64>();
    assert!(median(&short) < 0.98 * median(&long), "{} ms against {} ms", median(&short), median(&long));
}

#[test]
fn acknowledgements_of_a_download_take_the_way_of_requests_and_grants() {
    let download =
        &["flow.*.direction=downlink", "ue.*.uplink_marker={ law = \"none\" }", "marker={ law = \"l4span\" }"];
    let rtt = |more: &str| run(&[&download[..], &[more]].concat()).flows[0].rtt_ms.unwrap().p50;
    let (usual, slow) = (rtt("cell.uplink.sr_period=5 ms"), rtt("cell.uplink.grant_delay=32"));
    assert!(slow > usual + 5.0, "{slow} ms against {usual} ms");
}
