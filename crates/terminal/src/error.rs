//! Errors of scenarios with the lines at fault, and the exit codes of commands.

use std::io::IsTerminal;
use std::process::ExitCode;

use miette::{LabeledSpan, MietteHandlerOpts, NamedSource, Report, Result, miette};
use tidemark_sim::scenario::LoadError;

use crate::interrupt;

/// A message that shows the lines at fault; an error in a flag has none.
pub fn diagnostic(error: LoadError) -> Report {
    let message = error.to_string();
    let errors = match error {
        LoadError::Several(errors) => errors,
        other => vec![other],
    };
    let in_file = |error| if let LoadError::Wrong(error) = error { Some(error) } else { None };
    let errors: Vec<_> = errors.into_iter().filter_map(in_file).collect();
    let Some(first) = errors.first() else { return miette!("{message}") };
    let labels = errors.iter().map(|error| LabeledSpan::at(error.span.clone(), "here"));
    let source = NamedSource::new(&first.file, first.source_text.clone());
    Report::from(miette::MietteDiagnostic::new(message).with_labels(labels)).with_source_code(source)
}

/// Keeps error lines unwrapped for logs and other programs.
pub fn prepare() {
    if !std::io::stderr().is_terminal() {
        let plain =
            |_: &_| -> Box<dyn miette::ReportHandler> { Box::new(MietteHandlerOpts::new().width(4096).build()) };
        // It fails only if a hook is set already, and none is.
        let _ = miette::set_hook(Box::new(plain));
    }
}

/// Prints the error that ended a command, and gives the exit code: 2 for an error, as for a wrong argument, and 130 for an interrupt, as
/// in a shell.
pub fn end(result: Result<u8>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::from(if interrupt::happened() { 130 } else { 2 })
        }
    }
}
