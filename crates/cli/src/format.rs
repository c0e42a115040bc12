//! Formats of a command's output.

use clap::{Args, ValueEnum};
use miette::{IntoDiagnostic as _, Result};
use serde::Serialize;
use tidemark_terminal::print;

/// Format of a command's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables for people
    Table,
    /// JSON
    Json,
    /// CSV
    Csv,
}

/// Option with the format.
#[derive(Args, Clone, Copy)]
pub(crate) struct Output {
    /// Print results in this format
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,
}

/// Prints rows as JSON or CSV.
///
/// # Errors
/// Rows that the format can't express.
pub(crate) fn rows(format: Format, rows: &[impl Serialize]) -> Result<()> {
    match format {
        Format::Csv => print::data(&csv(rows)?),
        Format::Json | Format::Table => print::data(&serde_json::to_string_pretty(rows).into_diagnostic()?),
    }
    Ok(())
}

/// Text of a CSV file with these rows.
///
/// # Errors
/// Rows that the format can't express.
pub(crate) fn csv(rows: &[impl Serialize]) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| writer.serialize(row)).into_diagnostic()?;
    String::from_utf8(writer.into_inner().into_diagnostic()?).into_diagnostic()
}
