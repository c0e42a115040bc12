//! Rows that change with what the papers leave open: each free parameter at other values than ours.

use std::fmt::Write as _;

use miette::{Result, WrapErr as _};

use super::draws::Draws;
use super::outcome::Prepared;
use super::results::Outcome;
use super::runs::Wanted;
use super::target::{Parameter, Target, Targets};

const HEAD: &str = "# What depends on what was chosen

Written by `make papers-sensitivity`. Each parameter is one that a paper leaves open: its targets are run once more with half and with double of our value, or with the
other choice, and the rows whose verdicts change are named. The parameters are in `scenarios/papers/targets/`; thresholds, loads and times that a paper publishes are none of them, and what was taken
from a published result is in [calibration.md](calibration.md).
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
    scenario: String,
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

    /// Lists what it needs of runs.
    pub(super) fn wanted(&self) -> impl Iterator<Item = Wanted> {
        self.targets.iter().flat_map(Prepared::wanted)
    }

    /// Compares its targets' rows with those at our value.
    pub(super) fn changes(&self, judge: impl Fn(&Prepared<'_>) -> Outcome, ours: &[Outcome]) -> Changes {
        let mut changes = Changes {
            scenario: self.parameter.scenario.clone(),
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

/// The page, or the same for the terminal; `seeds` is how many of them each target was run with, at ours and at the other values.
pub(super) fn page(changes: &[Changes], seeds: Option<u64>) -> String {
    let seeds = seeds.map_or_else(|| "the target's own number of seeds".into(), |count| format!("{count} seeds"));
    let changing = changes.iter().filter(|of| !of.changed.is_empty()).count();
    let mut out = format!(
        "{HEAD}\nHere with {seeds}, for our value as for the other. **{changing} of {} other values** change a verdict. *Lost* are rows that agree or are better with ours alone, *gained* \
         those with the other alone.\n\n| scenario | parameter | ours | instead | rows | changed | lost | gained |\n| --- | --- | --- | --- | ---: | ---: | ---: | ---: |\n",
        changes.len()
    );
    for of in changes {
        let Changes { scenario, says, ours, value, rows, gained, lost, changed } = of;
        let count = changed.len();
        let _ = writeln!(out, "| {scenario} | {says} | {ours} | {value} | {rows} | {count} | {lost} | {gained} |");
    }
    for of in changes.iter().filter(|of| !of.changed.is_empty()) {
        let _ = writeln!(out, "\n## {}, {}: {} instead of {}\n", of.scenario, of.says, of.value, of.ours);
        of.changed.iter().for_each(|row| {
            let _ = writeln!(out, "- {row}");
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_counts_what_changes_and_names_it() {
        let of = |value: &str, changed: &[&str]| Changes {
            scenario: "s".into(),
            value: value.into(),
            says: "`key`".into(),
            ours: "2".into(),
            rows: 9,
            gained: 0,
            lost: changed.len(),
            changed: changed.iter().map(|row| (*row).into()).collect(),
        };
        let page = page(&[of("1", &[]), of("4", &["a.1, x: agrees → missed"])], Some(2));
        for text in [
            "Here with 2 seeds,",
            "**1 of 2 other values**",
            "| s | `key` | 2 | 1 | 9 | 0 | 0 | 0 |",
            "## s, `key`: 4 instead of 2\n\n- a.1, x: agrees → missed\n",
        ] {
            assert!(page.contains(text), "{text}\n{page}");
        }
        assert!(!page.contains("1 instead of 2"));
    }
}
