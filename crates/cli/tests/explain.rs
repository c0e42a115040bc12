//! `tidemark explain` as a user meets it: each option, each error.

use std::fs;

use crate::common::{text, tidemark};
use tempfile::TempDir;
use tidemark_record::output::read_marks;

const SHORT: &str = r#"
name = "short"
duration = "2 s"

[marker]
law = "l4span"

[[ue]]
name = "ue"

[[flow]]
name = "left"
ue = "ue"
round_trip = "20 ms"

[[flow]]
name = "right"
ue = "ue"
round_trip = "20 ms"
"#;

/// Runs the scenario with these assignments; gives the folder of the run.
fn run(folder: &TempDir, assignments: &[&str]) -> String {
    let file = folder.path().join("short.toml");
    fs::write(&file, SHORT).unwrap();
    let (file, out) = (file.display().to_string(), folder.path().join("out").display().to_string());
    let sets: Vec<_> = assignments.iter().flat_map(|assignment| ["--set", assignment]).collect();
    let output = tidemark(&[&["run", &file, "--out", &out], &sets[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    out
}

/// Standard output of a command that succeeds.
fn said(arguments: &[&str]) -> String {
    let output = tidemark(&[&["explain"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Standard error of a command that fails.
fn refused(arguments: &[&str]) -> String {
    let output = tidemark(&[&["explain"], arguments].concat());
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn every_option_shows_the_marks_that_it_asks_for() {
    let folder = TempDir::new().unwrap();
    let out = run(&folder, &[]);
    let marks = read_marks(&fs::read_to_string(format!("{out}/marks.csv")).unwrap()).unwrap();
    let of_right: Vec<_> = marks.iter().filter(|mark| mark.flow == "right").collect();
    let (first, last) = (of_right[0], of_right[of_right.len() - 1]);

    let overview = said(&[&out]);
    assert!(overview.contains("left") && overview.contains("right") && overview.contains("l4span: "), "{overview}");
    assert!(overview.contains("decision") && overview.contains("--worst K"), "{overview}");

    let packet = first.packet.to_string();
    let story = said(&[&out, "--flow", "right", "--packet", &packet]);
    assert!(story.starts_with(&format!("right, packet {packet}: ")), "{story}");
    for part in ["sent", "at the gNB", "estimated", "true", "decision", "outcome", "delay", "sender", "odds of a mark"]
    {
        assert!(story.contains(part), "{part}: {story}");
    }

    let at = format!("{} s", last.t_s);
    assert!(said(&[&out, "--flow", "right", "--at", &at]).contains(&format!("packet {}: ", last.packet)));
    let span = said(&[&out, "--flow", "right", "--at", "0..2"]);
    assert!(span.contains("estimated ms") && span.contains(&first.packet.to_string()), "{span}");

    let slowest = said(&[&out, "--worst", "3"]);
    assert_eq!(slowest.matches("\n  decision ").count(), 3, "{slowest}");

    let json: Vec<serde_json::Value> =
        serde_json::from_str(&said(&[&out, "--flow", "right", "--format", "json"])).unwrap();
    assert_eq!(json.len(), of_right.len());
    assert_eq!(json[0]["packet"], first.packet);
}

#[test]
fn every_error_says_what_would_be_right() {
    let folder = TempDir::new().unwrap();
    let out = run(&folder, &[]);
    assert!(refused(&[&out, "--flow", "middle"]).contains("flows with marks are left, right"));
    assert!(refused(&[&out, "--at", "50 s"]).contains("the nearest ones:\n  "));
    assert!(refused(&[&out, "--packet", "99999999"]).contains("the nearest numbers:\n  "));
    assert!(refused(&[&out, "--at", "soon"]).contains("number with a unit"));
    assert!(refused(&[&out, "--at", "1 s", "--worst", "2"]).contains("cannot be used with"));
    assert!(refused(&[&out, "--worst", "0"]).contains("1.."));
    let marks = format!("{out}/marks.csv");
    fs::write(&marks, fs::read_to_string(&marks).unwrap().replacen(",1500,", ",many,", 1)).unwrap();
    assert!(refused(&[&out]).contains("marks.csv") && refused(&[&out]).contains("line: "));
    fs::remove_file(&marks).unwrap();
    assert!(refused(&[&out]).contains("run it again, `tidemark run "));
    let empty = folder.path().display().to_string();
    assert!(refused(&[&empty]).contains("is not the folder of a run"));
}

#[test]
fn a_run_without_marks_says_so() {
    let folder = TempDir::new().unwrap();
    let out = run(&folder, &["marker.law=none"]);
    assert_eq!(said(&[&out]), "no marking law of the cell marked or dropped a packet in this run\n");
}
