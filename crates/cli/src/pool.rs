//! `tidemark run --seeds`: one scenario with several seeds, pooled in one folder.

use std::fs;
use std::path::{Path, PathBuf};

use miette::{Context, IntoDiagnostic, Result, miette};
use serde_json::Value;
use tidemark_sim::Simulation;
use tidemark_sim::scenario::Scenario;

use crate::compare;
use crate::run::{self, Source};
use tidemark_terminal::{interrupt, parallel, say};

/// Beginning of the names of the seeds' folders.
const SEED: &str = "seed-";

/// Runs the scenario with seeds from 1 on, each into a folder of its own, and prints means with their intervals.
///
/// # Errors
/// A scenario that can't be run, a folder that can't be written, or an interrupt.
pub(crate) fn execute(source: &Source, seeds: u64, out: Option<&Path>) -> Result<()> {
    let scenarios = (1..=seeds).map(|seed| source.with_seed(seed)).collect::<Result<Vec<_>>>()?;
    let default = || scenarios.first().map(|scenario| Path::new("out").join(format!("{}-seeds", scenario.name)));
    let out = out.map(Path::to_path_buf).or_else(default).unwrap_or_default();
    if out.join("summary.json").exists() {
        return Err(miette!("{} has the results of one run: name another folder with --out", out.display()));
    }
    run::make(&out)?;
    // Seeds of a run before this one would be pooled with these.
    for folder in folders(&out) {
        fs::remove_dir_all(&folder).into_diagnostic().wrap_err_with(|| folder.display().to_string())?;
    }
    let one = |scenario: &Scenario| simulate(scenario, &out.join(format!("{SEED}{}", scenario.seed)));
    let unfinished = || Err(miette!("a run did not finish"));
    parallel::each(&scenarios, one).into_iter().try_for_each(|end| end.unwrap_or_else(unfinished))?;
    compare::print_pool(&out)?;
    say!("{}: a folder for each seed, with its report. `tidemark compare` takes all of them as one.", out.display());
    Ok(())
}

fn simulate(scenario: &Scenario, out: &Path) -> Result<()> {
    let mut simulation = Simulation::new(scenario).map_err(|error| miette!("{error}"))?;
    simulation.keep_marks();
    let mut result = simulation.run(|_| !interrupt::happened()).into_diagnostic()?;
    if let Some(at) = result.interrupted_at_s {
        return Err(miette!("interrupted at {at} s of seed {}; seeds that ended are in their folders", scenario.seed));
    }
    run::write(out, &mut result).map(drop)
}

/// Folders of seeds in a folder that pools them; none in that of one run.
pub(crate) fn folders(pool: &Path) -> Vec<PathBuf> {
    let entries = pool.read_dir().into_iter().flatten().flatten();
    let seed = |path: &PathBuf| path.file_name()?.to_str()?.strip_prefix(SEED)?.parse::<u64>().ok();
    let mut folders: Vec<_> = entries.map(|entry| entry.path()).filter_map(|path| Some((seed(&path)?, path))).collect();
    folders.retain(|(_, path)| path.join("summary.json").exists());
    folders.sort();
    folders.into_iter().map(|(_, path)| path).collect()
}

/// Summaries of a run, or of all seeds of a folder that pools them.
///
/// # Errors
/// A folder of neither.
pub(crate) fn summaries(folder: &Path) -> Result<Vec<Value>> {
    if folder.join("summary.json").exists() {
        return Ok(vec![summary(folder)?]);
    }
    let folders = folders(folder);
    if folders.is_empty() {
        let right = "name a folder that `tidemark run` wrote, of one seed or of several";
        return Err(miette!("{} has no summary.json: {right}", folder.display()));
    }
    folders.iter().map(|folder| summary(folder)).collect()
}

fn summary(folder: &Path) -> Result<Value> {
    let file = folder.join("summary.json");
    let text =
        fs::read_to_string(&file).into_diagnostic().wrap_err_with(|| format!("{} can't be read", file.display()))?;
    let summary: Value = serde_json::from_str(&text)
        .map_err(|error| miette!("{}:{}: not a summary of a run: {error}", file.display(), error.line()))?;
    if summary["flows"].is_array() {
        Ok(summary)
    } else {
        Err(miette!("{}: not a summary of a run: it has no list `flows`", file.display()))
    }
}
