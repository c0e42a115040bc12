//! Uploads: the same transports the other way round, marked at the gNB by what their UEs report.

use tidemark_sim::RunResult;

use crate::common;

const TEXT: &str = include_str!("../../../scenarios/uplink-l4s.toml");

fn run(overrides: &[&str]) -> RunResult {
    common::run(TEXT, overrides)
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
    // A UE's figures are its flow's: it sends nothing else, and nothing is marked or queued elsewhere.
    for (ue, flow) in with.ues.iter().zip(&with.flows) {
        let (uplink, queue) = (ue.uplink.unwrap(), flow.queue_ms.unwrap());
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.02;
        assert!(near(uplink.throughput_mbps, flow.throughput_mbps), "{uplink:?} {}", flow.throughput_mbps);
        assert!(near(uplink.queue_ms.unwrap().p50, queue.p50) && near(uplink.marked as f64, flow.marked as f64));
        // Hardly a block fails twice.
        let (again, failed) = (uplink.harq_retransmissions as f64, uplink.bler * uplink.blocks as f64);
        assert!(failed > 100.0 && (0.95..1.2).contains(&(again / failed)), "{again} of {failed}");
    }
    // What the gNB believes to wait is what waits: as long at the rate of service, as far as its steps and delays let it be.
    let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64;
    let series = &without.series.uplinks;
    for (reported, rate) in series.reported_kb.iter().zip(&series.throughput_mbps) {
        let believed_ms = mean(reported) * 8.0 / mean(rate);
        let waited = without.ues[0].uplink.unwrap().queue_ms.unwrap().mean;
        assert!((0.4..1.6).contains(&(believed_ms / waited)), "{believed_ms} ms reported, {waited} ms waited");
    }
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
