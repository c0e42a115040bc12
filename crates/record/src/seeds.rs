//! Folders with several seeds: where each seed is, and how seeds are removed.

use std::io;
use std::path::{Path, PathBuf};

use crate::staging;

/// Beginning of the names of the seeds' folders.
pub const SEED: &str = "seed-";
/// Files with the means and intervals over all seeds. The folder has results if the first one exists.
pub const POOL: [&str; 2] = ["pool.csv", "pool.json"];

/// Seed of a folder.
pub fn seed(folder: &Path) -> Option<u64> {
    folder.file_name()?.to_str()?.strip_prefix(SEED)?.parse().ok()
}

/// Folders of seeds in a folder that pools them. A folder of one run has none; nor has an incomplete one, whose means are missing.
pub fn folders(pool: &Path) -> Vec<PathBuf> {
    if pool.join(POOL[0]).exists() { seed_folders(pool) } else { Vec::new() }
}

/// Folders of seeds in the order of their numbers, even where the means are missing.
pub fn seed_folders(pool: &Path) -> Vec<PathBuf> {
    let entries = pool.read_dir().into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.map(|entry| entry.path()).filter_map(|path| Some((seed(&path)?, path))).collect();
    folders.retain(|(_, path)| path.join("summary.json").exists());
    folders.sort();
    folders.into_iter().map(|(_, path)| path).collect()
}

/// Removes the old seeds of a folder that now has the results of one run.
///
/// # Errors
/// A folder that can't be removed.
pub fn remove(pool: &Path) -> io::Result<()> {
    let folders = folders(pool);
    POOL.iter().map(|name| pool.join(name)).chain(folders).try_for_each(|path| staging::remove(&path))
}
