//! `tidemark shell`: a command that runs as a UE of the cell.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use miette::Result;
use tidemark_sim::scenario::Scenario;

use super::preset;
use super::session::{Jobs, Options, OtherSide};
use crate::run::diagnostic;

#[derive(Args)]
pub struct Shell {
    /// A scenario, whose cell and first UE are taken [default: the preset of --cell]
    file: Option<PathBuf>,
    /// A cell with a name: 5g-walking, 5g-static, 5g-driving, lte-edge, 5g-wide, trace:FILE or trace:FILE.csv#COLUMN
    #[arg(long, value_name = "PRESET", default_value = preset::DEFAULT, conflicts_with = "file")]
    cell: String,
    #[command(flatten)]
    options: Options,
    /// The command to run inside [default: your shell]
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Shell {
    /// Runs the command and gives its exit code.
    pub fn execute(&self) -> Result<u8> {
        let mut scenario = match &self.file {
            Some(file) => Scenario::load(file, &self.options.overrides).map_err(diagnostic)?,
            None => preset::load(&self.cell, &self.options.overrides)?,
        };
        // One command is one UE.
        scenario.ue.truncate(1);
        scenario.ue.iter_mut().for_each(|ue| ue.count = 1);
        scenario.flow.clear();
        let command = if self.command.is_empty() {
            vec![std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())]
        } else {
            self.command.clone()
        };
        self.options.run(
            &scenario,
            Jobs { ues: vec![Some(command)], addresses: Vec::new(), side: OtherSide::Host, duration: None },
        )
    }
}
