//! `tidemark stream`, with a script in the place of the program that it hands over to.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

use crate::common::text;

/// Script that prints its process, arguments and input, and ends with 7.
const STUB: &str = "#!/bin/sh\necho \"$0 $$ [$*]\"\ncat\nexit 7\n";

/// Links the command into a folder where nothing is beside it. A copy could still be open for writing in another test's child.
fn alone(folder: &TempDir) -> PathBuf {
    let tidemark = folder.path().join("tidemark");
    fs::hard_link(env!("CARGO_BIN_EXE_tidemark"), &tidemark).unwrap();
    tidemark
}

/// Makes a folder in the file system of the command.
fn folder() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Writes the script into a new folder, which it gives.
fn stub(folder: &Path) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let file = folder.join("tidemark-stream");
    fs::write(&file, STUB).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    folder.to_path_buf()
}

/// Starts `tidemark stream` with this PATH.
fn start(tidemark: &Path, path: &str, arguments: &[&str]) -> Child {
    let mut command = Command::new(tidemark);
    command.arg("stream").args(arguments).env("PATH", path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs it to its end; gives its process as well.
fn run(tidemark: &Path, path: &str, arguments: &[&str]) -> (u32, Output) {
    let mut child = start(tidemark, path, arguments);
    let id = child.id();
    // A command that refuses does not read.
    let _ = child.stdin.take().unwrap().write_all(b"from the terminal");
    (id, child.wait_with_output().unwrap())
}

#[test]
fn the_program_in_path_gets_arguments_input_and_this_process() {
    let folder = folder();
    let (tidemark, bin) = (alone(&folder), stub(&folder.path().join("bin")));
    let path = format!("{}:/usr/bin:/bin", bin.display());
    for arguments in [&["serve", "--listen", "127.0.0.1:0", "-v"][..], &["--help"], &["open", "--", "a b"], &[]] {
        let (id, output) = run(&tidemark, &path, arguments);
        let expected = format!("{}/tidemark-stream {id} [{}]\nfrom the terminal", bin.display(), arguments.join(" "));
        assert_eq!((text(&output.stdout), output.status.code()), (expected, Some(7)), "{}", text(&output.stderr));
    }
}

#[test]
fn the_program_beside_the_command_goes_before_path() {
    let folder = folder();
    let tidemark = alone(&folder);
    let (beside, other) = (stub(folder.path()), stub(&folder.path().join("bin")));
    // A link to the command, as a package may install it, leads to the folder of the command.
    let link = folder.path().join("bin/linked");
    symlink(&tidemark, &link).unwrap();
    for command in [&tidemark, &link] {
        let (_, output) = run(command, &format!("{}:/usr/bin:/bin", other.display()), &["serve"]);
        assert!(text(&output.stdout).starts_with(&format!("{}/tidemark-stream ", beside.display())), "{output:?}");
    }
}

#[test]
fn a_program_that_is_not_there_is_said_to_be_built_by_make_stream() {
    let folder = folder();
    let (_, output) = run(&alone(&folder), "/nowhere", &["serve"]);
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("`make stream` builds it"), "{said}");
}
