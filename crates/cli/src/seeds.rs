//! Summaries of a run, or of the seeds of a folder.

use std::fs;
use std::path::{Path, PathBuf};

use miette::{Context, IntoDiagnostic, Result, miette};
use serde_json::Value;
use tidemark_record::seeds::folders;

/// Summaries of a run, or of all seeds of a folder that pools them.
///
/// # Errors
/// A folder that is neither.
pub(crate) fn summaries(folder: &Path) -> Result<Vec<Value>> {
    if folder.join("summary.json").exists() {
        return Ok(vec![summary(folder)?]);
    }
    all(folder)?.iter().map(|folder| summary(folder)).collect()
}

/// Folders of all seeds of a folder that pools them.
///
/// # Errors
/// A folder that has none.
pub(crate) fn all(folder: &Path) -> Result<Vec<PathBuf>> {
    let folders = folders(folder);
    if folders.is_empty() {
        let right = "name a folder that `tidemark run` wrote, with one seed or with several";
        return Err(miette!("{} has no summary.json: {right}", folder.display()));
    }
    Ok(folders)
}

/// Summary of a run.
///
/// # Errors
/// A file that can't be read, or that is not a summary.
pub(crate) fn summary(folder: &Path) -> Result<Value> {
    let file = folder.join("summary.json");
    let text = fs::read_to_string(&file)
        .into_diagnostic()
        .wrap_err_with(|| format!("{} can't be read: name the folder of a run", file.display()))?;
    let summary: Value = serde_json::from_str(&text)
        .map_err(|error| miette!("{}:{}: not a summary of a run: {error}", file.display(), error.line()))?;
    if summary["flows"].is_array() {
        Ok(summary)
    } else {
        Err(miette!("{}: not a summary of a run: the list `flows` is missing", file.display()))
    }
}
