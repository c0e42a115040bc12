//! The command, run as a user runs it.

use std::process::{Command, Output};

/// Command with these arguments, to be run.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidemark"));
    command.args(arguments);
    command
}

/// Runs the command to its end.
pub fn tidemark(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// Text that a command printed.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
