//! One run of a study, as data that any process or machine can run.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use tidemark_sim::Simulation;
use tidemark_sim::scenario::{LoadError, Scenario};

use crate::record::Record;

/// Version of the simulator, which is part of every key: another version may give another result.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Form of records, which is part of every key.
const FORM: &str = "tidemark-record-1";

/// One run: all that is needed to make it, on any machine that has the files of its traces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Key: hash of the whole scenario, its traces, the seed, the version and the build, and whether the series are kept.
    pub key: String,
    /// Number of the point in its study, from 0.
    pub point: u64,
    /// Seed.
    pub seed: u64,
    /// Varied keys, and names of cases, with their values as text.
    pub values: Vec<(String, String)>,
    /// Name of the scenario's file, for errors.
    pub file: String,
    /// Text of the scenario before overrides.
    pub text: String,
    /// Folder in which traces are looked up.
    pub folder: PathBuf,
    /// Overrides, in order; the seed is the last.
    pub assignments: Vec<String>,
    /// True to keep the series and the data of the report.
    pub series: bool,
    /// Program that is to make it.
    pub program: Program,
}

/// Program that makes runs: another one may give another result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Identity of its build, which is part of every key: runs of another build are made anew.
    pub build: String,
    /// Hash of algorithms that are no part of the build, such as those of a user of Python; `None` without any. Part of the key as well.
    pub code: Option<String>,
    /// Commit of its sources, for results; `None` if it is not known.
    pub commit: Option<String>,
}

impl Program {
    /// Gives what keys know of the program.
    pub(crate) fn identity(&self) -> String {
        self.code.as_ref().map_or_else(|| self.build.clone(), |code| format!("{} {code}", self.build))
    }
}

/// A run that can't be made.
#[derive(Debug, Error)]
pub enum RunError {
    /// Wrong scenario.
    #[error(transparent)]
    Scenario(#[from] LoadError),
    /// The simulator gives no result for it.
    #[error("{0}")]
    Failed(String),
}

impl Run {
    /// Reads the scenario of the run.
    ///
    /// # Errors
    /// A scenario that can't be run.
    pub fn scenario(&self) -> Result<Scenario, LoadError> {
        Scenario::parse(&self.file, &self.text, &self.folder, &self.assignments)
    }
}

/// Makes a run: its record, as [`Store::put`](crate::Store::put) takes it.
///
/// # Errors
/// A scenario that can't be run, or one whose bytes are not conserved.
pub fn run_one(run: &Run) -> Result<Vec<u8>, RunError> {
    run_while(run, || true)?.ok_or_else(|| RunError::Failed("the run was interrupted".into()))
}

/// Makes a run while `proceed` returns true; `None` if the run was stopped.
///
/// # Errors
/// Those of [`run_one`].
pub fn run_while(run: &Run, proceed: impl Fn() -> bool) -> Result<Option<Vec<u8>>, RunError> {
    run_scenario(run, &run.scenario()?, proceed)
}

/// Makes a run of `scenario`, the run's own in which algorithms were replaced; `code` of the run's program is their
/// hash. Otherwise it is like [`run_while`].
///
/// # Errors
/// Those of [`run_one`].
pub fn run_scenario(run: &Run, scenario: &Scenario, proceed: impl Fn() -> bool) -> Result<Option<Vec<u8>>, RunError> {
    let failed = |error: &dyn std::fmt::Display| RunError::Failed(error.to_string());
    let mut simulation = Simulation::new(scenario).map_err(|error| failed(&error))?;
    if run.series {
        // The report shows why packets were marked.
        simulation.keep_marks();
    }
    let mut result = simulation.run(|_| proceed()).map_err(|error| failed(&error))?;
    result.commit.clone_from(&run.program.commit);
    if result.interrupted_at_s.is_some() {
        return Ok(None);
    }
    let ues = scenario.ues();
    let groups = scenario.flows(&ues).iter().map(|flow| scenario.flow[flow.kind].name.clone()).collect();
    Record::write(&run.key, groups, &result, run.series).map(Some).map_err(|error| failed(&error))
}

/// Hash of all of a scenario but its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointHash([u8; 32]);

impl PointHash {
    /// Hashes a scenario that was read and checked, the program's build, and whether the series are kept.
    pub fn of(scenario: &Scenario, build: &str, series: bool) -> Self {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            // Lengths keep parts apart.
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(FORM.as_bytes());
        add(VERSION.as_bytes());
        add(build.as_bytes());
        // A record without series is none for a study that keeps them.
        add(&[u8::from(series)]);
        let resolved = Scenario { seed: 0, ..scenario.clone() }.resolved();
        add(resolved.unwrap_or_else(|_| scenario.text.clone()).as_bytes());
        for trace in scenario.traces() {
            // A trace that can't be read was refused with the scenario.
            add(&std::fs::read(Path::new(&scenario.folder).join(&trace.file)).unwrap_or_default());
        }
        Self(hash.finalize().into())
    }

    /// Key of the run with a seed.
    pub fn key(&self, seed: u64) -> String {
        let hash = Sha256::new().chain_update(self.0).chain_update(seed.to_le_bytes()).finalize();
        hash.iter().take(KEY_BYTES).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Bytes of a key: two of 10^9 runs have the same by a chance of 10^-21.
const KEY_BYTES: usize = 16;
