//! `tidemark man`: manual pages, written from the help.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};
use miette::{Context as _, IntoDiagnostic as _, Result};

/// Arguments of `tidemark man`.
#[derive(Args)]
pub(crate) struct Man {
    /// Folder for tidemark.1 and a page for each command
    folder: PathBuf,
}

impl Man {
    /// Writes the pages.
    ///
    /// # Errors
    /// A folder that can't be written.
    pub(crate) fn execute(&self, tidemark: Command) -> Result<()> {
        let unwritable = || format!("{} can't be written: name another folder", self.folder.display());
        fs::create_dir_all(&self.folder).into_diagnostic().wrap_err_with(unwritable)?;
        clap_mangen::generate_to(tidemark.disable_help_subcommand(true), &self.folder)
            .into_diagnostic()
            .wrap_err_with(unwritable)
    }
}
