//! `tidemark compare`: two runs' flows side by side, matched by name.

use std::fs;
use std::path::Path;

use miette::{Context, IntoDiagnostic, Result, miette};
use serde_json::Value;

use crate::table::{number, table, text};

/// What is compared: heading, path inside a flow of summary.json.
const FIGURES: [(&str, &[&str]); 5] = [
    ("Mbit/s", &["throughput_mbps"]),
    ("one-way p50 ms", &["owd_ms", "p50"]),
    ("one-way p99 ms", &["owd_ms", "p99"]),
    ("RTT p50 ms", &["rtt_ms", "p50"]),
    ("RLC queue p50 ms", &["queue_ms", "p50"]),
];

pub fn execute(baseline: &Path, other: &Path) -> Result<()> {
    let (before, after) = (read(baseline)?, read(other)?);
    for (folder, summary) in [(baseline, &before), (other, &after)] {
        println!("{}: {} seed {}", folder.display(), summary["name"].as_str().unwrap_or("?"), summary["seed"]);
    }
    let mut table = table(&["flow", "figure", "baseline", "other", "change %"]);
    for flow in flows(&before) {
        let name = flow["name"].as_str().unwrap_or("?");
        let Some(twin) = flows(&after).iter().find(|twin| twin["name"] == flow["name"]) else {
            println!("flow {name}: only in {}", baseline.display());
            continue;
        };
        for (heading, path) in FIGURES {
            let (old, new) = (figure(flow, path), figure(twin, path));
            let change = old.zip(new).filter(|(old, _)| *old != 0.0).map(|(old, new)| (new / old - 1.0) * 100.0);
            table.add_row([text(name), text(heading), number(old, 2), number(new, 2), number(change, 1)]);
        }
    }
    for flow in flows(&after) {
        if !flows(&before).iter().any(|twin| twin["name"] == flow["name"]) {
            println!("flow {}: only in {}", flow["name"].as_str().unwrap_or("?"), other.display());
        }
    }
    println!("{table}");
    Ok(())
}

fn read(folder: &Path) -> Result<Value> {
    let file = folder.join("summary.json");
    let text = fs::read_to_string(&file)
        .into_diagnostic()
        .wrap_err_with(|| format!("{} can't be read: name a folder that `tidemark run` wrote", file.display()))?;
    let summary: Value = serde_json::from_str(&text)
        .map_err(|error| miette!("{}:{}: not a summary of a run: {error}", file.display(), error.line()))?;
    if summary["flows"].is_array() {
        Ok(summary)
    } else {
        Err(miette!("{}: not a summary of a run: it has no list `flows`", file.display()))
    }
}

fn flows(summary: &Value) -> &[Value] {
    summary["flows"].as_array().map_or(&[], Vec::as_slice)
}

fn figure(flow: &Value, path: &[&str]) -> Option<f64> {
    path.iter().try_fold(flow, |value, step| value.get(step))?.as_f64()
}
