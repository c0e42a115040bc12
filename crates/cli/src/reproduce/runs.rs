//! Runs that targets ask for, each of them made once, on all processors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, Result, WrapErr, miette};
use tidemark_sim::Simulation;
use tidemark_sim::scenario::Scenario;
use tidemark_study::statistics::Estimate;

use super::expression::Measure;
use super::measured::Measured;
use super::procedure;
use super::progress::Progress;
use super::target::Targets;
use crate::{interrupt, parallel, run};

/// Figures of a run by their names within the case, such as `owd_p50/slow`.
type Figures = BTreeMap<String, f64>;

/// Case of a scenario, and the figures that are asked of it.
type Cases = BTreeMap<(String, String), BTreeSet<Measure>>;

/// Runs of cases, kept for all targets that ask for the same.
pub(super) struct Runs<'a> {
    targets: &'a Targets,
    /// Folder for every run's results.
    keep: Option<PathBuf>,
    /// Figures by scenario, case and seed.
    figures: BTreeMap<(String, String, u64), Figures>,
}

/// Measures that are wanted of the cases of a scenario, with these seeds.
pub(super) struct Wanted {
    /// Name of the scenario, or of a procedure.
    pub scenario: String,
    /// Measures, with their cases.
    pub measures: Vec<Measure>,
    /// Seeds; a procedure has none, and its figures stand under the first of them.
    pub seeds: Vec<u64>,
}

/// One run to be made.
struct Job {
    name: (String, String, u64),
    scenario: Scenario,
    measures: BTreeSet<Measure>,
}

impl<'a> Runs<'a> {
    /// Starts without a run; `keep` is the folder for the results of every run.
    pub(super) fn new(targets: &'a Targets, keep: Option<PathBuf>) -> Self {
        Self { targets, keep, figures: BTreeMap::new() }
    }

    /// Makes the runs that have not been made.
    ///
    /// # Errors
    /// A case that is no scenario, a run that fails, or an interrupt.
    pub(super) fn make(&mut self, wanted: &[Wanted]) -> Result<()> {
        let jobs = self.jobs(wanted)?;
        let progress = Progress::new(jobs.iter().map(Job::cost).sum(), jobs.len());
        let one = |job: &Job| {
            let figures = job.make(self.keep.as_deref());
            progress.ended(job.cost());
            figures
        };
        let results = parallel::each(&jobs, one);
        progress.finish();
        for (job, figures) in jobs.into_iter().zip(results) {
            let name = format!("{}, {}, seed {}", job.name.0, job.name.1, job.name.2);
            let figures = figures.unwrap_or_else(|| Err(miette!("the run did not finish"))).wrap_err(name)?;
            self.figures.insert(job.name, figures);
        }
        // By themselves, since some of them measure time.
        for (scenario, case, seed) in procedures(wanted) {
            let figures = procedure::run(&scenario, &case)?;
            self.figures.insert((scenario, case, seed), figures);
        }
        Ok(())
    }

    /// Figure of a run that was made; `None` where it was not measured.
    pub(super) fn figure(&self, scenario: &str, seed: u64, measure: &Measure) -> Option<f64> {
        let key = (scenario.to_owned(), measure.case.clone(), seed);
        self.figures.get(&key)?.get(&measure.name()).copied()
    }

    /// Mean of a figure over those seeds that measured it.
    pub(super) fn mean(&self, scenario: &str, seeds: &[u64], measure: &Measure) -> Option<f64> {
        let values: Vec<_> = seeds.iter().filter_map(|seed| self.figure(scenario, *seed, measure)).collect();
        Estimate::of(&values).map(|estimate| estimate.mean)
    }

    /// Runs of simulations, in the order in which they are wanted.
    fn jobs(&self, wanted: &[Wanted]) -> Result<Vec<Job>> {
        let mut cases = Cases::new();
        for (of, measure) in wanted.iter().flat_map(|of| of.measures.iter().map(move |measure| (of, measure))) {
            cases.entry((of.scenario.clone(), measure.case.clone())).or_default().insert(measure.clone());
        }
        let (mut jobs, mut listed) = (Vec::new(), BTreeSet::new());
        for (of, measure) in wanted.iter().flat_map(|of| of.measures.iter().map(move |measure| (of, measure))) {
            if procedure::is_known(&of.scenario) {
                continue;
            }
            let name = |seed: &u64| (of.scenario.clone(), measure.case.clone(), *seed);
            let missing: Vec<_> = of.seeds.iter().map(name).filter(|name| listed.insert(name.clone())).collect();
            if missing.is_empty() {
                continue;
            }
            let text = self.targets.scenario(&of.scenario)?;
            let overrides = self.targets.overrides(&of.scenario, &measure.case)?;
            let scenario =
                Scenario::parse(&of.scenario, text, Path::new("."), &overrides).map_err(run::diagnostic)?;
            let measures = &cases[&(of.scenario.clone(), measure.case.clone())];
            jobs.extend(missing.into_iter().filter(|name| !self.figures.contains_key(name)).map(|name| Job {
                scenario: Scenario { seed: name.2, ..scenario.clone() },
                measures: measures.clone(),
                name,
            }));
        }
        Ok(jobs)
    }
}

impl Job {
    /// Makes the run and takes its figures.
    fn make(&self, keep: Option<&Path>) -> Result<Figures> {
        let mut simulation = Simulation::new(&self.scenario).map_err(|error| miette!("{error}"))?;
        let mut result = simulation.run(|_| !interrupt::happened()).into_diagnostic()?;
        if let Some(at) = result.interrupted_at_s {
            return Err(miette!("interrupted at {at} s"));
        }
        if let Some(folder) = keep {
            let (scenario, case, seed) = &self.name;
            run::write(&folder.join(scenario).join(case).join(seed.to_string()), &mut result)?;
        }
        let measured = Measured::of(&result);
        let figure = |measure: &Measure| Some((measure.name(), measured.figure(measure).filter(|of| of.is_finite())?));
        Ok(self.measures.iter().filter_map(figure).collect())
    }

    /// Estimate of the work: seconds of simulated time, for each UE and flow.
    fn cost(&self) -> u64 {
        let ues = self.scenario.ues();
        let parts = 1 + ues.len() + self.scenario.flows(&ues).len();
        self.scenario.duration.as_millis() * parts as u64 / 1000
    }
}

/// Cases of procedures, each once.
fn procedures(wanted: &[Wanted]) -> BTreeSet<(String, String, u64)> {
    let of_procedures = wanted.iter().filter(|of| procedure::is_known(&of.scenario));
    let case = |of: &Wanted, measure: &Measure| {
        Some((of.scenario.clone(), measure.case.clone(), of.seeds.first().copied()?))
    };
    of_procedures.flat_map(|of| of.measures.iter().filter_map(move |measure| case(of, measure))).collect()
}
