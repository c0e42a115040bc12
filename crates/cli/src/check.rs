//! `tidemark check`: checks scenarios and studies, and prints a scenario with every default filled in.

use std::path::PathBuf;

use clap::Args;
use miette::{IntoDiagnostic as _, Result};
use tidemark_study::Base;

use crate::run::{Changes, warn};
use crate::{input, study};
use tidemark_terminal::say;

/// Arguments of `tidemark check`.
#[derive(Args)]
pub(crate) struct Check {
    /// Scenario or study files; - reads standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    /// Print the whole scenario with every default filled in, as a scenario
    #[arg(long)]
    resolved: bool,
}

impl Check {
    /// Prints a line about each scenario with what a run of it takes, or the whole scenario, and its warnings. Prints a line about the points of a study. Checks all files.
    ///
    /// # Errors
    /// An invalid scenario or point. All errors but the last are printed here.
    pub(crate) fn execute(&self) -> Result<()> {
        let checked = self.files.iter().map(|file| self.one(&input::read(file)?));
        let mut errors: Vec<_> = checked.filter_map(Result::err).collect();
        let last = errors.pop();
        errors.iter().for_each(|error| eprintln!("{error:?}"));
        last.map_or(Ok(()), Err)
    }

    fn one(&self, file: &Base) -> Result<()> {
        if study::is_study(file) {
            return study::check(file.clone(), &self.changes.overrides);
        }
        let scenario = self.changes.scenario(file)?;
        let name = &file.file;
        if self.resolved {
            say!("# {name} with every default. A field that is missing has no value, or follows from others.");
            if scenario.traces().next().is_some() {
                say!("# Traces are looked up from the folder of this file: keep it beside {name}.");
            }
            say!("{}", scenario.resolved().into_diagnostic()?.trim_end());
        } else {
            say!("{name}: {}, about {}", scenario.outline(), scenario.cost());
        }
        warn(&scenario.warnings());
        Ok(())
    }
}
