//! Errors of scenarios, with the lines that they are about, and the end of a command.

use std::io::IsTerminal;
use std::process::ExitCode;

use miette::{LabeledSpan, MietteHandlerOpts, NamedSource, Report, Result, miette};
use tidemark_sim::scenario::LoadError;

use crate::interrupt;

/// A message that shows the line at fault.
pub fn diagnostic(error: LoadError) -> Report {
    match error {
        LoadError::Wrong(wrong) => {
            let label = LabeledSpan::at(wrong.span.clone(), "here");
            let source = NamedSource::new(&wrong.file, wrong.source_text.clone());
            Report::from(miette::MietteDiagnostic::new(wrong.to_string()).with_label(label)).with_source_code(source)
        }
        other => miette!("{other}"),
    }
}

/// Leaves lines of errors whole that a log or another program reads.
pub fn prepare() {
    if !std::io::stderr().is_terminal() {
        let plain =
            |_: &_| -> Box<dyn miette::ReportHandler> { Box::new(MietteHandlerOpts::new().width(4096).build()) };
        // It fails only where a hook is set already, and none is.
        let _ = miette::set_hook(Box::new(plain));
    }
}

/// Says what ended a command, and gives its exit code: 2 for an error, as for a wrong argument, and 130 for an interrupt, as a shell does.
pub fn end(result: Result<u8>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::from(if interrupt::happened() { 130 } else { 2 })
        }
    }
}
