//! `tidemark schema`: JSON schemas of scenarios and studies, for editors and other programs.

use clap::ValueEnum;
use tidemark_sim::scenario::Scenario;
use tidemark_study::Form;

use tidemark_terminal::say;

/// Kind of file that a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// A scenario, which `run` takes
    Scenario,
    /// A study, which `run` takes
    Study,
}

/// Prints the JSON schema of a kind of file.
pub(crate) fn print(kind: Kind) {
    say!(
        "{}",
        match kind {
            Kind::Scenario => Scenario::json_schema(),
            Kind::Study => Form::json_schema(),
        }
    );
}
