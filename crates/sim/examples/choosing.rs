//! Every mechanism of docs/measured/choosing.md under every background load, at two speeds, seed by seed: delay and throughput as CSV.
//!
//! `cargo run --release -p tidemark-sim --example choosing > docs/measured/choosing/choosing.csv`

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use tidemark_sim::scenario::Scenario;
use tidemark_sim::{RunResult, Simulation};

type Error = Box<dyn std::error::Error + Send + Sync>;

const SEEDS: u64 = 5;
const THRESHOLDS: [(u32, u32); 6] = [(2, 5), (5, 10), (10, 20), (30, 50), (60, 100), (100, 200)];
const TARGETS: [u32; 6] = [2, 5, 10, 20, 50, 100];
const WINDOWS: [u32; 4] = [20, 40, 100, 200];

/// One picture: how fast everybody moves, and what else the cell carries.
const SETTINGS: [(&str, &str, &str); 4] = [
    ("pedestrian", "none", r#"flow.others.app={ app = "constant", rate = "1 kbit/s" }"#),
    ("pedestrian", "bursts of 5 Mbit/s", LIGHT),
    ("pedestrian", "bursts of 15 Mbit/s", r#"flow.others.app.off={ law = "exponential", mean = "83 ms" }"#),
    ("vehicular", "bursts of 5 Mbit/s", LIGHT),
];
const LIGHT: &str = "flow.others.app.rate=20 Mbit/s";

/// One point of a picture.
struct Case {
    mechanism: &'static str,
    parameter: String,
    overrides: Vec<String>,
}

fn main() -> Result<(), Error> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/choosing.toml"))?;
    let mut rows = Vec::new();
    for (speed, load, background) in SETTINGS {
        let channel = format!(r#"ue.*.channel={{ model = "{speed}" }}"#);
        for Case { mechanism, parameter, overrides } in cases() {
            for seed in 1..=SEEDS {
                let setting = [background.to_owned(), channel.clone(), format!("seed={seed}")];
                let all: Vec<_> = setting.into_iter().chain(overrides.iter().cloned()).collect();
                rows.push((format!("{speed},{load},{mechanism},{parameter},{seed}"), all));
            }
        }
    }
    println!(
        "speed,load,mechanism,parameter,seed,delay_mean_ms,delay_p99_ms,frame_p99_ms,frames_lost_percent,throughput_mbps"
    );
    let figures = on_every_core(rows.len(), |row| -> Result<_, Error> {
        let scenario = Scenario::parse("choosing.toml", &text, Path::new(""), &rows[row].1)?;
        Ok(figures(&Simulation::new(&scenario)?.run(|_| true)?))
    });
    for ((name, _), figures) in rows.iter().zip(figures) {
        println!("{name},{}", figures?.map(|figure| format!("{figure:.2}")).join(","));
    }
    Ok(())
}

fn cases() -> Vec<Case> {
    let ramp = |low, high| format!(r#"low = "{low} ms", high = "{high} ms", alpha = 1.0, interval = "1 ms""#);
    let marks = |low, high| format!(r#"marker={{ law = "ramp", {} }}"#, ramp(low, high));
    let anbr = |config: &str| format!("ue.glasses.anbr={{ {config} }}");
    let rule = |rule: &str| format!("flow.video.sender.rule={rule}");
    let no_marks = || r#"marker={ law = "none" }"#.to_owned();
    let mut cases = Vec::new();
    let mut add = |mechanism, parameter: &str, overrides: &[String]| {
        cases.push(Case { mechanism, parameter: parameter.to_owned(), overrides: overrides.to_vec() });
    };
    for (low, high) in THRESHOLDS {
        let parameter = &format!("{low}-{high} ms");
        add("L4S", parameter, &[marks(low, high)]);
        add("hybrid (larger rate)", parameter, &[marks(low, high), anbr("")]);
        add("hybrid (gradual)", parameter, &[marks(low, high), anbr(""), rule("gradual")]);
    }
    for (low, high) in THRESHOLDS.into_iter().step_by(2) {
        let upf = format!(r#"marker={{ law = "upf", ramp = {{ {} }} }}"#, ramp(low, high));
        add("L4S at the UPF", &format!("{low}-{high} ms"), &[upf]);
    }
    for window in WINDOWS {
        let anbr = anbr(&format!(r#"window = "{window} ms""#));
        add("ANBR", &format!("{window} ms"), &[no_marks(), anbr, rule("follow")]);
    }
    for target in TARGETS {
        let (anbr, parameter) = (anbr(&format!(r#"queue_target = "{target} ms""#)), &format!("{target} ms"));
        add("queue-aware ANBR", parameter, &[no_marks(), anbr.clone(), rule("follow")]);
        // Marks are the backstop: they begin well above what the recommendation aims at.
        let marks = marks(2 * target, 4 * target);
        add("queue-aware hybrid (larger rate)", parameter, &[marks.clone(), anbr.clone()]);
        add("queue-aware hybrid (gradual)", parameter, &[marks, anbr, rule("gradual")]);
    }
    cases
}

/// The results of `work` on 0 to `count`, in this order.
fn on_every_core<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, (done, results)) = (AtomicUsize::new(0), mpsc::channel());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            let done = done.clone();
            scope.spawn(|| {
                let done = done;
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count || done.send((index, work(index))).is_err() {
                        break;
                    }
                }
            });
        }
    });
    drop(done);
    let mut all: Vec<_> = results.into_iter().collect();
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, result)| result).collect()
}

/// Mean delay, its 99th percentile, that of frames, frames lost, and throughput: both streams' mean, and the sum of the last.
fn figures(result: &RunResult) -> [f64; 5] {
    let flows = || result.flows.iter().filter(|flow| flow.name.starts_with("video"));
    let mean = |of: fn(&tidemark_sim::FlowResult) -> f64| flows().map(of).sum::<f64>() / flows().count() as f64;
    [
        mean(|flow| flow.owd_ms.map_or(f64::NAN, |owd| owd.mean)),
        mean(|flow| flow.owd_ms.map_or(f64::NAN, |owd| owd.p99)),
        mean(|flow| flow.media.and_then(|media| media.delay_ms).map_or(f64::NAN, |delay| delay.p99)),
        mean(|flow| {
            flow.media.map_or(f64::NAN, |media| 100.0 * media.frames_lost as f64 / media.frames_sent.max(1) as f64)
        }),
        flows().map(|flow| flow.throughput_mbps).sum(),
    ]
}
