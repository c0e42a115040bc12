//! `tidemark run`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use miette::{Context, IntoDiagnostic, Result, miette};
use tidemark_sim::scenario::Scenario;
use tidemark_sim::{Capture, RunResult, Simulation};

use crate::progress::Progress;
use crate::{pool, report, table};
use tidemark_terminal::error::diagnostic;
use tidemark_terminal::{interrupt, say};

/// A scenario's file, and what replaces values in it.
#[derive(Args)]
pub(crate) struct Source {
    /// The scenario file
    pub(crate) file: PathBuf,
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
    #[command(flatten)]
    source: Source,
    /// Run this many seeds, from 1 on, on all processors: a folder for each, pooled in one, and means with their intervals
    #[arg(long, value_name = "N", conflicts_with_all = ["seed", "pcap"], value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: Option<u64>,
    /// Folder for the results [default: the scenario's name, inside out]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Folder for captures with real headers, of both sides of the CU: core.pcapng and f1u.pcapng
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
}

impl Source {
    /// Reads the scenario.
    ///
    /// # Errors
    /// A diagnostic that shows the line at fault.
    pub(crate) fn load(&self) -> Result<Scenario> {
        match self.seed {
            Some(seed) => self.with_seed(seed),
            None => Scenario::load(&self.file, &self.overrides).map_err(diagnostic),
        }
    }

    /// Reads the scenario with another seed than its own.
    ///
    /// # Errors
    /// A diagnostic that shows the line at fault.
    pub(crate) fn with_seed(&self, seed: u64) -> Result<Scenario> {
        let mut overrides = self.overrides.clone();
        overrides.push(format!("seed={seed}"));
        Scenario::load(&self.file, &overrides).map_err(diagnostic)
    }
}

impl Run {
    /// Runs the scenario, writes its folder and prints its tables.
    ///
    /// # Errors
    /// A scenario that can't be run, a folder that can't be written, or an interrupt: results are there then, of what was run.
    pub(crate) fn execute(&self) -> Result<()> {
        if let Some(seeds) = self.seeds {
            return pool::execute(&self.source, seeds, self.out.as_deref());
        }
        let scenario = self.source.load()?;
        let out = self.out.clone().unwrap_or_else(|| Path::new("out").join(&scenario.name));
        if !pool::folders(&out).is_empty() {
            return Err(miette!("{} pools several seeds: name another folder with --out", out.display()));
        }
        // A folder that can't be written is found out before the run, not after it.
        make(&out)?;
        let capture = self.pcap.as_deref().map(|folder| {
            let unwritable = || format!("{} can't be written: name another folder with --pcap", folder.display());
            Capture::create(folder).into_diagnostic().wrap_err_with(unwritable)
        });
        let capture = capture.transpose()?;
        let mut result = simulate(&scenario, &scenario.name, capture.as_ref())?;
        if let Some(capture) = capture {
            capture.finish().into_diagnostic().wrap_err("the capture is not complete")?;
        }
        let page = write(&out, &mut result)?;
        say!("{}", table::flows(&result));
        if !result.ues.is_empty() {
            say!("{}", table::ues(&result));
        }
        let some = [table::frames(&result), table::transfers(&result), table::bearers(&result)];
        some.iter().flatten().for_each(|table| say!("{table}"));
        if !result.routers.is_empty() {
            say!("{}", table::routers(&result));
        }
        if !result.cells.is_empty() {
            say!("{}", table::cells(&result));
        }
        say!("{}", table::cell(&result));
        say!("report: {}", page.display());
        warn(&result.warnings);
        match result.interrupted_at_s {
            Some(at) => {
                Err(miette!("interrupted at {at} s of {} s: the results are of what was run", result.duration_s))
            }
            None => Ok(()),
        }
    }
}

/// Prints the warnings that come with results.
pub(crate) fn warn(warnings: &[String]) {
    warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
}

/// Runs a scenario with a progress bar on a terminal.
pub(crate) fn simulate(scenario: &Scenario, label: &str, capture: Option<&Capture>) -> Result<RunResult> {
    let mut simulation = Simulation::new(scenario).map_err(|error| miette!("{error}"))?;
    if let Some(capture) = capture {
        simulation.capture(capture);
    }
    simulation.keep_marks();
    let progress = Progress::new(label, scenario.duration);
    let proceed = |now| {
        progress.at(now);
        !interrupt::happened()
    };
    let result = simulation.run(proceed).into_diagnostic()?;
    progress.finish();
    Ok(result)
}

/// Writes the run's folder and its report, with the commit of this program in both; returns the report's path.
pub(crate) fn write(out: &Path, result: &mut RunResult) -> Result<PathBuf> {
    result.commit = tidemark_version::COMMIT.map(Into::into);
    let html = report::page(result)?;
    tidemark_record::output::write_folder(out, result, Some(html))
        .into_diagnostic()
        .wrap_err("the results could not be written: what was there before is as it was, or gone")?;
    Ok(out.join("report.html"))
}

/// Makes the folder and proves that a file can be written there.
pub(crate) fn make(out: &Path) -> Result<()> {
    let unwritable = || format!("{} can't be written: name another folder with --out", out.display());
    fs::create_dir_all(out).into_diagnostic().wrap_err_with(unwritable)?;
    let probe = out.join(".writable");
    fs::write(&probe, "").into_diagnostic().wrap_err_with(unwritable)?;
    fs::remove_file(&probe).into_diagnostic().wrap_err_with(unwritable)
}
