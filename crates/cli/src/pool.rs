//! `tidemark run --seeds`: one scenario with several seeds, pooled in one folder.

use std::fs;
use std::path::{Path, PathBuf};

use miette::{Context, IntoDiagnostic, Result, miette};
use tidemark_record::seeds::{POOL, SEED, seed_folders};
use tidemark_record::staging::{self, Staging};
use tidemark_sim::Simulation;
use tidemark_sim::scenario::Scenario;

use crate::compare::Pool;
use crate::folder::{self, Force};
use crate::format::{self, Format};
use crate::results;
use tidemark_terminal::{detail, interrupt, parallel, say};

/// Runs a scenario with several seeds, each into its own folder, then writes and prints means with their intervals. An interrupt keeps
/// the seeds that have ended.
///
/// # Errors
/// A scenario that can't be run, a folder that can't be written, or an interrupt.
pub(crate) fn execute(scenarios: &[Scenario], out: &Path, force: Force, format: Format) -> Result<()> {
    folder::for_seeds(out, scenarios, force)?;
    let staging_folder = Staging::new(out).into_diagnostic()?;
    let one = |scenario: &Scenario| {
        let folder = staging_folder.path().join(format!("{SEED}{}", scenario.seed));
        simulate(scenario, &folder).map(|()| folder)
    };
    let unfinished = || Err(miette!("a run did not finish"));
    let ends: Vec<_> = parallel::each(scenarios, one).into_iter().map(|end| end.unwrap_or_else(unfinished)).collect();
    let done: Vec<_> = ends.iter().flatten().cloned().collect();
    if done.is_empty() || ends.len() > done.len() && !interrupt::happened() {
        return ends.into_iter().collect::<Result<Vec<_>>>().map(drop);
    }
    let pool = Pool::read(&done)?;
    let texts = [format::csv(pool.rows())?, serde_json::to_string_pretty(pool.rows()).into_diagnostic()? + "\n"];
    let written = || "the results could not be written: earlier results are unchanged or gone";
    replace(out, &staging_folder, &done, &texts).into_diagnostic().wrap_err_with(written)?;
    match format {
        Format::Table => pool.print(),
        other => format::rows(other, pool.rows())?,
    }
    say!(
        "{}: a folder for each seed, with its report; {} has the means. `tidemark compare` takes the whole folder.",
        out.display(),
        POOL[0]
    );
    ends.into_iter().collect::<Result<Vec<_>>>().map(drop)
}

/// Replaces the folder's contents by the seeds and their means.
fn replace(out: &Path, staging_folder: &Staging, done: &[PathBuf], texts: &[String]) -> std::io::Result<()> {
    // A full disk shows here, while the earlier results are still whole.
    for (name, text) in POOL.iter().zip(texts) {
        fs::write(staging_folder.path().join(name), text)?;
    }
    let old = staging_folder.path().join("old");
    fs::create_dir_all(&old)?;
    POOL.iter().try_for_each(|name| staging::remove(&out.join(name)))?;
    for folder in seed_folders(out) {
        fs::rename(&folder, old.join(folder.file_name().unwrap_or_default()))?;
    }
    tidemark_record::output::names().try_for_each(|name| staging::remove(&out.join(name)))?;
    for folder in done {
        fs::rename(folder, out.join(folder.file_name().unwrap_or_default()))?;
    }
    POOL.iter().rev().try_for_each(|name| fs::rename(staging_folder.path().join(name), out.join(name)))
}

fn simulate(scenario: &Scenario, out: &Path) -> Result<()> {
    let mut simulation = Simulation::new(scenario).map_err(|error| miette!("{error}"))?;
    simulation.keep_marks();
    let mut result = simulation.run(|_| !interrupt::happened()).into_diagnostic()?;
    if let Some(at) = result.interrupted_at_s {
        return Err(miette!("interrupted at {at} s of seed {}; finished seeds are in their folders", scenario.seed));
    }
    detail!("seed {} has ended", scenario.seed);
    results::write(out, &mut result).map(drop)
}
