//! Finds the commit of the sources: from git in a clone, or from the file that `cargo package` adds to a package.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Digits of a commit in [`version`].
const SHOWN: usize = 12;
/// Suffix of a commit whose sources were changed.
const MODIFIED: &str = "-modified";

fn main() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let commit = commit(crate_folder);
    println!("cargo::rustc-env=TIDEMARK_COMMIT={}", commit.as_deref().unwrap_or_default());
    println!("cargo::rustc-env=TIDEMARK_BUILD={}", build(crate_folder, commit.as_deref()));
    println!("cargo::rustc-env=TIDEMARK_VERSION={}", version(env!("CARGO_PKG_VERSION"), commit.as_deref()));
    println!("cargo::rerun-if-changed=build.rs");
    watched(crate_folder).iter().for_each(|path| println!("cargo::rerun-if-changed={}", path.display()));
}

/// Version and commit, for people.
pub(crate) fn version(number: &str, commit: Option<&str>) -> String {
    let Some(commit) = commit else { return format!("{number} (commit unknown: not built from a clone)") };
    let modified = if commit.ends_with(MODIFIED) { ", modified" } else { "" };
    format!("{number} (commit {}{modified})", &commit[..SHOWN])
}

/// Commit of the sources to which the crate in this folder belongs; `None` if neither a package nor git knows it.
pub(crate) fn commit(crate_folder: &Path) -> Option<String> {
    if let Ok(text) = fs::read_to_string(crate_folder.join(".cargo_vcs_info.json")) {
        return packaged(&text);
    }
    // A folder inside a foreign clone, of which it is no part, has not that clone's commit.
    git(crate_folder, &["ls-files", "--error-unmatch", "Cargo.toml"])?;
    let commit = git(crate_folder, &["rev-parse", "HEAD"])?;
    let root = crate_folder.join("../..");
    let paths = sources(&root);
    let mut arguments = vec!["status", "--porcelain", "--untracked-files=no", "--"];
    arguments.extend(paths.iter().filter_map(|path| path.to_str()));
    let is_modified = !git(&root, &arguments)?.is_empty();
    Some(if is_modified { commit + MODIFIED } else { commit })
}

/// Identity of a build: its commit, or `sources-` and a hash of the sources if they differ from the commit. Builds of different sources
/// have different identities. A package holds only the sources of its own crate, so one packed from changed sources keeps the text of its commit.
pub(crate) fn build(crate_folder: &Path, commit: Option<&str>) -> String {
    let root = crate_folder.join("../..");
    match commit {
        Some(commit) if !commit.ends_with(MODIFIED) => commit.into(),
        _ if root.join("crates").is_dir() => format!("sources-{:016x}", hash(&root)),
        _ => commit.unwrap_or_default().into(),
    }
}

/// Hash of the names and contents of all sources. It may differ between versions of Rust, since it only has to tell changes apart.
fn hash(root: &Path) -> u64 {
    let mut paths: Vec<_> = sources(root).into_iter().map(|path| root.join(path)).collect();
    let mut files = Vec::new();
    while let Some(path) = paths.pop() {
        match path.read_dir() {
            Ok(entries) => paths.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => files.push(path),
        }
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.strip_prefix(root).unwrap_or(&file).hash(&mut hasher);
        fs::read(&file).unwrap_or_default().hash(&mut hasher);
    }
    hasher.finish()
}

/// Commit in the file that cargo adds to a package.
fn packaged(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("\"sha1\"")?;
    let commit = rest.split('"').nth(1).filter(|commit| commit.len() >= SHOWN)?;
    let is_modified = rest.contains("\"dirty\": true");
    Some(if is_modified { format!("{commit}{MODIFIED}") } else { commit.into() })
}

/// Files and folders of the sources, relative to the root.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut paths = vec![PathBuf::from("Cargo.toml"), PathBuf::from("Cargo.lock")];
    let crates = fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    let mut crates: Vec<_> = crates.map(|entry| entry.file_name()).collect();
    crates.sort();
    for name in crates {
        let folder = Path::new("crates").join(name);
        paths.extend(["Cargo.toml", "build.rs", "src"].map(|part| folder.join(part)));
    }
    paths.retain(|path| root.join(path).exists());
    paths
}

/// Paths whose change may change the answer: sources, and the log in which git notes every new commit.
fn watched(crate_folder: &Path) -> Vec<PathBuf> {
    let root = crate_folder.join("../..");
    let mut paths: Vec<_> = sources(&root).into_iter().map(|path| root.join(path)).collect();
    for name in ["HEAD", "logs/HEAD"] {
        paths.extend(git(crate_folder, &["rev-parse", "--git-path", name]).map(|path| crate_folder.join(path)));
    }
    paths.push(crate_folder.join(".cargo_vcs_info.json"));
    // Cargo would run the script in every build for a path that is missing.
    paths.retain(|path| path.exists());
    paths
}

/// Output of git without the end of the line; `None` if git is missing or fails.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}
