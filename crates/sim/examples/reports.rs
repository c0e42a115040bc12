//! Queue and rate that a law leaves, by how often the DU reports and how many UEs take turns, as CSV on standard output:
//!
//! `cargo run --release -p tidemark-sim --example reports > results/estimate/reports.csv`
//!
//! Each UE receives one L4S flow (Prague) for 20 s after 3 s, and the laws see the RLC queue across F1-U alone. Figures are means
//! over the seeds; `docs/concepts/life-of-a-report.md` says what they mean.

use std::path::Path;
use std::thread;

use tidemark_sim::Simulation;
use tidemark_sim::scenario::Scenario;

type Error = Box<dyn std::error::Error + Send + Sync>;

const SEEDS: u64 = 5;
const UES: [u32; 4] = [1, 4, 16, 64];
const CHANNELS: [&str; 2] = ["static", "pedestrian"];
/// Report periods in milliseconds; zero is a report with each transmission.
const PERIODS: [u32; 4] = [0, 5, 10, 20];
const LAWS: [(&str, &str); 7] = [
    ("l4span 2 ms", r#"law = "l4span", tau_s = "2 ms""#),
    ("l4span 5 ms", r#"law = "l4span", tau_s = "5 ms""#),
    ("l4span 10 ms", r#"law = "l4span", tau_s = "10 ms""#),
    ("step 10 ms", r#"law = "step", threshold = "10 ms""#),
    ("ramp 5-10 ms", r#"law = "ramp", low = "5 ms", high = "10 ms""#),
    ("upf 5-10 ms", r#"law = "upf", ramp = { low = "5 ms", high = "10 ms" }"#),
    ("dualpi2 5-10 ms", r#"law = "dualpi2", min_th = "5 ms", range = "5 ms""#),
];

fn main() -> Result<(), Error> {
    println!("ues,channel,period_ms,law,queue_mean_ms,queue_p99_ms,throughput_mbps");
    for ues in UES {
        for channel in CHANNELS {
            for period in PERIODS {
                for (law, marker) in LAWS {
                    let scenario = |seed| scenario(ues, channel, period, marker, seed);
                    let [mean, p99, throughput] = means(&scenario)?;
                    println!("{ues},{channel},{period},{law},{mean:.2},{p99:.2},{throughput:.2}");
                }
            }
        }
    }
    Ok(())
}

fn scenario(ues: u32, channel: &str, period: u32, marker: &str, seed: u64) -> String {
    format!(
        r#"
name = "reports"
duration = "23 s"
warmup = "3 s"
seed = {seed}
cell = {{ f1u = {{ report_period = "{period} ms", rlc_in_sight = false }} }}
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
    )
}

/// Mean and 99th percentile of all UEs' queues in ms, and the cell's throughput in Mbit/s.
fn means(scenario: &(impl Fn(u64) -> String + Sync)) -> Result<[f64; 3], Error> {
    let figures = thread::scope(|scope| {
        let runs: Vec<_> = (1..=SEEDS).map(|seed| scope.spawn(move || figures(&scenario(seed)))).collect();
        runs.into_iter().map(|run| run.join().map_err(|_| "a run panicked")?).collect::<Result<Vec<_>, Error>>()
    })?;
    Ok([0, 1, 2].map(|figure| figures.iter().map(|of| of[figure]).sum::<f64>() / SEEDS as f64))
}

fn figures(scenario: &str) -> Result<[f64; 3], Error> {
    let scenario = Scenario::parse("reports", scenario, Path::new(""), &[])?;
    let result = Simulation::new(&scenario)?.run(|_| true)?;
    let (first, others) = result.flows.split_first().ok_or("no flow")?;
    let mut queue = first.queue.clone();
    others.iter().for_each(|flow| queue.merge(&flow.queue));
    let queue = queue.quantiles().ok_or("no packet")?;
    Ok([queue.mean, queue.p99, result.cell.throughput_mbps])
}
