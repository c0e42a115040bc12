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
        assert!(tidemark(&arguments("1", out)).status.success());
        let mut run = command(&arguments("2", out)).stdout(Stdio::null()).spawn().unwrap();
        // More of them near the end, where the files are written.
        sleep(took.mul_f64(1.0 - f64::from(moment * moment) / 400.0));
        run.kill().unwrap();
        run.wait().unwrap();
        let found = files(&here);
        let is_whole = found == old || found == new;
        assert!(is_whole || !found.contains_key("summary.json"), "at {moment} of 20: {:?}", found.keys());
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
    let output = limited.args(arguments("2", out.to_str().unwrap())).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("could not be written"), "{}", text(&output.stderr));
    assert!(files(&out) == before);
    assert_eq!(out.read_dir().unwrap().count(), before.len(), "nothing is left beside the result");
}
