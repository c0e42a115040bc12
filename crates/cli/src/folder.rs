//! Folder for results: results of the same scenario are replaced, those of another one only by force.

use std::fs;
use std::path::Path;

use clap::Args;
use miette::{Context as _, IntoDiagnostic as _, Result, miette};
use tidemark_record::files::MARKS;
use tidemark_record::staging::Staging;
use tidemark_sim::scenario::Scenario;
use tidemark_study::difference;

use crate::seeds;

/// Option that replaces results.
#[derive(Args, Clone, Copy)]
pub(crate) struct Force {
    /// Replace the folder's results even if they are of another scenario, other values or more seeds
    #[arg(long)]
    pub(crate) force: bool,
}

/// Makes the folder of a run, and checks that a file can be written there.
///
/// # Errors
/// A folder that can't be written, or whose results would be lost.
pub(crate) fn for_run(out: &Path, scenario: &Scenario, force: Force) -> Result<()> {
    let count = seeds::folders(out).len();
    let lost = match run_there(out) {
        Some(text) => differs(&text, &scenario.text),
        None => (count > 0).then(|| format!("the results of {count} seeds")),
    };
    keep(out, lost, force)?;
    make(out)
}

/// Makes the folder of several seeds, and checks that a file can be written there.
///
/// # Errors
/// A folder that can't be written, or whose results would be lost.
pub(crate) fn for_seeds(out: &Path, scenarios: &[Scenario], force: Force) -> Result<()> {
    let lost = run_there(out).map(|_| "the results of one run".to_string()).or_else(|| {
        seeds::folders(out).iter().find_map(|folder| {
            let seed = seeds::seed(folder)?;
            match scenarios.iter().find(|scenario| scenario.seed == seed) {
                Some(scenario) => differs(&run_there(folder)?, &scenario.text),
                None => Some(format!("seed {seed}, which is none of the {} seeds of this run", scenarios.len())),
            }
        })
    });
    keep(out, lost, force)?;
    make(out)
}

/// Makes the folder, and checks that a file can be written there.
///
/// # Errors
/// A folder that can't be written.
pub(crate) fn make(out: &Path) -> Result<()> {
    let unwritable = || format!("{} can't be written: name another folder with --out", out.display());
    Staging::new(out).map(drop).into_diagnostic().wrap_err_with(unwritable)
}

fn keep(out: &Path, lost: Option<String>, Force { force }: Force) -> Result<()> {
    match lost {
        Some(lost) if !force => Err(miette!(
            "{} has {lost}\nName another folder with --out, or replace what is there with --force.",
            out.display()
        )),
        _ => Ok(()),
    }
}

/// Scenario whose results a folder has; `None` for a folder without results. A missing text equals no other.
fn run_there(out: &Path) -> Option<String> {
    let text = || fs::read_to_string(out.join("scenario.toml")).unwrap_or_default();
    ["summary.json", MARKS].iter().any(|name| out.join(name).exists()).then(text)
}

/// Says in which lines the scenario of the results differs; `None` where it is the same.
fn differs(there: &str, text: &str) -> Option<String> {
    let lines = |text: &str| text.lines().map(str::to_string).collect::<Vec<_>>();
    (there != text).then(|| format!("the results of another scenario:\n{}", difference(&lines(there), &lines(text))))
}
