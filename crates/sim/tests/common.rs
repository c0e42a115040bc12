//! Runs of scenarios, as tests ask for them.

use std::path::Path;

use tidemark_sim::scenario::Scenario;
use tidemark_sim::{RunResult, Simulation};

/// Each `n`th case of a grid that takes long; all of them where `WHOLE` is set, as `make grids` does.
pub fn sampled<T>(n: usize, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    cases.into_iter().step_by(if std::env::var_os("WHOLE").is_some() { 1 } else { n })
}

/// Reads a scenario, with values replaced.
pub fn read(text: &str, overrides: &[&str]) -> Scenario {
    read_in(Path::new(""), text, overrides)
}

/// Runs a scenario to its end, with values replaced.
pub fn run(text: &str, overrides: &[&str]) -> RunResult {
    run_in(Path::new(""), text, overrides)
}

/// Runs a scenario whose files lie in a folder to its end, with values replaced.
pub fn run_in(folder: &Path, text: &str, overrides: &[&str]) -> RunResult {
    Simulation::new(&read_in(folder, text, overrides)).unwrap().run(|_| true).unwrap()
}

fn read_in(folder: &Path, text: &str, overrides: &[&str]) -> Scenario {
    let overrides: Vec<_> = overrides.iter().map(|text| (*text).to_owned()).collect();
    Scenario::parse("test.toml", text, folder, &overrides).unwrap()
}
