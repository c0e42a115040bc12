//! The command `tidemark`.

#![warn(unnameable_types, unreachable_pub)]

mod compare;
mod endpoint;
mod explain;
mod interrupt;
mod live;
mod print;
mod progress;
mod report;
mod reproduce;
mod run;
mod table;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use miette::MietteHandlerOpts;

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
    /// Run a command as a UE behind a cell, with real packets in real time
    Shell(live::shell::Shell),
    /// Run several UEs and servers around a cell, with real packets in real time
    Live(live::lab::Live),
    /// Be the user plane of a gNB: a cell between a UPF's GTP-U tunnels and UEs
    N3(live::tunnels::N3),
    /// Be the CU of a gNB: PDCP and the marker, between the host and a DU's F1-U tunnels
    Cu(live::cu::Cu),
    /// Be the DU of a gNB: a cell between a CU's F1-U tunnels and UEs
    Du(live::tunnels::Du),
    /// Be a wired bottleneck between two interfaces, of a rate, a delay and a queue discipline
    Hop(live::hop::Hop),
    /// Send an L4S flow over a real path
    Send(endpoint::Send),
    /// Receive an L4S flow over a real path
    Receive(endpoint::Receive),
    /// Find out whether a path keeps ECT(1) and CE
    Probe(live::probe::Probe),
    /// Query or change a live cell that is running
    Ctl(live::control::Ctl),
    /// Check a scenario without running it
    Check(run::Source),
    /// Print the JSON schema of the scenario language
    Schema,
    /// Compare the results of two runs, flow by flow
    Compare {
        /// Folder of the baseline run
        baseline: PathBuf,
        /// Folder of the run to compare with it
        other: PathBuf,
    },
    /// Tell why packets of a run were marked, and what came of it
    Explain(explain::Explain),
    /// Repeat a published experiment and put its figures beside ours
    Reproduce(reproduce::Reproduce),
    /// Run the test cases of RFC 8867 for controllers of real-time media
    Rfc8867(reproduce::rfc8867::Rfc8867),
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some((_, command)) = arguments.split_first().filter(|(first, _)| *first == tidemark_emu::init::ARGUMENT) {
        tidemark_emu::init::run(command);
    }
    if !std::io::stderr().is_terminal() {
        // Lines that a log or another program reads are not broken.
        let plain =
            |_: &_| -> Box<dyn miette::ReportHandler> { Box::new(MietteHandlerOpts::new().width(4096).build()) };
        // It fails only where a hook is set already, and none is.
        let _ = miette::set_hook(Box::new(plain));
    }
    let command = Arguments::parse().command;
    // A live cell has its own way with signals, and needs a process without other threads.
    if !matches!(
        command,
        Command::Shell(_)
            | Command::Live(_)
            | Command::N3(_)
            | Command::Cu(_)
            | Command::Du(_)
            | Command::Hop(_)
            | Command::Ctl(_)
            | Command::Probe(_)
    ) {
        interrupt::listen();
    }
    let outcome = match command {
        Command::Shell(shell) => return exit_code(shell.execute()),
        Command::Live(live) => return exit_code(live.execute()),
        Command::N3(n3) => return exit_code(n3.execute()),
        Command::Cu(cu) => return exit_code(cu.execute()),
        Command::Du(du) => return exit_code(du.execute()),
        Command::Hop(hop) => return exit_code(hop.execute()),
        Command::Ctl(ctl) => ctl.execute(),
        Command::Probe(probe) => return exit_code(probe.execute()),
        Command::Send(send) => send.execute(),
        Command::Receive(receive) => receive.execute(),
        Command::Run(run) => run.execute(),
        Command::Check(source) => source.check(),
        Command::Schema => run::print_schema(),
        Command::Compare { baseline, other } => compare::execute(&baseline, &other),
        Command::Explain(explain) => explain.execute(),
        Command::Reproduce(reproduce) => reproduce.execute(),
        Command::Rfc8867(cases) => cases.execute(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:?}");
            // 2, the same as clap's for a wrong argument; 130 as the shell's for an interrupt.
            ExitCode::from(if interrupt::happened() { 130 } else { 2 })
        }
    }
}

/// The exit code of a command behind a cell is that of the cell.
fn exit_code(outcome: miette::Result<u8>) -> ExitCode {
    outcome.map_or_else(
        |error| {
            eprintln!("{error:?}");
            ExitCode::from(2)
        },
        ExitCode::from,
    )
}
