//! `tidemark run`.

use std::path::{Path, PathBuf};

use clap::Args;
use miette::{Context, IntoDiagnostic, Result, miette};
use tidemark_sim::scenario::Scenario;
use tidemark_sim::{Capture, RunResult, Simulation};
use tidemark_study::Base;

use crate::folder::{self, Force};
use crate::format::Output;
use crate::progress::Progress;
use crate::study::{self, Common};
use crate::{front, input, pool, report, results};
use tidemark_terminal::error::diagnostic;
use tidemark_terminal::{detail, interrupt, parallel, say};

/// Values that override the scenario's.
#[derive(Args)]
pub(crate) struct Changes {
    /// Use this seed instead of the scenario's
    #[arg(long)]
    seed: Option<u64>,
    /// Replace a value: marker.law=none, ue.0.count=4, flow.*.sender.controller=cubic (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
}

/// Arguments of `tidemark run`.
#[derive(Args)]
pub(crate) struct Run {
    /// Scenario or study file; - reads standard input
    #[arg(required_unless_present = "front")]
    file: Option<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    /// Run seeds 1 to N on all processors: a folder for each, and means with their intervals. In a study: seeds of every point
    /// [default: the study's, or 5]
    #[arg(long, value_name = "N", conflicts_with_all = ["seed", "pcap"], value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: Option<u64>,
    /// Folder for the results; an interrupted study continues in its folder [default: out/NAME, with -seeds or -study appended; NAME is
    /// the scenario's]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    output: Output,
    /// Folder for captures with real headers on both sides of the CU, core.pcapng and f1u.pcapng, a Perfetto trace of each packet's stays
    /// and a qlog of each sender
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
    /// Threads for the cells of a network. The results do not depend on it. Seeds and studies use all processors anyway, with one
    /// thread for each run [default: one for each processor]
    #[arg(long, value_name = "N", conflicts_with = "seeds", value_parser = clap::value_parser!(u16).range(1..=1_024))]
    threads: Option<u16>,
    #[command(flatten)]
    study: study::StudyOptions,
    #[command(flatten)]
    front: front::FrontOptions,
}

impl Changes {
    /// Reads a scenario from a text.
    ///
    /// # Errors
    /// A diagnostic that shows the line at fault.
    pub(crate) fn scenario(&self, of: &Base) -> Result<Scenario> {
        match self.seed {
            Some(seed) => self.with_seed(of, seed),
            None => Scenario::parse(&of.file, &of.text, &of.folder, &self.overrides).map_err(diagnostic),
        }
    }

    /// Reads a scenario from a text, with another seed than its own.
    fn with_seed(&self, of: &Base, seed: u64) -> Result<Scenario> {
        let mut overrides = self.overrides.clone();
        overrides.push(format!("seed={seed}"));
        Scenario::parse(&of.file, &of.text, &of.folder, &overrides).map_err(diagnostic)
    }
}

impl Run {
    /// Runs the scenario, all of its seeds or the study, writes the folder and prints the tables.
    ///
    /// # Errors
    /// A file that can't be run, a folder that can't be written or whose results would be lost, or an interrupt. An interrupt keeps the
    /// results so far.
    pub(crate) fn execute(&self) -> Result<()> {
        let common = Common {
            overrides: &self.changes.overrides,
            seeds: self.seeds,
            out: self.out.as_deref(),
            force: self.force,
            format: self.output.format,
        };
        let Some(file) = self.file.as_deref().filter(|_| !self.front.front) else {
            return self.front.execute(&self.study, &common);
        };
        let file = input::read(file)?;
        if self.study.asks() || study::is_study(&file) {
            if self.changes.seed.is_some() || self.pcap.is_some() || self.threads.is_some() {
                return Err(miette!(
                    "--seed, --pcap and --threads apply to a single run, and this is a study: --seeds sets its number of seeds"
                ));
            }
            return self.study.execute(file, &common);
        }
        match self.seeds {
            Some(seeds) => {
                let scenarios = (1..=seeds).map(|seed| self.changes.with_seed(&file, seed));
                let scenarios = scenarios.collect::<Result<Vec<_>>>()?;
                let out = self.out(&scenarios[0].name, "-seeds");
                pool::execute(&scenarios, &out, self.force, self.output.format)
            }
            None => self.one(&self.changes.scenario(&file)?),
        }
    }

    /// Folder for the results of a scenario.
    fn out(&self, name: &str, suffix: &str) -> PathBuf {
        self.out.clone().unwrap_or_else(|| Path::new("out").join(format!("{name}{suffix}")))
    }

    fn one(&self, scenario: &Scenario) -> Result<()> {
        let out = self.out(&scenario.name, "");
        // A folder that can't be written is reported before the run, not after it.
        folder::for_run(&out, scenario, self.force)?;
        let capture = self.pcap.as_deref().map(|folder| {
            let unwritable = || format!("{} can't be written: name another folder with --pcap", folder.display());
            Capture::create(folder).into_diagnostic().wrap_err_with(unwritable)
        });
        let capture = capture.transpose()?;
        detail!("{}, into {}", scenario.outline(), out.display());
        let mut result =
            simulate(scenario, self.threads.map_or_else(parallel::processors, usize::from), capture.as_ref())?;
        if let Some(capture) = capture {
            capture.finish().into_diagnostic().wrap_err("the capture is not complete")?;
        }
        let page = results::write(&out, &mut result)?;
        report::print(&out, || serde_json::to_value(&result).into_diagnostic(), self.output.format)?;
        say!("report: {}", page.display());
        warn(&result.warnings);
        match result.interrupted_at_s {
            Some(at) => {
                Err(miette!("interrupted at {at} s of {} s: the results cover the time until then", result.duration_s))
            }
            None => Ok(()),
        }
    }
}

/// Prints the warnings that come with results.
pub(crate) fn warn(warnings: &[String]) {
    warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
}

/// Runs a scenario in this many threads, with a progress bar on a terminal.
fn simulate(scenario: &Scenario, threads: usize, capture: Option<&Capture>) -> Result<RunResult> {
    let mut simulation = Simulation::new(scenario).map_err(|error| miette!("{error}"))?;
    simulation.set_threads(threads).map_err(|error| miette!("{error}: set fewer than {threads} with --threads"))?;
    if let Some(capture) = capture {
        simulation.capture(capture);
    }
    simulation.keep_marks();
    let progress = Progress::new(&scenario.name, scenario.duration);
    let proceed = |now| {
        progress.at(now);
        !interrupt::happened()
    };
    let result = simulation.run(proceed).into_diagnostic()?;
    progress.finish();
    Ok(result)
}
