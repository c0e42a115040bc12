//! Studies from their form to their table: keys, stores, interruptions, widening, errors.

use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tempfile::TempDir;
use tidemark_study::{ExecuteError, Limits, Plan, Run, Store, Study, Table, TableError, execute, run_one};

const SCENARIO: &str = r#"
name = "short"
duration = "400 ms"

[[ue]]
name = "ue"

[[flow]]
name = "flow"
ue = "ue"
round_trip = "20 ms"
"#;

const STUDY: &str = r#"
scenario = "short.toml"
seeds = 3
metrics = ["throughput_mbps", "owd_ms.p99", "utilisation"]

[vary]
"marker.law" = ["none", "l4span"]
"flow.*.round_trip" = "10 ms..40 ms*2"
"#;

fn written(folder: &Path, study: &str) -> Study {
    load(folder, study).unwrap_or_else(|error| panic!("{error}"))
}

fn load(folder: &Path, study: &str) -> Result<Study, String> {
    fs::write(folder.join("short.toml"), SCENARIO).unwrap();
    let file = folder.join("study.toml");
    fs::write(&file, study).unwrap();
    Study::load(&file).map_err(|error| error.to_string())
}

fn run(study: &Study, folder: &Path, proceed: &(dyn Fn() -> bool + Sync)) -> Result<Table, ExecuteError> {
    let limits = Limits { jobs: 2, memory: None, proceed };
    let mut plan = Plan::new(study, &limits)?;
    let store = Store::open(folder, study)?;
    execute(study, &mut plan, &store, &limits, |_| {})?;
    Ok(Table::new(study, &plan, &store).unwrap_or_else(|error| panic!("{error}")))
}

fn always() -> bool {
    true
}

#[test]
fn a_study_has_a_row_for_each_point_seed_and_group_of_flows() {
    let folder = TempDir::new().unwrap();
    let study = written(folder.path(), STUDY);
    let table = run(&study, &folder.path().join("out"), &always).unwrap();
    let csv = table.csv();
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!(lines[0], "marker.law,flow.*.round_trip,seed,flow,throughput_mbps,owd_ms.p99,utilisation,run");
    assert_eq!(lines.len(), 1 + 2 * 3 * 3);
    assert!(lines[1].starts_with("none,10 ms,1,flow,") && lines[2].starts_with("none,10 ms,2,flow,"), "{csv}");
    assert!(lines[18].starts_with("l4span,40 ms,3,flow,"), "{csv}");
    assert!(table.units_csv().contains("owd_ms.p99,ms\n") && table.units_csv().contains("throughput_mbps,Mbit/s\n"));
    let summaries = table.summaries();
    assert_eq!((summaries.len(), summaries[0].seeds.len()), (6, 3));
    let estimate = summaries[0].estimate(0).unwrap();
    let rates: Vec<f64> = table.rows[..3].iter().filter_map(|row| row.metrics[0]).collect();
    assert!((estimate.mean - rates.iter().sum::<f64>() / 3.0).abs() < 1e-12 && estimate.half.is_some());
}

#[test]
fn a_run_is_plain_data_that_gives_the_same_record_anywhere() {
    let folder = TempDir::new().unwrap();
    let study = written(folder.path(), STUDY);
    let runs: Vec<Run> = study.expand().collect::<Result<_, _>>().unwrap();
    assert_eq!(runs.len(), 18);
    assert!(runs[..6].iter().all(|run| run.seed == 1), "all points come with the first seed first");
    let mut keys: Vec<_> = runs.iter().map(|run| &run.key).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 18);
    let table = run(&study, &folder.path().join("local"), &always).unwrap();
    // As another machine does it: from data, to bytes, in any order.
    let limits = Limits { jobs: 1, memory: None, proceed: &always };
    let plan = Plan::new(&study, &limits).unwrap();
    let store = Store::open(&folder.path().join("remote"), &study).unwrap();
    let text = serde_json::to_string(&runs).unwrap();
    for run in serde_json::from_str::<Vec<Run>>(&text).unwrap().iter().rev() {
        store.put(&run.key, &run_one(run).unwrap()).unwrap();
        store.put(&run.key, &run_one(run).unwrap()).unwrap();
    }
    assert_eq!(Table::new(&study, &plan, &store).unwrap().csv(), table.csv());
    assert_eq!(Table::read(&table.csv()), Some(table));
    assert!(store.put("0123", &run_one(&runs[0]).unwrap()).unwrap_err().to_string().contains(&runs[0].key));
}

#[test]
fn a_key_changes_with_everything_that_a_result_depends_on_and_nothing_else() {
    let folder = TempDir::new().unwrap();
    let key = |scenario: &str, set: &str| {
        fs::write(folder.path().join("s.toml"), scenario).unwrap();
        let file = folder.path().join("s-study.toml");
        fs::write(&file, format!("scenario = \"s.toml\"\nseeds = [7]\n[set]\n{set}\n")).unwrap();
        Study::load(&file).unwrap().expand().next().unwrap().unwrap().key
    };
    let first = key(SCENARIO, "");
    assert_eq!(first.len(), 32);
    let mut study = written(folder.path(), STUDY);
    let mut of_build = |build: &str| {
        study.program.build = build.into();
        study.expand().next().unwrap().unwrap().key
    };
    assert_ne!(of_build("sources-1"), of_build("sources-2"));
    assert_eq!(of_build("sources-1"), of_build("sources-1"));
    let mut of_code = |code: Option<&str>| {
        study.program.code = code.map(Into::into);
        study.expand().next().unwrap().unwrap().key
    };
    assert_ne!(of_code(Some("a law")), of_code(Some("a law that was changed")));
    assert_ne!(of_code(Some("a law")), of_code(None));
    // Comments and defaults that are written out say nothing new.
    assert_eq!(first, key(&format!("# a comment\n{SCENARIO}"), ""));
    assert_eq!(first, key(SCENARIO, "\"sample_interval\" = \"100 ms\""));
    assert_ne!(first, key(SCENARIO, "\"sample_interval\" = \"50 ms\""));
    assert_ne!(first, key(SCENARIO, "\"ue.0.channel.model\" = \"vehicular\""));
    let trace = |content: &str| {
        fs::write(folder.path().join("t.csv"), format!("time_s,SINR\n0,{content}\n1,10\n")).unwrap();
        key(SCENARIO, "\"ue.0.channel\" = { model = \"trace\", file = \"t.csv\", column = \"SINR\" }")
    };
    assert_ne!(trace("10"), trace("11"), "a trace is a part of its scenario");
    assert_eq!(trace("10"), trace("10"));
}

#[test]
fn an_interrupted_study_goes_on_where_it_was_and_has_the_same_table() {
    let folder = TempDir::new().unwrap();
    let study = written(folder.path(), STUDY);
    let whole = run(&study, &folder.path().join("whole"), &always).unwrap();
    let part = folder.path().join("part");
    let asked = AtomicUsize::new(0);
    // A run asks once an interval of its series: some runs end, one does not.
    let stops = || asked.fetch_add(1, Ordering::Relaxed) < 50;
    let error = run(&study, &part, &stops).unwrap_err();
    assert!(matches!(error, ExecuteError::Interrupted { done: 1.., .. }), "{error}");
    let kept = fs::read_dir(part.join("runs")).unwrap().count();
    assert!((1..18).contains(&kept), "{kept}");
    // What a process left that was killed while it wrote.
    let next =
        study.expand().map(Result::unwrap).find(|run| !part.join("runs").join(format!("{}.json", run.key)).exists());
    fs::write(part.join("under-way").join(format!("{}.json", next.unwrap().key)), "{\"key\":\"to").unwrap();
    assert_eq!(run(&study, &part, &always).unwrap().csv(), whole.csv());
    assert_eq!(fs::read_dir(part.join("under-way")).unwrap().count(), 0);
}

#[test]
fn a_widened_study_runs_what_is_missing_and_another_one_is_refused() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let study = written(folder.path(), STUDY);
    run(&study, &out, &always).unwrap();
    let wide = written(folder.path(), &STUDY.replace("seeds = 3", "seeds = 4").replace("40 ms*2", "80 ms*2"));
    let limits = Limits { jobs: 2, memory: None, proceed: &always };
    let mut plan = Plan::new(&wide, &limits).unwrap();
    let store = Store::open(&out, &wide).unwrap();
    let mut first = None;
    execute(&wide, &mut plan, &store, &limits, |progress| _ = first.get_or_insert(progress)).unwrap();
    let first = first.unwrap();
    assert_eq!((first.done, first.total), (18, 32));
    let other = written(folder.path(), &format!("{STUDY}\n[set]\nduration = \"300 ms\"\n"));
    let error = Store::open(&out, &other).unwrap_err().to_string();
    assert!(error.contains("another study") && error.contains("+ set duration=\"300 ms\""), "{error}");
    fs::create_dir(folder.path().join("foreign")).unwrap();
    fs::write(folder.path().join("foreign/file"), "").unwrap();
    let error = Store::open(&folder.path().join("foreign"), &wide).unwrap_err().to_string();
    assert!(error.contains("is not a folder of a study"), "{error}");
}

#[test]
fn a_new_store_is_opened_by_many_at_once() {
    let folder = TempDir::new().unwrap();
    let study = written(folder.path(), STUDY);
    for round in 0..200 {
        let out = folder.path().join(round.to_string());
        let together = Barrier::new(4);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    together.wait();
                    Store::open(&out, &study).unwrap_or_else(|error| panic!("{error}"));
                });
            }
        });
        assert_eq!(fs::read_dir(&out).unwrap().count(), 3, "the description, records, and records that are being made");
    }
}

#[test]
fn bad_studies_are_refused_with_what_would_be_right() {
    let folder = TempDir::new().unwrap();
    for (study, says) in [
        ("scenario = \"gone.toml\"\n".to_string(), "gone.toml can't be read"),
        ("seeds = 3\n".into(), "study.toml:1: scenario: is missing"),
        (STUDY.replace("seeds = 3", "seed = 3"), "study.toml:3: unknown field `seed`"),
        (STUDY.replace("seeds = 3", "seeds = 0"), "study.toml:3: seeds: must be a number from 1"),
        (STUDY.replace("seeds = 3", "seeds = [1, 1]"), "seed 1 is listed twice"),
        (STUDY.replace("owd_ms.p99", "owd_p99"), "study.toml:4: metrics.1: no result is called `owd_p99`"),
        (STUDY.replace("*2", ""), "study.toml:8: vary.flow.*.round_trip: `10 ms..40 ms` has no step"),
        (STUDY.replace("\"10 ms..40 ms*2\"", "\"1 ms..1000000000 ms+1\""), "has 6000000000 runs"),
        (STUDY.replace("marker.law\"", "ue.0.count\"").replace("\"none\", \"l4span\"", "1.5"), "ue.0.count"),
        (format!("flows = [\"x\"]\n{STUDY}"), "flows.0: no [[flow]] is called `x`: use flow"),
        (
            format!("until_ci = {{ within = \"0 %\" }}\n{STUDY}"),
            "until_ci.within: `0 %` is not a share between 0 and 1",
        ),
        (format!("until_ci = {{ within = \"5\" }}\n{STUDY}"), "until_ci.within: `5` is not a share between 0 and 1"),
        (
            format!("find = {{ key = \"users\", until = \"jain > 1\" }}\n{STUDY}"),
            "find.until: `jain > 1` is not a condition",
        ),
        (
            STUDY.replace("\"none\", \"l4span\"", "\"none\", \"none\""),
            "study.toml:7: vary.marker.law: `none` is listed twice",
        ),
        (STUDY.replace("owd_ms.p99", "throughput_mbps"), "study.toml:4: metrics.1: `throughput_mbps` is listed twice"),
        (format!("{STUDY}\n[[zip]]\n"), "zip.0: has no key"),
        (
            format!("{STUDY}\n[[zip]]\n\"marker.law\" = [\"ramp\"]\n"),
            "vary.marker.law: is also in a group of keys that change together",
        ),
        (
            format!("{STUDY}\n[[zip]]\n\"cell.prbs\" = [51, 51]\n\"duration\" = [\"1 s\", \"1 s\"]\n"),
            "zip.0: `51, 1 s` is listed twice",
        ),
        (format!("{STUDY}\n[case.load]\n"), "case.load: has no case"),
        (STUDY.replace("\"marker.law\" =", "marker.law ="), "vary.marker: is a table: write the whole key in quotes"),
        (format!("{STUDY}\n[[zip]]\n\"seed\" = [1]\n\"duration\" = [\"1 s\", \"2 s\"]\n"), "give both the same number"),
    ] {
        let checked = load(folder.path(), &study).map_or_else(Err, |study| {
            let limits = Limits { jobs: 2, memory: None, proceed: &always };
            Plan::new(&study, &limits).map(drop).map_err(|error| error.to_string())
        });
        let error = checked.expect_err(says);
        assert!(error.contains(says), "{says}: {error}");
    }
}

#[test]
fn an_unknown_parameter_is_named_with_its_value_before_anything_runs() {
    let folder = TempDir::new().unwrap();
    let study = written(folder.path(), &STUDY.replace("flow.*.round_trip", "flow.*.roundtrip"));
    let error = run(&study, &folder.path().join("out"), &always).unwrap_err().to_string();
    assert!(error.contains("flow.*.roundtrip=10 ms: ") && error.contains("unknown field `roundtrip`"), "{error}");
    assert!(!folder.path().join("out").exists());
    let find = "find = { key = \"ue.0.number\", until = \"throughput_mbps >= 5\" }\n";
    let study = written(folder.path(), &format!("{find}{STUDY}"));
    let error = run(&study, &folder.path().join("out"), &always).unwrap_err().to_string();
    assert!(error.contains("ue.0.number=1: ") && error.contains("unknown field `number`"), "{error}");
    assert!(!folder.path().join("out").exists());
}

#[test]
fn a_metric_that_no_run_has_is_found_out_by_the_first_seed_and_the_runs_are_kept() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let study = written(folder.path(), &STUDY.replace("owd_ms.p99", "media.delay_ms.p99"));
    let limits = Limits { jobs: 2, memory: None, proceed: &always };
    let mut plan = Plan::new(&study, &limits).unwrap();
    let store = Store::open(&out, &study).unwrap();
    let error = execute(&study, &mut plan, &store, &limits, |_| {}).unwrap_err();
    assert!(matches!(&error, ExecuteError::NoSuchMetric { .. }), "{error}");
    assert!(error.to_string().contains("no run has `media.delay_ms.p99`: use one of "), "{error}");
    assert_eq!(fs::read_dir(out.join("runs")).unwrap().count(), 6, "one seed of three");
    // A cluster finds it in the table.
    let runs: Vec<_> = plan.runs(&study).filter(|run| !store.has(&run.key)).collect();
    runs.iter().for_each(|run| store.put(&run.key, &run_one(run).unwrap()).unwrap());
    let error = Table::new(&study, &plan, &store).unwrap_err();
    assert!(matches!(&error, TableError::NoSuchMetric { .. }), "{error}");
    // What one point has is enough.
    let video = "[case.app.video.set]\n\"flow.0.app\" = { app = \"video\" }\n\"flow.0.sender\" = { controller = \"gcc\" }\n[case.app.bulk]\n";
    let study = STUDY.replace("owd_ms.p99", "media.delay_ms.p99").replace("seeds = 3", "seeds = 1");
    let study = written(folder.path(), &format!("{study}\n{video}"));
    let csv = run(&study, &folder.path().join("video"), &always).unwrap().csv();
    assert!(csv.lines().nth(1).unwrap().split(',').all(|cell| !cell.is_empty()), "{csv}");
}

#[test]
fn seeds_are_added_where_the_interval_is_wide() {
    let folder = TempDir::new().unwrap();
    let rule = "until_ci = { within = \"0.001 %\", max_seeds = 5 }\n";
    let study = written(folder.path(), &format!("{rule}{}", STUDY.replace("seeds = 3", "seeds = 2")));
    let table = run(&study, &folder.path().join("out"), &always).unwrap();
    let seeds: Vec<_> = table.summaries().iter().map(|summary| summary.seeds.len()).collect();
    assert!(seeds.contains(&5) && seeds.iter().all(|count| (2..=5).contains(count)), "{seeds:?}");
    // The same seeds are asked for when all runs are there.
    assert_eq!(run(&study, &folder.path().join("out"), &|| true).unwrap().csv(), table.csv());
}

#[test]
fn a_plan_that_others_run_comes_to_the_same_end() {
    let folder = TempDir::new().unwrap();
    let widening = "until_ci = { within = \"20 %\", metric = \"owd_ms.p99\", max_seeds = 4 }\n";
    let find = "find = { key = \"users\", until = \"throughput_mbps >= 8\", max = 16 }\n";
    let text = STUDY.replace("\"flow.*.round_trip\" = \"10 ms..40 ms*2\"", "").replace("seeds = 3", "seeds = 2");
    for (name, parts) in
        [("widened", widening), ("searched", find), ("both", &format!("{widening}{find}series = true\n"))]
    {
        let study = written(folder.path(), &format!("{parts}{text}"));
        let limits = Limits { jobs: 2, memory: None, proceed: &always };
        let mut here = Plan::new(&study, &limits).unwrap();
        let store = Store::open(&folder.path().join(format!("{name}-here")), &study).unwrap();
        let found = execute(&study, &mut here, &store, &limits, |_| {}).unwrap();
        let table = Table::new(&study, &here, &store).unwrap();
        let mut there = Plan::new(&study, &limits).unwrap();
        let store = Store::open(&folder.path().join(format!("{name}-there")), &study).unwrap();
        loop {
            let missing: Vec<_> = there.runs(&study).filter(|run| !store.has(&run.key)).collect();
            missing.iter().for_each(|run| store.put(&run.key, &run_one(run).unwrap()).unwrap());
            if !there.advance(&study, &store).unwrap() {
                break;
            }
        }
        assert_eq!(there.found(&study), found, "{name}");
        assert_eq!(Table::new(&study, &there, &store).unwrap().csv(), table.csv(), "{name}");
        assert_eq!(found.len(), if name == "widened" { 0 } else { 2 });
        assert!(found.iter().all(|found| found.value.is_some()), "{found:?}");
        let steps: Vec<_> = table.summaries().into_iter().map(|summary| summary.values).collect();
        let mut sorted = steps.clone();
        let number = |text: &Option<String>| text.as_deref().and_then(|text| text.parse::<u64>().ok());
        sorted.sort_by_key(|values| (values[0].clone() != Some("none".into()), values.get(1).and_then(number)));
        assert_eq!(steps, sorted, "{name}: rows are in the order of values, not of tries");
        if name != "searched" {
            assert!(table.summaries().iter().any(|summary| summary.seeds.len() > 2), "{name}: no seeds were added");
        }
        let row = table.rows.last().unwrap();
        let record = store.get(&row.key).unwrap().unwrap();
        assert_eq!((record.series_files().count() > 0, record.report().is_some()), (name == "both", name == "both"));
    }
}

#[test]
fn users_are_varied_by_the_count_of_the_only_kind_of_ue() {
    let folder = TempDir::new().unwrap();
    let study = written(folder.path(), &STUDY.replace("flow.*.round_trip\" = \"10 ms..40 ms*2", "users\" = \"1..3+1"));
    assert_eq!(study.columns(), ["marker.law", "ue.0.count"]);
    assert_eq!(study.point(1).assignments, ["marker.law=\"none\"", "ue.0.count=2"]);
    let other = "\n[set]\nue = [{ name = \"a\" }, { name = \"ue\" }]\n";
    let text = STUDY.replace("flow.*.round_trip\" = \"10 ms..40 ms*2", "users\" = \"1..3+1");
    let error = load(folder.path(), &format!("{text}{other}")).unwrap_err();
    assert!(error.contains("vary.users: ") && error.contains("name ue.a.count or ue.ue.count"), "{error}");
}

#[test]
fn a_search_finds_how_many_users_a_cell_carries() {
    let folder = TempDir::new().unwrap();
    let find = "find = { key = \"users\", until = \"throughput_mbps >= 5\", max = 64 }\n";
    let text = STUDY.replace("\"flow.*.round_trip\" = \"10 ms..40 ms*2\"", "").replace("seeds = 3", "seeds = 2");
    let study = written(folder.path(), &format!("{find}{text}\n[set]\nduration = \"1 s\"\n"));
    let limits = Limits { jobs: 2, memory: None, proceed: &always };
    let mut plan = Plan::new(&study, &limits).unwrap();
    let store = Store::open(&folder.path().join("out"), &study).unwrap();
    let found = execute(&study, &mut plan, &store, &limits, |_| {}).unwrap();
    let table = Table::new(&study, &plan, &store).unwrap();
    assert_eq!(table.columns, ["marker.law", "ue.0.count"]);
    let study = written(folder.path(), &format!("{}{text}", find.replace("throughput_mbps >= 5", "jain >= 0.5")));
    assert_eq!(study.metrics.iter().map(ToString::to_string).collect::<Vec<_>>()[..2], ["jain", "throughput_mbps"]);
    for found in &found {
        let value = found.value.unwrap();
        assert!((2..64).contains(&value) && !found.is_limit, "{found:?}");
        let at = |count: u64| {
            let of = |summary: &&tidemark_study::Summary| {
                summary.values[0].as_deref() == found.point.value("marker.law")
                    && summary.values[1].as_deref() == Some(&count.to_string())
            };
            table.summaries().iter().find(of).unwrap().estimate(0).unwrap().mean
        };
        assert!(at(value) >= 5.0 && at(value + 1) < 5.0, "{value}");
    }
}
