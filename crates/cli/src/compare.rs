//! `tidemark compare`: two runs side by side, UEs, both directions apart, and flows matched by name.

use std::fs;
use std::path::Path;

use miette::{Context, IntoDiagnostic, Result, miette};
use serde_json::Value;

use crate::print::say;
use crate::table::{table, text};

/// Columns of a UE's downlink: heading, path inside it in summary.json, decimals.
const OF_DOWNLINK: [Figure; 6] = [
    ("Mbit/s", &["throughput_mbps"], 2),
    ("RLC queue ms: p50", &["queue_ms", "p50"], 1),
    ("p95", &["queue_ms", "p95"], 1),
    ("p99", &["queue_ms", "p99"], 1),
    ("marks", &["marked"], 0),
    ("drops", &["dropped"], 0),
];
/// Columns of its uplink: packets wait at the UE, and are marked at the gNB.
const OF_UPLINK: [Figure; 6] = [
    ("Mbit/s", &["uplink", "throughput_mbps"], 2),
    ("wait ms: p50", &["uplink", "queue_ms", "p50"], 1),
    ("p95", &["uplink", "queue_ms", "p95"], 1),
    ("p99", &["uplink", "queue_ms", "p99"], 1),
    ("marks", &["uplink", "marked"], 0),
    ("lost blocks", &["uplink", "lost_blocks"], 0),
];
/// Columns of a flow, whichever way it goes.
const OF_FLOW: [Figure; 6] = [
    ("Mbit/s", &["throughput_mbps"], 2),
    ("one-way ms: p50", &["owd_ms", "p50"], 1),
    ("p99", &["owd_ms", "p99"], 1),
    ("RTT ms: p50", &["rtt_ms", "p50"], 1),
    ("marks", &["marked"], 0),
    ("drops", &["dropped"], 0),
];
/// Rows of a table; of more flows, those with the highest rates have one.
const MAX_ROWS: usize = 24;

type Figure = (&'static str, &'static [&'static str], usize);

/// Prints both runs' results side by side.
///
/// # Errors
/// A folder whose summary.json can't be read.
pub(crate) fn execute(baseline: &Path, other: &Path) -> Result<()> {
    let (before, after) = (read(baseline)?, read(other)?);
    for (folder, summary) in [(baseline, &before), (other, &after)] {
        say!("{}: {} seed {}", folder.display(), summary["name"].as_str().unwrap_or("?"), summary["seed"]);
    }
    side_by_side("downlink", "UE", &OF_DOWNLINK, list(&before, "ues"), list(&after, "ues"));
    // What a UE sent is absent where it could not send.
    let [before_up, after_up] = [&before, &after].map(|summary| {
        let sends = |ue: &&Value| ue["uplink"].is_object();
        list(summary, "ues").iter().filter(sends).cloned().collect::<Vec<_>>()
    });
    side_by_side("uplink", "UE", &OF_UPLINK, &before_up, &after_up);
    side_by_side("flow", "flow", &OF_FLOW, list(&before, "flows"), list(&after, "flows"));
    Ok(())
}

/// Prints what both runs have by name, each figure before and after, and counts what only one of them has: a program's flows have other
/// ports in each run.
fn side_by_side(heading: &str, what: &str, figures: &[Figure], before: &[Value], after: &[Value]) {
    let twin = |entry: &Value, others: &'_ [Value]| others.iter().position(|other| other["name"] == entry["name"]);
    let mut both: Vec<_> = before.iter().filter_map(|old| Some((old, &after[twin(old, after)?]))).collect();
    let rate = |entry: &Value| figure(entry, figures[0].1).unwrap_or(0.0);
    if both.len() > MAX_ROWS {
        both.sort_by(|a, b| rate(b.0).max(rate(b.1)).total_cmp(&rate(a.0).max(rate(a.1))));
    }
    let headings: Vec<_> = [heading].into_iter().chain(figures.iter().map(|(heading, ..)| *heading)).collect();
    let mut table = table(&headings);
    for (old, new) in both.iter().take(MAX_ROWS) {
        let cells = figures.iter().map(|(_, path, decimals)| change(figure(old, path), figure(new, path), *decimals));
        let name = old["name"].as_str().unwrap_or("?").to_string();
        table.add_row([name].into_iter().chain(cells).map(|cell| text(&cell)));
    }
    if !both.is_empty() {
        say!("{table}");
    }
    let hidden = both.len().saturating_sub(MAX_ROWS);
    let alone = [(before, after), (after, before)]
        .map(|(own, others)| own.iter().filter(|entry| twin(entry, others).is_none()).count());
    for (count, which) in
        [(hidden, "more in both runs"), (alone[0], "in the first run only"), (alone[1], "in the second run only")]
    {
        if count > 0 {
            say!("{count} {what}s {which}");
        }
    }
}

/// A figure before and after, and by how much it changed; of two zeros there is nothing to say.
fn change(old: Option<f64>, new: Option<f64>, decimals: usize) -> String {
    let number = |value: Option<f64>| value.map_or("–".to_string(), |value| format!("{value:.decimals$}"));
    match (old, new) {
        (None, None) => "–".into(),
        (Some(0.0), Some(0.0)) => number(old),
        (Some(before), Some(after)) if before != 0.0 => {
            format!("{} → {} ({:+.0} %)", number(old), number(new), (after / before - 1.0) * 100.0)
        }
        _ => format!("{} → {}", number(old), number(new)),
    }
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

fn list<'a>(summary: &'a Value, name: &str) -> &'a [Value] {
    summary[name].as_array().map_or(&[], Vec::as_slice)
}

fn figure(entry: &Value, path: &[&str]) -> Option<f64> {
    path.iter().try_fold(entry, |value, step| value.get(step))?.as_f64()
}
