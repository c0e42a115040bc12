//! Results as text: tables on the terminal, and rows as CSV.

use std::fmt::Write as _;

use miette::{IntoDiagnostic as _, Result};

use super::results::{Beside, Counts, Outcome, Results, Row, Value};
use super::verdict::Verdict;
use tidemark_terminal::table::{table, text};

/// Command that draws a picture by its name.
const DRAW: &str = "python results/draw";

/// Most rows of a target on the terminal; the file has all.
const MAX_ROWS: usize = 12;

/// Columns of the rows' CSV. A claim has several values and interval half-widths.
const COLUMNS: [&str; 13] = [
    "paper",
    "mechanism",
    "target",
    "source",
    "row",
    "kind",
    "published",
    "ours",
    "interval",
    "agrees_if",
    "verdict",
    "near",
    "own",
];

/// Outcome of one target, for the terminal.
pub(super) fn on_terminal(outcome: &Outcome) -> String {
    let verdict = outcome.verdict.text();
    let mut out = format!("{} ({}): {verdict}: {}\n", outcome.id, outcome.source, outcome.tally().text());
    let mut shown: Vec<_> = outcome.rows.iter().collect();
    if shown.len() > MAX_ROWS {
        // Missed rows come first where not every one fits.
        shown.sort_by_key(|row| row.verdict);
    }
    let mut rows = table(&["", "published", "ours", "agrees if", "verdict"]);
    for row in shown.iter().take(MAX_ROWS) {
        let published = row.published.map_or_else(String::new, |published| format!("{published:.2}"));
        let agrees_if = if row.published.is_some() { row.agrees_if.clone() } else { "in this order".into() };
        let verdict = verdict_of(row).replace("**", "");
        rows.add_row([&row.name, &published, &ours(row), &agrees_if, &verdict].map(|cell| text(cell)));
    }
    let _ = writeln!(out, "{rows}");
    if shown.len() > MAX_ROWS {
        let _ = writeln!(out, "({} more: see --csv)", shown.len() - MAX_ROWS);
    }
    if let Some(limit) = limit_of(outcome) {
        let _ = writeln!(out, "limit: {limit}");
    }
    outcome.pictures.iter().for_each(|name| _ = writeln!(out, "picture: {DRAW} {name}"));
    out
}

/// Sentence that compares the target's cases with their oracle; `None` without an oracle's figures.
fn limit_of(outcome: &Outcome) -> Option<String> {
    let range = |of: fn(&Beside) -> Option<f64>| {
        let mut values: Vec<_> = outcome.limit.iter().filter_map(of).collect();
        values.sort_by(f64::total_cmp);
        Some((*values.first()?, *values.last()?))
    };
    let text = |(low, high): (f64, f64), digits: usize| {
        let [low, high] = [low, high].map(|value| format!("{value:.digits$}"));
        if low == high { low } else { format!("{low} to {high}") }
    };
    let (rates, delays) = (range(|of| of.oracle_rate), range(|of| of.oracle_delay));
    let (share, times) = (range(|of| Some(100.0 * of.share()?)), range(Beside::times));
    let figures = rates.zip(delays).zip(share.zip(times)).map(|((rates, delays), (share, times))| {
        let (rates, delays, share, times) = (text(rates, 1), text(delays, 1), text(share, 0), text(times, 2));
        format!("an oracle has {rates} Mbit/s at {delays} ms, ours {share} % of its rate at {times} times its delay")
    });
    match (figures, &outcome.limit_says) {
        (Some(figures), _) => Some(figures),
        (None, says) => says.clone(),
    }
}

/// Counts of all rows and targets, for the terminal.
pub(super) fn summary(results: &Results) -> String {
    let Counts { rows, targets } = results.counts();
    format!("rows: {}\ntargets: {}", rows.text(), targets.text())
}

/// The rows of all targets as CSV.
///
/// # Errors
/// A table that can't be written.
pub(super) fn rows(results: &Results) -> Result<String> {
    let rows = results.targets.iter().flat_map(|of| of.rows.iter().map(move |row| cells(of, row)));
    csv(&COLUMNS, rows)
}

fn cells(of: &Outcome, row: &Row) -> [String; COLUMNS.len()] {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let values = |part: fn(&Value) -> Option<f64>| row.ours.iter().map(|value| number(part(value))).collect::<Vec<_>>();
    [
        of.paper.clone(),
        of.mechanism.clone(),
        of.id.clone(),
        of.source.clone(),
        row.name.clone(),
        row.kind.text().into(),
        number(row.published),
        values(|value| value.mean).join("; "),
        values(|value| value.half).join("; "),
        row.agrees_if.clone(),
        row.verdict.text().into(),
        row.is_near.to_string(),
        row.own.to_string(),
    ]
}

/// A table as CSV.
///
/// # Errors
/// A table that can't be written.
pub(super) fn csv<const N: usize>(head: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(head).into_diagnostic()?;
    for row in rows {
        writer.write_record(row).into_diagnostic()?;
    }
    String::from_utf8(writer.into_inner().into_diagnostic()?).into_diagnostic()
}

/// Values of a row with their intervals, and a claim's orders between them.
pub(super) fn ours(row: &Row) -> String {
    let value = |value: &Value| match (value.mean, value.half) {
        (None, _) => "not measured".into(),
        (Some(mean), Some(half)) if half >= 0.005 => format!("{mean:.2} ± {half:.2}"),
        (Some(mean), _) => format!("{mean:.2}"),
    };
    let mut orders = row.agrees_if.split(' ').filter(|_| row.published.is_none());
    let mut out = String::new();
    for (index, one) in row.ours.iter().enumerate() {
        if index > 0 {
            let order = orders.next().unwrap_or(",").replace("<=", "≤").replace(">=", "≥");
            let _ = write!(out, " {order} ");
        }
        out.push_str(&value(one));
    }
    out
}

fn verdict_of(row: &Row) -> String {
    let near = if row.is_near { ", near" } else { "" };
    match row.verdict {
        Verdict::Missed => format!("**missed**{near}"),
        verdict => format!("{}{near}", verdict.text()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::target::{Contradiction, Kind};
    use super::*;

    fn row(name: &str, verdict: Verdict, published: Option<f64>, means: &[f64]) -> Row {
        let ours = means.iter().map(|mean| Value { formula: String::new(), mean: Some(*mean), half: Some(0.25) });
        Row {
            name: name.into(),
            kind: if published.is_some() { Kind::Value } else { Kind::Relation },
            verdict,
            own: name.starts_with("own"),
            published,
            ours: ours.collect(),
            figures: BTreeMap::new(),
            agrees_if: if published.is_some() { "1.00 to 2.00".into() } else { "<= <".into() },
            is_near: verdict == Verdict::Missed,
        }
    }

    fn beside(case: &str, delay: f64) -> Beside {
        Beside {
            case: case.into(),
            rate: Some(36.0),
            delay: Some(delay),
            oracle_rate: Some(40.0),
            oracle_delay: Some(20.0),
        }
    }

    fn results() -> Results {
        let rows = vec![
            row("delay, ms", Verdict::Missed, Some(1.5), &[3.0]),
            row("loss, %", Verdict::Contradicted, Some(2.5), &[3.0]),
            row("a rises", Verdict::Agrees, None, &[1.0, 2.0, 3.0]),
            row("own claim", Verdict::Agrees, None, &[1.0, 2.0]),
        ];
        let contradicted = Contradiction {
            rows: vec!["loss, %".into()],
            by: "Table 1 beside Table 2".into(),
            evidence: "Both can't be.".into(),
            sceptic: "None.".into(),
        };
        let outcome = Outcome {
            id: "a.one".into(),
            paper: "A".into(),
            mechanism: "M".into(),
            kind: Kind::Value,
            source: "A, Fig. 1".into(),
            text: "A sentence.".into(),
            seeds: 5,
            seeds_with: BTreeMap::from([("few".into(), 20), ("one".into(), 100)]),
            commit: None,
            verdict: Verdict::Missed,
            calibrated: None,
            calibrated_to: Vec::new(),
            note: Some("A note.".into()),
            contradicted: vec![contradicted],
            limit_says: Some("A caveat.".into()),
            limit: vec![beside("x.with", 30.0), beside("x.without", 300.0)],
            pictures: vec!["a.one".into()],
            rows,
        };
        Results { targets: vec![outcome] }
    }

    #[test]
    fn every_row_is_a_line_with_its_verdict() {
        let text = rows(&results()).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], COLUMNS.join(","));
        assert_eq!(lines[1], r#"A,M,a.one,"A, Fig. 1","delay, ms",values,1.5,3,0.25,1.00 to 2.00,missed,true,false"#);
        assert_eq!(
            lines[3],
            r#"A,M,a.one,"A, Fig. 1",a rises,claims,,1; 2; 3,0.25; 0.25; 0.25,<= <,agrees,false,false"#
        );
        assert_eq!(lines.len(), 5);
    }

    #[test]
    fn the_terminal_has_counts_and_rows() {
        let text = on_terminal(&results().targets[0]);
        assert!(text.starts_with("a.one (A, Fig. 1): missed: 1 of 2; 1 missed"), "{text}");
        assert!(text.contains("missed, near") && text.contains("own claim"), "{text}");
        assert!(text.contains("limit: an oracle has 40.0 Mbit/s"), "{text}");
        assert!(text.contains(&format!("picture: {DRAW} a.one")), "{text}");
        assert_eq!(
            summary(&results()),
            "rows: 1 of 2; 1 missed; beside them 1 contradicted\ntargets: 0 of 1; 1 missed"
        );
    }
}
