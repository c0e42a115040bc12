//! Checks what docs/ says of the command's files and of its own scripts.

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

/// A download behind a router that marks, an upload, recommendations for both, pages, and a video that a handover freezes.
const EVERYTHING: &str = r#"
name = "everything"
duration = "4 s"
cell = { uplink = { bsr = "long" }, handover = { interruption = "400 ms" } }
marker = { law = "l4span" }
[[ue]]
name = "phone"
anbr = { direction = "both", query_every = "500 ms" }
handovers = ["3 s"]
[[router]]
name = "router"
tdq = ["5 ms"]
rate = "10 Mbit/s"
queue = { discipline = "dualpi2" }
[[flow]]
name = "down"
ue = "phone"
round_trip = "20 ms"
router = "router"
[[flow]]
name = "up"
ue = "phone"
direction = "uplink"
round_trip = "20 ms"
[[flow]]
name = "web"
ue = "phone"
round_trip = "20 ms"
app = { app = "web", reading = "500 ms" }
[[flow]]
name = "game"
ue = "phone"
round_trip = "20 ms"
sender = { controller = "scream" }
app = { app = "video" }
"#;

/// UEs of a network, whose cells mark.
const NETWORK: &str = r#"
name = "network"
duration = "3 s"
network = { environment = "umi" }
marker = { law = "l4span" }
[[ue]]
name = "walker"
count = 3
channel = { model = "deployed" }
[[flow]]
name = "down"
ue = "walker"
round_trip = "20 ms"
"#;

/// Folder that a run of this scenario leaves.
fn run(scenario: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("scenario.toml");
    fs::write(&file, scenario).unwrap();
    let run =
        Command::new(env!("CARGO_BIN_EXE_tidemark")).arg("run").arg(file).arg("--out").arg(folder.path()).output();
    let run = run.unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    folder
}

/// Headings and rows of a CSV file.
fn csv(folder: &TempDir, file: &str) -> (Vec<String>, Vec<csv::StringRecord>) {
    let mut reader = csv::Reader::from_path(folder.path().join(file)).unwrap();
    let headings = reader.headers().unwrap().iter().map(str::to_owned).collect();
    (headings, reader.records().map(|row| row.unwrap_or_else(|error| panic!("{file}: {error}"))).collect())
}

/// Says whether a cell is of the type that `columns.csv` names.
fn is_of(kind: &str, cell: &str) -> bool {
    match kind {
        "integer" => cell.parse::<u64>().is_ok(),
        "number" => cell.contains(['.', 'e']) && cell.parse::<f64>().is_ok_and(f64::is_finite),
        "boolean" => ["true", "false"].contains(&cell),
        "text" => true,
        other => panic!("{other}: no type"),
    }
}

#[test]
fn every_column_has_one_type_and_values_and_is_described() {
    let page = tidemark_record::fields::reference();
    let folders = [EVERYTHING, NETWORK].map(run);
    let (_, described) = csv(&folders[0], "columns.csv");
    let mut files: Vec<_> = described.iter().map(|row| &row[0]).collect();
    files.dedup();
    assert_eq!(files.len(), 15, "{files:?}");
    for file in files {
        let columns: Vec<_> = described.iter().filter(|row| &row[0] == file).collect();
        let tables = folders.each_ref().map(|folder| csv(folder, file));
        let rows = table(&page, file);
        let of_page: Vec<_> = rows.iter().flat_map(|row| names(row[0])).collect();
        assert_eq!(of_page, tables[0].0, "{file}: the page of results beside what was written");
        assert_eq!(columns.iter().map(|row| &row[1]).collect::<Vec<_>>(), of_page, "{file}: columns.csv");
        for (index, column) in columns.iter().enumerate() {
            let cells = tables.iter().flat_map(|(_, rows)| rows).map(|row| &row[index]).filter(|cell| !cell.is_empty());
            let cells: Vec<_> = cells.collect();
            // Marks of these runs have no loss and pass no router, nobody interrupts the runs, and only live sessions count codepoints.
            let may_be_empty = file == "marks.csv" || &column[1] == "interrupted_at_s" || column[1].starts_with("ecn_");
            assert!(!cells.is_empty() || may_be_empty, "{file}: `{}` is always empty", &column[1]);
            for cell in cells {
                assert!(is_of(&column[2], cell), "{file}: `{}` is {}: {cell}", &column[1], &column[2]);
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
    let golden = read("crates/sim/tests/snapshots/it__golden__first_look.snap");
    let rows: Vec<Vec<_>> = page
        .lines()
        .skip_while(|line| !line.starts_with("| flow |"))
        .skip(2)
        .map_while(|line| line.strip_prefix("| "))
        .map(|row| row.trim_end_matches(" |").split(" | ").collect())
        .collect();
    assert_eq!(rows.len(), 4);
    for row in rows {
        let numbers: Vec<f64> = row[1..].iter().map(|cell| cell.parse().unwrap()).collect();
        let [p50, p99] = [0, 1].map(|index| (numbers[index] * 1e3).round());
        let flow = row[0];
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
        if path.join("__main__.py").exists() {
            // One program of several files, which needs packages that are not everywhere.
        } else if path.is_dir() {
            scripts(&path, found);
        } else if name.ends_with(".py") && !name.starts_with("test_") && name != "conftest.py" {
            found.push(path);
        }
    }
}

#[test]
fn every_script_says_what_it_is_for() {
    let mut found = Vec::new();
    ["docs", "results", "tests", "crates/cell/tests"]
        .iter()
        .for_each(|folder| scripts(&root().join(folder), &mut found));
    assert!(found.len() > 10, "{found:?}");
    for script in found {
        // A module that scripts import is none.
        if !fs::read_to_string(&script).unwrap().contains("__main__") {
            continue;
        }
        let Ok(output) = Command::new("python3").arg(&script).arg("--help").output() else {
            return eprintln!("SKIPPED: no python3 here");
        };
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}: {}", script.display(), String::from_utf8_lossy(&output.stderr));
        assert!(said.starts_with("usage:") && said.lines().count() > 3, "{}: {said}", script.display());
    }
}
