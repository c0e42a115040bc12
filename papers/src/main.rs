//! `tidemark-papers`: repeats published experiments and compares their figures with ours.

#![warn(unnameable_types, unreachable_pub)]

mod alternative;
mod carried;
mod claim;
mod document;
mod draws;
mod egress;
mod expression;
mod headline;
mod limit;
mod measured;
mod outcome;
mod procedure;
mod processing;
mod progress;
mod results;
mod rfc8867;
mod runs;
mod seeds;
mod sensitivity;
mod switches;
mod target;
mod tolerance;
mod tunnels;
mod verdict;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use miette::{Context, IntoDiagnostic, Result, miette};

use draws::Draws;
use headline::declared::Headline;
use headline::{Headlines, Ready};
use outcome::Prepared;
use results::{Outcome, Results};
use runs::Runs;
use seeds::Seeds;
use sensitivity::Variation;
use target::{Target, Targets, is_named};
use tidemark_terminal::{error, interrupt, say};

/// Default number of seeds of a target.
const SEEDS: u64 = 5;

/// Target that needs a browser and real time, and what measures it.
const LIVE: (&str, &str) = ("al4s.live", "python3 tests/live/paper_streams.py");

/// Default folder of runs.
const STORE: &str = "out/reproduction";

/// Repeat published experiments and put their figures beside ours.
#[derive(Parser)]
#[command(name = "tidemark-papers", version = tidemark_version::VERSION, max_term_width = 100, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    reproduce: Reproduce,
}

#[derive(Subcommand)]
enum Command {
    /// Run the test cases of RFC 8867 for controllers of real-time media
    Rfc8867(rfc8867::Rfc8867),
}

fn main() -> ExitCode {
    error::prepare();
    let arguments = Arguments::parse();
    interrupt::listen();
    let done = match arguments.command {
        Some(Command::Rfc8867(cases)) => cases.execute(),
        None => arguments.reproduce.execute(),
    };
    error::end(done.map(|()| 0))
}

/// Targets or headlines, and options of their run.
#[derive(Args)]
struct Reproduce {
    /// Targets: whole names or their beginnings up to a dot, e.g. l4span.fig9 or al4s
    #[arg(default_value = "l4span.fig9")]
    id: Vec<String>,
    /// Run all targets
    #[arg(long)]
    all: bool,
    /// Run the fastest targets of each paper, about a minute in total
    #[arg(long, conflicts_with = "all")]
    quick: bool,
    /// Run the headlines instead of targets: the claims by which a paper counts as reproduced, as effects over ten paired seeds
    #[arg(long, conflicts_with_all = ["all", "sensitivity", "other_seeds", "csv"])]
    headlines: bool,
    /// Run only this headline (repeatable)
    #[arg(long, value_name = "ID", requires = "headlines")]
    only: Vec<String>,
    /// Read the headlines and the parts of their cases from this file instead of the built-in ones; scenarios lie beside the file
    #[arg(long, value_name = "FILE", requires = "headlines")]
    targets: Option<PathBuf>,
    /// Seeds to run [default: the target's own number, or 5; 10 for headlines]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
    /// First seed [default: 1; 9001 for headlines]
    #[arg(long, value_name = "SEED")]
    first_seed: Option<u64>,
    /// Write a file of results; an existing file keeps its results of other targets
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sensitivity", "other_seeds"])]
    results: Option<PathBuf>,
    /// Write the rows of the file of results, or of this run, as CSV; with --sensitivity or --other-seeds only the rows that change
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Compare with a file of results: fail if a row that agreed there no longer agrees
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Compare with a file of results from other seeds: fail if a verdict changes that was not near its bound
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sensitivity", "check"])]
    other_seeds: Option<PathBuf>,
    /// Also run the targets with other values of the parameters that the papers leave open, and count the verdicts that change
    #[arg(long)]
    sensitivity: bool,
    /// Also run the targets with this alternative, and write the rows of both with --csv: as-printed, realtrack, over-tcp
    #[arg(long, value_name = "NAME", requires = "csv", conflicts_with_all = ["headlines", "results", "check", "sensitivity", "other_seeds"])]
    alternative: Option<String>,
    /// Folder of the runs' figures; runs that it has are not repeated
    #[arg(long, value_name = "DIR", default_value = STORE)]
    store: PathBuf,
    /// Repeat all runs, and keep their results in this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Reproduce {
    /// Runs the targets, prints their outcomes and writes results and rows.
    ///
    /// # Errors
    /// An unknown target, a run that fails, a file that can't be read or written, or a row that no longer agrees.
    fn execute(&self) -> Result<()> {
        let mut targets = Targets::load()?;
        if self.headlines {
            return self.execute_headlines(targets);
        }
        sensitivity::add_parts(&mut targets);
        limit::add_parts(&mut targets);
        alternative::add_parts(&mut targets);
        let before = self.check.as_deref().map(Results::read).transpose()?;
        let mut results = self.results.as_deref().map(Results::read).transpose()?.unwrap_or_default();
        let prepare = |target| Prepared::new(&targets, target, self.seeds(target)).wrap_err_with(|| target.id.clone());
        let available = self.available(&targets)?;
        let chosen = available.iter().copied().map(prepare).collect::<Result<Vec<_>>>()?;
        let all = targets.target.iter().map(prepare).collect::<Result<Vec<_>>>()?;
        let is_chosen = |target: &Target| self.sensitivity && available.iter().any(|of| of.id == target.id);
        let varied = Variation::of(&targets, is_chosen, |target| self.seeds(target))?;
        let every = Variation::of(&targets, |_| true, |target| self.seeds(target))?;
        let alternatives =
            self.alternative.as_deref().map_or_else(|| Ok(Vec::new()), |name| alternative::named(&targets, name))?;
        if let Some(file) = alternative::missing(&alternatives) {
            say!("SKIPPED: {file} is missing, so nothing was measured");
            return Ok(());
        }
        let draws = |target: &Target| self.seeds(target);
        let every_other = alternative::prepare(&targets, &alternatives, targets.target.iter(), draws)?;
        let wanted = |of: &[Prepared<'_>], varied: &[Variation<'_>], with_limit: bool| {
            let limits = of.iter().filter(|_| with_limit).map(Prepared::wanted_by_limit);
            let rows = of.iter().flat_map(Prepared::wanted).chain(limits);
            rows.chain(varied.iter().flat_map(Variation::wanted)).collect::<Vec<_>>()
        };
        let mut possible = wanted(&all, &every, true);
        possible.extend(wanted(&every_other, &[], false));
        let mut runs = Runs::new(&targets, &possible, &self.store, self.out.clone())?;
        let with_limit = !self.sensitivity && self.other_seeds.is_none();
        runs.make(&wanted(&chosen, &varied, with_limit))?;
        let outcomes: Vec<_> = chosen.iter().map(|target| target.judge(&runs)).collect();
        outcomes.iter().for_each(|outcome| say!("{}", document::on_terminal(outcome)));
        say!("{}", document::summary(&Results { targets: outcomes.clone() }));
        if let (Some(file), [of, ..]) = (&self.csv, alternatives.as_slice()) {
            let others = alternative::prepare(&targets, &alternatives, available.iter().copied(), draws)?;
            runs.make(&wanted(&others, &[], false))?;
            let others: Vec<_> = others.iter().map(|target| target.judge(&runs)).collect();
            return write(file, &alternative::rows(&outcomes, &others, of.judged)?);
        }
        if self.sensitivity {
            let changes = varied.iter().map(|of| of.changes(|target| target.judge(&runs), &outcomes));
            let changes: Vec<_> = changes.collect();
            say!("{}", sensitivity::on_terminal(&changes, self.seeds));
            return self.csv.as_deref().map_or(Ok(()), |file| write(file, &sensitivity::rows(&changes)?));
        }
        if let Some(file) = &self.other_seeds {
            let draws = |outcome: &&Outcome| !chosen.iter().any(|of| of.target.id == outcome.id && of.is_procedure());
            return self
                .compare_seeds(&Results::read(file)?, &outcomes.iter().filter(draws).cloned().collect::<Vec<_>>());
        }
        let worse = before.map_or_else(Vec::new, |before| before.worse_in(&outcomes));
        results.update(outcomes, targets.target.iter().map(|target| target.id.as_str()));
        self.write_results(&results)?;
        if worse.is_empty() { Ok(()) } else { Err(miette!("rows that no longer agree:\n{}", worse.join("\n"))) }
    }

    /// Lists the targets that were chosen and can be run here, and prints why others can't.
    fn available<'a>(&self, targets: &'a Targets) -> Result<Vec<&'a Target>> {
        let mut available = Vec::new();
        for target in self.choose(targets)? {
            match procedure::unavailable(&target.scenario) {
                Some(reason) => say!("{}: SKIPPED: {reason}", target.id),
                None => available.push(target),
            }
        }
        Ok(available)
    }

    /// Writes the files of results and of rows that were asked for.
    fn write_results(&self, results: &Results) -> Result<()> {
        if let Some(file) = &self.results {
            write(file, &results.text()?)?;
        }
        self.csv.as_deref().map_or(Ok(()), |file| write(file, &document::rows(results)?))
    }

    /// Runs the headlines, prints their outcomes and writes the file of headlines.
    fn execute_headlines(&self, mut targets: Targets) -> Result<()> {
        if let Some(file) = &self.targets {
            targets.take_headlines(file)?;
        }
        let before = self.check.as_deref().map(Headlines::read).transpose()?;
        let mut results = self.results.as_deref().map(Headlines::read).transpose()?.unwrap_or_default();
        if let Some(id) = self.only.iter().find(|id| !targets.headline.iter().any(|of| is_named(&of.id, id))) {
            return Err(miette!("there is no headline `{id}`"));
        }
        let first = self.first_seed.unwrap_or(headline::FIRST_SEED);
        let seeds: Vec<_> = (first..).take(self.seeds.unwrap_or(headline::SEEDS) as usize).collect();
        let wanted = |of: &&Headline| match (self.only.is_empty(), self.quick) {
            (false, _) => self.only.iter().any(|id| is_named(&of.id, id)),
            (true, quick) => !quick || of.quick,
        };
        let ready = |of| Ready::new(of, seeds.clone());
        let all = targets.headline.iter().map(ready).collect::<Result<Vec<_>>>()?;
        let chosen = targets.headline.iter().filter(wanted).map(ready).collect::<Result<Vec<_>>>()?;
        let wanted = |of: &[Ready<'_>]| of.iter().flat_map(Ready::wanted).collect::<Vec<_>>();
        let mut runs = Runs::new(&targets, &wanted(&all), &self.store, self.out.clone())?;
        runs.make(&wanted(&chosen))?;
        let outcomes: Vec<_> = chosen.iter().map(|of| of.judge(&runs)).collect();
        outcomes.iter().for_each(|outcome| say!("{}", headline::on_terminal(outcome)));
        let worse = before.map_or_else(Vec::new, |before| before.worse_in(&outcomes));
        say!("{}", headline::summary(&Headlines { headline: outcomes.clone() }));
        results.update(outcomes, targets.headline.iter().map(|of| of.id.as_str()));
        if let Some(file) = &self.results {
            write(file, &results.text()?)?;
        }
        if worse.is_empty() { Ok(()) } else { Err(miette!("headlines whose verdict is worse:\n{}", worse.join("\n"))) }
    }

    /// Compares with results from other seeds.
    fn compare_seeds(&self, before: &Results, outcomes: &[Outcome]) -> Result<()> {
        let seeds = Seeds::compare(before, outcomes, self.first_seed.unwrap_or(1));
        say!("{}", seeds.on_terminal());
        self.csv.as_deref().map_or(Ok(()), |file| write(file, &seeds.rows()?))?;
        seeds.check()
    }

    /// Seeds of a target; a procedure has one for each of its runs.
    fn seeds(&self, target: &Target) -> Draws {
        let usual =
            procedure::repetitions(&target.scenario).unwrap_or_else(|| self.seeds.or(target.seeds).unwrap_or(SEEDS));
        let with = if self.seeds.is_none() { target.seeds_with.clone() } else { BTreeMap::new() };
        Draws::new(self.first_seed.unwrap_or(1), usual, with)
    }

    fn choose<'a>(&self, targets: &'a Targets) -> Result<Vec<&'a Target>> {
        let known = || targets.target.iter().map(|target| target.id.as_str()).collect::<Vec<_>>().join(", ");
        let named = |target: &Target, id: &str| is_named(&target.id, id);
        if self.id.iter().any(|id| id == LIVE.0) {
            return Err(miette!(
                "`{}` is measured by a script of the project, with real streams: after `make build stream`, as root and with Chromium, {}",
                LIVE.0,
                LIVE.1
            ));
        }
        if let Some(id) = self.id.iter().find(|id| !targets.target.iter().any(|target| named(target, id))) {
            return Err(miette!(
                "there is no target `{id}`: use one of these names, or the beginning of one: {}",
                known()
            ));
        }
        let wanted = |target: &&Target| match (self.all, self.quick) {
            (true, _) => true,
            (_, true) => target.quick,
            _ => self.id.iter().any(|id| named(target, id)),
        };
        Ok(targets.target.iter().filter(wanted).collect())
    }
}

fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).into_diagnostic().wrap_err_with(|| file.display().to_string())
}
