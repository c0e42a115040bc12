//! The program, run as a user runs it.

use std::path::Path;
use std::process::Command;

/// Gives what the program says of a target that it does not run.
fn refusal(target: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tidemark-papers")).arg(target).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_unknown_target_is_refused_with_the_known_ones() {
    let said = refusal("l4span.fig99");
    assert!(said.contains("l4span.fig9.prague.static"), "{said}");
}

#[test]
fn the_target_of_real_streams_is_refused_with_the_script_that_measures_it() {
    let said = refusal("al4s.live");
    assert!(said.contains("python3 tests/live/paper_streams.py"), "{said}");
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/live/paper_streams.py").is_file());
}
