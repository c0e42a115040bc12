//! `tidemark run --front` as a user meets it.

use std::fs;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::common::command;

fn front(out: &Path, arguments: &[&str]) -> Output {
    let short =
        ["run", "--front", "--ues", "1", "--round-trips", "20ms", "--duration", "3 s", "--warmup", "1 s", "--out"];
    command(&short).arg(out).args(arguments).output().unwrap()
}

#[test]
fn one_command_puts_laws_and_senders_beside_the_oracle() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("front");
    let lists = ["--channels", "static", "--senders", "prague-hint,prague+cubic", "--laws", "l4span,tide"];
    let output = front(&out, &[&lists[..], &["--thresholds", "5ms,10ms", "--seeds", "2"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(out.join("front.md")).unwrap();
    let rows: Vec<_> = text.lines().collect();
    let heading =
        "| channel | UEs | round trip | senders | l4span 5 ms | l4span 10 ms | tide 5 ms | tide 10 ms | oracle |";
    assert_eq!((rows[0], rows.len()), (heading, 4), "{text}");
    assert!(rows[2].starts_with("| static | 1 | 20 ms | prague-hint | ") && !text.contains('–'), "{text}");
    assert!(String::from_utf8_lossy(&output.stdout).contains(&text), "the terminal has the same table");
    // Four columns of two senders and the oracle, with two seeds each, below a heading.
    assert_eq!(fs::read_to_string(out.join("table.csv")).unwrap().lines().count(), 1 + 9 * 2);
    assert!(out.join("study.html").is_file());
    // A single flow has nobody to be fair to.
    let alone = folder.path().join("alone");
    let output = front(&alone, &["--channels", "static", "--senders", "cubic", "--laws", "tide", "--seeds", "1"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_to_string(alone.join("front.md")).unwrap().lines().count(), 3);
}

#[test]
fn a_wrong_name_is_answered_with_right_ones() {
    let folder = TempDir::new().unwrap();
    for (arguments, right) in [
        (["--channels", "nowhere"], "static, pedestrian, vehicular"),
        (["--senders", "prage"], "prague"),
        (["--laws", "l5span"], "l4span"),
        (["--anbr", "{ widow = \"20 ms\" }"], "window"),
        (["--anbr", "20 ms"], "table"),
        (["--senders", "cl4s"], "al4s, al4s-hint"),
        (["--marking", "{ low = \"5 ms\", hihg = \"9 ms\" }"], "`high`"),
    ] {
        let senders = match arguments[0] {
            "--anbr" => &["--senders", "prague-hint"][..],
            "--marking" => &["--senders", "al4s,al4s-hint"],
            _ => &[],
        };
        let output = front(folder.path(), &[&arguments[..], senders].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && error.contains(right), "{arguments:?}: {error}");
    }
}
