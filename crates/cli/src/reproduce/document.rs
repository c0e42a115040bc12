//! The outcomes as text: a table on the terminal, and the page `docs/reproduction.md`.

use std::fmt::Write as _;

use super::outcome::Outcome;
use super::target::Target;
use crate::table::{number, table, text};

/// Rows of one target beyond this many are left to the page.
const MOST_ROWS: usize = 12;

const HEAD: &str = "# What the papers published, and what comes out here

Written by `tidemark reproduce --all --markdown docs/reproduction.md`; the targets, with their tolerances, are in
`scenarios/papers/targets.toml`. Published figures come from other radios and other testbeds. A *value* agrees within a
relative or an absolute distance, whichever is wider; a *reduction* is a change between two of our own runs and agrees
if it goes as far as the published one less its slack, or further; a *relation* must hold between our own runs. No parameter was
chosen to hit a figure, and no tolerance was widened. What is missed is said, with what explains it.
";

/// The outcome of one target on the terminal.
pub fn on_terminal(target: &Target, outcome: &Outcome) -> String {
    let mut out = format!("{} ({}): {}\n", target.id, target.source, outcome.verdict());
    if !outcome.figures.is_empty() {
        let mut rows = table(&["figure", "published", "ours", "agrees if", ""]);
        // What is missed comes first where not everything fits.
        let mut figures: Vec<_> = outcome.figures.iter().collect();
        if figures.len() > MOST_ROWS {
            figures.sort_by_key(|figure| figure.agrees);
        }
        for figure in figures.iter().take(MOST_ROWS) {
            rows.add_row([
                text(&figure.name),
                number(Some(figure.published), 2),
                number(figure.ours, 2),
                text(&figure.allowed),
                text(if figure.agrees { "agrees" } else { "missed" }),
            ]);
        }
        let _ = writeln!(out, "{rows}");
        rest(&mut out, figures.len());
    }
    let mut claims: Vec<_> = outcome.claims.iter().collect();
    if claims.len() > MOST_ROWS {
        claims.sort_by_key(|claim| claim.holds);
    }
    for claim in claims.iter().take(MOST_ROWS) {
        let holds = if claim.holds { "holds " } else { "missed" };
        let _ = writeln!(out, "  {holds}  {}: {}", claim.says, values(&claim.values));
    }
    rest(&mut out, claims.len());
    out
}

/// The page, with every target that was run.
pub fn page(outcomes: &[(&Target, Outcome)]) -> String {
    let mut out = String::from(HEAD);
    let agree = outcomes.iter().filter(|(_, outcome)| outcome.agrees()).count();
    let _ = writeln!(out, "\n{agree} of {} targets agree.\n", outcomes.len());
    out.push_str("| target | source | verdict |\n| --- | --- | --- |\n");
    for (target, outcome) in outcomes {
        let anchor: String = target.id.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect();
        let _ = writeln!(out, "| [{}](#{anchor}) | {} | {} |", target.id, target.source, outcome.verdict());
    }
    for (target, outcome) in outcomes {
        section(&mut out, target, outcome);
    }
    out
}

fn section(out: &mut String, target: &Target, outcome: &Outcome) {
    let _ = writeln!(out, "\n## {}\n\n{}: **{}**.", target.id, target.source, outcome.verdict());
    if !target.text.is_empty() {
        let _ = writeln!(out, "{}", target.text.trim());
    }
    if !outcome.figures.is_empty() {
        out.push_str("\n| figure | published | ours | agrees if | |\n| --- | ---: | ---: | --- | --- |\n");
        for figure in &outcome.figures {
            let ours = figure.ours.map_or("–".into(), |ours| format!("{ours:.2}"));
            let verdict = if figure.agrees { "agrees" } else { "**missed**" };
            let _ =
                writeln!(out, "| {} | {} | {ours} | {} | {verdict} |", figure.name, figure.published, figure.allowed);
        }
    }
    if !outcome.claims.is_empty() {
        out.push_str("\n| what must hold | ours | |\n| --- | --- | --- |\n");
        for claim in &outcome.claims {
            let verdict = if claim.holds { "holds" } else { "**missed**" };
            let _ = writeln!(out, "| {} | {} | {verdict} |", claim.says, values(&claim.values));
        }
    }
    if let Some(note) = &target.note {
        let _ = writeln!(out, "\n{}", note.trim());
    }
}

fn values(values: &[Option<f64>]) -> String {
    let text = |value: &Option<f64>| value.map_or("not measured".into(), |value| format!("{value:.2}"));
    values.iter().map(text).collect::<Vec<_>>().join(" and ")
}

fn rest(out: &mut String, rows: usize) {
    if rows > MOST_ROWS {
        let _ = writeln!(out, "  ({} more: see --markdown)", rows - MOST_ROWS);
    }
}
