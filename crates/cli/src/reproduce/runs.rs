//! Runs the cases that targets ask for, each of them once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, Result, miette};
use tidemark_sim::scenario::Scenario;
use tidemark_sim::{RunResult, Simulation};

use super::expression::Measure;
use super::measured::Measured;
use super::procedure;
use super::target::Targets;
use crate::{interrupt, parallel, run};

/// Runs of cases, kept for the targets that ask for the same.
pub(super) struct Runs<'a> {
    targets: &'a Targets,
    /// Folder for every run's results.
    keep: Option<PathBuf>,
    /// Cases by scenario, name and number of seeds.
    cases: BTreeMap<(String, String, u64), Measured>,
}

/// One run to be made.
struct Job {
    case: String,
    scenario: Scenario,
}

impl<'a> Runs<'a> {
    /// Starts without a run; `keep` is the folder for the results of every run.
    pub(super) fn new(targets: &'a Targets, keep: Option<PathBuf>) -> Self {
        Self { targets, keep, cases: BTreeMap::new() }
    }

    /// Runs those of the cases that have not been run, with seeds from 1 on.
    pub(super) fn prepare(&mut self, scenario: &str, cases: &[&str], seeds: u64) -> Result<()> {
        let mut jobs = Vec::new();
        let mut new: Vec<_> = cases.to_vec();
        new.sort_unstable();
        new.dedup();
        new.retain(|case| !self.cases.contains_key(&key(scenario, case, seeds)));
        for case in new {
            if procedure::is_known(scenario) {
                let others = procedure::run(scenario, case)?;
                self.cases.insert(key(scenario, case, seeds), Measured::without_runs(others));
                continue;
            }
            let text = self.targets.scenario(scenario)?;
            let overrides = self.targets.overrides(scenario, case)?;
            for seed in 1..=seeds {
                let all: Vec<_> = overrides.iter().cloned().chain([format!("seed={seed}")]).collect();
                let scenario = Scenario::parse(scenario, text, Path::new("."), &all).map_err(run::diagnostic)?;
                jobs.push(Job { case: case.into(), scenario });
            }
        }
        for (job, mut result) in jobs.iter().zip(simulate_all(&jobs)?) {
            if let Some(folder) = &self.keep {
                run::write(&folder.join(scenario).join(&job.case).join(job.scenario.seed.to_string()), &mut result)?;
            }
            // In the order of the seeds, whatever order they were run in.
            self.cases.entry(key(scenario, &job.case, seeds)).or_default().add(&result);
        }
        Ok(())
    }

    /// A figure of a case that has been run.
    pub(super) fn figure(&self, scenario: &str, seeds: u64, measure: &Measure) -> Option<f64> {
        self.cases.get(&key(scenario, &measure.case, seeds))?.figure(measure).filter(|value| value.is_finite())
    }
}

fn key(scenario: &str, case: &str, seeds: u64) -> (String, String, u64) {
    (scenario.into(), case.into(), seeds)
}

fn simulate_all(jobs: &[Job]) -> Result<Vec<RunResult>> {
    let unfinished = || Err(miette!("a run did not finish"));
    let results = parallel::each(jobs, |job| simulate(&job.scenario)).into_iter();
    results.map(|result| result.unwrap_or_else(unfinished)).collect()
}

fn simulate(scenario: &Scenario) -> Result<RunResult> {
    let mut simulation = Simulation::new(scenario).map_err(|error| miette!("{error}"))?;
    let result = simulation.run(|_| !interrupt::happened()).into_diagnostic()?;
    match result.interrupted_at_s {
        Some(at) => Err(miette!("interrupted at {at} s of {}", scenario.name)),
        None => Ok(result),
    }
}
