//! Results as text: tables on the terminal, and the page `docs/measured/reproduction.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::results::{Beside, Counts, Outcome, Results, Row, Value};
use super::verdict::Verdict;
use crate::table::{table, text};

/// Folder of the pictures.
const PICTURES: &str = "docs/reproduction/pictures";

/// Rows of one target beyond this many are left to the page.
const MAX_ROWS: usize = 12;

const HEAD: &str = "# What the papers published, and what comes out here

Written by `tidemark reproduce --all --results results/papers/results.json --markdown docs/measured/reproduction.md`; with some targets
named instead of `--all`, it runs those and keeps the others. The targets, with their tolerances, are in `scenarios/papers/targets/`, and
[results.json](../reproduction/results.json) has all figures for programs. Published figures come from other radios and other testbeds.

A figure of ours is the mean over seeds of what each seed has, with the half of its interval of 95 % (Student's t). Repetitions on
switches stand for seeds. Each row has a verdict:

| verdict | of a figure | of a claim |
| --- | --- | --- |
| agrees | within its tolerance: a *value* within a relative or an absolute distance, whichever is wider; a *change* between two of our runs goes as far as the published one, less its slack | it holds |
| better | beyond the tolerance, on the side that is declared to be the better one: less delay, more throughput, a change that goes further | |
| missed | not measured, or beyond the tolerance | it does not hold |
| tie | | an order between two runs whose difference, seed by seed, has an interval around zero |
| calibrated | the scenario was calibrated to it, so that it proves nothing; where a run does not come to it, that is a miss | |
| contradicted | the publication, or the program that it names, says otherwise: evidence [below](#contradicted) | the same |

Agreeing and better rows are counted, out of those that are neither calibrated nor contradicted. *Near* marks a row with a bound inside its interval, or an order whose difference
is less than the whole of its interval: [other seeds](../reproduction/seeds.md) may change its verdict. A chain of claims with ≤ holds where no step is reversed and its ends are apart. A target agrees if all of its rows do. [Claims of this
project](#claims-of-this-project) are not counted.

Where a paper leaves a condition open, it follows from what the paper says elsewhere, and the target says from what. Beyond what is said to be calibrated no parameter was chosen to hit a figure, and no
tolerance was widened. What is missed is said, with what explains it; the figures that explain it are of runs with the named key changed.
";

const LIMITS: &str = "
## Limits

Beside every result stands the same sender, the [oracle](front.md#the-oracle): it knows the capacity one loop late, exactly, and nothing else. Its rate is all throughput of the flows that a row is of, its delay
their mean one-way delay, wire included, over the first three seeds. What a case has of it stands in each target's section. Runs without L4S are among the cases: their delays are the highest. Nobody has less delay at the same rate where the
capacity stays for a loop; where the radio fades within one, who keeps a queue has more rate than the oracle, and it is no upper bound of that.

| target | limit |
| --- | --- |
";

/// The outcome of one target on the terminal.
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
        let _ = writeln!(out, "({} more: see --markdown)", shown.len() - MAX_ROWS);
    }
    if let Some(limit) = limit_of(outcome) {
        let _ = writeln!(out, "limit: {limit}");
    }
    outcome.pictures.iter().for_each(|name| _ = writeln!(out, "picture: {PICTURES}/{name}.svg"));
    out
}

/// Range of the target's cases beside their oracle's, in a sentence; `None` where nothing is to be said.
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

/// The counts of all rows and targets on the terminal.
pub(super) fn summary(results: &Results) -> String {
    let Counts { rows, targets } = results.counts();
    format!("rows: {}\ntargets: {}", rows.text(), targets.text())
}

/// The page of these results; `all` are the names of the targets that there are.
pub(super) fn page<'a>(results: &Results, all: impl Iterator<Item = &'a str>) -> String {
    let Counts { rows, targets } = results.counts();
    let mut out = format!("{HEAD}\n**{} of {} rows** agree ({}). ", rows.good(), rows.counted(), rows.text());
    let _ = writeln!(out, "**{} of {} targets** agree ({}).", targets.good(), targets.counted(), targets.text());
    let missing: Vec<_> =
        all.filter(|id| !results.targets.iter().any(|of| of.id == **id)).map(|id| format!("`{id}`")).collect();
    if !missing.is_empty() {
        let _ = writeln!(out, "\nNot run yet: {}.", missing.join(", "));
    }
    counts(&mut out, "paper", &results.counts_by(|of| Some(of.paper.clone())));
    counts(&mut out, "mechanism", &results.counts_by(|of| Some(of.mechanism.clone())));
    out.push_str("\n| kind of row | rows that agree |\n| --- | --- |\n");
    for (kind, tally) in results.rows_by_kind() {
        let _ = writeln!(out, "| {} | {} |", kind.text(), tally.text());
    }
    out.push_str("\n| target | source | verdict | rows that agree |\n| --- | --- | --- | --- |\n");
    for of in &results.targets {
        let anchor: String = of.id.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect();
        let (verdict, rows) = (of.verdict.text(), of.tally().text());
        let _ = writeln!(out, "| [{}](#{anchor}) | {} | {verdict} | {rows} |", of.id, of.source);
    }
    limits(&mut out, &results.targets);
    contradicted(&mut out, &results.targets);
    own_claims(&mut out, &results.targets);
    results.targets.iter().for_each(|of| section(&mut out, of));
    out
}

fn counts(out: &mut String, part: &str, counts: &BTreeMap<String, Counts>) {
    let _ = writeln!(out, "\n| {part} | rows that agree | targets that agree |\n| --- | --- | --- |");
    for (name, Counts { rows, targets }) in counts {
        let _ = writeln!(out, "| {name} | {} | {} |", rows.text(), targets.text());
    }
}

/// Limit of every target in a line.
fn limits(out: &mut String, targets: &[Outcome]) {
    out.push_str(LIMITS);
    for (of, limit) in targets.iter().filter_map(|of| Some((of, limit_of(of)?))) {
        let says =
            of.limit_says.as_deref().filter(|says| *says != limit).map_or_else(String::new, |says| format!(". {says}"));
        let _ = writeln!(out, "| {} | {limit}{says} |", of.id);
    }
}

fn contradicted(out: &mut String, targets: &[Outcome]) {
    out.push_str("\n## Contradicted\n\nFigures that their own publication, or the program that they are said to be of, contradicts.\n");
    for (of, contradiction) in targets.iter().flat_map(|of| of.contradicted.iter().map(move |one| (of, one))) {
        let _ = writeln!(out, "\n**{}** ({}): {}.", of.source, of.id, contradiction.rows.join("; "));
        let _ = writeln!(out, "By: {}\n{}\n", contradiction.by.trim(), contradiction.evidence.trim());
        let _ = writeln!(out, "*To save it:* {}", contradiction.sceptic.trim());
    }
}

fn own_claims(out: &mut String, targets: &[Outcome]) {
    out.push_str("\n## Claims of this project\n\nWhat the papers do not say. Not counted.\n\n");
    out.push_str("| target | claim | ours | |\n| --- | --- | --- | --- |\n");
    for (of, row) in targets.iter().flat_map(|of| of.rows.iter().map(move |row| (of, row))).filter(|(_, row)| row.own) {
        let _ = writeln!(out, "| {} | {} | {} | {} |", of.id, row.name, ours(row), verdict_of(row));
    }
}

fn section(out: &mut String, of: &Outcome) {
    let mut seeds = if of.seeds == 1 { "one run".into() } else { format!("{} seeds", of.seeds) };
    let mut with: Vec<_> = of.seeds_with.iter().map(|(part, count)| (count, part)).collect();
    with.sort();
    with.iter().rev().for_each(|(count, part)| _ = write!(seeds, ", {count} where a case has `{part}`"));
    let _ =
        writeln!(out, "\n## {}\n\n{}: **{}**, {}; {seeds}.", of.id, of.source, of.verdict.text(), of.tally().text());
    if !of.text.is_empty() {
        let _ = writeln!(out, "{}", of.text);
    }
    if let Some(calibrated) = &of.calibrated {
        let _ = writeln!(out, "\nCalibrated: {calibrated}");
    }
    let (figures, claims): (Vec<_>, Vec<_>) = of.of_paper().partition(|row| row.published.is_some());
    if !figures.is_empty() {
        out.push_str("\n| figure | published | ours | agrees if | |\n| --- | ---: | ---: | --- | --- |\n");
        for row in figures {
            let published = row.published.unwrap_or_default();
            let _ = writeln!(
                out,
                "| {} | {published} | {} | {} | {} |",
                row.name,
                ours(row),
                row.agrees_if,
                verdict_of(row)
            );
        }
    }
    if !claims.is_empty() {
        out.push_str("\n| what must hold | ours | |\n| --- | --- | --- |\n");
        for row in claims {
            let _ = writeln!(out, "| {} | {} | {} |", row.name, ours(row), verdict_of(row));
        }
    }
    if let Some(note) = &of.note {
        let _ = writeln!(out, "\n{note}");
    }
    if !of.limit.is_empty() {
        out.push_str(
            "\n| case | Mbit/s | of the oracle's | ms | of the oracle's |\n| --- | ---: | ---: | ---: | ---: |\n",
        );
    }
    for beside in &of.limit {
        let Beside { case, rate, delay, oracle_rate, oracle_delay } = beside;
        let number = |value: Option<f64>| value.map_or_else(|| "–".into(), |value| format!("{value:.1}"));
        let share = beside.share().map_or_else(String::new, |share| format!("{:.0} % of ", 100.0 * share));
        let times = beside.times().map_or_else(String::new, |times| format!("{times:.2} times "));
        let (rate, delay, oracle_rate, oracle_delay) =
            (number(*rate), number(*delay), number(*oracle_rate), number(*oracle_delay));
        let _ = writeln!(out, "| {case} | {rate} | {share}{oracle_rate} | {delay} | {times}{oracle_delay} |");
    }
}

/// Values of a row with their intervals, and the orders that a claim wants between them.
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
    fn a_page_has_counts_rows_and_what_is_not_counted() {
        let page = page(&results(), ["a.one", "a.two"].into_iter());
        for line in [
            "**1 of 2 rows** agree (1 of 2; 1 missed; beside them 1 contradicted). **0 of 1 targets** agree (0 of 1; 1 missed).",
            "Not run yet: `a.two`.",
            "| M | 1 of 2; 1 missed; beside them 1 contradicted | 0 of 1; 1 missed |",
            "| claims | 1 of 1 |",
            "| [a.one](#aone) | A, Fig. 1 | missed | 1 of 2; 1 missed; beside them 1 contradicted |",
            "A, Fig. 1: **missed**, 1 of 2; 1 missed; beside them 1 contradicted; 5 seeds, 100 where a case has `one`, 20 where a case has `few`.",
            "| delay, ms | 1.5 | 3.00 ± 0.25 | 1.00 to 2.00 | **missed**, near |",
            "| a.one | an oracle has 40.0 Mbit/s at 20.0 ms, ours 90 % of its rate at 1.50 to 15.00 times its delay. A caveat. |",
            "| x.with | 36.0 | 90 % of 40.0 | 30.0 | 1.50 times 20.0 |",
            "| a rises | 1.00 ± 0.25 ≤ 2.00 ± 0.25 < 3.00 ± 0.25 | agrees |",
            "| a.one | own claim | 1.00 ± 0.25 ≤ 2.00 ± 0.25 | agrees |",
            "By: Table 1 beside Table 2",
            "*To save it:* None.",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
    }

    #[test]
    fn the_terminal_has_counts_and_rows() {
        let text = on_terminal(&results().targets[0]);
        assert!(text.starts_with("a.one (A, Fig. 1): missed: 1 of 2; 1 missed"), "{text}");
        assert!(text.contains("missed, near") && text.contains("own claim"), "{text}");
        assert!(text.contains("limit: an oracle has 40.0 Mbit/s"), "{text}");
        assert!(text.contains(&format!("picture: {PICTURES}/a.one.svg")), "{text}");
        assert_eq!(
            summary(&results()),
            "rows: 1 of 2; 1 missed; beside them 1 contradicted\ntargets: 0 of 1; 1 missed"
        );
    }
}
