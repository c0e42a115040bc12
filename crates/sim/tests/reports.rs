//! Reports of the DU must not decide how long queues are, nor what a law leaves of the rate.

use itertools::iproduct;

use crate::common::{self, sampled};

const SEEDS: u64 = 3;

/// One Prague flow for each of so many UEs, across F1-U with reports at this period; 0 s is a report for each transmission.
/// Nothing is planned ahead: a scheduler's lead is a constant part of every queue, which hides what the estimate does.
#[derive(Clone, Copy)]
struct Case<'a> {
    ues: u32,
    channel: &'a str,
    period: &'a str,
    marker: &'a str,
}

/// Mean queue in ms and throughput in Mbit/s, over the seeds.
fn run(case: Case<'_>) -> (f64, f64) {
    let Case { ues, channel, period, marker } = case;
    let (mut queue, mut throughput) = (0.0, 0.0);
    for seed in 1..=SEEDS {
        let text = format!(
            r#"
name = "reports"
duration = "13 s"
warmup = "3 s"
seed = {seed}
cell = {{ scheduling_lead = 0, scheduler = {{ kind = "round-robin" }}, rbg_size = 51, f1u = {{ report_period = "{period}", rlc_in_sight = false }} }}
marker = {{ {marker} }}
[[ue]]
name = "ue"
count = {ues}
channel = {{ model = "{channel}" }}
[[flow]]
name = "l4s"
ue = "ue"
round_trip = "30 ms"
sender = {{ controller = "prague" }}
"#
        );
        let result = common::run(&text, &[]);
        let mut all = result.flows[0].queue.clone();
        result.flows[1..].iter().for_each(|flow| all.merge(&flow.queue));
        queue += all.quantiles().unwrap().mean / SEEDS as f64;
        throughput += result.cell.throughput_mbps / SEEDS as f64;
    }
    (queue, throughput)
}

fn l4span(tau_s: u32) -> String {
    format!(r#"law = "l4span", tau_s = "{tau_s} ms""#)
}

#[test]
fn tau_s_moves_the_queue_of_16_ues_that_take_turns() {
    for channel in ["static", "pedestrian"] {
        let queue = |tau_s| run(Case { ues: 16, channel, period: "0 s", marker: &l4span(tau_s) }).0;
        let queues = [queue(2), queue(5), queue(10)];
        // A UE waits 4 to 5 ms for its turn whatever the law does, so the queue is not in proportion to the threshold.
        let grows = queues.windows(2).all(|pair| pair[1] > 1.15 * pair[0]);
        assert!(grows && queues[2] > 1.4 * queues[0], "{channel}: {queues:?} ms");
    }
}

#[test]
fn l4span_keeps_the_rate_however_seldom_the_du_reports() {
    let cells = [(1, "static"), (1, "pedestrian"), (4, "pedestrian"), (16, "pedestrian")];
    for (ues, channel) in sampled(2, cells) {
        let throughput = |period| run(Case { ues, channel, period, marker: &l4span(10) }).1;
        let each = throughput("0 s");
        for period in ["5 ms", "10 ms", "20 ms"] {
            let kept = throughput(period) / each;
            assert!(kept > 0.95, "{ues} UEs, {channel}, {period}: {kept:.3} of {each:.1} Mbit/s");
        }
    }
}

/// Thresholds above the pause of the TDD pattern: below it a packet's wait for the radio is marked, be the report as fresh as it may.
#[test]
fn laws_on_the_head_of_line_delay_keep_the_rate_however_seldom_the_du_reports() {
    let markers = [
        r#"law = "step", threshold = "10 ms""#,
        r#"law = "ramp", low = "5 ms", high = "10 ms""#,
        r#"law = "upf""#,
        r#"law = "dualpi2", min_th = "5 ms", range = "5 ms""#,
    ];
    // Alone on a fading channel nothing is left over for others while the estimate is behind the radio.
    let cells = [(1, "static", 0.95), (4, "pedestrian", 0.95), (16, "static", 0.95), (1, "pedestrian", 0.92)];
    for (marker, (ues, channel, least)) in sampled(5, iproduct!(markers, cells)) {
        let throughput = |period| run(Case { ues, channel, period, marker }).1;
        let each = throughput("0 s");
        for period in ["5 ms", "10 ms", "20 ms"] {
            let kept = throughput(period) / each;
            assert!(kept > least, "{marker}, {ues} UEs, {channel}, {period}: {kept:.3} of {each:.1} Mbit/s");
        }
    }
}
