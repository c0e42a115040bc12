//! The outcomes as text: a table on the terminal, and the page `docs/measured/reproduction.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::outcome::{AGREES, CALIBRATED, Outcome, RELATIONS_ONLY, Verdict};
use super::target::Target;
use crate::table::{number, table, text};

/// Rows of one target beyond this many are left to the page.
const MAX_ROWS: usize = 12;

const HEAD: &str = "# What the papers published, and what comes out here

Written by `tidemark reproduce --all --markdown docs/measured/reproduction.md`; with some targets named instead of `--all`, it
replaces their sections and keeps the others. The targets, with their tolerances, are in `scenarios/papers/targets/`. Published
figures come from other radios and other testbeds. A *value* agrees within a relative or an absolute distance, whichever is
wider: the verdict says the widest relative one, the tables what it comes to, which is more where the published figure is small. A *reduction* is a change between two of our own runs and
agrees if it goes as far as the published one less its slack, or further. A *relation* must hold between our own runs; a target that has nothing else
agrees *in relations only*. Where a paper leaves a
condition open, it follows from what the paper says elsewhere, and the target says from what. Where that is one of the results, the target is
*calibrated*, and the figures that it was calibrated to are not counted as agreeing; where a run does not come to them, that is a miss. Beyond that no parameter was chosen to hit a figure, and no tolerance
was widened. What is missed is said, with what explains it; the figures that explain it are of runs with the named key changed.
";

/// The outcome of one target on the terminal.
pub(super) fn on_terminal(target: &Target, outcome: &Outcome) -> String {
    let mut out = format!("{} ({}): {}\n", target.id, target.source, outcome.verdict());
    if !outcome.figures.is_empty() {
        let mut rows = table(&["figure", "published", "ours", "agrees if", ""]);
        // Missed figures come first where not every one fits.
        let mut figures: Vec<_> = outcome.figures.iter().collect();
        if figures.len() > MAX_ROWS {
            figures.sort_by_key(|figure| figure.verdict);
        }
        for figure in figures.iter().take(MAX_ROWS) {
            rows.add_row([
                text(&figure.name),
                number(Some(figure.published), 2),
                number(figure.ours, 2),
                text(&figure.allowed),
                text(figure.verdict.text()),
            ]);
        }
        let _ = writeln!(out, "{rows}");
        rest(&mut out, figures.len());
    }
    let mut claims: Vec<_> = outcome.claims.iter().collect();
    if claims.len() > MAX_ROWS {
        claims.sort_by_key(|claim| claim.holds);
    }
    for claim in claims.iter().take(MAX_ROWS) {
        let holds = if claim.holds { "holds " } else { "missed" };
        let _ = writeln!(out, "  {holds}  {}: {}", claim.says, values(&claim.values));
    }
    rest(&mut out, claims.len());
    out
}

/// The page: of every target, in their order, the section just made, else that of the page as it was.
pub(super) fn page<'a>(all: impl Iterator<Item = &'a str>, outcomes: &[(&Target, Outcome)], before: &str) -> String {
    let mut sections: BTreeMap<&str, String> = sections_of(before).collect();
    for (target, outcome) in outcomes {
        sections.insert(&target.id, section(target, outcome));
    }
    let (mut rows, mut bodies, mut missing) = (Vec::new(), String::new(), Vec::new());
    for id in all {
        let Some(section) = sections.get(id) else {
            missing.push(format!("`{id}`"));
            continue;
        };
        // The section's first line has them: `source: **verdict**.`
        let (source, verdict) = section.split_once(": **").unwrap_or((section, ""));
        let verdict = verdict.split_once("**").map_or("", |(verdict, _)| verdict);
        rows.push((id, source.to_owned(), verdict.to_owned()));
        let _ = write!(bodies, "\n## {id}\n\n{section}");
    }
    let agreeing = || rows.iter().map(|(_, _, verdict)| verdict).filter(|verdict| verdict.starts_with(AGREES));
    let [relations, calibrated] =
        [RELATIONS_ONLY, CALIBRATED].map(|note| agreeing().filter(|verdict| verdict.contains(note)).count());
    let mut out = format!(
        "{HEAD}\n{} of {} targets agree; of these {relations} in relations only, {calibrated} calibrated.\n\n",
        agreeing().count(),
        rows.len()
    );
    if !missing.is_empty() {
        let _ = writeln!(out, "Not run yet: {}.\n", missing.join(", "));
    }
    out.push_str("| target | source | verdict |\n| --- | --- | --- |\n");
    for (id, source, verdict) in rows {
        let anchor: String = id.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect();
        let _ = writeln!(out, "| [{id}](#{anchor}) | {source} | {verdict} |");
    }
    out + &bodies
}

/// The sections of a page by their targets.
fn sections_of(page: &str) -> impl Iterator<Item = (&str, String)> {
    let parts = page.split("\n## ").skip(1);
    parts.filter_map(|part| part.split_once("\n\n")).map(|(id, body)| (id, format!("{}\n", body.trim_end())))
}

fn section(target: &Target, outcome: &Outcome) -> String {
    let mut out = format!("{}: **{}**.\n", target.source, outcome.verdict());
    if !target.text.is_empty() {
        let _ = writeln!(out, "{}", target.text.trim());
    }
    if let Some(calibrated) = &target.calibrated {
        let _ = writeln!(out, "\nCalibrated: {}", calibrated.says.trim());
    }
    if !outcome.figures.is_empty() {
        out.push_str("\n| figure | published | ours | agrees if | |\n| --- | ---: | ---: | --- | --- |\n");
        for figure in &outcome.figures {
            let ours = figure.ours.map_or("–".into(), |ours| format!("{ours:.2}"));
            let verdict = match figure.verdict {
                Verdict::Missed => "**missed**",
                verdict => verdict.text(),
            };
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
    out
}

fn values(values: &[Option<f64>]) -> String {
    let text = |value: &Option<f64>| value.map_or("not measured".into(), |value| format!("{value:.2}"));
    values.iter().map(text).collect::<Vec<_>>().join(" and ")
}

fn rest(out: &mut String, rows: usize) {
    if rows > MAX_ROWS {
        let _ = writeln!(out, "  ({} more: see --markdown)", rows - MAX_ROWS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_some_targets_keeps_the_sections_of_the_others() {
        let before = "# Head\n\n## a.one\n\nPaper, Fig. 1: **agrees, in relations only**.\n\n| x |\n\n## gone\n\nPaper: **agrees**.\n";
        let page = page(["a.one", "a.two"].into_iter(), &[], before);
        let count = "1 of 1 targets agree; of these 1 in relations only, 0 calibrated.\n\nNot run yet: `a.two`.";
        assert!(page.contains(count), "{page}");
        assert!(page.contains("| [a.one](#aone) | Paper, Fig. 1 | agrees, in relations only |"), "{page}");
        assert!(page.ends_with("\n## a.one\n\nPaper, Fig. 1: **agrees, in relations only**.\n\n| x |\n"), "{page}");
        assert!(!page.contains("gone"));
    }
}
