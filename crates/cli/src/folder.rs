//! Folder for results: results of the same scenario are replaced, those of another one only by force.

use std::path::Path;

use clap::Args;
use miette::{Context as _, IntoDiagnostic as _, Result, miette};
use tidemark_record::earlier;
use tidemark_record::staging::Staging;
use tidemark_sim::scenario::Scenario;

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
    keep(out, earlier::lost_by_run(out, &scenario.text), force)?;
    make(out)
}

/// Makes the folder of several seeds, and checks that a file can be written there.
///
/// # Errors
/// A folder that can't be written, or whose results would be lost.
pub(crate) fn for_seeds(out: &Path, scenarios: &[Scenario], force: Force) -> Result<()> {
    let scenarios: Vec<_> = scenarios.iter().map(|scenario| (scenario.seed, scenario.text.as_str())).collect();
    keep(out, earlier::lost_by_seeds(out, &scenarios), force)?;
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
