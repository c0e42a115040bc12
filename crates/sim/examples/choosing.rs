//! Every mechanism of docs/choosing.md under every background load: its delay and throughput as CSV.
//!
//! `cargo run --release -p tidemark-sim --example choosing > docs/choosing/choosing.csv`

use std::path::Path;

use tidemark_sim::scenario::Scenario;
use tidemark_sim::{RunResult, Simulation};

const SEEDS: u64 = 3;
const THRESHOLDS: [(u32, u32); 7] = [(2, 5), (5, 10), (10, 20), (15, 30), (30, 50), (60, 100), (100, 200)];

/// One point of the picture.
struct Case {
    mechanism: &'static str,
    parameter: String,
    overrides: Vec<String>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/choosing.toml"))?;
    println!("load,mechanism,parameter,delay_mean_ms,delay_p99_ms,frame_p99_ms,frames_lost_percent,throughput_mbps");
    for (load, background) in [
        ("none", r#"flow.others.app={ app = "constant", rate = "1 kbit/s" }"#),
        ("bursts of 5 Mbit/s", "flow.others.app.rate=20 Mbit/s"),
        ("bursts of 15 Mbit/s", r#"flow.others.app.off={ law = "exponential", mean = "83 ms" }"#),
    ] {
        for case in cases() {
            let mut results = Vec::new();
            for seed in 1..=SEEDS {
                let more = [background.to_string(), format!("seed={seed}")];
                let overrides: Vec<_> = more.into_iter().chain(case.overrides.iter().cloned()).collect();
                let scenario = Scenario::parse("choosing.toml", &text, Path::new(""), &overrides)?;
                results.push(Simulation::new(&scenario)?.run(|_| true)?);
            }
            let figures = figures(&results).map(|figure| format!("{figure:.2}")).join(",");
            println!("{load},{},{},{figures}", case.mechanism, case.parameter);
        }
    }
    Ok(())
}

fn cases() -> Vec<Case> {
    let texts = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut cases = Vec::new();
    for (low, high) in THRESHOLDS {
        let marks = format!(
            r#"marker={{ law = "ramp", low = "{low} ms", high = "{high} ms", alpha = 1.0, interval = "1 ms" }}"#
        );
        for (mechanism, more) in [
            ("L4S", texts(&[])),
            ("hybrid (larger rate)", texts(&["ue.glasses.anbr={}"])),
            ("hybrid (gradual)", texts(&["ue.glasses.anbr={}", "flow.video.sender.rule=gradual"])),
        ] {
            let overrides = [vec![marks.clone()], more].concat();
            cases.push(Case { mechanism, parameter: format!("{low}-{high} ms"), overrides });
        }
    }
    let follow = texts(&[r#"marker={ law = "none" }"#, "flow.video.sender.rule=follow"]);
    for window in [20, 40, 100, 200] {
        let overrides = [follow.clone(), vec![format!(r#"ue.glasses.anbr={{ window = "{window} ms" }}"#)]].concat();
        cases.push(Case { mechanism: "ANBR", parameter: format!("{window} ms"), overrides });
    }
    for target in [2, 5, 10, 20, 50, 100] {
        let anbr = format!(r#"ue.glasses.anbr={{ queue_target = "{target} ms" }}"#);
        let overrides = [follow.clone(), vec![anbr]].concat();
        cases.push(Case { mechanism: "ANBR (queue-aware)", parameter: format!("{target} ms"), overrides });
    }
    cases
}

/// Mean delay, its 99th percentile, that of frames, frames lost, and throughput: of the streams, the mean over runs.
fn figures(results: &[RunResult]) -> [f64; 5] {
    let flows = || results.iter().flat_map(|result| result.flows.iter().filter(|flow| flow.name.starts_with("video")));
    let mean = |of: fn(&tidemark_sim::FlowResult) -> f64| flows().map(of).sum::<f64>() / flows().count() as f64;
    [
        mean(|flow| flow.owd_ms.map_or(f64::NAN, |owd| owd.mean)),
        mean(|flow| flow.owd_ms.map_or(f64::NAN, |owd| owd.p99)),
        mean(|flow| flow.media.and_then(|media| media.delay_ms).map_or(f64::NAN, |delay| delay.p99)),
        mean(|flow| {
            flow.media.map_or(f64::NAN, |media| 100.0 * media.frames_lost as f64 / media.frames_sent.max(1) as f64)
        }),
        2.0 * mean(|flow| flow.throughput_mbps),
    ]
}
