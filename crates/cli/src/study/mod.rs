//! Studies of `tidemark run`, from a file or from flags.

mod points;
mod terminal;

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use miette::{Context, IntoDiagnostic, LabeledSpan, NamedSource, Report, Result, miette};
use serde_json::Value;
use tidemark_core::Bytes;
use tidemark_record::output::REPORT;
use tidemark_record::staging;
use tidemark_study::page::StudyPage;
use tidemark_study::{
    Base, Find, Form, Found, Keys, Limits, Plan, Program, Progress, Store, StoreError, Study, StudyError, Table,
    UntilCi, execute,
};

use crate::folder::Force;
use crate::format::Format;

use tidemark_terminal::{detail, error, interrupt, parallel, print, say};

/// Options of `tidemark run` that make the run a study, or that set up a study.
#[derive(Args)]
#[command(next_help_heading = "Studies")]
pub(crate) struct StudyOptions {
    /// Vary a parameter: marker.law=none,l4span,ramp or flow.*.round_trip=10ms..160ms*2, or 1..9+2, or 0..20:5 (repeatable, crossed)
    #[arg(long, value_name = "KEY=VALUES")]
    vary: Vec<String>,
    /// Vary parameters in step: "marker.low=2 ms,5 ms; marker.high=5 ms,10 ms" (repeatable, crossed)
    #[arg(long, value_name = "KEY=VALUES; ...", hide_short_help = true)]
    zip: Vec<String>,
    /// Run only these cases of a column: 'setting=light' or 'mechanism=L4S,ANBR' (repeatable)
    #[arg(long, value_name = "COLUMN=CASES", hide_short_help = true)]
    only: Vec<String>,
    /// Measure this field of summary.json: owd_ms.p99, ue.queue_ms.p99, utilisation, sum(marked), a/b (repeatable)
    #[arg(long = "metric", value_name = "NAME")]
    metrics: Vec<String>,
    /// Give rows only to these flows, by their names in the scenario (repeatable)
    #[arg(long = "flow", value_name = "NAME", hide_short_help = true)]
    flows: Vec<String>,
    /// Add seeds until the half-width of each 95 % confidence interval is at most this share of its mean, such as 5%
    #[arg(long, value_name = "SHARE", hide_short_help = true)]
    until_ci: Option<String>,
    /// Metric whose intervals --until-ci checks [default: the first]
    #[arg(long, value_name = "NAME", requires = "until_ci", hide_short_help = true)]
    ci_metric: Option<String>,
    /// Most seeds per point with --until-ci [default: 100]
    #[arg(long, value_name = "N", requires = "until_ci", hide_short_help = true)]
    max_seeds: Option<u64>,
    /// Search for the largest value of an integer: ue.0.count, or `users` for the count of the only kind of UE
    #[arg(long, value_name = "KEY", requires = "until", hide_short_help = true)]
    find: Option<String>,
    /// Condition of --find on the mean over seeds: 'satisfied >= 90 %' or 'owd_ms.p99 <= 20'
    #[arg(long, value_name = "CONDITION", requires = "find", hide_short_help = true)]
    until: Option<String>,
    /// Largest value that --find tries [default: 1024]
    #[arg(long, value_name = "N", requires = "find", hide_short_help = true)]
    max: Option<u64>,
    /// Keep the series and the report of every run, in the folder `series`
    #[arg(long, hide_short_help = true)]
    series: bool,
    /// Most runs at once [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096), hide_short_help = true)]
    jobs: Option<u64>,
    /// Memory for all runs together, such as "4 GB" [default: half of the available memory]
    #[arg(long, value_name = "SIZE", hide_short_help = true)]
    memory: Option<Bytes>,
}

/// Options that a study shares with a run.
pub(crate) struct Common<'a> {
    /// Overrides of every run.
    pub(crate) overrides: &'a [String],
    /// Number of seeds of every point, if set.
    pub(crate) seeds: Option<u64>,
    /// Folder, if set.
    pub(crate) out: Option<&'a Path>,
    /// Permission to replace another study.
    pub(crate) force: Force,
    /// Format of the output.
    pub(crate) format: Format,
}

/// File with a row for each run. A folder without it has no results yet.
pub(crate) const TABLE: &str = "table.csv";
/// Page of the study.
pub(crate) const PAGE: &str = "study.html";

/// Keys that only a study has.
const OF_STUDIES: [&str; 9] = ["scenario", "vary", "zip", "case", "seeds", "metrics", "set", "until_ci", "find"];

impl StudyOptions {
    /// True where an option asks for a study.
    pub(crate) fn asks(&self) -> bool {
        let lists = [&self.vary, &self.zip, &self.only, &self.metrics, &self.flows];
        lists.iter().any(|list| !list.is_empty()) || self.until_ci.is_some() || self.find.is_some() || self.series
    }

    /// Makes the study's missing runs, writes its table and page, and prints its figures.
    ///
    /// # Errors
    /// A study that can't be used, a run that fails, or an interrupt. Finished runs are kept.
    pub(crate) fn execute(&self, file: Base, common: &Common<'_>) -> Result<()> {
        let mut study = self.study(file, common)?;
        let out = folder(&study.name, common.out);
        let (table, found) = self.make(&mut study, &out, common.force, |_| Vec::new())?;
        figures(&table, common.format)?;
        if common.format == Format::Table {
            terminal::conclude(&study, &table, &found);
        }
        say_files(&out);
        Ok(())
    }

    /// The file's study, with the flags' additions and replacements.
    fn study(&self, file: Base, common: &Common<'_>) -> Result<Study> {
        let is_study = is_study(&file);
        let (mut vary, mut zip) = (Vec::<(String, Value)>::new(), Vec::<Keys>::new());
        for assignment in &self.vary {
            let (key, values) = assigned(assignment, "--vary")?;
            if vary.iter().any(|(known, _)| *known == key) {
                return Err(miette!("--vary {key} is given twice: name all of its values at once, as in {key}=1,2,5"));
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
                .ok_or_else(|| miette!("`{chosen}` is not COLUMN=CASES, as in --only setting=light"))?;
            only.push((column.trim().into(), cases.split(',').map(|case| case.trim().into()).collect()));
        }
        let adjust = |form: &mut Form| {
            form.only = only;
            form.vary.extend(vary);
            form.zip.extend(zip);
            form.overrides.extend(common.overrides.iter().cloned());
            form.seeds = common.seeds.map(Value::from).or(form.seeds.take());
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
            Study::parse(file, adjust)
        } else {
            let mut form = Form::default();
            adjust(&mut form);
            Study::new(&form, file)
        };
        study.map_err(diagnostic)
    }

    /// Makes the study's missing runs, and writes its table, page and further files. Gives the table and the results of a search.
    ///
    /// # Errors
    /// A run that fails, a file that can't be written, or an interrupt. Finished runs are kept.
    pub(crate) fn make(
        &self,
        study: &mut Study,
        out: &Path,
        force: Force,
        others: impl FnOnce(&Table) -> Vec<(PathBuf, String)>,
    ) -> Result<(Table, Vec<Found>)> {
        let commit = tidemark_version::COMMIT.map(Into::into);
        study.program = Program { build: tidemark_version::BUILD.into(), commit, code: None };
        let jobs = self.jobs.map_or_else(parallel::processors, |jobs| jobs as usize);
        let proceed = || !interrupt::happened();
        let limits = Limits { jobs, memory: self.memory.map(|Bytes(bytes)| bytes), proceed: &proceed };
        let mut plan = Plan::new(study, &limits).map_err(|error| miette!("{error}"))?;
        let store = open(out, study, force)?;
        detail!("study {}: {} points, {} seeds, in {}", study.name, study.points(), study.seeds.len(), out.display());
        let bar = bar(&study.name);
        let found = execute(study, &mut plan, &store, &limits, |progress| show(&bar, progress));
        bar.finish_and_clear();
        let found = found.map_err(|error| miette!("{error}"))?;
        let table = Table::new(study, &plan, &store).map_err(|error| miette!("{error}"))?;
        if study.series {
            write_series(&table, &store)?;
        }
        let mut files = others(&table);
        let page = serde_json::to_string(&StudyPage::new(study, &plan, &table, &found)).into_diagnostic()?;
        files.push((PAGE.into(), tidemark_report::study(&page)));
        files.push(("units.csv".into(), table.units_csv()));
        files.push((TABLE.into(), table.csv()));
        let unwritten = "the study's table could not be written: its runs are kept";
        staging::replace(out, [TABLE, PAGE], files.into_iter().map(Ok)).into_diagnostic().wrap_err(unwritten)?;
        Ok((table, found))
    }
}

/// Folder of a study, apart from the folders of runs.
pub(crate) fn folder(name: &str, out: Option<&Path>) -> PathBuf {
    out.map_or_else(|| Path::new("out").join(format!("{name}-study")), Path::to_path_buf)
}

/// Opens the folder of a study. With `force`, replaces another study, or the table of one that varies something else: its runs stay.
fn open(out: &Path, study: &Study, Force { force }: Force) -> Result<Store> {
    staging::clean(out);
    match Store::check(out, study) {
        Err(StoreError::Another { .. }) if force => {
            // The description is removed last: until then the folder is recognised as a study's.
            for name in [TABLE, PAGE, "units.csv", "series", "runs", "under-way", "study.json"] {
                staging::remove(&out.join(name)).into_diagnostic()?;
            }
        }
        Err(other) => return Err(miette!("{other}")),
        Ok(()) if force => {}
        Ok(()) => keep_table(out, study)?,
    }
    Store::open(out, study).map_err(|error| miette!("{error}"))
}

/// Refuses to replace a table that varies something else, which is another result as one of another `--set` is.
fn keep_table(out: &Path, study: &Study) -> Result<()> {
    let Ok(text) = fs::read_to_string(out.join(TABLE)) else { return Ok(()) };
    let (there, here) = (Table::read(&text).map(|table| table.columns), study.columns());
    if there.as_ref() == Some(&here) {
        return Ok(());
    }
    let varied = |columns: &[String]| if columns.is_empty() { "nothing".into() } else { columns.join(", ") };
    let there = there.map_or_else(|| "something unknown".into(), |columns| varied(&columns));
    Err(miette!(
        "{} has the table of a study that varies {}, and this one varies {}\nName another folder with --out, or replace the table with \
         --force: its runs are kept.",
        out.display(),
        there,
        varied(&here)
    ))
}

/// Prints the figures of a study whose table is in this folder.
///
/// # Errors
/// A table that can't be read.
pub(crate) fn report(folder: &Path, format: Format) -> Result<()> {
    let file = folder.join(TABLE);
    let text =
        fs::read_to_string(&file).into_diagnostic().wrap_err_with(|| format!("{} can't be read", file.display()))?;
    let unknown = || miette!("{}: not a study's table: `tidemark run` of the study writes it again", file.display());
    figures(&Table::read(&text).ok_or_else(unknown)?, format)
}

/// Prints the figures of a study: means for people and programs, or a row for each run.
fn figures(table: &Table, format: Format) -> Result<()> {
    match format {
        Format::Table => terminal::print(table),
        Format::Csv => print::data(&table.csv()),
        Format::Json => print::data(&serde_json::to_string_pretty(&points::points(table)).into_diagnostic()?),
    }
    Ok(())
}

/// Prints the paths of a study's table and page.
pub(crate) fn say_files(out: &Path) {
    say!("table: {}", out.join(TABLE).display());
    say!("page: {}", out.join(PAGE).display());
}

/// True for a text with a key that only studies have.
pub(crate) fn is_study(file: &Base) -> bool {
    let table = file.text.parse::<toml::Table>().ok();
    table.is_some_and(|table| OF_STUDIES.iter().any(|key| table.contains_key(*key)))
}

/// Checks every point of a study file, and prints a line about the study.
///
/// # Errors
/// An invalid study, or a point that can't be run.
pub(crate) fn check(file: Base, overrides: &[String]) -> Result<()> {
    let name = file.file.clone();
    let study = Study::parse(file, |form| form.overrides = overrides.to_vec()).map_err(diagnostic)?;
    let limits = Limits { jobs: parallel::processors(), memory: None, proceed: &|| !interrupt::happened() };
    Plan::new(&study, &limits).map_err(|error| miette!("{error}"))?;
    let (points, seeds) = (study.points(), study.seeds.len());
    let what = if study.search.is_some() { "searches" } else { "points" };
    say!("{}: study `{}` of {points} {what} with {seeds} seeds each", name, study.name);
    Ok(())
}

/// Key and values of a flag.
fn assigned(text: &str, flag: &str) -> Result<(String, Value)> {
    let wrong = || miette!("`{text}` is not KEY=VALUES, as in {flag} marker.law=none,l4span");
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

/// Writes the series and the report of every run into a folder below `series`, named by the key of the run.
fn write_series(table: &Table, store: &Store) -> Result<()> {
    let mut keys: Vec<_> = table.rows.iter().map(|row| row.key.as_str()).collect();
    keys.dedup();
    for key in keys {
        let Some(record) = store.get(key).map_err(|error| miette!("{error}"))? else { continue };
        let series = record.series_files().map(|(name, text)| (name, Cow::from(text.as_bytes())));
        let report = record.report().map(|data| (REPORT, tidemark_report::with_data(data).into_bytes().into()));
        let folder = store.folder().join("series").join(key);
        staging::replace(&folder, [], series.chain(report).map(Ok))
            .into_diagnostic()
            .wrap_err("the series could not be written")?;
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
        StudyError::WrongPart(said) => miette!("{}", with_flag(&said).unwrap_or(said)),
        other => miette!("{other}"),
    }
}

/// Error of a study without a file, which names the flag instead of the part of the file.
fn with_flag(said: &str) -> Option<String> {
    let (part, message) = said.split_once(": ")?;
    let flag = match part.split_once('.')? {
        ("until_ci", "within") => "--until-ci",
        ("until_ci", "metric") => "--ci-metric",
        ("until_ci", "max_seeds") => "--max-seeds",
        ("find", "key") => "--find",
        ("find", "until") => "--until",
        ("find", "max") => "--max",
        ("metrics", _) => "--metric",
        ("flows", _) => "--flow",
        ("vary", key) => return Some(format!("--vary {key}: {message}")),
        _ => return None,
    };
    Some(format!("{flag}: {message}"))
}
