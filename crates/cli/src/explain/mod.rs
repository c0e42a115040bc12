//! `tidemark explain`: why packets of a run were marked, and how their senders reacted.

mod moment;
mod story;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use miette::{Result, miette};
use tidemark_record::MarkResult;
use tidemark_record::files::MARKS;
use tidemark_record::output::read_marks;

use self::moment::{Moment, seconds};
use self::story::{Origin, delay_ms, one_line, story};
use crate::format::{self, Format, Output};
use tidemark_terminal::say;
use tidemark_terminal::sheet::Sheet;
use tidemark_terminal::table::{number, text};

/// Rows of a table; further ones are only counted.
const MAX_ROWS: usize = 24;
/// Most marks that are explained in full; more become rows of a table.
const MAX_STORIES: usize = 4;
/// Columns of the table of marks that a narrow terminal shows last: people look for the packet, its verdict and its delay.
const LAST: [&str; 4] = ["answered", "odds", "true ms", "estimated ms"];
/// Distance in seconds beyond which a mark does not belong to the requested time.
const FAR_S: f64 = 0.1;

/// Options of `tidemark explain`.
#[derive(Args)]
pub(crate) struct Explain {
    /// Folder of the run: as in `tidemark run`, or --out of a live cell or a CU
    run: PathBuf,
    /// Only this flow
    #[arg(long, value_name = "NAME")]
    flow: Option<String>,
    /// The mark nearest to a time ("3.2 s"), or the marks of a span ("3 s..3.5 s")
    #[arg(long, value_name = "TIME", group = "which")]
    at: Option<Moment>,
    /// The packet with this number
    #[arg(long, value_name = "N", group = "which")]
    packet: Option<u64>,
    /// The K marked packets with the longest delays
    #[arg(long, value_name = "K", group = "which", value_parser = clap::value_parser!(u64).range(1..))]
    worst: Option<u64>,
    #[command(flatten)]
    output: Output,
}

impl Explain {
    /// Prints the requested marks.
    ///
    /// # Errors
    /// A folder without marks, a file that cannot be read, or a flow, time or packet without a mark.
    pub(crate) fn execute(&self) -> Result<()> {
        let (all, origin) = (read(&self.run)?, origin(&self.run));
        let of_flow = self.of_flow(&all)?;
        if of_flow.is_empty() {
            say!("no marking law of the cell marked or dropped a packet in this run");
            return Ok(());
        }
        let asked = self.at.is_some() || self.packet.is_some() || self.worst.is_some();
        let chosen = self.choose(&of_flow)?;
        if self.output.format != Format::Table {
            // Keys are the columns of marks.csv.
            return format::rows(self.output.format, &if asked { chosen } else { of_flow });
        }
        if !asked {
            overview(&of_flow);
            // A CU does not know how long packets took.
            say!("{}:\n", if origin == Origin::Cu { "The first ones" } else { "The slowest ones" });
        }
        if chosen.len() > MAX_STORIES {
            rows(&chosen);
        } else {
            let stories: Vec<_> = chosen.into_iter().map(|mark| story(mark, origin)).collect();
            say!("{}", stories.join("\n"));
        }
        if !asked {
            say!("For others, use --flow NAME with --at \"3.2 s\", --at \"3 s..3.5 s\", --packet N or --worst K");
        }
        Ok(())
    }

    /// Marks of the requested flow, or of all.
    fn of_flow<'a>(&self, all: &'a [MarkResult]) -> Result<Vec<&'a MarkResult>> {
        let Some(flow) = &self.flow else { return Ok(all.iter().collect()) };
        let chosen: Vec<_> = all.iter().filter(|mark| mark.flow == *flow).collect();
        if chosen.is_empty() && !all.is_empty() {
            let mut flows: Vec<_> = all.iter().map(|mark| mark.flow.as_str()).collect();
            flows.dedup();
            return Err(miette!("flow `{flow}` has no mark: flows with marks are {}", flows.join(", ")));
        }
        Ok(chosen)
    }

    fn choose<'a>(&self, marks: &[&'a MarkResult]) -> Result<Vec<&'a MarkResult>> {
        if let Some(moment) = self.at {
            return at(marks, moment);
        }
        if let Some(packet) = self.packet {
            return numbered(marks, packet);
        }
        if self.worst.is_some() && marks.iter().all(|mark| mark.arrived_s.is_none()) {
            return Err(miette!(
                "--worst: the delay of no marked packet is known, because a CU does not see packets arrive"
            ));
        }
        let mut marks = marks.to_vec();
        // A stable sort keeps the first of marks with equal delays.
        marks.sort_by(|a, b| delay_ms(b).total_cmp(&delay_ms(a)));
        marks.truncate(self.worst.map_or(1, |worst| usize::try_from(worst).unwrap_or(usize::MAX)));
        Ok(marks)
    }
}

/// Reads the marks of a run.
fn read(run: &Path) -> Result<Vec<MarkResult>> {
    let file = run.join(MARKS);
    let text = fs::read_to_string(&file).map_err(|error| {
        if error.kind() != std::io::ErrorKind::NotFound {
            return miette!("{}: {error}", file.display());
        }
        let folder = run.display();
        if is_live(run) {
            miette!("{folder} has no {MARKS}: a DU makes no marks; its CU writes them with `tidemark gnb cu --out`")
        } else if run.join("scenario.toml").exists() {
            miette!("{folder} has no {MARKS}: run it again, `tidemark run {folder}/scenario.toml --out {folder}`")
        } else {
            miette!(
                "{folder} is not the folder of a run: name one written by `tidemark run` or by a live cell with --out"
            )
        }
    })?;
    read_marks(&text).map_err(|error| miette!("{}: {error}", file.display()))
}

/// Finds out where the marks of a run come from.
fn origin(run: &Path) -> Origin {
    if !run.join("summary.json").exists() {
        Origin::Cu
    } else if is_live(run) {
        Origin::Live
    } else {
        Origin::Simulated
    }
}

/// True for the folder of a live cell, whose summary says how late its slots were.
fn is_live(run: &Path) -> bool {
    let summary = fs::read_to_string(run.join("summary.json")).unwrap_or_default();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap_or_default();
    summary["live"].is_object()
}

/// The mark nearest to a time, or the marks of a span.
fn at<'a>(marks: &[&'a MarkResult], moment: Moment) -> Result<Vec<&'a MarkResult>> {
    let (from, to) = moment.span();
    let within: Vec<_> = marks.iter().copied().filter(|mark| (from..=to).contains(&mark.t_s)).collect();
    if !within.is_empty() {
        return Ok(within);
    }
    let distance = |mark: &MarkResult| (mark.t_s - from).max(from - mark.t_s);
    let nearest = marks.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    if let Some(nearest) = nearest.filter(|nearest| !moment.is_span() && distance(nearest) <= FAR_S) {
        return Ok(vec![nearest]);
    }
    let before = marks.iter().copied().filter(|mark| mark.t_s < from).max_by(|a, b| a.t_s.total_cmp(&b.t_s));
    let after = marks.iter().copied().filter(|mark| mark.t_s > to).min_by(|a, b| a.t_s.total_cmp(&b.t_s));
    let neighbours: Vec<_> = before.into_iter().chain(after).map(|mark| format!("  {}", one_line(mark))).collect();
    Err(miette!("no mark is recorded at {moment}; the nearest ones:\n{}", neighbours.join("\n")))
}

/// Marks of packets with this number, one for each flow that has such a packet.
fn numbered<'a>(marks: &[&'a MarkResult], packet: u64) -> Result<Vec<&'a MarkResult>> {
    let found: Vec<_> = marks.iter().copied().filter(|mark| mark.packet == packet).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let before = marks.iter().copied().filter(|mark| mark.packet < packet).max_by_key(|mark| mark.packet);
    let after = marks.iter().copied().filter(|mark| mark.packet > packet).min_by_key(|mark| mark.packet);
    let neighbours: Vec<_> = before.into_iter().chain(after).map(|mark| format!("  {}", one_line(mark))).collect();
    Err(miette!(
        "packet {packet} was not marked, or its mark was not recorded; the nearest numbers:\n{}",
        neighbours.join("\n")
    ))
}

/// Prints a row for each flow: recorded marks, their times, laws with rules, and the longest delay.
fn overview(marks: &[&MarkResult]) {
    let mut flows: Vec<(&str, Vec<&MarkResult>)> = Vec::new();
    for mark in marks {
        match flows.last_mut().filter(|(name, _)| *name == mark.flow) {
            Some((_, of_flow)) => of_flow.push(mark),
            None => flows.push((&mark.flow, vec![mark])),
        }
    }
    let headings = ["flow", "marks kept", "from", "to", "law: rule", "slowest ms"];
    let mut shown = Sheet::new(&headings, 1, &["to", "from"]);
    for (name, of_flow) in flows.iter().take(MAX_ROWS) {
        let mut rules = BTreeMap::new();
        of_flow.iter().for_each(|mark| *rules.entry((&mark.law, &mark.rule)).or_insert(0) += 1);
        let rules: Vec<_> = rules.into_iter().map(|((law, rule), count)| format!("{law}: {rule} {count}")).collect();
        let delays = of_flow.iter().filter(|mark| mark.arrived_s.is_some()).map(|mark| delay_ms(mark));
        let slowest = delays.reduce(f64::max);
        let [first, last] = [of_flow.first(), of_flow.last()].map(|mark| mark.map_or(0.0, |mark| mark.t_s));
        shown.add_row([
            text(name),
            number(Some(of_flow.len() as f64), 0),
            text(&seconds(first)),
            text(&seconds(last)),
            text(&rules.join(", ")),
            number(slowest, 1),
        ]);
    }
    say!("{}", shown.draw());
    if flows.len() > MAX_ROWS {
        say!("... and {} more flows", flows.len() - MAX_ROWS);
    }
}

/// Prints a row for each mark.
fn rows(marks: &[&MarkResult]) {
    let headings =
        ["flow", "packet", "at", "verdict", "law: rule", "odds", "estimated ms", "true ms", "one way ms", "answered"];
    let mut shown = Sheet::new(&headings, 2, &LAST);
    for mark in marks.iter().take(MAX_ROWS) {
        shown.add_row([
            text(&mark.flow),
            number(Some(mark.packet as f64), 0),
            text(&seconds(mark.t_s)),
            text(&mark.verdict),
            text(&format!("{}: {}", mark.law, mark.rule)),
            number(Some(mark.mark_odds.max(mark.drop_odds)), 3),
            number(mark.estimated_ms, 1),
            number(mark.queued_ms, 1),
            number(mark.arrived_s.map(|_| delay_ms(mark)), 1),
            text(&mark.answered_s.map_or_else(|| "–".into(), seconds)),
        ]);
    }
    say!("{}", shown.draw());
    if marks.len() > MAX_ROWS {
        say!("... and {} more: narrow the span, or use --format json", marks.len() - MAX_ROWS);
    }
}
