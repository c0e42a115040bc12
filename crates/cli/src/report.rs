//! `tidemark report`: the tables of results that are there.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use miette::{Context as _, IntoDiagnostic as _, Result, miette};
use serde_json::Value;

use crate::compare::Pool;
use crate::format::{self, Format, Output};
use crate::{seeds, study, table};
use tidemark_terminal::{print, say};

/// Arguments of `tidemark report`.
#[derive(Args)]
pub(crate) struct Report {
    /// Folders that `tidemark run`, or a live cell with --out, has written
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
}

impl Report {
    /// Prints the tables of each folder, and where its page is.
    ///
    /// # Errors
    /// A folder without results.
    pub(crate) fn execute(&self) -> Result<()> {
        self.folders.iter().try_for_each(|folder| one(folder, self.output.format))
    }
}

fn one(folder: &Path, format: Format) -> Result<()> {
    let page = ["report.html", study::PAGE].map(|name| folder.join(name)).into_iter().find(|page| page.exists());
    if folder.join("summary.json").exists() {
        print(folder, &seeds::summary(folder)?, format)?;
    } else if folder.join(study::TABLE).exists() {
        if format == Format::Json {
            return Err(miette!("{}: a study is printed as CSV: --format csv", folder.display()));
        }
        print::data(&text(&folder.join(study::TABLE))?);
    } else {
        let pool = Pool::read(&seeds::all(folder)?)?;
        match format {
            Format::Table => pool.print(),
            other => format::rows(other, pool.rows())?,
        }
    }
    page.iter().for_each(|page| say!("page: {}", page.display()));
    Ok(())
}

/// Prints the results of a run, whose folder has them already.
///
/// # Errors
/// A file that can't be read.
pub(crate) fn print(folder: &Path, summary: &Value, format: Format) -> Result<()> {
    match format {
        Format::Table => table::all(summary).iter().for_each(|table| say!("{table}")),
        Format::Json => print::data(&text(&folder.join("summary.json"))?),
        Format::Csv => print::data(&text(&folder.join("flows.csv"))?),
    }
    Ok(())
}

fn text(file: &Path) -> Result<String> {
    fs::read_to_string(file).into_diagnostic().wrap_err_with(|| format!("{} can't be read", file.display()))
}
