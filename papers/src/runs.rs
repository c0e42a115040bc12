//! Runs for targets. Each is made once, on all processors, and its figures are stored in a folder by the hash of the run. A stored run
//! is not repeated.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant as WallClock};

use miette::{IntoDiagnostic, Result, WrapErr, miette};
use tidemark_sim::Simulation;
use tidemark_sim::scenario::Scenario;
use tidemark_study::statistics::Estimate;
use tidemark_study::{PointHash, Records};

use super::expression::Measure;
use super::measured::Measured;
use super::procedure;
use super::progress::Progress;
use super::target::Targets;
use tidemark_terminal::error::diagnostic;
use tidemark_terminal::{interrupt, parallel};

/// Figures of a run by their names within the case, such as `owd_p50/slow`; `None` if not measured.
type Figures = BTreeMap<String, Option<f64>>;

/// Name of the figure with a run's wall-clock time in seconds.
const SECONDS: &str = "seconds";

/// Case of a scenario, and its wanted figures.
type Cases = BTreeMap<(String, String), BTreeSet<Measure>>;

/// Runs of cases, shared by all targets that need them.
pub(super) struct Runs<'a> {
    targets: &'a Targets,
    /// All figures that any target wants of each case: a stored run has them all.
    asked: Cases,
    records: Records,
    /// Folder for the results of every run, if they are kept.
    keep: Option<PathBuf>,
    /// Figures by scenario, case and seed.
    figures: BTreeMap<(String, String, u64), Figures>,
}

/// Measures wanted of a scenario's cases, with these seeds.
pub(super) struct Wanted {
    /// Name of the scenario or procedure.
    pub scenario: String,
    /// Measures, with their cases.
    pub measures: Vec<Measure>,
    /// Seeds. A procedure's runs are numbered by them.
    pub seeds: Vec<u64>,
}

/// A run to make.
struct Job {
    name: (String, String, u64),
    key: String,
    scenario: Scenario,
    measures: BTreeSet<Measure>,
}

impl<'a> Runs<'a> {
    /// Starts with the runs in the folder `store`. `asked` lists all figures that may be wanted. If `keep`, a folder for the results of
    /// every run, is set, all runs are repeated.
    ///
    /// # Errors
    /// A folder that can't be written.
    pub(super) fn new(targets: &'a Targets, asked: &[Wanted], store: &Path, keep: Option<PathBuf>) -> Result<Self> {
        let mut cases = Cases::new();
        for (of, measure) in each(asked) {
            cases.entry((of.scenario.clone(), measure.case.clone())).or_default().insert(measure.clone());
        }
        Ok(Self {
            targets,
            asked: cases,
            records: Records::open(store).into_diagnostic()?,
            keep,
            figures: BTreeMap::new(),
        })
    }

    /// Makes the runs that have not been made.
    ///
    /// # Errors
    /// An invalid case, a run that fails, a file that can't be read or written, or an interrupt. Finished runs are kept.
    pub(super) fn make(&mut self, wanted: &[Wanted]) -> Result<()> {
        let jobs = self.jobs(wanted)?;
        let is_missing = |job: &&Job| self.keep.is_some() || !self.records.has(&job.key);
        let (missing, there): (Vec<_>, Vec<_>) = jobs.iter().partition(is_missing);
        let progress = Progress::new(missing.iter().map(|job| job.cost()).sum(), missing.len());
        let one = |job: &&Job| {
            let figures = job.figures(&self.records, self.keep.as_deref());
            progress.ended(job.cost());
            figures
        };
        let results = parallel::each(&missing, one);
        progress.finish();
        let read = there.iter().map(|job| Some(job.figures(&self.records, None)));
        for (job, figures) in there.iter().zip(read).chain(missing.iter().zip(results)) {
            let name = format!("{}, {}, seed {}", job.name.0, job.name.1, job.name.2);
            let figures = figures.unwrap_or_else(|| Err(miette!("the run did not finish"))).wrap_err(name)?;
            self.figures.insert(job.name.clone(), figures);
        }
        // By themselves, since some of them measure time.
        for (scenario, case, seed) in procedures(wanted) {
            for (figures, seed) in procedure::run(&scenario, &case)?.into_iter().zip(seed..) {
                let figures = figures.into_iter().map(|(name, value)| (name, Some(value)));
                self.figures.insert((scenario.clone(), case.clone(), seed), figures.collect());
            }
        }
        Ok(())
    }

    /// Figure of a finished run; `None` if it was not measured.
    pub(super) fn figure(&self, scenario: &str, seed: u64, measure: &Measure) -> Option<f64> {
        let key = (scenario.to_owned(), measure.case.clone(), seed);
        self.figures.get(&key)?.get(&measure.name()).copied().flatten()
    }

    /// Total time of these cases' runs in seconds.
    pub(super) fn seconds(&self, of: &Wanted) -> f64 {
        let cases: BTreeSet<_> = of.measures.iter().map(|measure| &measure.case).collect();
        let runs = cases.into_iter().flat_map(|case| of.seeds.iter().map(move |seed| (case, seed)));
        let took = |(case, seed): (&String, &u64)| {
            self.figures.get(&(of.scenario.clone(), case.clone(), *seed))?.get(SECONDS).copied().flatten()
        };
        runs.filter_map(took).sum()
    }

    /// Mean of a figure over the seeds that measured it.
    pub(super) fn mean(&self, scenario: &str, seeds: &[u64], measure: &Measure) -> Option<f64> {
        let values: Vec<_> = seeds.iter().filter_map(|seed| self.figure(scenario, *seed, measure)).collect();
        Estimate::of(&values).map(|estimate| estimate.mean)
    }

    /// Simulation runs, in the order in which they are wanted.
    fn jobs(&self, wanted: &[Wanted]) -> Result<Vec<Job>> {
        let (mut jobs, mut listed) = (Vec::new(), BTreeSet::new());
        for (of, measure) in each(wanted).filter(|(of, _)| !procedure::is_known(&of.scenario)) {
            let case = (of.scenario.clone(), measure.case.clone());
            let name = |seed: &u64| (case.0.clone(), case.1.clone(), *seed);
            let mut names: Vec<_> = of.seeds.iter().map(name).filter(|name| listed.insert(name.clone())).collect();
            names.retain(|name| !self.figures.contains_key(name));
            if names.is_empty() {
                continue;
            }
            let text = self.targets.scenario(&of.scenario)?;
            let overrides = self.targets.overrides(&of.scenario, &measure.case)?;
            let scenario = Scenario::parse(&of.scenario, &text, Path::new("."), &overrides).map_err(diagnostic)?;
            let measures = self.asked.get(&case).cloned().unwrap_or_default();
            // What is taken from a run is part of its key, as the program is.
            let taken: Vec<_> = measures.iter().map(Measure::name).collect();
            let hash = PointHash::of(&scenario, &format!("{} {}", tidemark_version::BUILD, taken.join(" ")), false);
            jobs.extend(names.into_iter().map(|name| Job {
                key: hash.key(name.2),
                scenario: Scenario { seed: name.2, ..scenario.clone() },
                measures: measures.clone(),
                name,
            }));
        }
        Ok(jobs)
    }
}

/// Every measure of every target.
fn each(wanted: &[Wanted]) -> impl Iterator<Item = (&Wanted, &Measure)> {
    wanted.iter().flat_map(|of| of.measures.iter().map(move |measure| (of, measure)))
}

impl Job {
    /// Reads the stored figures of the run, or makes the run and stores them. Waits if another process is making the run.
    fn figures(&self, records: &Records, keep: Option<&Path>) -> Result<Figures> {
        if keep.is_some() {
            return self.make(keep);
        }
        loop {
            if let Some(bytes) = records.read(&self.key).into_diagnostic()? {
                return serde_json::from_slice(&bytes).into_diagnostic();
            }
            if let Some(claim) = records.claim(&self.key).into_diagnostic()? {
                let figures = self.make(None)?;
                claim.put(&serde_json::to_vec(&figures).into_diagnostic()?).into_diagnostic()?;
                return Ok(figures);
            }
            if interrupt::happened() {
                return Err(miette!("interrupted"));
            }
            thread::sleep(PATIENCE);
        }
    }

    /// Makes the run and gives its figures.
    fn make(&self, keep: Option<&Path>) -> Result<Figures> {
        let began = WallClock::now();
        let simulation = Simulation::new(&self.scenario).map_err(|error| miette!("{error}"))?;
        let mut result = simulation.run(|_| !interrupt::happened()).into_diagnostic()?;
        if let Some(at) = result.interrupted_at_s {
            return Err(miette!(
                "interrupted at {at} s; finished runs are kept, and the same command continues from there"
            ));
        }
        if let Some(folder) = keep {
            let (scenario, case, seed) = &self.name;
            result.commit = tidemark_version::COMMIT.map(Into::into);
            let folder = folder.join(scenario).join(case).join(seed.to_string());
            tidemark_record::output::write_folder(&folder, &result, None).into_diagnostic()?;
        }
        let measured = Measured::of(&result);
        let figure = |measure: &Measure| (measure.name(), measured.figure(measure).filter(|of| of.is_finite()));
        let mut figures: Figures = self.measures.iter().map(figure).collect();
        figures.insert(SECONDS.into(), Some(began.elapsed().as_secs_f64()));
        Ok(figures)
    }

    /// Estimate of the work: seconds of simulated time, for each UE and flow.
    fn cost(&self) -> u64 {
        let ues = self.scenario.ues();
        let parts = 1 + ues.len() + self.scenario.flows(&ues).len();
        self.scenario.duration.as_millis() * parts as u64 / 1000
    }
}

/// Time between two checks for a run that another process makes.
const PATIENCE: Duration = Duration::from_millis(100);

/// Cases of procedures, each listed once, with its first seed.
fn procedures(wanted: &[Wanted]) -> BTreeSet<(String, String, u64)> {
    let of_procedures = each(wanted).filter(|(of, _)| procedure::is_known(&of.scenario));
    of_procedures
        .filter_map(|(of, measure)| Some((of.scenario.clone(), measure.case.clone(), of.seeds.first().copied()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"
        name = "wired"
        duration = "1 s"
        warmup = "0 s"
        [[router]]
        name = "line"
        rate = "10 Mbit/s"
        queue = { discipline = "dualpi2" }
        [[flow]]
        name = "flow"
        router = "line"
        round_trip = "2 ms"
        sender = { controller = "prague" }
    "#;

    fn measure(metric: &str) -> Measure {
        Measure { metric: metric.into(), case: String::new(), flow: None, window: None }
    }

    fn wanted(metrics: &[&str]) -> Vec<Wanted> {
        let measures = metrics.iter().map(|metric| measure(metric)).collect();
        vec![Wanted { scenario: "wired".into(), measures, seeds: vec![1, 2] }]
    }

    fn throughput(store: &Path, metrics: &[&str]) -> Option<f64> {
        let targets = Targets { scenarios: &[("wired", SCENARIO)], ..Targets::default() };
        let mut runs = Runs::new(&targets, &wanted(metrics), store, None).unwrap();
        runs.make(&wanted(metrics)).unwrap();
        assert_eq!(runs.figure("wired", 1, &measure("no_such_figure")), None);
        runs.mean("wired", &[1, 2], &measure("throughput_mean"))
    }

    #[test]
    fn a_run_whose_figures_are_kept_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let records = || std::fs::read_dir(folder.path().join("runs")).unwrap().map(|entry| entry.unwrap().path());
        let first = throughput(folder.path(), &["throughput_mean"]).unwrap();
        assert!((8.0..10.0).contains(&first), "{first}");
        assert_eq!(throughput(folder.path(), &["throughput_mean"]), Some(first));
        // A record that says otherwise is believed: nothing was run.
        records().for_each(|file| std::fs::write(file, r#"{"throughput_mean": 77.0}"#).unwrap());
        assert_eq!(throughput(folder.path(), &["throughput_mean"]), Some(77.0));
        // Whoever asks for more has another key.
        assert_eq!(throughput(folder.path(), &["throughput_mean", "rtt_p50"]), Some(first));
        assert_eq!(records().count(), 4);
    }
}
