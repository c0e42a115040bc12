//! A result is whole, or there is none: whatever ends the run that writes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Instant;

use crate::common::{command, text, tidemark};

const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/first-look.toml");

/// Arguments of a short run with this seed.
fn arguments<'a>(seed: &'a str, out: &'a str) -> Vec<&'a str> {
    vec!["run", SCENARIO, "--set", "duration=300 ms", "--set", "warmup=0 s", "--seed", seed, "--out", out]
}

#[test]
fn results_of_something_else_are_replaced_by_force_alone() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("out");
    let out = here.to_str().unwrap();
    assert!(tidemark(&arguments("1", out)).status.success());
    let before = files(&here);
    // The same once more is no loss.
    assert!(tidemark(&arguments("1", out)).status.success());
    assert!(files(&here) == before);
    let other = [&arguments("1", out)[..], &["--set", "marker.law=none"]].concat();
    let refused = tidemark(&other);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(
        said.contains("another scenario") && said.contains("+ law = \"none\"") && said.contains("--force"),
        "{said}"
    );
    assert!(files(&here) == before);
    assert!(tidemark(&[&other[..], &["--force"]].concat()).status.success());
    assert!(files(&here) != before);
}

#[test]
fn a_run_its_seeds_and_its_study_have_folders_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let short = ["run", SCENARIO, "--set", "duration=300 ms", "--set", "warmup=0 s"];
    for more in [&[][..], &["--seeds", "2"], &["--vary", "marker.law=none,tide", "--seeds", "1"]] {
        let output = command(&[&short[..], more].concat()).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{more:?}: {}", text(&output.stderr));
    }
    let there = |path: &str| folder.path().join("out").join(path).is_file();
    assert!(
        there("first-look/summary.json") && there("first-look-seeds/pool.csv") && there("first-look-study/table.csv")
    );
}

#[test]
fn what_a_killed_run_left_goes_with_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("out");
    let out = here.to_str().unwrap();
    fs::create_dir_all(here.join(".part-1-0")).unwrap();
    fs::write(here.join(".part-1-0/summary.json"), "{").unwrap();
    assert!(tidemark(&arguments("1", out)).status.success());
    assert!(!here.join(".part-1-0").exists());
}

/// Files of a folder with their bytes, but for what a run that was ended left beside them.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = folder.read_dir().unwrap().flatten();
    let named = entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.path()));
    named.filter(|(name, _)| !name.starts_with('.')).map(|(name, path)| (name, fs::read(path).unwrap())).collect()
}

#[test]
fn a_killed_run_leaves_the_old_result_the_new_one_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new, here] = ["old", "new", "here"].map(|name| folder.path().join(name));
    let [old_out, new_out, out] = [&old, &new, &here].map(|path| path.to_str().unwrap());
    assert!(tidemark(&arguments("1", old_out)).status.success());
    let began = Instant::now();
    assert!(tidemark(&arguments("2", new_out)).status.success());
    let (took, old, new) = (began.elapsed(), files(&old), files(&new));
    assert_ne!(old["report.html"], new["report.html"]);
    for moment in 0..20 {
        assert!(tidemark(&[&arguments("1", out)[..], &["--force"]].concat()).status.success());
        let mut run =
            command(&[&arguments("2", out)[..], &["--force"]].concat()).stdout(Stdio::null()).spawn().unwrap();
        // More of them near the end, where the files are written.
        sleep(took.mul_f64(1.0 - f64::from(moment * moment) / 400.0));
        run.kill().unwrap();
        run.wait().unwrap();
        let found = files(&here);
        let is_whole = found == old || found == new;
        assert!(is_whole || !found.contains_key("summary.json"), "at {moment} of 20: {:?}", found.keys());
    }
}

#[test]
fn killed_seeds_leave_the_old_ones_the_new_ones_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let seeds = |law: &str| {
        let law = format!("marker.law={law}");
        let short = ["run", SCENARIO, "--set", "duration=300 ms", "--set", "warmup=0 s", "--force", "--set", &law];
        command(&[&short[..], &["--seeds", "2", "--out", out]].concat()).stdout(Stdio::null()).spawn().unwrap()
    };
    let laws = || {
        let seeds = [1, 2].map(|seed| fs::read_to_string(folder.path().join(format!("seed-{seed}/scenario.toml"))));
        seeds.map(|text| text.unwrap().lines().find(|line| line.starts_with("law")).unwrap().to_string())
    };
    let began = Instant::now();
    assert!(seeds("none").wait().unwrap().success());
    let took = began.elapsed();
    for moment in 0..20 {
        assert!(seeds("none").wait().unwrap().success());
        let mut run = seeds("tide");
        sleep(took.mul_f64(1.0 - f64::from(moment * moment) / 400.0));
        run.kill().unwrap();
        run.wait().unwrap();
        if folder.path().join("pool.csv").exists() {
            let [first, second] = laws();
            assert_eq!(first, second, "at {moment} of 20");
        }
    }
}

#[test]
fn a_killed_study_has_table_and_page_of_one_time_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("out");
    let study = |laws: &str| {
        let laws = format!("marker.law={laws}");
        let short =
            ["run", SCENARIO, "--set", "duration=300 ms", "--set", "warmup=0 s", "--seeds", "1", "--vary", &laws];
        command(&[&short[..], &["--out", here.to_str().unwrap()]].concat()).stdout(Stdio::null()).spawn().unwrap()
    };
    let pair = || ["table.csv", "study.html"].map(|name| fs::read(here.join(name)).unwrap());
    let [one, two] = ["none", "none,tide"].map(|laws| {
        assert!(study(laws).wait().unwrap().success());
        pair()
    });
    // All runs are there now: what takes time is the writing.
    let began = Instant::now();
    assert!(study("none,tide").wait().unwrap().success());
    let took = began.elapsed();
    for moment in 0..20 {
        assert!(study("none").wait().unwrap().success());
        let mut run = study("none,tide");
        sleep(took.mul_f64(1.0 - f64::from(moment) / 40.0));
        run.kill().unwrap();
        run.wait().unwrap();
        if here.join("table.csv").exists() {
            let found = pair();
            assert!(found == one || found == two, "at {moment} of 20");
        }
    }
}

/// A limit of a file's length stands for a full disk.
#[test]
#[cfg(target_os = "linux")]
fn where_a_file_can_t_be_written_the_old_result_stays() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    assert!(tidemark(&arguments("1", out.to_str().unwrap())).status.success());
    let before = files(&out);
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_tidemark")]);
    let output = limited.args(arguments("2", out.to_str().unwrap())).arg("--force").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("could not be written"), "{}", text(&output.stderr));
    assert!(files(&out) == before);
    assert_eq!(out.read_dir().unwrap().count(), before.len(), "nothing is left beside the result");
}
