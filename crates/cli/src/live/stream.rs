//! `tidemark stream`: hands over to `tidemark-stream`, which is built apart because its codec takes minutes to compile.

use std::env;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use miette::{IntoDiagnostic as _, Result, WrapErr as _, miette};

/// Name of the program.
const PROGRAM: &str = "tidemark-stream";

/// Arguments of `tidemark stream`.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Stream {
    /// Arguments for `tidemark-stream`: `serve` or `open` with their options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Stream {
    /// Replaces this process by the program, so that signals, terminal and exit code are its own.
    ///
    /// # Errors
    /// A program that is not there, or that can't be started.
    pub(crate) fn execute(&self) -> Result<u8> {
        let program = beside().unwrap_or_else(|| PROGRAM.into());
        let error = Command::new(&program).args(&self.arguments).exec();
        if error.kind() == ErrorKind::NotFound {
            return Err(miette!("{PROGRAM} is neither beside this program nor in PATH: `make stream` builds it"));
        }
        Err(error).into_diagnostic().wrap_err_with(|| program.display().to_string())
    }
}

/// Path of the program in the folder of this one; `None` if it is not there.
fn beside() -> Option<PathBuf> {
    let program = env::current_exe().ok()?.with_file_name(PROGRAM);
    program.is_file().then_some(program)
}
