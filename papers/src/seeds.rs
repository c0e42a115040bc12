//! Compares verdicts from two sets of seeds: rows that change, and whether they were near a bound.

use miette::{Result, miette};

use super::document::{csv, ours};
use super::results::{Outcome, Results, Row};

/// Columns of the CSV of changed rows.
const COLUMNS: [&str; 8] = ["target", "row", "first_seeds", "other_seeds", "agrees_if", "before", "now", "near"];

/// Row whose verdict differs between two sets of seeds.
struct Change<'a> {
    target: &'a str,
    before: &'a Row,
    now: &'a Row,
}

/// Comparison of two sets of seeds.
pub(super) struct Seeds<'a> {
    /// Number of rows in both sets.
    rows: usize,
    changes: Vec<Change<'a>>,
    first_seed: u64,
}

impl<'a> Seeds<'a> {
    /// Compares the papers' rows by name.
    pub(super) fn compare(before: &'a Results, now: &'a [Outcome], first_seed: u64) -> Self {
        let mut seeds = Self { rows: 0, changes: Vec::new(), first_seed };
        for now in now {
            let Some(before) = before.targets.iter().find(|of| of.id == now.id) else { continue };
            for row in now.of_paper() {
                let Some(old) = before.rows.iter().find(|old| old.name == row.name) else { continue };
                seeds.rows += 1;
                if old.verdict != row.verdict {
                    seeds.changes.push(Change { target: &now.id, before: old, now: row });
                }
            }
        }
        seeds
    }

    /// Fails if rows change that were not near a bound.
    ///
    /// # Errors
    /// The names of these rows.
    pub(super) fn check(&self) -> Result<()> {
        let far = self.changes.iter().filter(|change| !change.is_near());
        let names: Vec<_> = far.map(|change| format!("{}: {}", change.target, change.before.name)).collect();
        if names.is_empty() {
            Ok(())
        } else {
            Err(miette!("rows that change though they were not near a bound:\n{}", names.join("\n")))
        }
    }

    /// Counts for the terminal.
    pub(super) fn on_terminal(&self) -> String {
        let near = self.changes.iter().filter(|change| change.is_near()).count();
        let (rows, changed) = (self.rows, self.changes.len());
        format!(
            "seeds from {}: {changed} of {rows} rows change their verdict, {near} of them near their bound",
            self.first_seed
        )
    }

    /// The rows that change as CSV.
    ///
    /// # Errors
    /// A table that can't be written.
    pub(super) fn rows(&self) -> Result<String> {
        csv(&COLUMNS, self.changes.iter().map(Change::cells))
    }
}

impl Change<'_> {
    fn is_near(&self) -> bool {
        self.before.is_near || self.now.is_near
    }

    fn cells(&self) -> [String; COLUMNS.len()] {
        let Self { target, before, now } = self;
        [
            (*target).into(),
            now.name.clone(),
            ours(before),
            ours(now),
            now.agrees_if.clone(),
            before.verdict.text().into(),
            now.verdict.text().into(),
            self.is_near().to_string(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::results::Value;
    use super::super::target::Kind;
    use super::super::verdict::Verdict;
    use super::*;

    fn outcome(rows: &[(&str, Verdict, bool)]) -> Outcome {
        let row = |(name, verdict, is_near): &(&str, Verdict, bool)| Row {
            name: (*name).into(),
            kind: Kind::Value,
            verdict: *verdict,
            own: name.starts_with("own"),
            published: Some(1.5),
            ours: vec![Value { formula: "f".into(), mean: Some(1.25), half: Some(0.5) }],
            figures: BTreeMap::new(),
            agrees_if: "1.00 to 2.00".into(),
            is_near: *is_near,
        };
        let rows: Vec<_> = rows.iter().map(row).collect();
        Outcome { id: "a.1".into(), rows, ..Outcome::default() }
    }

    #[test]
    fn a_row_may_change_if_it_is_near_in_one_of_the_sets() {
        use Verdict::{Agrees, Missed};
        let before = Results {
            targets: vec![outcome(&[
                ("x", Agrees, true),
                ("y", Missed, false),
                ("z", Agrees, false),
                ("own", Agrees, false),
            ])],
        };
        let now = [outcome(&[("x", Missed, false), ("y", Agrees, true), ("z", Agrees, false), ("own", Missed, false)])];
        let seeds = Seeds::compare(&before, &now, 1001);
        assert!(seeds.check().is_ok());
        assert_eq!(
            seeds.on_terminal(),
            "seeds from 1001: 2 of 3 rows change their verdict, 2 of them near their bound"
        );
        let line = "a.1,x,1.25 ± 0.50,1.25 ± 0.50,1.00 to 2.00,agrees,missed,true";
        assert_eq!(seeds.rows().unwrap().lines().nth(1), Some(line));
        let far = [outcome(&[("z", Missed, false)])];
        let error = Seeds::compare(&before, &far, 1001).check().unwrap_err().to_string();
        assert!(error.contains("a.1: z"), "{error}");
    }
}
