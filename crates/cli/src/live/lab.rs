//! `tidemark shell` without a command: the UEs and servers of a scenario, each in its own namespace.

use std::ffi::OsString;

use miette::{Result, miette};
use tidemark_emu::addresses::{SERVERS, UES};
use tidemark_sim::scenario::Scenario;

use super::session::{Jobs, Options, OtherSide};

/// True for a scenario that names commands for its UEs or servers.
pub(super) fn has_commands(scenario: &Scenario) -> bool {
    !scenario.server.is_empty() || scenario.ue.iter().any(|ue| ue.command.is_some())
}

/// Runs until all UEs' commands or the scenario's duration end; gives the first exit code that is not 0.
pub(super) fn run(mut scenario: Scenario, options: &Options) -> Result<u8> {
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
    options.run(&scenario, jobs)
}
