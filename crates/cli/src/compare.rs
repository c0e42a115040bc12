//! `tidemark compare`: shows runs side by side: the whole run, UEs (downlink and uplink apart) and flows, matched by name. Several seeds give
//! intervals.

use std::path::{Path, PathBuf};
use std::slice;

use clap::Args;
use miette::{Result, miette};
use serde::Serialize;
use serde_json::Value;
use tidemark_study::statistics::Estimate;

use crate::format::{self, Format, Output};
use crate::seeds;
use crate::table::{MAX_ROWS, WORST, worst};
use tidemark_terminal::say;
use tidemark_terminal::sheet::Sheet;
use tidemark_terminal::table::text;

/// Columns of a UE's downlink: heading, path inside it in summary.json, decimals.
const OF_DOWNLINK: [Figure; 6] = [
    ("Mbit/s", &["throughput_mbps"], 2),
    ("RLC queue ms: p50", &["queue_ms", "p50"], 1),
    ("p95", &["queue_ms", "p95"], 1),
    ("p99", &["queue_ms", "p99"], 1),
    ("marks", &["marked"], 0),
    ("drops", &["dropped"], 0),
];
/// Columns of a UE's uplink: packets wait at the UE and are marked at the gNB.
const OF_UPLINK: [Figure; 6] = [
    ("Mbit/s", &["uplink", "throughput_mbps"], 2),
    ("wait ms: p50", &["uplink", "queue_ms", "p50"], 1),
    ("p95", &["uplink", "queue_ms", "p95"], 1),
    ("p99", &["uplink", "queue_ms", "p99"], 1),
    ("marks", &["uplink", "marked"], 0),
    ("lost blocks", &["uplink", "lost_blocks"], 0),
];
/// Columns of a flow in either direction.
const OF_FLOW: [Figure; 7] = [
    ("Mbit/s", &["throughput_mbps"], 2),
    ("one-way ms: p50", &["owd_ms", "p50"], 1),
    ("p95", &["owd_ms", "p95"], 1),
    ("p99", &["owd_ms", "p99"], 1),
    ("RTT ms: p50", &["rtt_ms", "p50"], 1),
    ("marks", &["marked"], 0),
    ("drops", &["dropped"], 0),
];
/// Columns of a flow's frames.
const OF_FRAMES: [Figure; 7] = [
    ("frame ms: p50", &["media", "delay_ms", "p50"], 1),
    ("p95", &["media", "delay_ms", "p95"], 1),
    ("p99", &["media", "delay_ms", "p99"], 1),
    ("in budget", &["media", "in_budget"], 3),
    ("lost", &["media", "frames_lost"], 0),
    ("freezes", &["media", "freezes"], 0),
    ("frozen s", &["media", "frozen_s"], 2),
];
/// Columns of a flow's transfers or pages.
const OF_TRANSFERS: [Figure; 4] = [
    ("completed", &["transfers", "completed"], 0),
    ("completion ms: p50", &["transfers", "completion_ms", "p50"], 0),
    ("p95", &["transfers", "completion_ms", "p95"], 0),
    ("p99", &["transfers", "completion_ms", "p99"], 0),
];
/// Columns of a run as a whole.
const OF_RUN: [Figure; 4] = [
    ("Mbit/s", &["cell", "throughput_mbps"], 2),
    ("used", &["cell", "utilisation"], 3),
    ("UEs satisfied", &["cell", "satisfied"], 3),
    ("Jain's index", &["jain"], 3),
];
/// Columns that a narrow terminal shows last.
const LAST: [&str; 3] = ["p99", "frozen s", "RTT ms: p50"];

type Figure = (&'static str, &'static [&'static str], usize);

/// One side of a comparison: a run, or all seeds of one scenario.
struct Side {
    label: String,
    /// Summaries with their seeds.
    runs: Vec<(u64, Value)>,
}

/// A kind of row: heading, noun, figures, and place in `summary.json`.
struct Kind {
    heading: &'static str,
    noun: &'static str,
    figures: &'static [Figure],
    /// List of `summary.json`; `None` for the run itself.
    list: Option<&'static str>,
    is_there: fn(&Value) -> bool,
}

const KINDS: [Kind; 6] = [
    // A run without a cell has nothing in common with one.
    Kind { heading: "run", noun: "run", figures: &OF_RUN, list: None, is_there: |run| run["cell"].is_object() },
    Kind { heading: "downlink", noun: "UE", figures: &OF_DOWNLINK, list: Some("ues"), is_there: |_| true },
    // A UE that could not send has no uplink.
    Kind {
        heading: "uplink",
        noun: "UE",
        figures: &OF_UPLINK,
        list: Some("ues"),
        is_there: |ue| ue["uplink"].is_object(),
    },
    Kind { heading: "flow", noun: "flow", figures: &OF_FLOW, list: Some("flows"), is_there: |_| true },
    Kind {
        heading: "frames",
        noun: "flow",
        figures: &OF_FRAMES,
        list: Some("flows"),
        is_there: |flow| flow["media"].is_object(),
    },
    Kind {
        heading: "transfers",
        noun: "flow",
        figures: &OF_TRANSFERS,
        list: Some("flows"),
        is_there: |flow| flow["transfers"].is_object(),
    },
];

/// Arguments of `tidemark compare`.
#[derive(Args)]
pub(crate) struct Compare {
    /// Folder of the baseline: a single run or a `run --seeds`
    baseline: PathBuf,
    /// Folders to compare with the baseline, one by one
    #[arg(required = true)]
    others: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
}

/// Figure of one name on both sides.
#[derive(Serialize)]
struct Change<'a> {
    baseline: &'a str,
    other: &'a str,
    kind: &'static str,
    name: String,
    metric: String,
    seeds: usize,
    before: Option<f64>,
    after: Option<f64>,
    difference: Option<f64>,
    /// Half-width of the difference's 95 % confidence interval; absent for one seed.
    half: Option<f64>,
}

impl Compare {
    /// Prints other runs beside a baseline, seed by seed where there are several.
    ///
    /// # Errors
    /// A folder whose summaries can't be read, or seeds that can't be paired.
    pub(crate) fn execute(&self) -> Result<()> {
        let before = Side::read(&self.baseline)?;
        let others = self.others.iter().map(|folder| Side::read(folder)).collect::<Result<Vec<_>>>()?;
        if self.output.format != Format::Table {
            let rows = others.iter().map(|after| Ok(before.changes(after, &before.paired(after)?)));
            let rows: Vec<_> = rows.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
            return format::rows(self.output.format, &rows);
        }
        for side in [&before].into_iter().chain(&others) {
            let name = side.runs.first().and_then(|(_, summary)| summary["name"].as_str()).unwrap_or("?");
            say!("{}: {name} {}", side.label, side.seeds());
        }
        for after in &others {
            if others.len() > 1 {
                say!("\n{} → {}", before.label, after.label);
            }
            let seeds = before.paired(after)?;
            KINDS.iter().for_each(|kind| kind.side_by_side(&before, after, &seeds));
            match seeds[..] {
                [_] => say!(
                    "One seed each: a difference may come from the seed, not from your change. `tidemark run --seeds 10` \
                     pools seeds in a folder, and compare then shows which differences are certain."
                ),
                _ => say!(
                    "Differences over {} common seeds, ± half-width of their 95 % confidence intervals. \
                     A tie is a difference whose interval contains 0. \
                     One in 20 ties looks like a difference.",
                    seeds.len()
                ),
            }
        }
        Ok(())
    }
}

/// Means over the seeds of a folder.
pub(crate) struct Pool {
    side: Side,
    rows: Vec<Pooled>,
}

/// Mean of one figure.
#[derive(Serialize)]
pub(crate) struct Pooled {
    /// Kind of row: run, downlink, uplink, flow, frames or transfers.
    kind: &'static str,
    /// Name of the UE or flow.
    name: String,
    /// Path of the figure in `summary.json`.
    metric: String,
    /// Seeds that have it.
    seeds: usize,
    mean: f64,
    /// Half-width of the 95 % confidence interval; absent for one seed.
    half: Option<f64>,
}

impl Pool {
    /// Reads the results of seeds.
    ///
    /// # Errors
    /// Summaries that can't be read.
    pub(crate) fn read(folders: &[PathBuf]) -> Result<Self> {
        let summaries = folders.iter().map(|folder| seeds::summary(folder)).collect::<Result<Vec<_>>>()?;
        let side = Side::of(String::new(), summaries);
        let mut rows = Vec::new();
        for kind in &KINDS {
            for name in kind.all_names(&side, &side) {
                for (_, path, _) in kind.figures {
                    let estimate = kind.estimate(&side, &name, path);
                    rows.extend(estimate.map(|Estimate { mean, half, count: seeds }| Pooled {
                        kind: kind.heading,
                        name: name.clone(),
                        metric: path.join("."),
                        seeds,
                        mean,
                        half,
                    }));
                }
            }
        }
        Ok(Self { side, rows })
    }

    /// Rows for another program.
    pub(crate) fn rows(&self) -> &[Pooled] {
        &self.rows
    }

    /// Prints tables of the means with their intervals.
    pub(crate) fn print(&self) {
        for kind in &KINDS {
            let mut table = kind.table();
            let names = kind.all_names(&self.side, &self.side);
            for name in kind.worst(&names, &self.side, &self.side) {
                let figures = kind.figures.iter().map(|(_, path, decimals)| {
                    let estimate = kind.estimate(&self.side, name, path);
                    estimate.map_or("–".into(), |estimate| with_interval(estimate, *decimals, ""))
                });
                table.add_row([name.clone()].into_iter().chain(figures).map(|cell| text(&cell)));
            }
            kind.say(&table, names.len());
        }
        say!("Means over {}, ± half-width of their 95 % confidence intervals.", self.side.seeds());
    }
}

impl Side {
    fn read(folder: &Path) -> Result<Self> {
        Ok(Self::of(folder.display().to_string(), seeds::summaries(folder)?))
    }

    fn of(label: String, summaries: Vec<Value>) -> Self {
        let runs = summaries.into_iter();
        Self { label, runs: runs.map(|of| (of["seed"].as_u64().unwrap_or_default(), of)).collect() }
    }

    /// Lists every figure of either side, with the differences over these seeds.
    fn changes<'a>(&'a self, other: &'a Self, seeds: &[(u64, u64)]) -> Vec<Change<'a>> {
        let mut changes = Vec::new();
        for kind in &KINDS {
            for name in kind.all_names(self, other) {
                for (_, path, _) in kind.figures {
                    let old = kind.values(self, &name, path, seeds.iter().map(|(seed, _)| *seed));
                    let new = kind.values(other, &name, path, seeds.iter().map(|(_, seed)| *seed));
                    let pairs: Vec<_> =
                        old.iter().zip(&new).filter_map(|(old, new)| Some(((*old)?, (*new)?))).collect();
                    let mean = |values: &[Option<f64>]| {
                        Estimate::of(&values.iter().flatten().copied().collect::<Vec<_>>()).map(|of| of.mean)
                    };
                    let difference = Estimate::of_differences(&pairs);
                    let (before, after) = (mean(&old), mean(&new));
                    if before.is_some() || after.is_some() {
                        changes.push(Change {
                            baseline: &self.label,
                            other: &other.label,
                            kind: kind.heading,
                            name: name.clone(),
                            metric: path.join("."),
                            seeds: seeds.len(),
                            before,
                            after,
                            difference: difference.map(|of| of.mean),
                            half: difference.and_then(|of| of.half),
                        });
                    }
                }
            }
        }
        changes
    }

    /// Seeds in words.
    fn seeds(&self) -> String {
        match &self.runs[..] {
            [(seed, _)] => format!("seed {seed}"),
            runs => format!("{} seeds", runs.len()),
        }
    }

    fn run(&self, seed: u64) -> Option<&Value> {
        self.runs.iter().find(|(own, _)| *own == seed).map(|(_, summary)| summary)
    }

    /// Pairs of seeds to compare: the seeds that both sides have, or the only one of each.
    fn paired(&self, other: &Self) -> Result<Vec<(u64, u64)>> {
        let common: Vec<_> =
            self.runs.iter().filter(|(seed, _)| other.run(*seed).is_some()).map(|(seed, _)| (*seed, *seed)).collect();
        match (&common[..], &self.runs[..], &other.runs[..]) {
            ([], [(own, _)], [(others, _)]) => Ok(vec![(*own, *others)]),
            ([], ..) => Err(miette!(
                "{} and {} have no seed in common: run both with --seeds, which starts at seed 1",
                self.label,
                other.label
            )),
            _ => Ok(common),
        }
    }
}

impl Kind {
    fn table(&self) -> Sheet {
        let headings = self.figures.iter().map(|(heading, ..)| *heading);
        Sheet::new(&[self.heading].into_iter().chain(headings).collect::<Vec<_>>(), 1, &LAST)
    }

    /// Prints a table, and a note if it shows only the worst of this many rows.
    fn say(&self, table: &Sheet, rows: usize) {
        if !table.is_empty() {
            say!("{}", table.draw());
        }
        if rows > MAX_ROWS {
            let noun = self.noun;
            say!("(the {WORST} of {rows} {noun}s with the longest delays; `--format csv` has all)");
        }
    }

    /// Entries of this kind in a run.
    fn entries<'a>(&self, summary: &'a Value) -> impl Iterator<Item = &'a Value> {
        let entries = self.list.map_or(slice::from_ref(summary), |name| list(summary, name));
        entries.iter().filter(|entry| (self.is_there)(entry))
    }

    /// Name of an entry. A run's own name is its scenario's and does not tell sides apart, so it is `all`.
    fn name<'a>(&self, entry: &'a Value) -> Option<&'a str> {
        self.list.map_or(Some("all"), |_| entry["name"].as_str())
    }

    /// Mean of a figure over all seeds of a side.
    fn estimate(&self, side: &Side, name: &str, path: &[&str]) -> Option<Estimate> {
        let values = self.values(side, name, path, side.runs.iter().map(|(seed, _)| *seed));
        Estimate::of(&values.into_iter().flatten().collect::<Vec<_>>())
    }

    /// Names that both runs have, in their order.
    fn all_names(&self, before: &Side, after: &Side) -> Vec<String> {
        let (Some((_, first)), Some((_, other))) = (before.runs.first(), after.runs.first()) else { return Vec::new() };
        let names = self.entries(first).filter_map(|entry| self.name(entry));
        names.filter(|name| self.entries(other).any(|twin| self.name(twin) == Some(name))).map(str::to_string).collect()
    }

    /// All of these names or, if there are too many, those with the longest delay (95th percentile) in the first run of either side.
    fn worst<'a>(&self, names: &'a [String], before: &Side, after: &Side) -> Vec<&'a String> {
        let delay = self.figures.iter().find(|(_, path, _)| path.last() == Some(&"p95"));
        let of = |side: &Side, name: &str| {
            let first = side.runs.first().map(|(seed, _)| *seed);
            let values = delay.map(|(_, path, _)| self.values(side, name, path, first.into_iter()));
            values.and_then(|values| values.into_iter().flatten().next()).unwrap_or(0.0)
        };
        worst(names.iter().collect(), MAX_ROWS, |name| of(before, name).max(of(after, name)))
    }

    /// Figure of a named entry for each seed.
    fn values(&self, side: &Side, name: &str, path: &[&str], seeds: impl Iterator<Item = u64>) -> Vec<Option<f64>> {
        let entry = |summary| self.entries(summary).find(|entry| self.name(entry) == Some(name));
        seeds.map(|seed| figure(entry(side.run(seed)?)?, path)).collect()
    }

    /// Draws the entries that both sides have, each figure before and after.
    fn changes(&self, names: &[String], before: &Side, after: &Side, seeds: &[(u64, u64)]) -> Sheet {
        let mut table = self.table();
        for name in self.worst(names, before, after) {
            let cells = self.figures.iter().map(|(_, path, decimals)| {
                let old = self.values(before, name, path, seeds.iter().map(|(seed, _)| *seed));
                let new = self.values(after, name, path, seeds.iter().map(|(_, seed)| *seed));
                change(&old, &new, *decimals)
            });
            table.add_row([name.clone()].into_iter().chain(cells).map(|cell| text(&cell)));
        }
        table
    }

    /// Prints the entries that both sides have, and counts those of one side only: a program's flows may have other ports in each run.
    fn side_by_side(&self, before: &Side, after: &Side, seeds: &[(u64, u64)]) {
        let names = self.all_names(before, after);
        self.say(&self.changes(&names, before, after, seeds), names.len());
        let count = |side: &Side| side.runs.first().map_or(0, |(_, summary)| self.entries(summary).count());
        let alone = [before, after].map(|side| count(side) - names.len());
        for (count, which) in [(alone[0], "in the first run only"), (alone[1], "in the second run only")] {
            if count > 0 {
                say!("{count} {}s {which}", self.noun);
            }
        }
    }
}

/// A figure before and after, and its change: with its interval over several seeds, or marked as a tie. Two zeros have no change.
fn change(old: &[Option<f64>], new: &[Option<f64>], decimals: usize) -> String {
    let pairs: Vec<_> = old.iter().zip(new).filter_map(|(old, new)| Some(((*old)?, (*new)?))).collect();
    let mean = |values: &[Option<f64>]| Estimate::of(&values.iter().flatten().copied().collect::<Vec<_>>());
    // Means are over the pairs, so that their difference is the printed one. A figure that one side lacks has the other's own mean.
    let (before, after) = if pairs.is_empty() {
        (mean(old), mean(new))
    } else {
        let (before, after): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        (Estimate::of(&before), Estimate::of(&after))
    };
    let number = |of: Option<Estimate>| of.map_or("–".to_string(), |of| format!("{:.decimals$}", of.mean));
    let sides = format!("{} → {}", number(before), number(after));
    match (before, after, Estimate::of_differences(&pairs)) {
        (None, None, _) => "–".into(),
        (Some(old), Some(new), _) if old.mean == 0.0 && new.mean == 0.0 => number(before),
        (_, _, Some(difference)) if difference.half.is_some() => {
            let tie = if difference.is_tie() == Some(true) { "tie: " } else { "" };
            // A certain difference shows a digit of its interval, however small: `+0.00 ± 0.00` would look like none.
            let half = difference.half.filter(|half| *half > 0.0 && tie.is_empty()).unwrap_or(1.0);
            let decimals = decimals.max((-half.log10()).ceil().clamp(0.0, 6.0) as usize);
            format!("{sides} ({tie}{})", with_interval(difference, decimals, "+"))
        }
        (Some(old), Some(new), _) if old.mean != 0.0 => {
            format!("{sides} ({:+.0} %)", (new.mean / old.mean - 1.0) * 100.0)
        }
        _ => sides,
    }
}

/// A mean with the half-width of its interval, if it has one; `plus` is the sign of a positive mean.
fn with_interval(of: Estimate, decimals: usize, plus: &str) -> String {
    let sign = if of.mean < 0.0 { "" } else { plus };
    match of.half {
        Some(half) => format!("{sign}{:.decimals$} ± {half:.decimals$}", of.mean),
        None => format!("{sign}{:.decimals$}", of.mean),
    }
}

fn list<'a>(summary: &'a Value, name: &str) -> &'a [Value] {
    summary[name].as_array().map_or(&[], Vec::as_slice)
}

fn figure(entry: &Value, path: &[&str]) -> Option<f64> {
    path.iter().try_fold(entry, |value, step| value.get(step))?.as_f64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A side with a run of this many flows, each with its number for a delay.
    fn side(flows: u32) -> Side {
        let quantiles = |delay: u32| json!({ "p50": delay, "p95": delay, "p99": delay });
        let flow = |at| json!({ "name": format!("download-{at}"), "throughput_mbps": 12.5, "owd_ms": quantiles(at), "rtt_ms": quantiles(at), "marked": 7, "dropped": 0 });
        Side::of("run".into(), vec![json!({ "seed": 1, "flows": (100..100 + flows).map(flow).collect::<Vec<_>>() })])
    }

    #[test]
    fn a_narrow_terminal_shows_what_people_decide_by_and_of_many_the_worst() {
        let kind = &KINDS[3];
        let of = |flows| {
            let (before, after) = (side(flows), side(flows));
            let names = kind.all_names(&before, &after);
            kind.changes(&names, &before, &after, &[(1, 1)]).within(Some(80))
        };
        let two = of(2);
        assert!(two.lines().all(|line| line.chars().count() <= 80), "{two}");
        for said in ["download-100", "Mbit/s", "one-way ms: p50", "p95", "marks", "drops"] {
            assert!(two.contains(said), "{two}");
        }
        let rules = two.lines().filter(|line| line.starts_with('─')).count();
        assert_eq!(rules, 3, "none between rows: {two}");
        let many = of(30);
        assert!(
            many.contains("download-129") && many.contains("download-125") && !many.contains("download-124"),
            "{many}"
        );
    }

    #[test]
    fn a_figure_that_no_side_has_is_no_column() {
        let kind = &KINDS[3];
        let side =
            Side::of("run".into(), vec![json!({ "seed": 1, "flows": [{ "name": "wire", "throughput_mbps": 1.0 }] })]);
        let drawn = kind.changes(&["wire".into()], &side, &side, &[(1, 1)]).within(None);
        assert!(!drawn.contains("one-way") && drawn.contains("Mbit/s"), "{drawn}");
    }

    #[test]
    fn a_sure_difference_shows_a_digit_of_its_interval_and_a_tie_says_so() {
        let change = |old: [f64; 3], new: [f64; 3]| change(&old.map(Some), &new.map(Some), 2);
        assert_eq!(change([0.18, 0.18, 0.18], [0.182, 0.182, 0.183]), "0.18 → 0.18 (+0.002 ± 0.001)");
        assert_eq!(change([10.0, 11.0, 12.0], [11.0, 12.0, 13.1]), "11.00 → 12.03 (+1.03 ± 0.14)");
        assert_eq!(change([1.0, 2.0, 3.0], [1.1, 1.9, 3.0]), "2.00 → 2.00 (tie: +0.00 ± 0.25)");
        assert_eq!(change([0.0; 3], [0.0; 3]), "0.00");
    }
}
