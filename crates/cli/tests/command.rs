//! The command as a user meets it: its files, its exit status, its errors.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{command, text, tidemark};
use tempfile::TempDir;

fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

const SHORT: &str = r#"
name = "short"
duration = "2 s"

[[ue]]
name = "ue"

[[flow]]
name = "flow"
ue = "ue"
round_trip = "20 ms"
"#;

fn short(folder: &TempDir) -> String {
    let file = folder.path().join("short.toml");
    fs::write(&file, SHORT).unwrap();
    file.display().to_string()
}

#[test]
fn the_version_names_a_commit_of_this_clone() {
    let version = text(&tidemark(&["--version"]).stdout);
    assert_eq!(version, format!("tidemark {}\n", tidemark_version::VERSION));
    let git = |arguments: &[&str]| {
        let folder = env!("CARGO_MANIFEST_DIR");
        Command::new("git").current_dir(folder).args(arguments).output().is_ok_and(|output| output.status.success())
    };
    let shown = version.split_once("(commit ").unwrap().1.trim_end();
    if git(&["ls-files", "--error-unmatch", "Cargo.toml"]) {
        // The newest one may have come after the build.
        assert!(git(&["cat-file", "-e", &format!("{}^{{commit}}", &shown[..12])]), "git knows no commit {shown}");
    } else {
        assert!(shown.starts_with("unknown"), "{version}");
    }
}

#[test]
fn a_run_leaves_its_files_and_prints_its_tables_without_a_progress_bar() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out").display().to_string();
    let output = tidemark(&["run", &short(&folder), "--out", &out, "--seed", "7"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "a progress bar belongs on a terminal");
    assert!(text(&output.stdout).contains("bytes sent = delivered + dropped + queued"));
    for file in
        ["summary.json", "flows.csv", "series-ues.csv", "columns.csv", "marks.csv", "scenario.toml", "report.html"]
    {
        assert!(Path::new(&out).join(file).metadata().unwrap().len() > 100, "{file}");
    }
    let summary = fs::read_to_string(Path::new(&out).join("summary.json")).unwrap();
    assert!(summary.contains("\"seed\": 7") && !summary.contains("interrupted"));
    let commit = tidemark_version::COMMIT.map(|commit| format!("\"commit\": \"{commit}\""));
    assert!(commit.is_none_or(|commit| summary.contains(&commit)), "{summary}");
    // The scenario that it keeps gives the same run again.
    let again = folder.path().join("again").display().to_string();
    let kept = format!("{out}/scenario.toml");
    assert!(tidemark(&["run", &kept, "--out", &again]).status.success());
    let series = |folder: &str| fs::read(format!("{folder}/series-flows.csv")).unwrap();
    assert_eq!(series(&out), series(&again));
}

#[test]
fn threads_change_no_byte_and_are_of_one_run() {
    let folder = TempDir::new().unwrap();
    let file = scenarios().join("network/drive.toml").display().to_string();
    let run = |threads: &str, more: &[&str]| {
        let out = folder.path().join(threads).display().to_string();
        let short = ["--set", "duration=\"1 s\"", "--set", "warmup=\"200 ms\"", "--threads", threads, "--out", &out];
        let output = tidemark(&[&["run", &file], &short[..], more].concat());
        let result = ["summary.json", "series-ues.csv", "marks.csv"].map(|name| fs::read(format!("{out}/{name}")).ok());
        (text(&output.stderr), result)
    };
    let (errors, alone) = run("1", &[]);
    assert!(errors.is_empty() && alone.iter().all(Option::is_some), "{errors}");
    assert_eq!(run("2", &[]).1, alone);
    assert!(run("3", &["--seeds", "2"]).0.contains("cannot be used with"));
}

#[test]
fn wrong_input_ends_with_status_2_names_the_place_and_writes_nothing() {
    let folder = TempDir::new().unwrap();
    let file = short(&folder);
    let out = folder.path().join("none").display().to_string();
    for (set, says) in [
        ("duration=3", "--set duration=3: duration"),
        ("cell.prbs=-1", "cell.prbs"),
        ("cell.scheduler=round-robin", "{ kind = \"round-robin\" }"),
        ("cell.mcs_table=2", "`qam256`"),
        ("ue.0.drb=[{ five_qi = 80 }]", "ue.drb.qos_flow"),
        ("nonsense=1", "unknown field `nonsense`"),
        ("ue.0.channel={ model = \"trace\", file = \"gone\", format = \"mahimahi\" }", "gone"),
        ("flow.9.name=x", "use 0 to 0"),
        ("flow.0", "is not key=value"),
    ] {
        let output = tidemark(&["run", &file, "--out", &out, "--set", set]);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{set}: {message}");
        assert!(message.contains(says), "{set}: {message}");
        assert!(!Path::new(&out).exists(), "{set}: half written");
    }
    let missing = tidemark(&["run", "no-such-file.toml"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("no-such-file.toml"));
}

#[test]
fn arguments_are_answered_in_words_of_ours() {
    for wrong in [
        &["run", "x.toml", "--seeds", "many"][..],
        &["run", "x.toml", "--seed", ""],
        &["run", "--front", "--ues", "1,b"],
    ] {
        let output = tidemark(wrong);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("expected a whole number"), "{said}");
    }
    let below = tidemark(&["run", "x.toml", "--seeds", "-1"]);
    let said = text(&below.stderr);
    assert!(
        below.status.code() == Some(2) && said.contains("takes a number below zero") && !said.contains("tip"),
        "{said}"
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_found_out_before_the_run() {
    let folder = TempDir::new().unwrap();
    let file = short(&folder);
    // A file stands where the folder should be: refused for root as well.
    let output = tidemark(&["run", &file, "--out", &format!("{file}/out")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("name another folder with --out"), "{}", text(&output.stderr));
}

/// Every scenario of the project.
fn shipped() -> Vec<PathBuf> {
    let mut folders = vec![scenarios()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // Targets, headlines and studies are no scenarios.
                folders.extend(
                    (!["targets", "headlines", "studies"].iter().any(|name| path.ends_with(name))).then_some(path),
                );
            } else if path.extension().is_some_and(|extension| extension == "toml") && !path.ends_with("cases.toml") {
                files.push(path);
            }
        }
    }
    assert!(files.len() >= 2);
    files
}

#[test]
fn check_accepts_every_scenario_of_the_project() {
    for file in shipped() {
        let output = tidemark(&["check", &file.display().to_string()]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

#[test]
fn the_first_line_of_every_scenario_and_study_leads_an_editor_to_the_schema() {
    let schema = |name: &str| scenarios().join("../docs/reference").join(name).canonicalize().unwrap();
    let of_scenarios = shipped().into_iter().map(|file| (file, schema("scenario.schema.json")));
    let studies: Vec<_> =
        fs::read_dir(scenarios().join("studies")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(studies.len() >= 2);
    let of_studies = studies.into_iter().map(|file| (file, schema("study.schema.json")));
    for (file, schema) in of_scenarios.chain(of_studies) {
        let text = fs::read_to_string(&file).unwrap();
        let named = text.lines().next().and_then(|line| line.strip_prefix("#:schema ")).unwrap_or("nothing");
        let found = file.parent().unwrap().join(named).canonicalize().ok();
        assert_eq!(found.as_ref(), Some(&schema), "{}: the first line names {named}", file.display());
    }
}

#[test]
fn every_scenario_is_whole_once_it_is_resolved() {
    let folder = TempDir::new().unwrap();
    let whole = folder.path().join("resolved.toml").display().to_string();
    let resolve = |file: &str| {
        let output = tidemark(&["check", "--resolved", file]);
        assert!(output.status.success(), "{file}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let without_head = |scenario: &str| scenario[scenario.find("\nname =").unwrap()..].to_string();
    // A trace lies beside its scenario.
    fs::copy(scenarios().join("capacity-loss.csv"), folder.path().join("capacity-loss.csv")).unwrap();
    for file in shipped() {
        let resolved = resolve(&file.display().to_string());
        fs::write(&whole, &resolved).unwrap();
        // Resolved once more, nothing comes up.
        assert_eq!(without_head(&resolve(&whole)), without_head(&resolved), "{}", file.display());
    }
}

#[test]
fn a_resolved_scenario_gives_the_same_results() {
    let folder = TempDir::new().unwrap();
    for name in ["first-look", "sdn-port", "papers/anbr.testlab", "network/drive"] {
        let file = scenarios().join(format!("{name}.toml")).display().to_string();
        let short = ["--set", "duration=3 s", "--set", "warmup=1 s"];
        let resolved = tidemark(&[&["check", "--resolved", &file][..], &short].concat());
        assert!(resolved.status.success(), "{}", text(&resolved.stderr));
        let whole = folder.path().join("resolved.toml").display().to_string();
        fs::write(&whole, &resolved.stdout).unwrap();
        let results = [(&file, &short[..]), (&whole, &[])].map(|(scenario, overrides)| {
            let out = folder.path().join("out").display().to_string();
            let output = tidemark(&[&["run", scenario, "--out", &out][..], overrides].concat());
            assert!(output.status.success(), "{name}: {}", text(&output.stderr));
            let mut files: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
            files.sort();
            let csv = files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "csv"));
            let csv: Vec<_> = csv.map(|file| fs::read(file).unwrap()).collect();
            // The summary has the scenario's text, and that differs.
            let summary = fs::read_to_string(format!("{out}/summary.json")).unwrap();
            fs::remove_dir_all(&out).unwrap();
            (csv, summary.lines().filter(|line| !line.starts_with("  \"scenario\": ")).collect::<Vec<_>>().join("\n"))
        });
        assert!(results[0] == results[1], "{name}: the resolved scenario runs differently");
    }
}

#[test]
fn a_new_scenario_has_its_schema_beside_it_and_none_is_overwritten() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("cell 1.toml").display().to_string();
    let output = tidemark(&["new", &file, "--ues", "2", "--controllers", "prague,gcc", "--cell", "lte-5mhz"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let checked = tidemark(&["check", &file]);
    assert!(text(&checked.stdout).contains("`cell-1`: 30 s of 4 UEs and 4 flows"), "{}", text(&checked.stdout));
    let written = fs::read_to_string(&file).unwrap();
    let named = written.lines().next().unwrap().strip_prefix("#:schema ./").unwrap();
    assert_eq!(fs::read(folder.path().join(named)).unwrap(), tidemark(&["schema"]).stdout);
    let again = tidemark(&["new", &file]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("exists already"), "{}", text(&again.stderr));
    assert_eq!(fs::read_to_string(&file).unwrap(), written);
    let crowded = folder.path().join("crowded.toml").display().to_string();
    let output = tidemark(&["new", &crowded, "--ues", "3000"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("at most 4096 UEs") && !Path::new(&crowded).exists());
}

#[test]
fn compare_puts_two_runs_side_by_side_and_refuses_other_folders() {
    let folder = TempDir::new().unwrap();
    let file = short(&folder);
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name).display().to_string());
    assert!(tidemark(&["run", &file, "--out", &a]).status.success());
    assert!(tidemark(&["run", &file, "--out", &b, "--set", "marker.law=l4span"]).status.success());
    let output = tidemark(&["compare", &a, &b]);
    assert!(output.status.success());
    let said = text(&output.stdout);
    let before: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(Path::new(&a).join("summary.json")).unwrap()).unwrap();
    let rate = before["flows"][0]["throughput_mbps"].as_f64().unwrap();
    assert!(said.contains("one-way ms: p50") && said.contains("RLC queue ms: p50"), "{said}");
    // No marks without a law, some with one.
    assert!(said.contains(&format!("{rate:.2} → ")) && said.contains(" 0 → "), "{said}");
    let wrong = tidemark(&["compare", &a, &folder.path().display().to_string()]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("tidemark run"));
}

#[test]
fn report_puts_another_run_beside_a_page_and_refuses_one_without_its_flows() {
    let folder = TempDir::new().unwrap();
    let file = short(&folder);
    let [a, b, c] = ["a", "b", "c"].map(|name| folder.path().join(name).display().to_string());
    assert!(tidemark(&["run", &file, "--out", &a, "--set", "marker.law=l4span"]).status.success());
    assert!(tidemark(&["run", &file, "--out", &b]).status.success());
    assert!(tidemark(&["run", &file, "--out", &c, "--set", "flow.0.name=other"]).status.success());
    let page = || fs::read_to_string(Path::new(&a).join("report.html")).unwrap();
    let plain = page();
    for (beside, right) in [(&c, "no flow with the name"), (&file, "can't be read")] {
        let wrong = tidemark(&["report", &a, "--beside", beside]);
        assert_eq!(wrong.status.code(), Some(2));
        assert!(text(&wrong.stderr).split_whitespace().collect::<Vec<_>>().join(" ").contains(right), "{wrong:?}");
        assert_eq!(page(), plain);
    }
    let two = tidemark(&["report", &a, &b, "--beside", &b]);
    assert!(text(&two.stderr).contains("--beside take one FOLDER"), "{two:?}");
    assert!(tidemark(&["report", &a, "--beside", &b]).status.success());
    assert!(page().contains("\"beside\":{") && page().len() > plain.len());
}

#[test]
fn compare_knows_an_upload_by_the_uplink() {
    let folder = TempDir::new().unwrap();
    let file = short(&folder);
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name).display().to_string());
    let up = ["--set", "flow.0.direction=uplink"];
    assert!(tidemark(&[&["run", &file, "--out", &a], &up[..]].concat()).status.success());
    let law = ["--set", "ue.0.uplink_marker={ law = \"ramp\", low = \"10 ms\", high = \"30 ms\" }"];
    assert!(tidemark(&[&["run", &file, "--out", &b], &up[..], &law].concat()).status.success());
    let said = text(&tidemark(&["compare", &a, &b]).stdout);
    let uplinks = [&a, &b].map(|out| {
        let summary = fs::read_to_string(Path::new(out).join("summary.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&summary).unwrap()["ues"][0]["uplink"].clone()
    });
    let row = said.lines().skip_while(|line| !line.contains(" uplink ")).nth(2).unwrap_or_else(|| panic!("{said}"));
    for (path, decimals) in [("/throughput_mbps", 2), ("/queue_ms/p95", 1), ("/marked", 0)] {
        let [before, after] = uplinks.each_ref().map(|uplink| uplink.pointer(path).unwrap().as_f64().unwrap());
        assert!(row.contains(&format!("{before:.decimals$} → {after:.decimals$}")), "{path}: {said}");
    }
    assert!(uplinks[1]["marked"].as_u64() > Some(10), "{said}");
}

#[test]
fn compare_has_the_frames_of_a_video() {
    let folder = TempDir::new().unwrap();
    let file = short(&folder);
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name).display().to_string());
    let video = ["--set", "flow.0.sender={ controller = \"scream\" }", "--set", "flow.0.app={ app = \"video\" }"];
    assert!(tidemark(&[&["run", &file, "--out", &a], &video[..]].concat()).status.success());
    assert!(tidemark(&[&["run", &file, "--out", &b, "--seed", "2"], &video[..]].concat()).status.success());
    let said = text(&tidemark(&["compare", &a, &b]).stdout);
    let frames = [&a, &b].map(|out| {
        let summary = fs::read_to_string(Path::new(out).join("summary.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&summary).unwrap()["flows"][0]["media"].clone()
    });
    let row = said.lines().skip_while(|line| !line.contains(" frames ")).nth(2).unwrap_or_else(|| panic!("{said}"));
    for (path, decimals) in [("/delay_ms/p95", 1), ("/in_budget", 3)] {
        let [before, after] = frames.each_ref().map(|media| media.pointer(path).unwrap().as_f64().unwrap());
        assert!(row.contains(&format!("{before:.decimals$} → {after:.decimals$}")), "{path}: {said}");
    }
    assert!(!said.contains("completion ms"), "{said}");
    let cells = [&a, &b].map(|out| {
        let summary = fs::read_to_string(Path::new(out).join("summary.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&summary).unwrap()["cell"].clone()
    });
    let row =
        said.lines().skip_while(|line| !line.contains("UEs satisfied")).nth(2).unwrap_or_else(|| panic!("{said}"));
    let [before, after] = cells.each_ref().map(|cell| cell["utilisation"].as_f64().unwrap());
    assert!(row.contains(&format!("{before:.3} → {after:.3}")), "{said}");
    let satisfied = cells.each_ref().map(|cell| cell["satisfied"].as_f64().unwrap());
    assert!(satisfied != [0.0; 2] || row.contains(" 0.000 "), "{said}");
}

#[test]
fn a_reader_that_goes_early_is_no_error() {
    let folder = TempDir::new().unwrap();
    let file = short(&folder);
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name).display().to_string());
    for arguments in [
        &["run", &file, "--out", &a][..],
        &["run", &file, "--out", &b],
        &["check", &file],
        &["compare", &a, &b],
        &["schema"],
    ] {
        let mut child = command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(text(&output.stderr), "", "{arguments:?}");
        assert!(output.status.success(), "{arguments:?}");
    }
}

#[test]
fn what_is_no_error_but_worth_hearing_is_a_warning_beside_the_results() {
    let folder = TempDir::new().unwrap();
    let file = short(&folder);
    let late = "flow.0.app={ app = \"bulk\", start = \"3 s\" }";
    let output = tidemark(&["check", &file, "--set", late]);
    assert!(output.status.success());
    assert!(text(&output.stderr).starts_with("warning: flow `flow` starts at 3 s"), "{}", text(&output.stderr));
    let out = folder.path().join("out").display().to_string();
    let drb = "ue.0.drb=[{ qos_flow = [{ five_qi = 3, gbr = \"500 Mbit/s\", filter = [{ protocol = \"tcp\" }] }] }]";
    let cubic = "flow.0.sender={ controller = \"cubic\" }";
    let output = tidemark(&["run", &file, "--out", &out, "--set", drb, "--set", cubic]);
    assert!(output.status.success());
    let said = text(&output.stderr);
    assert!(said.starts_with("warning: UE `ue` had ") && said.contains("of the 500.00 Mbit/s guaranteed"), "{said}");
    assert!(fs::read_to_string(Path::new(&out).join("summary.json")).unwrap().contains("\"warnings\""));
}

#[test]
fn an_interrupted_run_keeps_what_it_has_and_says_so() {
    let folder = TempDir::new().unwrap();
    let file = short(&folder);
    let out = folder.path().join("out").display().to_string();
    let mut child =
        command(&["run", &file, "--out", &out, "--set", "duration=86400 s", "--set", "sample_interval=1 s"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    // The folder exists once the run is about to begin.
    let patience = Instant::now();
    while !Path::new(&out).is_dir() && patience.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signal.success());
    let output = child.wait().unwrap();
    assert_eq!(output.code(), Some(130));
    let summary = fs::read_to_string(format!("{out}/summary.json")).unwrap();
    assert!(summary.contains("\"interrupted_at_s\""), "{summary}");
}

#[test]
fn schemas_in_docs_are_the_commands_own() {
    for (arguments, file) in [
        (&["schema"][..], "scenario.schema.json"),
        (&["schema", "scenario"], "scenario.schema.json"),
        (&["schema", "study"], "study.schema.json"),
    ] {
        let output = tidemark(arguments);
        let kept = scenarios().join("../docs/reference").join(file);
        let kept = fs::read_to_string(kept).unwrap_or_default();
        assert!(text(&output.stdout) == kept, "{file}: out of date: run `make schema`");
    }
}

#[test]
fn the_first_page_of_help_has_twelve_names_at_most() {
    let help = text(&tidemark(&["--help"]).stdout);
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<_> =
        list.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"run") && names.iter().filter(|name| **name != "help").count() <= 12, "{names:?}");
    for old in ["sweep", "front", "live", "hop", "send", "receive", "probe", "n3", "cu", "du"] {
        assert_eq!(tidemark(&[old]).status.code(), Some(2), "{old}");
    }
    // What only maintainers and packages call is there, and not shown.
    assert!(!names.contains(&"man") && tidemark(&["schema"]).status.success());
    assert!(help.contains("Also: stream "), "{help}");
}

#[test]
fn a_scenario_comes_from_the_standard_input_and_results_go_to_a_program() {
    let folder = TempDir::new().unwrap();
    let piped = |arguments: &[&str]| {
        let mut child = command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), SHORT.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        text(&output.stdout)
    };
    let checked = piped(&["check", "-"]);
    assert!(checked.contains("`short`: 2 s of 1 UEs and 1 flows"), "{checked}");
    assert!(checked.contains("about 0.01 s of a processor, 20 MB of memory, 1 MB of files"), "{checked}");
    let out = folder.path().join("out").display().to_string();
    let run = |format: &str| piped(&["run", "-", "--format", format, "--out", &out]);
    assert_eq!(run("json"), fs::read_to_string(format!("{out}/summary.json")).unwrap());
    assert_eq!(run("csv"), fs::read_to_string(format!("{out}/flows.csv")).unwrap());
    assert_eq!(piped(&["run", "-", "--quiet", "--out", &out]), "");
    for more in [&["--seeds", "2"][..], &["--vary", "seed=1,2"]] {
        let rows = piped(&[&["run", "-", "--format", "json", "--out", &format!("{out}{}", more[0])], more].concat());
        assert!(serde_json::from_str::<serde_json::Value>(&rows).is_ok(), "{rows}");
    }
    // The tables are there once more for a folder that was written before.
    let said = text(&tidemark(&["report", &out]).stdout);
    assert!(said.contains("bytes sent = delivered + dropped + queued") && said.contains("report.html"), "{said}");
    let more = text(&command(&["run", &short(&folder), "--verbose", "--out", &out]).output().unwrap().stderr);
    assert!(more.starts_with("tidemark: `short`: 2 s of 1 UEs"), "{more}");
}

#[test]
fn check_reads_every_file_that_is_named() {
    let folder = TempDir::new().unwrap();
    let (file, gone) = (short(&folder), folder.path().join("gone.toml").display().to_string());
    let output = tidemark(&["check", &gone, &file, "no-such-file.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("gone.toml") && said.contains("no-such-file.toml"), "{said}");
    assert!(text(&output.stdout).contains("`short`"));
}

#[test]
fn the_papers_are_said_to_be_elsewhere() {
    let output = tidemark(&["reproduce", "--quick", "l4span"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--package tidemark-papers -- --quick l4span"), "{}", text(&output.stderr));
}
