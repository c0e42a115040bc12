//! The page of a run, to which figures are added that the run itself does not have.

use std::fs;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic as _, Result, WrapErr as _, miette};
use serde_json::{Value, json};
use tidemark_record::staging;

use crate::seeds;

/// Name of the page in the folder of its run.
const NAME: &str = "report.html";

/// Page of a run.
pub(crate) struct Page {
    folder: PathBuf,
    /// Its data, as the page has it.
    pub(crate) data: Value,
}

impl Page {
    /// Reads the page of a run.
    ///
    /// # Errors
    /// A folder without a page, or a page that this program has not written.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let file = folder.join(NAME);
        let page = fs::read_to_string(&file)
            .into_diagnostic()
            .wrap_err_with(|| format!("{} can't be read", file.display()))?;
        let data = tidemark_report::data(&page).and_then(|data| serde_json::from_str(data).ok());
        let data =
            data.ok_or_else(|| miette!("{} was written by another version: run the scenario again", file.display()))?;
        Ok(Self { folder: folder.into(), data })
    }

    /// Puts another run beside this one.
    ///
    /// # Errors
    /// A folder without a summary, with one of another version, or of a run that has none of the flows of this one.
    pub(crate) fn set_beside(&mut self, other: &Path) -> Result<()> {
        let summary = seeds::summary(other)?;
        let folder = other.display();
        if summary["tidemark"] != self.data["tidemark"] {
            return Err(miette!("--beside: {folder} was written by another version: run its scenario again"));
        }
        let names =
            |run: &Value| run["flows"].as_array().into_iter().flatten().map(|flow| flow["name"].clone()).collect();
        let (ours, theirs): (Vec<_>, Vec<_>) = (names(&self.data), names(&summary));
        if !ours.iter().any(|name| theirs.contains(name)) {
            let own = self.folder.display();
            return Err(miette!(
                "--beside: {folder} has no flow with the name of one of {own}: name a run of the same scenario"
            ));
        }
        self.data["beside"] = json!({ "folder": folder.to_string(), "summary": summary });
        Ok(())
    }

    /// Writes the page with its data.
    ///
    /// # Errors
    /// An error of the system.
    pub(crate) fn write(&self) -> Result<()> {
        let page = tidemark_report::with_data(&self.data.to_string());
        staging::replace(&self.folder, [], [Ok((NAME, page))]).into_diagnostic()
    }
}
