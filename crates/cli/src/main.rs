//! The command `tidemark`.

#![warn(unnameable_types, unreachable_pub)]

mod application;
mod carried;
mod check;
mod compare;
mod completions;
#[cfg(target_os = "linux")]
mod endpoint;
mod explain;
mod folder;
mod format;
mod front;
mod input;
#[cfg(target_os = "linux")]
mod live;
mod man;
mod new;
mod page;
mod pool;
mod progress;
#[cfg(target_os = "linux")]
mod realtime;
mod report;
mod results;
mod run;
mod schema;
mod seeds;
mod study;
mod table;
mod words;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use miette::miette;
use tidemark_terminal::print::{self, Level};
use tidemark_terminal::{error, interrupt};

/// Commands that the list of the help leaves out.
const OTHERS: &str = "Also: stream (video to a browser, once `make stream` has built it), schema, completions, man";

/// L4S congestion signalling for 5G: simulate cells, marking laws and congestion controllers.
#[derive(Parser)]
#[command(name = "tidemark", version = tidemark_version::VERSION, max_term_width = 100, after_help = OTHERS)]
struct Arguments {
    /// Print only errors, warnings and the data that --format asks for
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print progress messages, too
    #[arg(short, long, global = true)]
    verbose: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a scenario, once or with several seeds, or a study, and write results and a report
    Run(Box<run::Run>),
    /// Compare the results of runs, flow by flow; folders with several seeds give intervals
    Compare(compare::Compare),
    /// Explain why packets of a run were marked, and how their senders reacted
    Explain(explain::Explain),
    /// Print the tables of existing results
    Report(report::Report),
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Realtime(realtime::Realtime),
    /// Write a first scenario
    New(new::New),
    /// Check scenarios and studies without running them
    Check(check::Check),
    /// Say how to run the published experiments and the test cases of RFC 8867
    Reproduce {
        /// Arguments for `tidemark-papers`
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Print the JSON schema of scenarios or studies, for editors
    #[command(hide = true)]
    Schema {
        /// Kind of file
        #[arg(value_enum, default_value = "scenario")]
        kind: schema::Kind,
    },
    /// Print the completion script of a shell: source it, or put it where the shell looks
    #[command(hide = true)]
    Completions(completions::Completions),
    /// Write the manual pages
    #[command(hide = true)]
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
    let arguments = Arguments::try_parse().unwrap_or_else(|error| words::exit(&error));
    print::set_level(match arguments {
        Arguments { quiet: true, .. } => Level::Quiet,
        Arguments { verbose: true, .. } => Level::Verbose,
        _ => Level::Normal,
    });
    error::end(arguments.command.execute())
}

impl Command {
    /// True for a command that handles signals itself and needs a process without other threads.
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
    /// Bad input, or a command that could not be run.
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
            Self::Compare(compare) => compare.execute(),
            Self::Explain(explain) => explain.execute(),
            Self::Report(report) => report.execute(),
            Self::Reproduce { arguments } => Err(miette!(
                "the papers have their own program, which runs in a clone of the project: cargo run --release --package tidemark-papers -- {}",
                if arguments.is_empty() { "--help".into() } else { arguments.join(" ") }
            )),
            Self::Completions(completions) => completions.execute(Arguments::command()),
            Self::Man(man) => man.execute(Arguments::command()),
        }?;
        Ok(0)
    }
}
