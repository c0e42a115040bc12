//! `tidemark shell`: a command that runs as a UE of the cell.

use std::ffi::OsString;

use clap::Args;
use miette::Result;
use tidemark_emu::caller::Caller;

use super::lab;
use super::preset::Choice;
use super::session::{Jobs, OtherSide};

/// Arguments of `tidemark shell`.
#[derive(Args)]
pub(crate) struct Shell {
    #[command(flatten)]
    choice: Choice,
    /// Command to run at the UE [default: the commands of the scenario's UEs and servers, or your shell]
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Shell {
    /// Runs the command and gives its exit code.
    pub(crate) fn execute(&self) -> Result<u8> {
        let mut scenario = self.choice.load()?;
        if self.command.is_empty() && lab::has_commands(&scenario) {
            return lab::run(scenario, &self.choice.options);
        }
        // One command is one UE.
        scenario.ue.truncate(1);
        scenario.ue.iter_mut().for_each(|ue| ue.count = 1);
        scenario.flow.clear();
        let command = if self.command.is_empty() {
            let own = || std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
            vec![Caller::from_sudo().and_then(|caller| Some(caller.shell()?.to_os_string())).unwrap_or_else(own)]
        } else {
            self.command.clone()
        };
        self.choice.options.run(
            &scenario,
            Jobs { ues: vec![Some(command)], addresses: Vec::new(), side: OtherSide::Host, duration: None },
        )
    }
}
