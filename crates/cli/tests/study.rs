//! Studies and seeds as a user meets them: `run --vary`, `run --seeds` and `compare`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::{command, text, tidemark};
use tempfile::TempDir;

const SCENARIO: &str = r#"
name = "short"
duration = "1 s"

[[ue]]
name = "ue"

[[flow]]
name = "flow"
ue = "ue"
round_trip = "20 ms"
"#;

/// A study of 80 runs.
const STUDY: &str = r#"
scenario = "short.toml"
seeds = 10
metrics = ["throughput_mbps", "owd_ms.p99"]

[vary]
"marker.law" = ["none", "l4span"]
"flow.*.round_trip" = "10 ms..80 ms*2"
"#;

/// Folder with a scenario and a study of it.
struct Lab(TempDir);

impl Lab {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("short.toml"), SCENARIO).unwrap();
        fs::write(folder.path().join("study.toml"), STUDY).unwrap();
        Self(folder)
    }
    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
    fn sweep(&self, out: &str) -> String {
        let output = tidemark(&["run", &self.path("study.toml"), "--out", &self.path(out)]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        self.table(out)
    }
    fn start(&self, out: &str) -> Child {
        let mut command = command(&["run", &self.path("study.toml"), "--out", &self.path(out)]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }
    fn table(&self, out: &str) -> String {
        fs::read_to_string(Path::new(&self.path(out)).join("table.csv")).unwrap()
    }
    fn records(&self, out: &str) -> usize {
        fs::read_dir(Path::new(&self.path(out)).join("runs")).map_or(0, Iterator::count)
    }
}

#[test]
fn a_study_that_was_killed_goes_on_to_the_same_bytes() {
    let lab = Lab::new();
    let whole = lab.sweep("whole");
    assert_eq!(whole.lines().count(), 1 + 80);
    // On a busy machine a study may be over before it is killed.
    let killed = (0..20).find(|attempt| {
        let out = format!("killed-{attempt}");
        let mut child = lab.start(&out);
        while lab.records(&out) < 30 && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        lab.records(&out) < 80
    });
    let out = format!("killed-{}", killed.expect("twenty studies ended before they were killed"));
    assert!(lab.records(&out) >= 30 && !Path::new(&lab.path(&out)).join("table.csv").exists());
    assert_eq!(lab.sweep(&out), whole);
    assert_eq!(lab.records(&out), 80);
}

#[test]
fn two_processes_on_one_study_do_not_disturb_each_other() {
    let lab = Lab::new();
    let whole = lab.sweep("whole");
    let both = [lab.start("shared"), lab.start("shared")];
    for child in both {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    assert_eq!(lab.table("shared"), whole);
    assert_eq!(lab.records("shared"), 80);
    let left = fs::read_dir(Path::new(&lab.path("shared")).join("under-way")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn a_study_from_flags_prints_means_and_writes_a_page() {
    let lab = Lab::new();
    let out = lab.path("out");
    let sweep = ["run", &lab.path("short.toml"), "--vary", "marker.law=none,l4span", "--out", &out];
    let output = tidemark(&[&sweep[..], &["--seeds", "2", "--metric", "throughput_mbps", "--series"]].concat());
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "a progress bar belongs on a terminal");
    assert!(said.contains("marker.law") && said.contains(" ± ") && said.contains("l4span"), "{said}");
    let (means, _) = said.split_once("table: ").unwrap();
    assert!(text(&tidemark(&["report", &out]).stdout).starts_with(means), "{said}");
    let table = lab.table("out");
    assert!(table.starts_with("marker.law,seed,flow,throughput_mbps,run\nnone,1,flow,"), "{table}");
    let units = fs::read_to_string(Path::new(&out).join("units.csv")).unwrap();
    assert!(units.contains("throughput_mbps,Mbit/s\n"), "{units}");
    let page = fs::read_to_string(Path::new(&out).join("study.html")).unwrap();
    let inside = |page: &str| -> serde_json::Value {
        let (_, data) = page.split_once("id=\"tidemark-data\">").unwrap();
        serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
    };
    let data = inside(&page);
    assert_eq!(data["points"][1]["values"][0], "l4span");
    let first: f64 = table.lines().nth(1).unwrap().split(',').nth(3).unwrap().parse().unwrap();
    assert_eq!(data["points"][0]["metrics"][0][0], first);
    assert_eq!(data["points"][0]["seeds"], serde_json::json!([1, 2]));
    let run = table.lines().nth(1).unwrap().rsplit(',').next().unwrap();
    let kept = |name: &str| fs::read_to_string(Path::new(&out).join("series").join(run).join(name)).unwrap();
    assert!(kept("series-flows.csv").lines().count() > 5);
    // The page opens it.
    assert_eq!(data["has_reports"], true);
    let report = inside(&kept("report.html"));
    assert_eq!((&report["seed"], &report["flows"][0]["throughput_mbps"]), (&1.into(), &first.into()));
}

#[test]
fn the_table_of_other_varied_keys_is_replaced_by_force_alone() {
    let lab = Lab::new();
    let (scenario, out) = (lab.path("short.toml"), lab.path("out"));
    let sweep = |vary: &str, more: &[&str]| {
        let study = ["run", &scenario, "--vary", vary, "--seeds", "1", "--out", &out];
        let output = tidemark(&[&study[..], more].concat());
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(sweep("marker.law=none", &[]).0, Some(0));
    let files = || ["table.csv", "study.html", "study.json"].map(|name| fs::read(Path::new(&out).join(name)).unwrap());
    let before = files();
    let (code, said) = sweep("flow.0.round_trip=9 ms", &[]);
    assert_eq!(code, Some(2), "{said}");
    let of_both = "has the table of a study that varies marker.law, and this one varies flow.0.round_trip";
    assert!(said.contains(of_both) && said.contains("--out") && said.contains("--force"), "{said}");
    assert!(files() == before);
    // Another value of the same key is a row, and runs are kept.
    assert_eq!(sweep("marker.law=none,l4span", &[]).0, Some(0));
    assert_eq!(sweep("flow.0.round_trip=9 ms", &["--force"]).0, Some(0));
    assert!(lab.table("out").starts_with("flow.0.round_trip,seed,"), "{}", lab.table("out"));
    assert_eq!(lab.records("out"), 3);
}

#[test]
fn a_study_is_reported_in_every_format_as_its_run_printed_it() {
    let lab = Lab::new();
    let out = lab.path("out");
    let run = ["run", &lab.path("short.toml"), "--vary", "marker.law=none,ramp", "--seeds", "2", "--out", &out];
    for metric in ["throughput_mbps", "utilisation"] {
        for format in ["json", "csv"] {
            let run = [&run[..], &["--metric", metric, "--format", format, "--force"]].concat();
            let (run, report) = (tidemark(&run), tidemark(&["report", &out, "--format", format]));
            assert!(run.status.success() && report.status.success(), "{}", text(&report.stderr));
            assert_eq!(text(&report.stdout), text(&run.stdout));
        }
    }
    fs::write(Path::new(&out).join("table.csv"), "marker.law,run\n").unwrap();
    let output = tidemark(&["report", &out, "--format", "json"]);
    assert!(text(&output.stderr).contains("not a study's table"), "{}", text(&output.stderr));
}

#[test]
fn bad_studies_end_with_status_2_and_write_nothing() {
    let lab = Lab::new();
    let out = lab.path("out");
    let scenario = lab.path("short.toml");
    for (flags, says) in [
        (&["--vary", "flow.0.roundtrip=1ms,2ms"][..], "unknown field `roundtrip`"),
        (&["--vary", "ue.0.count=1..1000000000+1", "--seeds", "1"], "has 1000000000 runs"),
        (&["--vary", "marker.law"], "is not KEY=VALUES"),
        (&["--vary", "marker.law=none", "--vary", "marker.law=ramp"], "--vary marker.law is given twice"),
        (&["--vary", "marker.law=none,none"], "`none` is listed twice"),
        (&["--find", "marker.law", "--until", "jain >= 1"], "marker.law=1: "),
        (&["--vary", "flow.0.round_trip=1 ms..9 ms"], "has no step"),
        (&["--vary", "flow.0.round_trip=1 ms..9 ms"], "--vary flow.0.round_trip: "),
        (&["--metric", "throughput"], "throughput_mbps"),
        (&["--flow", "none"], "--flow: "),
        (&["--find", "users", "--until", "satisfied = 1"], "is not a condition"),
        (&["--find", "users", "--until", "satisfied >= 90"], "--until: "),
        (&["--vary", "marker.law=none", "--until-ci", "5"], "--until-ci: `5` is not a share between 0 and 1"),
        (
            &["--vary", "marker.law=none", "--until-ci", "5%", "--ci-metric", "owd_ms.p9"],
            "--ci-metric: no result is called `owd_ms.p9`: did you mean `owd_ms.p99`?",
        ),
        (
            &["--find", "ue.0.count", "--until", "satisfed >= 90 %"],
            "--until: no result is called `satisfed`: did you mean `satisfied`?",
        ),
        (&["--vary", "marker.law=none,tide", "--seeds", "0"], "0 is not in 1..=10000"),
    ] {
        let output = tidemark(&[&["run", &scenario, "--out", &out], flags].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {said}");
        assert!(said.contains(says), "{flags:?}: {said}");
        assert!(!Path::new(&out).exists(), "{flags:?}: half written");
    }
    // A folder of something else.
    let output = tidemark(&["run", &lab.path("study.toml"), "--out", &lab.path(".")]);
    assert!(text(&output.stderr).contains("is not a folder of a study"), "{}", text(&output.stderr));
}

#[test]
fn intervals_that_stay_wide_are_said_to() {
    let lab = Lab::new();
    let (scenario, out) = (lab.path("short.toml"), lab.path("out"));
    let sweep = |flags: &[&str]| {
        let fading = ["--set", "ue.0.channel={ model = \"pedestrian\" }"];
        let metric = ["--metric", "throughput_mbps", "--seeds", "2", "--max-seeds", "4"];
        let output = tidemark(&[&["run", &scenario, "--out", &out], &fading[..], &metric, flags].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let said = sweep(&["--until-ci", "0.0001%", "--series"]);
    assert!(said.contains("1 of 1 rows have an interval wider than 0.0001 % of their mean with 4 seeds"), "{said}");
    let series = fs::read_dir(Path::new(&out).join("series")).unwrap().count();
    assert_eq!(series, 4, "added seeds have series, too");
    let said = sweep(&["--until-ci", "99%"]);
    assert!(!said.contains("wider than"), "{said}");
}

#[test]
fn a_part_of_the_cases_runs_alone_and_the_rest_later() {
    let lab = Lab::new();
    let cases = "[case.way.short.set]\n\"duration\" = \"300 ms\"\n[case.way.long]\n";
    fs::write(lab.path("study.toml"), format!("scenario = \"short.toml\"\nseeds = 2\n{cases}")).unwrap();
    let sweep = |flags: &[&str]| {
        let (file, out) = (lab.path("study.toml"), lab.path("out"));
        tidemark(&[&["run", &file, "--out", &out], flags].concat())
    };
    assert!(sweep(&["--only", "way=short"]).status.success());
    assert_eq!((lab.records("out"), lab.table("out").lines().count()), (2, 3));
    assert!(sweep(&[]).status.success());
    assert_eq!((lab.records("out"), lab.table("out").lines().count()), (4, 5));
    for (only, says) in [
        ("way=shorter", "study.toml:3: case.way: there is no `shorter`: --only takes some of short, long"),
        ("ways=short", "case: there is no `ways`: --only takes one of way"),
        ("way", "is not COLUMN=CASES"),
    ] {
        let output = sweep(&["--only", only]);
        assert!(text(&output.stderr).contains(says), "{only}: {}", text(&output.stderr));
    }
}

#[test]
fn seeds_are_pooled_and_compared_seed_by_seed() {
    let lab = Lab::new();
    let scenario = lab.path("short.toml");
    let [none, law] = ["none", "l4span"].map(|law| {
        let out = lab.path(law);
        let set = format!("marker.law={law}");
        let output = tidemark(&["run", &scenario, "--seeds", "3", "--set", &set, "--out", &out]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("Means over 3 seeds"), "{}", text(&output.stdout));
        out
    });
    assert!(Path::new(&none).join("seed-3/report.html").exists());
    let said = text(&tidemark(&["compare", &none, &law]).stdout);
    assert!(said.contains("Differences over 3 common seeds") && said.contains(" → ") && said.contains(" ± "), "{said}");
    // Marks come with the law.
    let is_flow = |line: &&str| line.trim_start().starts_with("flow ") && line.contains(" → ");
    assert!(said.lines().find(is_flow).is_some_and(|line| line.contains(" 0 → ")), "{said}");
    let said = text(&tidemark(&["compare", &none, &none]).stdout);
    assert!(!said.contains(" (+") && said.contains("(tie: +0.00 ± 0.00)"), "{said}");
    // A single run has the one seed that both have.
    let [one, other] = ["one", "other"].map(|name| lab.path(name));
    assert!(tidemark(&["run", &scenario, "--seed", "2", "--out", &one]).status.success());
    let said = text(&tidemark(&["compare", &none, &one, &law]).stdout);
    assert!(said.contains("One seed each") && said.contains("Differences over 3 common seeds"), "{said}");
    assert!(tidemark(&["run", &scenario, "--seed", "9", "--out", &other]).status.success());
    let output = tidemark(&["compare", &none, &other]);
    assert!(text(&output.stderr).contains("no seed in common"), "{}", text(&output.stderr));
    // The means are in files, too.
    let pooled = fs::read_to_string(Path::new(&law).join("pool.csv")).unwrap();
    assert!(pooled.starts_with("kind,name,metric,seeds,mean,half\nrun,all,cell.throughput_mbps,3,"), "{pooled}");
    let said = text(&tidemark(&["report", &law, "--format", "json"]).stdout);
    assert_eq!(said, fs::read_to_string(Path::new(&law).join("pool.json")).unwrap());
    let said = text(&tidemark(&["compare", &none, &law, "--format", "csv"]).stdout);
    assert!(said.starts_with("baseline,other,kind,name,metric,seeds,before,after,difference,half\n"), "{said}");
    // Fewer seeds do not leave others behind, and go only by force.
    let fewer = ["run", &scenario, "--seeds", "2", "--set", "marker.law=none", "--out", &none];
    let output = tidemark(&fewer);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("seed 3"), "{}", text(&output.stderr));
    assert!(Path::new(&none).join("seed-3").exists());
    assert!(tidemark(&[&fewer[..], &["--force"]].concat()).status.success());
    assert!(!Path::new(&none).join("seed-3").exists());
    for (out, flags) in [(&none, &[][..]), (&one, &["--seeds", "2"])] {
        let output = tidemark(&[&["run", &scenario, "--out", out], flags].concat());
        assert!(text(&output.stderr).contains("Name another folder with --out"), "{}", text(&output.stderr));
    }
    // One run in the place of seeds, and seeds in that of one run.
    assert!(tidemark(&["run", &scenario, "--out", &none, "--force"]).status.success());
    assert!(!Path::new(&none).join("seed-1").exists() && !Path::new(&none).join("pool.csv").exists());
    assert!(tidemark(&["run", &scenario, "--out", &none, "--force", "--seeds", "2"]).status.success());
    assert!(!Path::new(&none).join("summary.json").exists() && Path::new(&none).join("seed-2").exists());
}

#[test]
fn check_reads_every_study_of_the_project() {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/studies");
    let mut studies = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path().display().to_string();
        let output = tidemark(&["check", &file]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("study `"), "{}", text(&output.stdout));
        studies += 1;
    }
    assert!(studies >= 2);
}
