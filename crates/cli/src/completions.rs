//! `tidemark completions`: completion scripts for shells.

use clap::{Args, Command};
use clap_complete::Shell;
use miette::Result;

use tidemark_terminal::say;

/// Arguments of `tidemark completions`.
#[derive(Args)]
pub(crate) struct Completions {
    /// Shell to write the script for
    shell: Shell,
}

impl Completions {
    /// Prints the script that the shell reads.
    pub(crate) fn execute(&self, mut tidemark: Command) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut tidemark, "tidemark", &mut script);
        say!("{}", String::from_utf8_lossy(&script).trim_end());
        Ok(())
    }
}
