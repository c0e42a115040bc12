//! The command `tidemark`.

#![warn(unnameable_types, unreachable_pub)]

mod carried;
mod check;
mod compare;
mod completions;
#[cfg(target_os = "linux")]
mod endpoint;
mod explain;
mod front;
#[cfg(target_os = "linux")]
mod live;
mod man;
mod new;
mod pool;
mod progress;
#[cfg(target_os = "linux")]
mod realtime;
mod report;
mod run;
mod schema;
mod sweep;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use miette::miette;
use tidemark_terminal::{error, interrupt};

/// L4S congestion signalling for 5G: simulate cells, marking laws and congestion controllers.
#[derive(Parser)]
#[command(name = "tidemark", version = tidemark_version::VERSION, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a scenario and write its results and report
    Run(run::Run),
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Realtime(realtime::Realtime),
    /// Write a scenario to begin with
    New(new::New),
    /// Check a scenario without running it
    Check(check::Check),
    /// Print the JSON schema of scenarios or studies, for editors
    Schema {
        /// Kind of file
        #[arg(value_enum, default_value = "scenario")]
        kind: schema::Kind,
    },
    /// Run a study: a scenario over many values and seeds, on all processors
    Sweep(sweep::Sweep),
    /// Draw throughput against delay: senders and laws beside an oracle that knows the capacity
    Front(front::Front),
    /// Compare the results of runs, flow by flow: with intervals where folders have several seeds
    Compare {
        /// Folder of the baseline: of one run, or of `run --seeds`
        baseline: PathBuf,
        /// Folders to compare with it, one after the other
        #[arg(required = true)]
        others: Vec<PathBuf>,
    },
    /// Tell why packets of a run were marked, and what came of it
    Explain(explain::Explain),
    /// Say where the published experiments and the test cases of RFC 8867 are
    Reproduce {
        /// Arguments that `tidemark-papers` would be given
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Print the completions of a shell: source them, or put them where the shell looks
    Completions(completions::Completions),
    /// Write the manual pages
    Man(man::Man),
}

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    {
        let arguments: Vec<_> = std::env::args_os().skip(1).collect();
        if let Some((_, command)) = arguments.split_first().filter(|(first, _)| *first == tidemark_emu::init::ARGUMENT)
        {
            tidemark_emu::init::run(command);
        }
    }
    error::prepare();
    error::end(Arguments::parse().command.execute())
}

impl Command {
    /// True for what has a way of its own with signals, and needs a process without other threads.
    fn takes_signals(&self) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            Self::Realtime(command) => command.takes_signals(),
            // An interrupt at a question ends the program.
            Self::New(_) => true,
            _ => false,
        }
    }

    /// Runs the command; gives its exit code.
    ///
    /// # Errors
    /// Bad input, or what could not be run.
    fn execute(self) -> miette::Result<u8> {
        if !self.takes_signals() {
            interrupt::listen();
        }
        match self {
            #[cfg(target_os = "linux")]
            Self::Realtime(command) => return command.execute(),
            Self::Run(run) => run.execute(),
            Self::New(new) => new.execute(),
            Self::Check(check) => check.execute(),
            Self::Schema { kind } => {
                schema::print(kind);
                Ok(())
            }
            Self::Sweep(sweep) => sweep.execute(),
            Self::Front(front) => front.execute(),
            Self::Compare { baseline, others } => compare::execute(&baseline, &others),
            Self::Explain(explain) => explain.execute(),
            Self::Reproduce { arguments } => Err(miette!(
                "the papers are a program of their own, in a clone of the project: cargo run --release --package tidemark-papers -- {}",
                if arguments.is_empty() { "--help".into() } else { arguments.join(" ") }
            )),
            Self::Completions(completions) => completions.execute(Arguments::command()),
            Self::Man(man) => man.execute(Arguments::command()),
        }?;
        Ok(0)
    }
}
