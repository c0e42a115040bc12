//! A study: what is run, with which seeds, and what is measured.

use std::path::{Path, PathBuf};

use thiserror::Error;
use tidemark_sim::scenario::remedy::in_toml;
use tidemark_sim::scenario::{LoadError, Scenario, ScenarioError};

use crate::form::{Form, Wrong};
use crate::grid::{Grid, Point};
use crate::metric::{self, Metric};
use crate::record::Record;
use crate::run::{PointHash, Program, Run};
use crate::search::{Search, USERS, count_of_users};
use crate::seeds::Widening;

/// Largest number of runs of a study. A million runs take days of processor time and some GB of records.
pub const MAX_RUNS: u128 = 1_000_000;

/// A study that was read and checked; its points are computed when they are needed.
#[derive(Clone, Debug)]
pub struct Study {
    /// Name.
    pub name: String,
    /// Purpose.
    pub description: String,
    /// Scenario that all runs are made from.
    pub base: Base,
    /// Seeds of every point.
    pub seeds: Vec<u64>,
    /// Metrics, which are columns of the table.
    pub metrics: Vec<Metric>,
    /// True where the study names its metrics.
    pub(crate) names_metrics: bool,
    /// Names of `[[flow]]` that have rows; empty for all.
    pub flows: Vec<String>,
    /// True to keep the series and the report of every run.
    pub series: bool,
    /// Seeds that are added where intervals are wide.
    pub widening: Option<Widening>,
    /// Search for the largest value of a parameter.
    pub search: Option<Search>,
    /// Program that makes the runs.
    pub program: Program,
    /// Overrides of every run.
    pub(crate) set: Vec<String>,
    grid: Grid,
}

/// Text of a scenario or of a study, with the place that it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// Name of the file, for errors.
    pub file: String,
    /// Text.
    pub text: String,
    /// Folder in which traces are looked up.
    pub folder: PathBuf,
}

/// A study that can't be used.
#[derive(Debug, Error)]
pub enum StudyError {
    /// A file can't be read.
    #[error("{file} can't be read: {reason}; name a study, which is a TOML file with `scenario` and `vary`")]
    Unreadable {
        /// The file.
        file: String,
        /// Reason, in the system's words.
        reason: String,
    },
    /// A part of the study's file is wrong.
    #[error(transparent)]
    Wrong(Box<ScenarioError>),
    /// A part of a study without a file is wrong.
    #[error("{0}")]
    WrongPart(String),
    /// The scenario can't be read.
    #[error(transparent)]
    Scenario(#[from] LoadError),
    /// A point makes a scenario that can't be run.
    #[error("{point}: {error}")]
    Point {
        /// Values of the point.
        point: String,
        /// Error of its scenario.
        error: Box<LoadError>,
    },
}

impl Base {
    /// Reads the file of a scenario.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn load(file: &Path) -> Result<Self, StudyError> {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .map_err(|error| LoadError::Unreadable { file: name.clone(), reason: error.to_string() })?;
        Ok(Self { file: name, text, folder: file.parent().unwrap_or(Path::new("")).to_path_buf() })
    }
}

impl Study {
    /// Reads the file of a study, and that of its scenario.
    ///
    /// # Errors
    /// The error, with its line and a remedy.
    pub fn load(file: &Path) -> Result<Self, StudyError> {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .map_err(|error| StudyError::Unreadable { file: name.clone(), reason: error.to_string() })?;
        let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
        Self::parse(Base { file: name, text, folder }, |_| ())
    }

    /// Reads the text of a study, as [`load`](Self::load) reads a file. `adjust` may change its form before it is
    /// checked, for flags.
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    pub fn parse(Base { file: name, text, folder }: Base, adjust: impl FnOnce(&mut Form)) -> Result<Self, StudyError> {
        let wrong = |error| StudyError::Wrong(Box::new(error));
        let mut form = Form::from_toml(&text).map_err(|error| {
            wrong(ScenarioError::at(&name, &text, error.span().unwrap_or(0..0), remedy(error.message())))
        })?;
        adjust(&mut form);
        let in_field = |Wrong { path, message }| {
            let path: Vec<_> = path.iter().map(String::as_str).collect();
            wrong(ScenarioError::in_field(&name, &text, &path, message))
        };
        if form.scenario.is_empty() {
            return Err(in_field(Wrong::new(
                &["scenario"],
                "is missing: name the file of a scenario, relative to this one",
            )));
        }
        if form.name.is_none() {
            form.name = Path::new(&name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        }
        let base = Base::load(&folder.join(&form.scenario))?;
        Self::checked(&form, base).map_err(|error| error.map_or_else(StudyError::from, in_field))
    }

    /// Makes a study of a form, for flags and other languages.
    ///
    /// # Errors
    /// The error, with a remedy.
    pub fn new(form: &Form, base: Base) -> Result<Self, StudyError> {
        let part = |Wrong { path, message }| StudyError::WrongPart(format!("{}: {message}", path.join(".")));
        Self::checked(form, base).map_err(|error| error.map_or_else(StudyError::from, part))
    }

    fn checked(form: &Form, base: Base) -> Result<Self, Problem> {
        let mut grid = form.grid()?;
        let seeds = form.seeds()?;
        let runs = grid.count().saturating_mul(seeds.len() as u128);
        if runs > MAX_RUNS {
            let message = format!(
                "the study has {runs} runs ({} points with {} seeds each), but at most {MAX_RUNS} are allowed: take fewer values, a \
                 wider step (`*2` instead of `+1`), fewer seeds, or several studies",
                grid.count(),
                seeds.len()
            );
            return Err(Wrong::new(&["vary"], message).into());
        }
        let set = form.set()?;
        let names: Vec<_> = if form.metrics.is_empty() {
            metric::DEFAULT.iter().map(ToString::to_string).collect()
        } else {
            form.metrics.clone()
        };
        let mut metrics = metrics(&names)?;
        let set = set.iter().map(|(key, value)| format!("{key}={}", value.assigned));
        let all_set: Vec<_> = set.chain(form.overrides.iter().cloned()).collect();
        let scenario = Scenario::parse(&base.file, &base.text, &base.folder, &all_set).map_err(Problem::Scenario)?;
        let flows: Vec<_> = scenario.flow.iter().map(|flow| flow.name.as_str()).collect();
        if let Some((index, name)) = form.flows.iter().enumerate().find(|(_, name)| !flows.contains(&name.as_str())) {
            let right = format!("no [[flow]] is called `{name}`: use {}", flows.join(", "));
            return Err(Wrong::new(&["flows", &index.to_string()], right).into());
        }
        let widening = form.until_ci.as_ref().map(|form| Widening::new(form, &metrics)).transpose()?;
        let search = form.find.as_ref().map(|form| Search::new(form, &scenario)).transpose()?;
        // The table shows what the search judges by.
        let judged = search.iter().map(|search| &search.condition.metric).find(|judged| !metrics.contains(judged));
        metrics.splice(0..0, judged.cloned());
        let users = grid.rename(USERS, &count_of_users(&scenario));
        users.map_err(|message| Wrong::new(&["vary", USERS], message))?;
        let name = form.name.clone().unwrap_or_else(|| scenario.name.clone());
        if name.is_empty() || name.contains(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c)) {
            return Err(Wrong::new(&["name"], "must be of letters, digits, `.`, `_` and `-`").into());
        }
        Ok(Self {
            name,
            description: form.description.clone(),
            base,
            seeds,
            metrics,
            names_metrics: !form.metrics.is_empty(),
            flows: form.flows.clone(),
            series: form.series,
            program: Program::default(),
            widening,
            search,
            set: all_set,
            grid,
        })
    }

    /// Number of points: combinations of values.
    pub fn points(&self) -> u64 {
        self.grid.count() as u64
    }

    /// Names of varied keys and cases, which are columns of the table.
    pub fn columns(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.grid.columns(&mut names);
        names.extend(self.search.as_ref().map(|search| search.key.clone()));
        names
    }

    /// Point at an index below [`points`](Self::points).
    pub fn point(&self, index: u64) -> Point {
        let mut point = Point { values: Vec::new(), assignments: self.set.clone() };
        self.grid.add(index.into(), &mut point);
        point
    }

    /// Runs of the study, one by one: every point with the first seed, then with the second, so that the first ones
    /// already cover all points. Seeds that are added later, and steps of a search, are not among them.
    ///
    /// # Errors
    /// A point whose scenario can't be run.
    pub fn expand(&self) -> impl Iterator<Item = Result<Run, StudyError>> + '_ {
        self.seeds
            .iter()
            .flat_map(move |seed| (0..self.points()).map(move |index| self.run(index, &self.point(index), *seed)))
    }

    /// Run of a point with a seed; `index` is that of the point.
    ///
    /// # Errors
    /// A scenario that can't be run.
    pub fn run(&self, index: u64, point: &Point, seed: u64) -> Result<Run, StudyError> {
        Ok(self.keyed(index, point, seed, &self.hash(point)?))
    }

    /// Groups of a record's flows that have rows.
    pub(crate) fn groups<'a>(&self, record: &'a Record) -> Vec<&'a str> {
        let is_wanted = |name: &&str| self.flows.is_empty() || self.flows.iter().any(|flow| flow == name);
        record.groups().into_iter().filter(is_wanted).collect()
    }

    pub(crate) fn hash(&self, point: &Point) -> Result<PointHash, StudyError> {
        let Base { file, text, folder } = &self.base;
        let scenario = Scenario::parse(file, text, folder, &point.assignments);
        let scenario = scenario.map_err(|error| match point.values.is_empty() {
            true => StudyError::Scenario(error),
            false => StudyError::Point { point: point.label(), error: Box::new(error) },
        })?;
        Ok(PointHash::of(&scenario, &self.program.identity(), self.series))
    }

    pub(crate) fn keyed(&self, index: u64, point: &Point, seed: u64, hash: &PointHash) -> Run {
        let Base { file, text, folder } = self.base.clone();
        let mut assignments = point.assignments.clone();
        assignments.push(format!("seed={seed}"));
        let (values, series, program) = (point.values.clone(), self.series, self.program.clone());
        Run { key: hash.key(seed), point: index, seed, values, file, text, folder, assignments, series, program }
    }
}

/// Metrics of these names.
fn metrics(names: &[String]) -> Result<Vec<Metric>, Wrong> {
    let wrong = |index: usize, message: String| Wrong::new(&["metrics", &index.to_string()], message);
    let parsed = |(index, name): (usize, &String)| Metric::parse(name).map_err(|message| wrong(index, message));
    let metrics: Vec<_> = names.iter().enumerate().map(parsed).collect::<Result<_, _>>()?;
    // A column of the table would be there twice.
    match metrics.iter().enumerate().find(|(index, of)| metrics[..*index].contains(of)) {
        Some((index, metric)) => Err(wrong(index, format!("`{metric}` is listed twice: name each metric once"))),
        None => Ok(metrics),
    }
}

/// Problem of a form or of its scenario.
pub(crate) enum Problem {
    Form(Wrong),
    Scenario(LoadError),
}

impl Problem {
    fn map_or_else(
        self,
        scenario: impl FnOnce(LoadError) -> StudyError,
        form: impl FnOnce(Wrong) -> StudyError,
    ) -> StudyError {
        match self {
            Self::Form(wrong) => form(wrong),
            Self::Scenario(error) => scenario(error),
        }
    }
}

impl From<Wrong> for Problem {
    fn from(wrong: Wrong) -> Self {
        Self::Form(wrong)
    }
}

/// Message of the reader of the form, with what would be right where it does not say so.
fn remedy(message: &str) -> String {
    let said = in_toml(message);
    if message.starts_with("invalid type") {
        format!("{said}: docs/guide/studies.md has the form of a study")
    } else {
        said
    }
}
