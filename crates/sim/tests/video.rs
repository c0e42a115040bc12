//! UDP Prague's rate for a video, behind whole cells.

use tidemark_sim::{FlowResult, RunResult};

use crate::common::run;

const NR: &str = "[marker]\nlaw = \"tide\"\n";
const LTE: &str = "[cell]\nnumerology = 0\nprbs = 25\ntdd = \"DSUDDDSUDD\"\nuplink = { sr_period = \"20 ms\" }\n\
                   [marker]\nlaw = \"l4span\"\n";

/// Runs as many UEs with a flow each behind a cell: videos, or whatever `sender` says.
fn cell(cell: &str, channel: &str, ues: usize, sender: &str) -> RunResult {
    run(
        &format!(
            "name = \"video\"\nduration = \"40 s\"\nwarmup = \"15 s\"\n{cell}\
             [[ue]]\nname = \"ue\"\ncount = {ues}\nchannel = {channel}\n\
             [[flow]]\nname = \"flow\"\nue = \"ue\"\nround_trip = \"38 ms\"\n{sender}\n"
        ),
        &[],
    )
}

const VIDEO: &str = "sender = { controller = \"prague-video\", rates = { min = \"150 kbit/s\", initial = \"1 Mbit/s\" } }\n\
                     app = { app = \"video\" }";

/// Sender that fills the cell: classic flows keep a queue.
const CUBIC: &str = "sender = { controller = \"cubic\" }";

fn sum(result: &RunResult) -> f64 {
    result.flows.iter().map(|flow| flow.throughput_mbps).sum()
}

#[test]
fn a_video_at_pragues_rate_holds_the_cells_rate_with_a_short_queue() {
    for (name, of, channel, least, longest) in [
        ("5G", NR, "{ model = \"static\" }", 0.85, 40.0),
        ("5G, walking", NR, "{ model = \"pedestrian\" }", 0.75, 60.0),
        ("LTE", LTE, "{ model = \"pedestrian\", snr_db = 8, carrier_ghz = 1.8 }", 0.6, 150.0),
    ] {
        let capacity = sum(&cell(of, channel, 1, CUBIC));
        let result = cell(of, channel, 1, VIDEO);
        let FlowResult { throughput_mbps, queue_ms, marked, dropped, .. } = &result.flows[0];
        let queue = queue_ms.unwrap();
        println!("{name}: {throughput_mbps:.1} of {capacity:.1} Mbit/s, {queue:?}, {marked} marked");
        assert!(throughput_mbps / capacity > least && queue.p95 < longest && *marked > 0, "{name}");
        assert_eq!(*dropped, 0, "{name}");
    }
}

#[test]
fn videos_at_pragues_rate_have_equal_shares() {
    for ues in [2, 4] {
        let result = cell(NR, "{ model = \"static\" }", ues, VIDEO);
        let rates: Vec<f64> = result.flows.iter().map(|flow| flow.throughput_mbps).collect();
        let equal = sum(&result) / ues as f64;
        println!("{rates:?}");
        assert!(rates.iter().all(|rate| (rate / equal - 1.0).abs() < 0.1), "{rates:?}");
    }
}

/// A queue of 60 SDUs without marks: 15 ms of the cell's rate.
#[test]
fn a_video_at_pragues_rate_backs_off_where_the_queue_overflows() {
    let short = "{ model = \"static\" }\nrlc = { queue_sdus = 60 }";
    let result = cell("[marker]\nlaw = \"none\"\n", short, 1, VIDEO);
    let flow = &result.flows[0];
    let lost = flow.dropped as f64 / flow.sent_packets as f64;
    println!("{:.1} Mbit/s, {lost:.4} lost, {:?}", flow.throughput_mbps, flow.queue_ms);
    assert!(flow.dropped > 0 && lost < 0.01, "{lost} lost");
    assert!(flow.throughput_mbps > 20.0, "{}", flow.throughput_mbps);
}
