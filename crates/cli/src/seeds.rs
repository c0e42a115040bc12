//! Folders with several seeds: where each seed is, and how its results are read and removed.

use std::fs;
use std::path::{Path, PathBuf};

use miette::{Context, IntoDiagnostic, Result, miette};
use serde_json::Value;
use tidemark_record::staging;

/// Beginning of the names of the seeds' folders.
pub(crate) const SEED: &str = "seed-";
/// Files with the means and intervals over all seeds. The folder has results if the first one exists.
pub(crate) const POOL: [&str; 2] = ["pool.csv", "pool.json"];

/// Seed of a folder.
pub(crate) fn seed(folder: &Path) -> Option<u64> {
    folder.file_name()?.to_str()?.strip_prefix(SEED)?.parse().ok()
}

/// Folders of seeds in a folder that pools them. A folder of one run has none; nor has an incomplete one, whose means are missing.
pub(crate) fn folders(pool: &Path) -> Vec<PathBuf> {
    if pool.join(POOL[0]).exists() { seed_folders(pool) } else { Vec::new() }
}

/// Folders of seeds in the order of their numbers, even where the means are missing.
pub(crate) fn seed_folders(pool: &Path) -> Vec<PathBuf> {
    let entries = pool.read_dir().into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.map(|entry| entry.path()).filter_map(|path| Some((seed(&path)?, path))).collect();
    folders.retain(|(_, path)| path.join("summary.json").exists());
    folders.sort();
    folders.into_iter().map(|(_, path)| path).collect()
}

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

/// Removes the old seeds of a folder that now has the results of one run.
///
/// # Errors
/// A folder that can't be removed.
pub(crate) fn remove(pool: &Path) -> std::io::Result<()> {
    let folders = folders(pool);
    POOL.iter().map(|name| pool.join(name)).chain(folders).try_for_each(|path| staging::remove(&path))
}
