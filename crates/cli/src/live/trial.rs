//! `tidemark test`: checks whether the path keeps ECN, runs a program behind a cell without marks, with marks, with throughput first and with
//! an outage, and prints one table.

use std::ffi::OsString;
use std::fs;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration as Wait;

use clap::Args;
use miette::{IntoDiagnostic as _, Result, miette};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidemark_core::Duration;
use tidemark_emu::lease;
use tidemark_marker::{LawConfig, MarkerConfig};
use tidemark_sim::scenario::Scenario;
use tidemark_study::statistics::Estimate;

use super::preset::{self, DEFAULT};
use super::{control, probe};
use crate::application::Application;
use crate::format::{self, Format, Output};
use crate::page::Page;
use crate::seeds;
use tidemark_terminal::error::diagnostic;
use tidemark_terminal::print::{Level, shows};
use tidemark_terminal::sheet::Sheet;
use tidemark_terminal::table::text;
use tidemark_terminal::{interrupt, say};

/// Exit code if the program failed or harms others.
const FAILED: u8 = 1;

/// Arguments of `tidemark test`.
#[derive(Args)]
pub(crate) struct Test {
    /// Scenario file with the cell and UE, of which the first counts [default: the preset of --cell]
    file: Option<PathBuf>,
    /// Preset cell, as in `tidemark shell`
    #[arg(long, value_name = "PRESET", default_value = DEFAULT, conflicts_with = "file")]
    cell: String,
    /// Replace a value of the scenario: cell.prbs=10, "warmup=5 s" (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Round-trip time of a wired path behind the gNB
    #[arg(long, value_name = "TIME", default_value = "20 ms")]
    round_trip: Duration,
    /// Runs of each kind; several give intervals
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
    /// Time from the start of a session to its outage
    #[arg(long, value_name = "TIME", default_value = "5 s")]
    outage_at: Duration,
    /// Duration of the outage
    #[arg(long, value_name = "TIME", default_value = "500 ms")]
    outage: Duration,
    /// Folder for the sessions' folders, whose results are replaced
    #[arg(long, value_name = "DIR", default_value = "out/test")]
    out: PathBuf,
    /// Add the program's own figures to each session's page, from this file that it writes: `iperf3 --json`, a qlog or a WebRTC dump (repeatable)
    #[arg(long, value_name = "FILE")]
    series: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
    /// Program to test; the variable TIDEMARK_HOST has the host's address
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Kind of session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    WithoutMarks,
    WithMarks,
    ThroughputFirst,
    WithAnOutage,
}

/// Row of the table.
#[derive(Serialize)]
struct Row {
    session: &'static str,
    runs: usize,
    /// Runs in which the program's exit code was 0.
    succeeded: usize,
    /// Runs with packets after the warm-up, which the figures cover.
    measured: usize,
    /// Runs in which a flow did not give way to its marks.
    harmful: usize,
    mbps: Option<f64>,
    mbps_half: Option<f64>,
    queue_p95_ms: Option<f64>,
    queue_p95_ms_half: Option<f64>,
    marked: Option<f64>,
    dropped: Option<f64>,
    /// Share of the downlink's resource blocks that were empty while the law marked.
    empty_under_marks: Option<f64>,
}

/// Line of `tidemark net probe`.
#[derive(Deserialize)]
struct Probed {
    codepoint: String,
    verdict: String,
}

/// Outcome of one session.
struct Outcome {
    code: i32,
    is_measured: bool,
    is_harmful: bool,
    ue: Value,
    /// Share of the radio that was empty while the law marked; `None` without marks.
    empty: Option<f64>,
}

impl Kind {
    const ALL: [Self; 4] = [Self::WithoutMarks, Self::WithMarks, Self::ThroughputFirst, Self::WithAnOutage];

    fn name(self) -> &'static str {
        match self {
            Self::WithoutMarks => "without marks",
            Self::WithMarks => "with marks",
            Self::ThroughputFirst => "throughput first",
            Self::WithAnOutage => "with an outage",
        }
    }

    /// Assignments that replace the scenario's. Of all laws only `tide` can put throughput first. A bearer that the scenario leaves without
    /// marks has none in any session.
    fn overrides(self, scenario: &Scenario) -> Vec<String> {
        let none = |(key, _): (String, &MarkerConfig)| format!("{key}.law=none");
        let first =
            |(key, _): (String, &MarkerConfig)| [format!("{key}.law=tide"), format!("{key}.mode=throughput-first")];
        match self {
            Self::WithoutMarks => scenario.markers().chain(scenario.uplink_markers()).map(none).collect(),
            Self::WithMarks | Self::WithAnOutage => Vec::new(),
            Self::ThroughputFirst => {
                scenario.markers().filter(|(_, marker)| marker.law != (LawConfig::None {})).flat_map(first).collect()
            }
        }
    }
}

impl Row {
    /// Differences of another session in rate and in the queue's 95th percentile.
    fn change_to(&self, other: &Self) -> Option<(f64, f64)> {
        Some((other.mbps? - self.mbps?, other.queue_p95_ms? - self.queue_p95_ms?))
    }
}

impl Test {
    /// Runs all sessions and prints the table. Gives 0 if the path keeps ECN and the program succeeded, had packets and gave way to its
    /// marks in all of them.
    ///
    /// # Errors
    /// A session that can't be run, or an interrupt.
    pub(crate) fn execute(&self) -> Result<u8> {
        // A scenario that can't be used is said once, before the first session.
        let scenario = self.scenario()?;
        let path = self.path(&scenario)?;
        let mut rows = Vec::new();
        for kind in Kind::ALL {
            let outcomes = (1..=self.runs).map(|run| self.session(kind, run, &scenario)).collect::<Result<Vec<_>>>()?;
            rows.push(row(kind, &outcomes));
        }
        match self.output.format {
            Format::Table => {
                if path.is_empty() {
                    say!("path: ECT(1) and CE arrive as they were sent, both ways");
                }
                say!("{}", sheet(&rows).draw());
                if let Some(price) = price(&rows) {
                    say!("{price}");
                }
                say!("reports: {}", self.out.display());
            }
            other => format::rows(other, &rows)?,
        }
        let failures: Vec<_> = path.into_iter().chain(rows.iter().flat_map(failures)).collect();
        failures.iter().for_each(|failure| eprintln!("tidemark: {failure}"));
        Ok(if failures.is_empty() { 0 } else { FAILED })
    }

    /// Runs one session.
    fn session(&self, kind: Kind, run: u32, scenario: &Scenario) -> Result<Outcome> {
        let out = self.out.join(format!("{}-{run}", kind.name().replace(' ', "-")));
        let written = || fs::metadata(out.join("summary.json")).and_then(|of| of.modified()).ok();
        let earlier = written();
        // Standard output is only for the table.
        let output = std::io::stderr().as_fd().try_clone_to_owned().into_diagnostic()?;
        let mut child = self
            .shell(&out, &kind.overrides(scenario))?
            .args(&self.command)
            .stdout(output)
            .spawn()
            .into_diagnostic()?;
        if kind == Kind::WithAnOutage {
            let (at, outage) = (Wait::from_nanos(self.outage_at.as_nanos()), self.outage.to_string());
            let (ue, session) = (scenario.ue[0].name.clone(), child.id());
            // A program that ended earlier has no outage, which its results show.
            thread::spawn(move || {
                thread::sleep(at);
                let asked = lease::number_of(session).map(|number| control::outage(number, &ue, &outage));
                if let Some(Err(error)) = asked {
                    eprintln!("tidemark: {error}");
                }
            });
        }
        let code = child.wait().into_diagnostic()?.code().unwrap_or(-1);
        if interrupt::happened() {
            return Err(miette!("interrupted: the results of ended sessions are in {}", self.out.display()));
        }
        let none = || miette!("the session {} has no results: see its messages above", kind.name());
        // Those of an earlier test say nothing of this one.
        if written() == earlier {
            return Err(none());
        }
        let summary = seeds::summary(&out).map_err(|_| none())?;
        // A failed program may have written nothing; the table shows its result.
        let joined = (!self.series.is_empty()).then(|| {
            let mut page = Page::open(&out)?;
            Application::join(&mut page, &self.series, Duration::ZERO)?;
            page.write()
        });
        if let Some(Err(error)) = joined {
            eprintln!("tidemark: {error}");
        }
        let is_harmful = summary["flows"].as_array().into_iter().flatten().any(|flow| flow["gave_way"] == false);
        let ue = summary["ues"][0].clone();
        let is_measured = ue["throughput_mbps"].as_f64().is_some_and(|rate| rate > 0.0);
        let empty = summary["live"]["empty_under_marks"].as_f64();
        Ok(Outcome { code, is_measured, is_harmful, ue, empty })
    }

    /// Scenario of the sessions, whose first UE is the program's.
    fn scenario(&self) -> Result<Scenario> {
        let scenario = match &self.file {
            Some(file) => Scenario::load(file, &self.overrides).map_err(diagnostic)?,
            None => preset::load(&self.cell, &self.overrides)?,
        };
        if scenario.ue.is_empty() {
            return Err(miette!("ue: a session needs a [[ue]]"));
        }
        Ok(scenario)
    }

    /// Sends probes in a session of its own; gives what happened to the codepoints of L4S that did not arrive as sent.
    fn path(&self, scenario: &Scenario) -> Result<Vec<String>> {
        let mut overrides = Kind::WithoutMarks.overrides(scenario);
        overrides.push("warmup=0 s".to_string());
        let mut shell = self.shell(&self.out.join("path"), &overrides)?;
        shell.args(["sh", "-c", "exec \"$0\" net probe \"$TIDEMARK_HOST:$1\""]);
        shell.arg(std::env::current_exe().into_diagnostic()?).arg(probe::answer_beside()?.to_string());
        let output = shell.output().into_diagnostic()?;
        let lines = String::from_utf8_lossy(&output.stdout);
        let outcomes: Vec<Probed> = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if outcomes.is_empty() {
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
            return Err(miette!("the path's ECN can't be tested: see the messages above"));
        }
        let is_of_l4s = |of: &&Probed| ["ECT(1)", "CE"].contains(&of.codepoint.as_str());
        let changed = outcomes.iter().filter(is_of_l4s).filter(|of| of.verdict != "kept");
        Ok(changed.map(|of| format!("path: {}: {}", of.codepoint, of.verdict)).collect())
    }

    /// The `tidemark shell` command of a session, to which the program is added.
    fn shell(&self, out: &Path, overrides: &[String]) -> Result<Command> {
        let mut shell = Command::new(std::env::current_exe().into_diagnostic()?);
        shell.arg("shell");
        if !shows(Level::Normal) {
            shell.arg("--quiet");
        }
        match &self.file {
            Some(file) => shell.arg(file),
            None => shell.args(["--cell", &self.cell]),
        };
        for assignment in self.overrides.iter().chain(overrides) {
            shell.args(["--set", assignment]);
        }
        shell.args(["--round-trip", &self.round_trip.to_string(), "--force", "--out"]).arg(out).arg("--");
        Ok(shell)
    }
}

fn row(kind: Kind, outcomes: &[Outcome]) -> Row {
    let measured: Vec<_> = outcomes.iter().filter(|outcome| outcome.is_measured).collect();
    let estimate = |path: &str| {
        let values = measured.iter().filter_map(|outcome| outcome.ue.pointer(path)?.as_f64());
        Estimate::of(&values.collect::<Vec<_>>())
    };
    let (rate, queue) = (estimate("/throughput_mbps"), estimate("/queue_ms/p95"));
    Row {
        session: kind.name(),
        runs: outcomes.len(),
        succeeded: outcomes.iter().filter(|outcome| outcome.code == 0).count(),
        measured: measured.len(),
        harmful: outcomes.iter().filter(|outcome| outcome.is_harmful).count(),
        mbps: rate.map(|of| of.mean),
        mbps_half: rate.and_then(|of| of.half),
        queue_p95_ms: queue.map(|of| of.mean),
        queue_p95_ms_half: queue.and_then(|of| of.half),
        marked: estimate("/marked").map(|of| of.mean),
        dropped: estimate("/dropped").map(|of| of.mean),
        empty_under_marks: Estimate::of(&measured.iter().filter_map(|outcome| outcome.empty).collect::<Vec<_>>())
            .map(|of| of.mean),
    }
}

/// Sentences on what fails the test in the sessions of one kind.
fn failures(row: &Row) -> Vec<String> {
    let Row { session, runs, .. } = row;
    let counted = [
        (runs - row.succeeded, "the program failed"),
        (runs - row.measured, "no packets came after the warm-up, so it shows nothing"),
        (row.harmful, "a flow did not give way to its marks: it harms others"),
    ];
    let failed = counted.into_iter().filter(|(count, _)| *count > 0);
    failed.map(|(count, what)| format!("{session}, {count} of {runs}: {what}")).collect()
}

/// Sentence on what marks changed, what they cost, and what throughput first gives back.
fn price(rows: &[Row]) -> Option<String> {
    let of = |kind: Kind| rows.iter().find(|row| row.session == kind.name());
    let (without, with) = (of(Kind::WithoutMarks)?, of(Kind::WithMarks)?);
    if with.marked? == 0.0 && with.dropped? == 0.0 {
        return Some("nothing was marked, so the sessions differ by chance: the sentences on flows say why".into());
    }
    let (rate, queue) = without.change_to(with)?;
    let changed =
        format!("marks changed the rate by {rate:+.2} Mbit/s and the queue's 95th percentile by {queue:+.1} ms");
    let kept = with.empty_under_marks.map(|empty| format!(", and kept {:.0} % of the radio empty", empty * 100.0));
    let given = of(Kind::ThroughputFirst).and_then(|first| with.change_to(first)).map(|change| match change {
        (rate, queue) if rate > 0.0 && queue > 0.0 => {
            format!("; throughput-first gives {rate:.2} Mbit/s back for {queue:.1} ms more")
        }
        (rate, queue) => format!("; throughput-first changes that by {rate:+.2} Mbit/s and {queue:+.1} ms"),
    });
    Some([Some(changed), kept, given].into_iter().flatten().collect())
}

fn sheet(rows: &[Row]) -> Sheet {
    let headings = ["session", "succeeded", "Mbit/s", "queue p95 ms", "marks", "drops", "harms others"];
    // Failures also have sentences of their own.
    let mut shown = Sheet::new(&headings, 1, &["succeeded", "drops", "harms others"]);
    let figure = |mean: Option<f64>, half: Option<f64>, decimals: usize| match (mean, half) {
        (None, _) => "–".to_string(),
        (Some(mean), None) => format!("{mean:.decimals$}"),
        (Some(mean), Some(half)) => format!("{mean:.decimals$} ± {half:.decimals$}"),
    };
    for row in rows {
        let of_runs = |count: usize| format!("{count} of {}", row.runs);
        shown.add_row(
            [
                row.session.to_string(),
                of_runs(row.succeeded),
                figure(row.mbps, row.mbps_half, 2),
                figure(row.queue_p95_ms, row.queue_p95_ms_half, 1),
                figure(row.marked, None, 0),
                figure(row.dropped, None, 0),
                of_runs(row.harmful),
            ]
            .map(|cell| text(&cell)),
        );
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_narrow_terminal_shows_rates_queues_and_marks_of_several_runs() {
        let outcome = |rate| Outcome {
            code: 0,
            is_measured: true,
            is_harmful: false,
            ue: json!({ "throughput_mbps": rate, "queue_ms": { "p95": rate }, "marked": 12_345, "dropped": 0 }),
            empty: None,
        };
        let rows = Kind::ALL.map(|kind| row(kind, &[outcome(100.0), outcome(140.0)]));
        let drawn = sheet(&rows).within(Some(80));
        assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
        for part in ["with an outage", "120.00 ± ", "120.0 ± ", "marks", "12345"] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
    }

    #[test]
    fn the_price_of_marks_is_said_where_the_sessions_have_figures() {
        let outcome = |rate, queue, marks, empty| Outcome {
            code: 0,
            is_measured: rate > 0.0,
            is_harmful: false,
            ue: json!({ "throughput_mbps": rate, "queue_ms": { "p95": queue }, "marked": marks, "dropped": 0 }),
            empty,
        };
        let rows = |with, marks, first| {
            [
                row(Kind::WithoutMarks, &[outcome(40.0, 45.0, 0, None)]),
                row(Kind::WithMarks, &[outcome(with, 12.5, marks, Some(0.28))]),
                row(Kind::ThroughputFirst, &[outcome(first, 37.5, marks, Some(0.1))]),
            ]
        };
        let said = "marks changed the rate by -1.50 Mbit/s and the queue's 95th percentile by -32.5 ms, and kept 28 % of \
                    the radio empty";
        let given = |given| Some(format!("{said}{given}"));
        assert_eq!(price(&rows(38.5, 9, 0.0)), given(""));
        assert_eq!(price(&rows(38.5, 9, 39.75)), given("; throughput-first gives 1.25 Mbit/s back for 25.0 ms more"));
        let nothing = "; throughput-first changes that by -0.50 Mbit/s and +25.0 ms";
        assert_eq!(price(&rows(38.5, 9, 38.0)), given(nothing));
        assert_eq!(price(&rows(0.0, 9, 38.0)), None);
        let said = price(&rows(38.5, 0, 38.0)).unwrap();
        assert!(said.starts_with("nothing was marked, so the sessions differ by chance"), "{said}");
    }

    #[test]
    fn a_row_counts_failures_and_has_an_interval_over_the_runs_with_packets() {
        let outcome = |code, rate| Outcome {
            code,
            is_measured: rate > 0.0,
            is_harmful: code == 0,
            ue: json!({ "throughput_mbps": rate, "queue_ms": { "p95": 9.0 }, "marked": 4, "dropped": 0 }),
            empty: Some(rate / 100.0),
        };
        let row = row(Kind::WithMarks, &[outcome(0, 10.0), outcome(3, 12.0), outcome(3, 0.0)]);
        assert_eq!((row.session, row.runs, row.succeeded, row.measured, row.harmful), ("with marks", 3, 1, 2, 1));
        assert_eq!((row.mbps, row.queue_p95_ms, row.marked), (Some(11.0), Some(9.0), Some(4.0)));
        assert!(row.mbps_half > Some(1.0) && row.empty_under_marks == Some(0.11));
        assert_eq!(
            failures(&row),
            [
                "with marks, 2 of 3: the program failed",
                "with marks, 1 of 3: no packets came after the warm-up, so it shows nothing",
                "with marks, 1 of 3: a flow did not give way to its marks: it harms others",
            ]
        );
    }
}
