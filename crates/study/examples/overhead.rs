//! Processor time of a study beside that of its runs alone, for docs/measured/performance.md. Both are taken in turns, and the least of each is compared.
//!
//! `cargo run --release -p tidemark-study --example overhead`

use std::error::Error;
use std::fs;

use tidemark_sim::Simulation;
use tidemark_sim::scenario::Scenario;
use tidemark_study::{Base, Form, Limits, Plan, Run, Store, Study, Table, execute};

const SCENARIO: &str = r#"
name = "short"
duration = "10 s"

[[ue]]
name = "ue"
channel = { model = "pedestrian" }

[[flow]]
name = "flow"
ue = "ue"
round_trip = "20 ms"
"#;

/// Turns that each way gets.
const TURNS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let vary = [("marker.law", "none,l4span,ramp,step,dualpi2"), ("flow.0.round_trip", "5 ms..100 ms+5 ms")];
    let vary = vary.map(|(key, values)| (key.to_string(), values.into())).into_iter().collect();
    let form = Form { name: Some("overhead".into()), vary, seeds: Some(10.into()), ..Default::default() };
    let base = Base { file: "short.toml".into(), text: SCENARIO.into(), folder: "".into() };
    let study = Study::new(&form, base)?;
    let runs: Vec<Run> = study.expand().collect::<Result<_, _>>()?;
    let [mut alone, mut whole] = [f64::INFINITY; 2];
    for turn in 0..TURNS {
        let before = processor_seconds()?;
        for run in &runs {
            let scenario = Scenario::parse(&run.file, &run.text, &run.folder, &run.assignments)?;
            Simulation::new(&scenario)?.run(|_| true)?;
        }
        let between = processor_seconds()?;
        let folder = std::env::temp_dir().join(format!("tidemark-overhead-{}-{turn}", std::process::id()));
        let limits = Limits { jobs: 1, memory: None, proceed: &|| true };
        let mut plan = Plan::new(&study, &limits)?;
        let store = Store::open(&folder, &study)?;
        execute(&study, &mut plan, &store, &limits, |_| {})?;
        store.write("table.csv", Table::new(&study, &plan, &store)?.csv().as_bytes())?;
        let after = processor_seconds()?;
        fs::remove_dir_all(&folder)?;
        (alone, whole) = (alone.min(between - before), whole.min(after - between));
    }
    println!(
        "{} runs: {alone:.2} s alone, {whole:.2} s as a study: {:+.1} %",
        runs.len(),
        (whole / alone - 1.0) * 100.0
    );
    Ok(())
}

/// Processor time of this process, user and system.
fn processor_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // Behind the name in brackets, the 12th and 13th field (proc_pid_stat(5)), in hundredths of a second.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    Ok((fields[11].parse::<f64>()? + fields[12].parse::<f64>()?) / 100.0)
}
