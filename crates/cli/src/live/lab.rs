//! `tidemark live`: several UEs and servers, each in a namespace of its own, as a scenario has them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use miette::{Result, miette};
use tidemark_emu::addresses::{SERVERS, UES};
use tidemark_sim::scenario::Scenario;

use super::session::{Jobs, Options, OtherSide};
use tidemark_terminal::error::diagnostic;

/// Arguments of `tidemark live`.
#[derive(Args)]
pub(crate) struct Live {
    /// The scenario, with `command` at UEs and `[[server]]`
    file: PathBuf,
    #[command(flatten)]
    options: Options,
}

impl Live {
    /// Runs to the end of all UEs' commands, or of the scenario's duration; gives the first exit code that is not 0.
    pub(crate) fn execute(&self) -> Result<u8> {
        let mut scenario = Scenario::load(&self.file, &self.options.overrides).map_err(diagnostic)?;
        scenario.flow.clear();
        let ues = scenario.ues();
        if ues.len() > UES as usize || scenario.server.len() > SERVERS as usize {
            return Err(miette!("a live cell has at most {UES} UEs and {SERVERS} servers"));
        }
        let shell = |command: &str| -> Vec<OsString> { vec!["sh".into(), "-c".into(), command.into()] };
        let jobs = Jobs {
            ues: ues.iter().map(|ue| scenario.ue[ue.kind].command.as_deref().map(shell)).collect(),
            addresses: Vec::new(),
            side: OtherSide::Servers(scenario.server.iter().map(|server| shell(&server.command)).collect()),
            duration: Some(scenario.duration),
        };
        self.options.run(&scenario, jobs)
    }
}
