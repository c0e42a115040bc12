//! Simulated seconds a second of one saturated 20 MHz cell, with full transports: `cargo bench -p tidemark-sim`.
//!
//! Each line is the median of seven runs, with the fastest and the slowest: machines are noisy.

use std::path::Path;
use std::time::Instant;

use tidemark_sim::Simulation;
use tidemark_sim::scenario::Scenario;

const RUNS: usize = 7;

fn scenario(ues: u32, channel: &str, controller: &str, law: &str) -> Scenario {
    let text = format!(
        "name = \"saturated\"\nduration = \"20 s\"\nsample_interval = \"100 ms\"\n[marker]\nlaw = \"{law}\"\n\
         [[ue]]\nname = \"ue\"\ncount = {ues}\nchannel = {{ model = \"{channel}\" }}\n\
         [[flow]]\nname = \"flow\"\nue = \"ue\"\nround_trip = \"38 ms\"\nsender = {{ controller = \"{controller}\" }}\n"
    );
    Scenario::parse("saturated.toml", &text, Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn main() {
    println!("| UEs | channel | controller | law | simulated s a second | slowest | fastest | CPU s a simulated s |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for ues in [1, 16, 64] {
        for (channel, controller, law) in
            [("static", "prague", "l4span"), ("vehicular", "prague", "l4span"), ("static", "cubic", "none")]
        {
            let scenario = scenario(ues, channel, controller, law);
            let mut speeds: Vec<f64> = (0..RUNS)
                .map(|_| {
                    let start = Instant::now();
                    let result = Simulation::new(&scenario).map(|run| run.run(|_| true));
                    assert!(matches!(result, Ok(Ok(_))), "the run has a result");
                    20.0 / start.elapsed().as_secs_f64()
                })
                .collect();
            speeds.sort_by(f64::total_cmp);
            let median = speeds[RUNS / 2];
            println!(
                "| {ues} | {channel} | {controller} | {law} | {median:.0} | {:.0} | {:.0} | {:.4} |",
                speeds[0],
                speeds[RUNS - 1],
                1.0 / median
            );
        }
    }
}
