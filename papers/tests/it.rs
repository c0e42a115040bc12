//! The program, run as a user runs it.

use std::process::Command;

#[test]
fn an_unknown_target_is_refused_with_the_known_ones() {
    let output = Command::new(env!("CARGO_BIN_EXE_tidemark-papers")).arg("l4span.fig99").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("l4span.fig9.prague.static"), "{said}");
}
