//! Rows that change with the parameters that the papers leave open. Each is also run at values other than ours.

use miette::{Result, WrapErr as _};

use super::document::csv;
use super::draws::Draws;
use super::outcome::Prepared;
use super::results::Outcome;
use super::runs::Wanted;
use super::target::{Parameter, Target, Targets};
use super::verdict::Verdict;
use tidemark_terminal::table::{table, text};

/// Columns of the CSV of changed rows.
const COLUMNS: [&str; 9] = ["scenario", "parameter", "ours", "instead", "rows", "target", "row", "before", "now"];

/// A free parameter at another value, with the targets that are run with it.
pub(super) struct Variation<'a> {
    parameter: &'a Parameter,
    /// The other value, in words.
    value: &'a str,
    targets: Vec<Prepared<'a>>,
}

/// Result of a parameter's other value: the rows whose verdicts changed.
pub(super) struct Changes {
    scenario: String,
    value: String,
    says: String,
    ours: String,
    /// Number of compared rows.
    rows: usize,
    changed: Vec<Changed>,
}

/// Row whose verdict changed.
struct Changed {
    target: String,
    row: String,
    before: Verdict,
    now: Verdict,
}

/// Name of the part of a case that sets a parameter to another value.
fn part(parameter: usize, value: usize) -> String {
    format!("other-{parameter}-{value}")
}

/// Adds the overrides of every parameter's other values to the parts of its scenario.
pub(super) fn add_parts(targets: &mut Targets) {
    for (index, parameter) in targets.parameter.iter().enumerate() {
        let parts = targets.parts.entry(parameter.scenario.clone()).or_default();
        for (nth, overrides) in parameter.others.values().enumerate() {
            parts.insert(part(index, nth), overrides.clone());
        }
    }
}

impl<'a> Variation<'a> {
    /// Lists the other values of the parameters that a chosen target depends on.
    ///
    /// # Errors
    /// A formula that can't be read.
    pub(super) fn of(
        targets: &'a Targets,
        is_chosen: impl Fn(&Target) -> bool,
        draws: impl Fn(&Target) -> Draws,
    ) -> Result<Vec<Self>> {
        let mut variations = Vec::new();
        for (index, parameter) in targets.parameter.iter().enumerate() {
            for (nth, value) in parameter.others.keys().enumerate() {
                let part = part(index, nth);
                let depends =
                    targets.target.iter().filter(|target| parameter.targets.contains(&target.id) && is_chosen(target));
                let varied = depends.map(|target| {
                    let prepared = Prepared::new(targets, target, draws(target)).wrap_err_with(|| target.id.clone())?;
                    Ok(prepared.varied(|case| parameter.varies(case).then(|| format!("{case}.{part}"))))
                });
                let varied = varied.collect::<Result<Vec<_>>>()?;
                if !varied.is_empty() {
                    variations.push(Self { parameter, value, targets: varied });
                }
            }
        }
        Ok(variations)
    }

    /// Lists the runs that it needs.
    pub(super) fn wanted(&self) -> impl Iterator<Item = Wanted> {
        self.targets.iter().flat_map(Prepared::wanted)
    }

    /// Compares its targets' rows with the rows at our value.
    pub(super) fn changes(&self, judge: impl Fn(&Prepared<'_>) -> Outcome, ours: &[Outcome]) -> Changes {
        let mut changes = Changes {
            scenario: self.parameter.scenario.clone(),
            value: self.value.into(),
            says: self.parameter.says.clone(),
            ours: self.parameter.ours.clone(),
            rows: 0,
            changed: Vec::new(),
        };
        for target in &self.targets {
            let other = judge(target);
            let Some(own) = ours.iter().find(|of| of.id == other.id) else { continue };
            for (before, now) in own.rows.iter().zip(&other.rows).filter(|(row, _)| !row.own) {
                changes.rows += 1;
                if before.verdict != now.verdict {
                    changes.changed.push(Changed {
                        target: own.id.clone(),
                        row: before.name.clone(),
                        before: before.verdict,
                        now: now.verdict,
                    });
                }
            }
        }
        changes
    }
}

impl Changes {
    fn lost(&self) -> usize {
        self.changed.iter().filter(|of| of.before == Verdict::Agrees).count()
    }

    fn gained(&self) -> usize {
        self.changed.iter().filter(|of| of.now == Verdict::Agrees).count()
    }
}

/// Counts for the terminal; `seeds` is the number of seeds of each target, at our value and at the others.
pub(super) fn on_terminal(changes: &[Changes], seeds: Option<u64>) -> String {
    let seeds = seeds.map_or_else(|| "the target's own number of seeds".into(), |count| format!("{count} seeds"));
    let changing = changes.iter().filter(|of| !of.changed.is_empty()).count();
    let mut rows = table(&["scenario", "parameter", "ours", "instead", "rows", "changed", "lost", "gained"]);
    for of in changes {
        let counts = [of.rows, of.changed.len(), of.lost(), of.gained()].map(|count| count.to_string());
        let names = [&of.scenario, &of.says, &of.ours, &of.value];
        rows.add_row(names.into_iter().chain(&counts).map(|cell| text(cell)));
    }
    format!("{rows}\n{changing} of {} other values change a verdict, with {seeds}", changes.len())
}

/// The changed rows as CSV. A value that changes none has a line without a row.
///
/// # Errors
/// A table that can't be written.
pub(super) fn rows(changes: &[Changes]) -> Result<String> {
    let rows = changes.iter().flat_map(|of| {
        let with = |changed: [String; 4]| {
            let [target, row, before, now] = changed;
            let [scenario, says, ours, value] = [&of.scenario, &of.says, &of.ours, &of.value].map(Clone::clone);
            [scenario, says, ours, value, of.rows.to_string(), target, row, before, now]
        };
        let none = of.changed.is_empty().then(|| with(Default::default()));
        let changed = of
            .changed
            .iter()
            .map(move |of| with([of.target.clone(), of.row.clone(), of.before.text().into(), of.now.text().into()]));
        changed.chain(none).collect::<Vec<_>>()
    });
    csv(&COLUMNS, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_change_are_counted_and_named() {
        let of = |value: &str, changed: Vec<Changed>| Changes {
            scenario: "s".into(),
            value: value.into(),
            says: "`key`".into(),
            ours: "2".into(),
            rows: 9,
            changed,
        };
        let lost = Changed { target: "a.1".into(), row: "x".into(), before: Verdict::Agrees, now: Verdict::Missed };
        let changes = [of("1", vec![]), of("4", vec![lost])];
        assert_eq!((changes[1].lost(), changes[1].gained()), (1, 0));
        assert!(on_terminal(&changes, Some(2)).ends_with("1 of 2 other values change a verdict, with 2 seeds"));
        let lines = ["s,`key`,2,1,9,,,,", "s,`key`,2,4,9,a.1,x,agrees,missed"];
        assert_eq!(rows(&changes).unwrap(), [COLUMNS.join(",").as_str(), lines[0], lines[1], ""].join("\n"));
    }
}
