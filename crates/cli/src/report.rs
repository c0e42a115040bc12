//! `tidemark report`: prints the tables of existing results.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use miette::{Context as _, IntoDiagnostic as _, Result, miette};
use serde_json::Value;
use tidemark_core::Duration;

use crate::application::Application;
use crate::compare::Pool;
use crate::format::{self, Format, Output};
use crate::page::Page;
use crate::{seeds, study, table};
use tidemark_terminal::print::{Level, shows};
use tidemark_terminal::{print, say};

/// Arguments of `tidemark report`.
#[derive(Args)]
pub(crate) struct Report {
    /// Folders written by `tidemark run` or by a live cell with --out
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Add the application's own figures to the page, from `iperf3 --json`, a qlog or a WebRTC dump (repeatable)
    #[arg(long, value_name = "FILE")]
    series: Vec<PathBuf>,
    /// Time from the start of the run to the start of the application, where its clock begins
    #[arg(long, value_name = "TIME", default_value = "0 s", requires = "series")]
    series_at: Duration,
    /// Put this run beside FOLDER's: each sentence on its page then ends with what the other run had
    #[arg(long, value_name = "OTHER")]
    beside: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

impl Report {
    /// Prints the tables of each folder, and where its page is.
    ///
    /// # Errors
    /// A folder without results.
    pub(crate) fn execute(&self) -> Result<()> {
        if !self.series.is_empty() || self.beside.is_some() {
            return self.join();
        }
        self.folders.iter().try_for_each(|folder| one(folder, self.output.format))
    }

    /// Adds to the page of a run what belongs to it: another run, and the application's figures, which it prints.
    fn join(&self) -> Result<()> {
        let [folder] = &self.folders[..] else {
            return Err(miette!("--series and --beside take one FOLDER, because what they add belongs to one run"));
        };
        let mut page = Page::open(folder)?;
        if let Some(other) = &self.beside {
            page.set_beside(other)?;
        }
        let joined = match &self.series[..] {
            [] => None,
            files => Some(Application::join(&mut page, files, self.series_at)?),
        };
        page.write()?;
        match (joined, self.output.format) {
            (Some(joined), Format::Json | Format::Csv) => format::rows(self.output.format, &joined.points()),
            (joined, format) => {
                one(folder, format)?;
                joined.iter().flat_map(Application::lines).for_each(|line| say!("{line}"));
                Ok(())
            }
        }
    }
}

fn one(folder: &Path, format: Format) -> Result<()> {
    let page = ["report.html", study::PAGE].map(|name| folder.join(name)).into_iter().find(|page| page.exists());
    if folder.join("summary.json").exists() {
        let summary = seeds::summary(folder)?;
        print(folder, || Ok(summary), format)?;
    } else if folder.join(study::TABLE).exists() {
        study::report(folder, format)?;
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

/// Prints the results of a run from its folder, tables by its `summary`.
///
/// # Errors
/// A file that can't be read, and those of `summary`.
pub(crate) fn print(folder: &Path, summary: impl FnOnce() -> Result<Value>, format: Format) -> Result<()> {
    match format {
        // Nobody sees the tables of a quiet command: the tree of JSON that they come from is not made.
        Format::Table if !shows(Level::Normal) => {}
        Format::Table => table::all(&summary()?).iter().for_each(|table| say!("{table}")),
        Format::Json => print::data(&text(&folder.join("summary.json"))?),
        Format::Csv => print::data(&text(&folder.join("flows.csv"))?),
    }
    Ok(())
}

fn text(file: &Path) -> Result<String> {
    fs::read_to_string(file).into_diagnostic().wrap_err_with(|| format!("{} can't be read", file.display()))
}
