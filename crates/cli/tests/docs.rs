//! Checks what docs/ says of the command's files and of its own scripts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Words between backticks.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The rows of the table below the heading of this file: their cells.
fn table<'a>(page: &'a str, file: &str) -> Vec<Vec<&'a str>> {
    let heading = format!("## `{file}`");
    let section = page.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.starts_with("## "));
    let rows = section.filter(|line| line.starts_with("| `"));
    rows.map(|row| row.trim_matches('|').split(" | ").collect()).collect()
}

/// A download behind a router that marks, an upload, and recommendations for both.
const EVERYTHING: &str = r#"
name = "everything"
duration = "3 s"
cell = { uplink = { bsr = "long" } }
marker = { law = "l4span" }
[[ue]]
name = "ue"
anbr = { direction = "both" }
[[router]]
name = "router"
rate = "10 Mbit/s"
queue = { discipline = "dualpi2" }
[[flow]]
name = "down"
ue = "ue"
round_trip = "20 ms"
router = "router"
[[flow]]
name = "up"
ue = "ue"
direction = "uplink"
round_trip = "20 ms"
"#;

#[test]
fn every_column_that_docs_name_is_in_its_file_and_has_values() {
    let page = fs::read_to_string(root().join("docs/reference/results.md")).unwrap();
    let folder = TempDir::new().unwrap();
    let [scenario, out] = ["everything.toml", "out"].map(|name| folder.path().join(name));
    fs::write(&scenario, EVERYTHING).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_tidemark")).arg("run").arg(scenario).arg("--out").arg(&out).output();
    let run = run.unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    for file in ["flows.csv", "bearers.csv", "series.csv"] {
        let csv = fs::read_to_string(out.join(file)).unwrap();
        let columns: Vec<_> = csv.lines().next().unwrap().split(',').collect();
        let rows = table(&page, file);
        let described: Vec<_> = rows.iter().flat_map(|row| names(row[0])).collect();
        assert_eq!(described, columns, "{file}: docs/reference/results.md beside what was written");
        // By column, the kinds of rows that have a value in it.
        let mut filled: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for line in csv.lines().skip(1) {
            let cells: Vec<_> = line.split(',').collect();
            assert_eq!(cells.len(), columns.len(), "{file}: {line}");
            for (column, _) in columns.iter().zip(&cells).filter(|(_, cell)| !cell.is_empty()) {
                filled.entry(column).or_default().insert(cells[1]);
            }
        }
        for row in &rows {
            for column in names(row[0]) {
                let kinds = filled.get(column).unwrap_or_else(|| panic!("{file}: `{column}` is always empty"));
                if file == "series.csv" {
                    assert_eq!(*kinds, names(row[1]).collect(), "{file}: rows that have `{column}`");
                }
            }
        }
    }
}

#[test]
fn the_lab_of_docs_is_the_one_in_scenarios() {
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
    let (page, lab) = (read("docs/guide/live-cell.md"), read("scenarios/live/lab.toml"));
    let shown = page.lines().skip_while(|line| !line.contains("scenarios/live/lab.toml")).skip(2);
    let shown: Vec<_> = shown.take_while(|line| line.is_empty() || line.starts_with("    ")).collect();
    assert!(shown.len() > 5, "{shown:?}");
    for line in shown {
        assert!(
            lab.lines().any(|other| other == line.trim_start()),
            "docs/guide/live-cell.md shows what is not in the file: {line}"
        );
    }
}

#[test]
fn the_delays_on_the_page_of_their_parts_are_the_golden_runs() {
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
    let page = read("docs/concepts/parts-of-a-delay.md");
    let golden = read("crates/sim/tests/snapshots/golden__first_look.snap");
    let rows: Vec<Vec<_>> = page
        .lines()
        .skip_while(|line| !line.starts_with("| flow |"))
        .skip(2)
        .map_while(|line| line.strip_prefix("| `"))
        .map(|row| row.trim_end_matches(" |").split(" | ").collect())
        .collect();
    assert_eq!(rows.len(), 4);
    for row in rows {
        let numbers: Vec<f64> = row[1..].iter().map(|cell| cell.parse().unwrap()).collect();
        let [p50, p99] = [0, 1].map(|index| (numbers[index] * 1e3).round());
        let flow = row[0].trim_end_matches('`');
        let shown = format!("one way p50 {p50} us, p99 {p99} us");
        assert!(golden.lines().any(|line| line.starts_with(flow) && line.contains(&shown)), "{flow}: {shown}");
        let parts: f64 = numbers[3..].iter().sum();
        assert!((parts - numbers[2]).abs() < 0.005, "{flow}: the parts add up to {parts}, not to {}", numbers[2]);
    }
}

fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            scripts(&path, found);
        } else if name.ends_with(".py") && !name.starts_with("test_") && name != "conftest.py" {
            found.push(path);
        }
    }
}

#[test]
fn every_script_says_what_it_is_for() {
    let mut found = Vec::new();
    ["docs", "tests", "crates/cell/tests"].iter().for_each(|folder| scripts(&root().join(folder), &mut found));
    assert!(found.len() > 10, "{found:?}");
    for script in found {
        let Ok(output) = Command::new("python3").arg(&script).arg("--help").output() else {
            return eprintln!("SKIPPED: no python3 here");
        };
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}: {}", script.display(), String::from_utf8_lossy(&output.stderr));
        assert!(said.starts_with("usage:") && said.lines().count() > 3, "{}: {said}", script.display());
    }
}
