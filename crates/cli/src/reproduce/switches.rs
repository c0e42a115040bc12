//! Runs on real switches: `tidemark-sdn measure`, which repeats the paper's network with Open vSwitch in namespaces.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use miette::{Result, miette};

/// Name by which targets ask for it.
pub(super) const NAME: &str = "switches";

/// Folder of the runs, where `tidemark-sdn measure` keeps them by itself: what is there is not run a second time.
const FOLDER: &str = "out/sdn-figures";

/// Figures by case and by name, as `figures.json` has them.
type Figures = BTreeMap<String, BTreeMap<String, f64>>;

/// Figures of a case, which is a point of `tidemark-sdn measure`: means over its repetitions, such as `l4s_delay_mean_ms`.
pub(super) fn run(case: &str) -> Result<BTreeMap<String, f64>> {
    let figures = measured().map_err(|reason| miette!("{reason}"))?;
    figures.get(case).cloned().ok_or_else(|| miette!("{FOLDER}: no run of {case} has succeeded"))
}

/// Reason why there are no switches to measure here, if there is one.
pub(super) fn unavailable() -> Option<&'static str> {
    measured().err()
}

/// All points, measured once.
fn measured() -> Result<&'static Figures, &'static str> {
    static FIGURES: OnceLock<Result<Figures, String>> = OnceLock::new();
    FIGURES.get_or_init(measure).as_ref().map_err(String::as_str)
}

fn measure() -> Result<Figures, String> {
    let output = Command::new("tidemark-sdn").args(["measure", "--out", FOLDER]).output();
    let output = output.map_err(|error| format!("tidemark-sdn: {error}: install sdn/ and put its command on PATH"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(errors.trim().lines().last().unwrap_or("tidemark-sdn measure failed").to_owned());
    }
    parse(&fs::read_to_string(format!("{FOLDER}/figures.json")).map_err(|error| format!("{FOLDER}: {error}"))?)
}

fn parse(text: &str) -> Result<Figures, String> {
    serde_json::from_str(text).map_err(|error| format!("{FOLDER}/figures.json: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_go_by_case_and_name() {
        let figures = parse(r#"{"sound.q2-1": {"runs": 5, "l4s_delay_mean_ms": 0.65}}"#).unwrap();
        assert_eq!(figures["sound.q2-1"]["l4s_delay_mean_ms"], 0.65);
        assert!(parse("{").unwrap_err().contains("figures.json"));
    }
}
