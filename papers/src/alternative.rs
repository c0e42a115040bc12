//! Alternatives to a scenario's own mechanism: a law as its paper prints it, or a measured pattern. Both give the same rows of the same
//! targets.

use std::path::Path;

use miette::{Result, WrapErr as _, miette};

use super::document::csv;
use super::draws::Draws;
use super::outcome::Prepared;
use super::results::{Outcome, Row, Value};
use super::target::{Alternative, Target, Targets};

/// Columns of the CSV with both rows. A claim has several values and interval half-widths.
const COLUMNS: [&str; 10] = [
    "target",
    "row",
    "own",
    "published",
    "ours",
    "interval",
    "verdict",
    "alternative",
    "interval_of_alternative",
    "verdict_of_alternative",
];

/// Adds the overrides of every alternative to the parts of its scenario.
pub(super) fn add_parts(targets: &mut Targets) {
    for of in &targets.alternative {
        targets.parts.entry(of.scenario.clone()).or_default().insert(of.name.clone(), of.set.clone());
    }
}

/// Lists the alternatives of this name.
///
/// # Errors
/// An unknown name.
pub(super) fn named<'a>(targets: &'a Targets, name: &str) -> Result<Vec<&'a Alternative>> {
    let found: Vec<_> = targets.alternative.iter().filter(|of| of.name == name).collect();
    if found.is_empty() { Err(miette!("there is no alternative `{name}`")) } else { Ok(found) }
}

/// A measured file that an alternative needs and that is missing.
pub(super) fn missing<'a>(of: &[&'a Alternative]) -> Option<&'a str> {
    of.iter().filter_map(|of| of.needs.as_deref()).find(|file| !Path::new(file).exists())
}

/// Prepares the targets whose scenario has one of the alternatives, with it in place of the scenario's own mechanism.
///
/// # Errors
/// A formula that can't be read.
pub(super) fn prepare<'a>(
    targets: &'a Targets,
    alternatives: &[&'a Alternative],
    of: impl Iterator<Item = &'a Target>,
    draws: impl Fn(&Target) -> Draws,
) -> Result<Vec<Prepared<'a>>> {
    let both = of.filter_map(|target| Some((target, alternatives.iter().find(|of| of.scenario == target.scenario)?)));
    let prepared = both.map(|(target, alternative)| {
        let prepared = Prepared::new(targets, target, draws(target)).wrap_err_with(|| target.id.clone())?;
        Ok(prepared.varied(|case| alternative.is_of(case).then(|| format!("{case}.{}", alternative.name))))
    });
    prepared.collect()
}

/// The rows of both as CSV, without a verdict if the paper's figures do not apply to the alternative.
///
/// # Errors
/// A table that can't be written.
pub(super) fn rows(ours: &[Outcome], others: &[Outcome], is_judged: bool) -> Result<String> {
    let both = others.iter().filter_map(|of| Some((ours.iter().find(|own| own.id == of.id)?, of)));
    let rows = both
        .flat_map(|(own, of)| own.rows.iter().zip(&of.rows).map(move |(own, row)| cells(&of.id, own, row, is_judged)));
    csv(&COLUMNS, rows)
}

fn cells(target: &str, own: &Row, other: &Row, is_judged: bool) -> [String; COLUMNS.len()] {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let values = |row: &Row, part: fn(&Value) -> Option<f64>| {
        row.ours.iter().map(|value| number(part(value))).collect::<Vec<_>>().join("; ")
    };
    let of = |row: &Row| [values(row, |of| of.mean), values(row, |of| of.half), row.verdict.text().into()];
    let ([mean, half, verdict], [other_mean, other_half, other_verdict]) = (of(own), of(other));
    let (name, published, is_own) = (own.name.clone(), number(own.published), own.own.to_string());
    let other_verdict = if is_judged { other_verdict } else { String::new() };
    [target.into(), name, is_own, published, mean, half, verdict, other_mean, other_half, other_verdict]
}

#[cfg(test)]
mod tests {
    use super::super::target::Kind;
    use super::super::verdict::Verdict;
    use super::*;

    fn alternative(needs: Option<&str>) -> Alternative {
        Alternative {
            name: "as-printed".into(),
            scenario: "s".into(),
            set: Vec::new(),
            except: vec!["without".into(), "codel".into()],
            needs: needs.map(Into::into),
            judged: true,
        }
    }

    #[test]
    fn a_case_whose_law_is_another_one_stays() {
        let of = alternative(None);
        assert!(of.is_of("prague.static.with") && of.is_of(""));
        assert!(!of.is_of("prague.static.without") && !of.is_of("codel.prague"));
    }

    #[test]
    fn a_measured_file_that_is_absent_is_named() {
        let (without, with) = (alternative(None), alternative(Some("no/such/trace.csv")));
        assert_eq!(missing(&[&without]), None);
        assert_eq!(missing(&[&without, &with]), Some("no/such/trace.csv"));
    }

    #[test]
    fn a_row_has_ours_and_the_alternatives() {
        let outcome = |mean: f64, verdict| {
            let ours = vec![Value { formula: "f".into(), mean: Some(mean), half: Some(0.5) }];
            let row = Row {
                name: "delay, ms".into(),
                kind: Kind::Value,
                verdict,
                own: false,
                published: Some(2.0),
                ours,
                figures: Default::default(),
                agrees_if: "1.00 to 2.00".into(),
                is_near: false,
            };
            Outcome { id: "a.1".into(), rows: vec![row], ..Outcome::default() }
        };
        let (ours, other) = ([outcome(1.5, Verdict::Agrees)], [outcome(4.0, Verdict::Missed)]);
        let line = "a.1,\"delay, ms\",false,2,1.5,0.5,agrees,4,0.5,";
        assert_eq!(rows(&ours, &other, true).unwrap(), format!("{}\n{line}missed\n", COLUMNS.join(",")));
        assert_eq!(rows(&ours, &other, false).unwrap(), format!("{}\n{line}\n", COLUMNS.join(",")));
    }
}
