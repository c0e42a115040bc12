//! `tidemark sweep`: a study, from its file or from flags.

mod page;
mod terminal;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use miette::{Context, IntoDiagnostic, LabeledSpan, NamedSource, Report, Result, miette};
use serde_json::Value;
use tidemark_core::Bytes;
use tidemark_study::{
    Base, Find, Form, Found, Keys, Limits, Plan, Program, Progress, Store, Study, StudyError, Table, UntilCi, execute,
};

use tidemark_terminal::{error, interrupt, parallel, say};

/// Arguments of `tidemark sweep`.
#[derive(Args)]
pub(crate) struct Sweep {
    /// The study file, or a scenario file with --vary
    file: PathBuf,
    /// Vary a parameter: marker.law=none,l4span,ramp or flow.*.round_trip=10ms..160ms*2, or 1..9+2, or 0..20:5 (repeatable, crossed)
    #[arg(long, value_name = "KEY=VALUES")]
    vary: Vec<String>,
    /// Vary parameters in step: "marker.low=2 ms,5 ms; marker.high=5 ms,10 ms" (repeatable, crossed)
    #[arg(long, value_name = "KEY=VALUES; ...")]
    zip: Vec<String>,
    /// Replace a value in every run (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Run these cases of a column alone: 'setting=light' or 'mechanism=L4S,ANBR' (repeatable)
    #[arg(long, value_name = "COLUMN=CASES")]
    only: Vec<String>,
    /// Seeds of every point, from 1 on [default: the study's, or 5]
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// Measure this field of summary.json: owd_ms.p99, ue.queue_ms.p99, utilisation, sum(marked), a/b (repeatable)
    #[arg(long = "metric", value_name = "NAME")]
    metrics: Vec<String>,
    /// Give rows to these flows alone, by their names in the scenario (repeatable)
    #[arg(long = "flow", value_name = "NAME")]
    flows: Vec<String>,
    /// Add seeds where half of an interval of 95 % is wider than this share of its mean, as in 5%
    #[arg(long, value_name = "SHARE")]
    until_ci: Option<String>,
    /// Metric whose intervals count for --until-ci [default: the first]
    #[arg(long, value_name = "NAME", requires = "until_ci")]
    ci_metric: Option<String>,
    /// Most seeds that --until-ci gives a point [default: 100]
    #[arg(long, value_name = "N", requires = "until_ci")]
    max_seeds: Option<u64>,
    /// Search for the largest value of a whole number: ue.0.count, or `users` for the count of the only kind of UE
    #[arg(long, value_name = "KEY", requires = "until")]
    find: Option<String>,
    /// Condition of --find, on the mean over seeds: 'satisfied >= 90 %' or 'owd_ms.p99 <= 20'
    #[arg(long, value_name = "CONDITION", requires = "find")]
    until: Option<String>,
    /// Largest value that --find tries [default: 1024]
    #[arg(long, value_name = "N", requires = "find")]
    max: Option<u64>,
    /// Keep the series of every run, in the folder `series`
    #[arg(long)]
    series: bool,
    /// Folder of the study; one that was interrupted goes on [default: the study's name, inside out]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Runs at once, at most [default: processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    jobs: Option<u64>,
    /// Memory that runs may take together, as in "4 GB" [default: half of what is available]
    #[arg(long, value_name = "SIZE")]
    memory: Option<Bytes>,
}

/// Keys that a study has and a scenario has not.
const OF_STUDIES: [&str; 9] = ["scenario", "vary", "zip", "case", "seeds", "metrics", "set", "until_ci", "find"];

impl Sweep {
    /// Runs what the study lacks, writes its table and page, and prints its figures.
    ///
    /// # Errors
    /// A study that can't be used, a run that fails, or an interrupt: what was run is kept then.
    pub(crate) fn execute(&self) -> Result<()> {
        let mut study = self.study()?;
        let out = self.out.clone().unwrap_or_else(|| Path::new("out").join(&study.name));
        let (table, found) = make(&mut study, &out, self.jobs, self.memory)?;
        terminal::print(&study, &table, &found);
        say_files(&out);
        Ok(())
    }

    /// Study of the file, with what flags add to it or replace.
    fn study(&self) -> Result<Study> {
        let is_study = is_study(&self.file);
        let (mut vary, mut zip) = (Vec::<(String, Value)>::new(), Vec::<Keys>::new());
        for assignment in &self.vary {
            let (key, values) = assigned(assignment, "--vary")?;
            if vary.iter().any(|(known, _)| *known == key) {
                return Err(miette!("--vary {key} is there twice: name all of its values in one, as in {key}=1,2,5"));
            }
            vary.push((key, values));
        }
        for together in &self.zip {
            zip.push(together.split(';').map(|part| assigned(part, "--zip")).collect::<Result<_>>()?);
        }
        let mut only = Vec::new();
        for chosen in &self.only {
            let (column, cases) = chosen
                .split_once('=')
                .ok_or_else(|| miette!("`{chosen}` is not column=cases, as in --only setting=light"))?;
            only.push((column.trim().into(), cases.split(',').map(|case| case.trim().into()).collect()));
        }
        let adjust = |form: &mut Form| {
            form.only = only;
            form.vary.extend(vary);
            form.zip.extend(zip);
            form.overrides.extend(self.overrides.iter().cloned());
            form.seeds = self.seeds.map(Value::from).or(form.seeds.take());
            form.series |= self.series;
            if !self.metrics.is_empty() {
                form.metrics.clone_from(&self.metrics);
            }
            if !self.flows.is_empty() {
                form.flows.clone_from(&self.flows);
            }
            if let Some(within) = self.until_ci.clone() {
                let max_seeds = self.max_seeds.unwrap_or(100);
                form.until_ci = Some(UntilCi { within, metric: self.ci_metric.clone(), max_seeds });
            }
            if let (Some(key), Some(until)) = (self.find.clone(), self.until.clone()) {
                form.find = Some(Find { key, until, max: self.max.unwrap_or(1024) });
            }
        };
        let study = if is_study {
            Study::load_adjusted(&self.file, adjust)
        } else {
            let mut form = Form::default();
            adjust(&mut form);
            Base::load(&self.file).and_then(|base| Study::new(&form, base))
        };
        study.map_err(diagnostic)
    }
}

/// Makes what the folder lacks of a study, and writes its table and page; gives the table, and what a search found.
///
/// # Errors
/// A run that fails, a file that can't be written, or an interrupt: what was run is kept then.
pub(crate) fn make(
    study: &mut Study,
    out: &Path,
    jobs: Option<u64>,
    memory: Option<Bytes>,
) -> Result<(Table, Vec<Found>)> {
    study.program = Program { build: tidemark_version::BUILD.into(), commit: tidemark_version::COMMIT.map(Into::into) };
    let jobs = jobs.map_or_else(parallel::processors, |jobs| jobs as usize);
    let proceed = || !interrupt::happened();
    let limits = Limits { jobs, memory: memory.map(|Bytes(bytes)| bytes), proceed: &proceed };
    let mut plan = Plan::new(study, &limits).map_err(|error| miette!("{error}"))?;
    let store = Store::open(out, study).map_err(|error| miette!("{error}"))?;
    let bar = bar(&study.name);
    let found = execute(study, &mut plan, &store, &limits, |progress| show(&bar, progress));
    bar.finish_and_clear();
    let found = found.map_err(|error| miette!("{error}"))?;
    let table = Table::new(study, &plan, &store).map_err(|error| miette!("{error}"))?;
    let write = |name: &str, text: &str| store.write(name, text.as_bytes()).map_err(|error| miette!("{error}"));
    write("table.csv", &table.csv())?;
    write("units.csv", &table.units_csv())?;
    if study.series {
        write_series(&table, &store)?;
    }
    write("study.html", &page::page(study, &table, &found)?)?;
    Ok((table, found))
}

/// Prints where table and page of a study are.
pub(crate) fn say_files(out: &Path) {
    say!("table: {}", out.join("table.csv").display());
    say!("page: {}", out.join("study.html").display());
}

/// True for a file with a key that only studies have.
pub(crate) fn is_study(file: &Path) -> bool {
    let table = fs::read_to_string(file).ok().and_then(|text| text.parse::<toml::Table>().ok());
    table.is_some_and(|table| OF_STUDIES.iter().any(|key| table.contains_key(*key)))
}

/// Checks every point of a study's file, and prints a line about it.
///
/// # Errors
/// That of a study or of a point that can't be run.
pub(crate) fn check(file: &Path, overrides: &[String]) -> Result<()> {
    let study = Study::load_adjusted(file, |form| form.overrides = overrides.to_vec()).map_err(diagnostic)?;
    let limits = Limits { jobs: parallel::processors(), memory: None, proceed: &|| !interrupt::happened() };
    Plan::new(&study, &limits).map_err(|error| miette!("{error}"))?;
    let (points, seeds) = (study.points(), study.seeds.len());
    let what = if study.search.is_some() { "searches" } else { "points" };
    say!("{}: study `{}` of {points} {what} with {seeds} seeds each", file.display(), study.name);
    Ok(())
}

/// Key and values of a flag.
fn assigned(text: &str, flag: &str) -> Result<(String, Value)> {
    let wrong = || miette!("`{text}` is not key=values, as in {flag} marker.law=none,l4span");
    let (key, values) = text.split_once('=').ok_or_else(wrong)?;
    Ok((key.trim().into(), values.trim().into()))
}

fn bar(label: &str) -> ProgressBar {
    // Standard error: the tables on standard output stay clean. Hidden unless it is a terminal.
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {pos} of {len} runs{msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_prefix(label.to_string());
    bar
}

fn show(bar: &ProgressBar, progress: Progress) {
    bar.set_length(progress.total as u64);
    bar.set_position(progress.done as u64);
    if let Some(left) = progress.left {
        bar.set_message(format!(", {} left", indicatif::HumanDuration(left)));
    }
}

/// Writes the series of every run into a folder below `series`, under the key of the run.
fn write_series(table: &Table, store: &Store) -> Result<()> {
    let mut keys: Vec<_> = table.rows.iter().map(|row| row.key.as_str()).collect();
    keys.dedup();
    for key in keys {
        let folder = store.folder().join("series").join(key);
        let record = store.get(key).map_err(|error| miette!("{error}"))?;
        for (name, text) in record.iter().flat_map(|record| record.series_files()) {
            fs::create_dir_all(&folder)
                .and_then(|()| fs::write(folder.join(name), text))
                .into_diagnostic()
                .wrap_err_with(|| format!("{} can't be written", folder.display()))?;
        }
    }
    Ok(())
}

/// Message that shows the line at fault.
pub(crate) fn diagnostic(error: StudyError) -> Report {
    match error {
        StudyError::Wrong(wrong) => {
            let label = LabeledSpan::at(wrong.span.clone(), "here");
            let source = NamedSource::new(&wrong.file, wrong.source_text.clone());
            Report::from(miette::MietteDiagnostic::new(wrong.to_string()).with_label(label)).with_source_code(source)
        }
        StudyError::Scenario(wrong) => error::diagnostic(wrong),
        other => miette!("{other}"),
    }
}
