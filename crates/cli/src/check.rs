//! `tidemark check`: a scenario read and checked, and what it comes to with every default.

use clap::Args;
use miette::{IntoDiagnostic as _, Result};

use crate::run::{Source, warn};
use crate::sweep;
use tidemark_terminal::say;

/// Arguments of `tidemark check`.
#[derive(Args)]
pub(crate) struct Check {
    #[command(flatten)]
    source: Source,
    /// Print the whole scenario with every default filled in, as a scenario
    #[arg(long)]
    resolved: bool,
}

impl Check {
    /// Prints a line about the scenario, or all of it, and its warnings; of a study a line about its points.
    ///
    /// # Errors
    /// That of a scenario or of a point that can't be run.
    pub(crate) fn execute(&self) -> Result<()> {
        if sweep::is_study(&self.source.file) {
            return sweep::check(&self.source.file, &self.source.overrides);
        }
        let scenario = self.source.load()?;
        let file = self.source.file.display();
        if self.resolved {
            say!("# {file} with every default. A field that is missing has no value, or follows from others.");
            if scenario.traces().next().is_some() {
                say!("# Traces are looked up from the folder of this file: keep it beside {file}.");
            }
            say!("{}", scenario.resolved().into_diagnostic()?.trim_end());
        } else {
            say!("{file}: {}", scenario.outline());
        }
        warn(&scenario.warnings());
        Ok(())
    }
}
