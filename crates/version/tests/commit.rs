//! The commit that the build script finds.

// The script's own `main` and what only it calls.
#[allow(dead_code)]
#[path = "../build.rs"]
mod build;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use build::{build, commit, version};

/// Runs git in a folder, independent of who runs it and where.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").arg("-C").arg(folder).args(identity).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

/// Sources of a program without a commit; gives the folder of the crate `version`.
fn sources(root: &Path) -> PathBuf {
    let folder = root.join("crates/version");
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(root.join("Cargo.toml"), "[workspace]\n").unwrap();
    fs::write(folder.join("Cargo.toml"), "[package]\n").unwrap();
    fs::write(folder.join("src/lib.rs"), "").unwrap();
    folder
}

#[test]
fn a_clone_has_its_commit_until_a_source_is_changed() {
    let root = tempfile::tempdir().unwrap();
    let folder = sources(root.path());
    git(root.path(), &["init", "--quiet"]);
    assert_eq!(commit(&folder), None, "nothing is committed");
    git(root.path(), &["add", "."]);
    git(root.path(), &["commit", "--quiet", "--message", "first"]);
    let head = git(root.path(), &["rev-parse", "HEAD"]);
    assert_eq!(commit(&folder).as_ref(), Some(&head));
    fs::write(root.path().join("README.md"), "no source").unwrap();
    assert_eq!(commit(&folder).as_ref(), Some(&head));
    fs::write(folder.join("src/lib.rs"), "mod other;").unwrap();
    assert_eq!(commit(&folder), Some(format!("{head}-modified")));
    fs::write(folder.join("src/lib.rs"), "").unwrap();
    assert_eq!(commit(&folder), Some(head));
}

#[test]
fn builds_of_different_sources_differ_and_one_of_a_commit_is_that() {
    let root = tempfile::tempdir().unwrap();
    let folder = sources(root.path());
    let sha = "0123456789abcdef0123456789abcdef01234567";
    let modified = format!("{sha}-modified");
    assert_eq!(build(&folder, Some(sha)), sha);
    let first = build(&folder, Some(&modified));
    assert!(first.starts_with("sources-"), "{first}");
    // The commit beneath a change says nothing of it.
    assert_eq!(build(&folder, None), first);
    let other = |text: &str| {
        fs::write(folder.join("src/lib.rs"), text).unwrap();
        build(&folder, Some(&modified))
    };
    let (second, third) = (other("mod one;"), other("mod two;"));
    assert!(first != second && second != third && third != first, "{first} {second} {third}");
    assert_eq!(other(""), first);
    fs::write(folder.join("src/new.rs"), "").unwrap();
    assert_ne!(build(&folder, Some(&modified)), first, "a file that git does not know yet");
    fs::write(root.path().join("README.md"), "no source").unwrap();
    fs::remove_file(folder.join("src/new.rs")).unwrap();
    assert_eq!(build(&folder, Some(&modified)), first);
}

#[test]
fn a_package_of_changed_sources_has_its_commit_alone() {
    let root = tempfile::tempdir().unwrap();
    let modified = "0123456789abcdef0123456789abcdef01234567-modified";
    assert_eq!(build(&root.path().join("tidemark-version-1.2.3"), Some(modified)), modified);
    assert_eq!(build(&root.path().join("tidemark-version-1.2.3"), None), "");
}

#[test]
fn sources_without_a_clone_have_no_commit_of_one_around_them() {
    let root = tempfile::tempdir().unwrap();
    let folder = sources(&root.path().join("unpacked"));
    git(root.path(), &["init", "--quiet"]);
    fs::write(root.path().join("own"), "").unwrap();
    git(root.path(), &["add", "own"]);
    git(root.path(), &["commit", "--quiet", "--message", "foreign"]);
    assert_eq!(commit(&folder), None);
}

#[test]
fn a_package_has_the_commit_that_cargo_put_into_it() {
    let root = tempfile::tempdir().unwrap();
    let folder = sources(root.path());
    let sha = "0123456789abcdef0123456789abcdef01234567";
    let info = |dirty: &str| {
        let text = format!(
            "{{\n  \"git\": {{\n    \"sha1\": \"{sha}\"{dirty}\n  }},\n  \"path_in_vcs\": \"crates/version\"\n}}"
        );
        fs::write(folder.join(".cargo_vcs_info.json"), text).unwrap();
    };
    info("");
    assert_eq!(commit(&folder).as_deref(), Some(sha));
    info(",\n    \"dirty\": true");
    assert_eq!(commit(&folder), Some(format!("{sha}-modified")));
    fs::write(folder.join(".cargo_vcs_info.json"), "{}").unwrap();
    assert_eq!(commit(&folder), None);
}

#[test]
fn the_version_says_that_no_commit_is_known() {
    let sha = "0123456789abcdef0123456789abcdef01234567";
    assert_eq!(version("1.2.3", Some(sha)), "1.2.3 (commit 0123456789ab)");
    assert_eq!(version("1.2.3", Some(&format!("{sha}-modified"))), "1.2.3 (commit 0123456789ab, modified)");
    assert_eq!(version("1.2.3", None), "1.2.3 (commit unknown: not built from a clone)");
}
