//! Runs on real switches: `tidemark-sdn measure`, which repeats the paper's network with Open vSwitch in namespaces.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use miette::{Result, miette};

/// Folder where `tidemark-sdn measure` stores its runs; stored runs are not repeated.
const FOLDER: &str = "out/sdn-figures";

/// Runs of each case.
pub(super) const REPETITIONS: u64 = 5;

/// Figures by name, such as `l4s_delay_mean_ms`, for each run of each case, as in `runs.json`.
type Runs = BTreeMap<String, Vec<BTreeMap<String, f64>>>;

/// Figures of each run of a case, which is a point of `tidemark-sdn measure`.
pub(super) fn run(case: &str) -> Result<Vec<BTreeMap<String, f64>>> {
    let runs = measured().map_err(|reason| miette!("{reason}"))?;
    runs.get(case).cloned().ok_or_else(|| miette!("{FOLDER}: no run of {case} has succeeded"))
}

/// Reason why switches can't be measured on this machine; `None` if they can.
pub(super) fn unavailable() -> Option<&'static str> {
    measured().err()
}

/// All points, measured at the first use.
fn measured() -> Result<&'static Runs, &'static str> {
    static RUNS: OnceLock<Result<Runs, String>> = OnceLock::new();
    RUNS.get_or_init(measure).as_ref().map_err(String::as_str)
}

fn measure() -> Result<Runs, String> {
    let repetitions = REPETITIONS.to_string();
    let output =
        Command::new("tidemark-sdn").args(["measure", "--out", FOLDER, "--repetitions", &repetitions]).output();
    let output = output.map_err(|error| format!("tidemark-sdn: {error}: install sdn/ and put its command on PATH"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(errors.trim().lines().last().unwrap_or("tidemark-sdn measure failed").to_owned());
    }
    parse(&fs::read_to_string(format!("{FOLDER}/runs.json")).map_err(|error| format!("{FOLDER}: {error}"))?)
}

/// Reads the runs. Refuses a case without all of its runs, because its intervals would not be comparable.
fn parse(text: &str) -> Result<Runs, String> {
    let runs: Runs = serde_json::from_str(text).map_err(|error| format!("{FOLDER}/runs.json: {error}"))?;
    match runs.iter().find(|(_, of)| (of.len() as u64) < REPETITIONS) {
        Some((case, of)) => Err(format!(
            "{FOLDER}: {} of {REPETITIONS} runs of {case} count: the same command repeats the others",
            of.len()
        )),
        None => Ok(runs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_go_by_case_and_have_figures_by_name() {
        let run = r#"{"l4s_delay_mean_ms": 0.65}"#;
        let runs = |count: usize| format!(r#"{{"sound.q2-1": [{}]}}"#, vec![run; count].join(", "));
        assert_eq!(parse(&runs(5)).unwrap()["sound.q2-1"][4]["l4s_delay_mean_ms"], 0.65);
        assert!(parse(&runs(4)).unwrap_err().contains("4 of 5 runs of sound.q2-1 count"));
        assert!(parse("{").unwrap_err().contains("runs.json"));
    }
}
