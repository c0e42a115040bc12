//! Rows that change with what the papers leave open: each free parameter at other values than ours.

use std::fmt::Write as _;

use miette::{Result, WrapErr as _};

use super::outcome::Prepared;
use super::results::Outcome;
use super::runs::Wanted;
use super::target::{Parameter, Target, Targets};

const HEAD: &str = "# What depends on what was chosen

Written by `tidemark reproduce --sensitivity --markdown FILE`. Each parameter is one that a paper does not publish; its targets are run once more
with other values, and the rows whose verdicts change are named. The parameters are in `scenarios/papers/targets/`.
";

/// A free parameter at another value, with the targets that are run so.
pub(super) struct Variation<'a> {
    parameter: &'a Parameter,
    /// The other value, in words.
    value: &'a str,
    targets: Vec<Prepared<'a>>,
}

/// Rows of a target whose verdicts changed, as sentences.
pub(super) struct Changes {
    value: String,
    says: String,
    ours: String,
    /// Rows that were compared.
    rows: usize,
    /// Change of the rows that agree or are better.
    gained: usize,
    lost: usize,
    changed: Vec<String>,
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
    /// Lists the other values of those parameters that a chosen target depends on.
    ///
    /// # Errors
    /// A formula that can't be read.
    pub(super) fn of(
        targets: &'a Targets,
        is_chosen: impl Fn(&Target) -> bool,
        seeds: impl Fn(&Target) -> Vec<u64>,
    ) -> Result<Vec<Self>> {
        let mut variations = Vec::new();
        for (index, parameter) in targets.parameter.iter().enumerate() {
            for (nth, value) in parameter.others.keys().enumerate() {
                let part = part(index, nth);
                let depends =
                    targets.target.iter().filter(|target| parameter.targets.contains(&target.id) && is_chosen(target));
                let varied = depends.map(|target| {
                    let prepared = Prepared::new(targets, target, seeds(target)).wrap_err_with(|| target.id.clone())?;
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

    /// Lists what it needs of runs.
    pub(super) fn wanted(&self) -> impl Iterator<Item = Wanted> {
        self.targets.iter().map(Prepared::wanted)
    }

    /// Compares its targets' rows with those at our value.
    pub(super) fn changes(&self, judge: impl Fn(&Prepared<'_>) -> Outcome, ours: &[Outcome]) -> Changes {
        let mut changes = Changes {
            value: self.value.into(),
            says: self.parameter.says.clone(),
            ours: self.parameter.ours.clone(),
            rows: 0,
            gained: 0,
            lost: 0,
            changed: Vec::new(),
        };
        for target in &self.targets {
            let other = judge(target);
            let Some(own) = ours.iter().find(|of| of.id == other.id) else { continue };
            for (before, now) in own.rows.iter().zip(&other.rows).filter(|(row, _)| !row.own) {
                changes.rows += 1;
                if before.verdict != now.verdict {
                    changes.gained += usize::from(now.verdict.is_good() && !before.verdict.is_good());
                    changes.lost += usize::from(before.verdict.is_good() && !now.verdict.is_good());
                    let (before_text, now_text) = (before.verdict.text(), now.verdict.text());
                    changes.changed.push(format!("{}, {}: {before_text} → {now_text}", own.id, before.name));
                }
            }
        }
        changes
    }
}

/// The page, or the same for the terminal.
pub(super) fn page(changes: &[Changes]) -> String {
    let mut out = format!(
        "{HEAD}\n| parameter | ours | instead | rows | lost | gained |\n| --- | --- | --- | ---: | ---: | ---: |\n"
    );
    for of in changes {
        let _ =
            writeln!(out, "| {} | {} | {} | {} | {} | {} |", of.says, of.ours, of.value, of.rows, of.lost, of.gained);
    }
    for of in changes {
        let _ = writeln!(out, "\n## {}: {}\n", of.says, of.value);
        if of.changed.is_empty() {
            let _ = writeln!(out, "No verdict of {} changes.", of.rows);
        }
        of.changed.iter().for_each(|row| {
            let _ = writeln!(out, "- {row}");
        });
    }
    out
}
