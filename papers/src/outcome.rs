//! Outcome of a target: its figures beside the published ones, its claims, and the verdicts.

use std::collections::BTreeMap;

use miette::Result;
use tidemark_study::statistics::Estimate;

use super::claim;
use super::draws::Draws;
use super::expression::{Comparison, Expression, Measure};
use super::limit::Limit;
use super::procedure;
use super::results::{Outcome, Row, Value, rounded};
use super::runs::{Runs, Wanted};
use super::target::{Claim, Figure, Kind, Target, Targets, paper};
use super::tolerance::Tolerance;
use super::verdict::{Tally, Verdict};

/// A target with its formulas.
pub(super) struct Prepared<'a> {
    /// The target.
    pub target: &'a Target,
    draws: Draws,
    figures: Vec<(Figure, Expression)>,
    claims: Vec<(Claim, Comparison)>,
    limit: Limit<'a>,
    limit_says: Option<&'a str>,
    pictures: Vec<String>,
}

impl<'a> Prepared<'a> {
    /// Reads the formulas of a target, which is run with these seeds.
    ///
    /// # Errors
    /// A formula that can't be read.
    pub(super) fn new(targets: &'a Targets, target: &'a Target, draws: Draws) -> Result<Self> {
        let figure = |figure: Figure| {
            let formula = Expression::parse(&figure.ours)?;
            Ok((figure, formula))
        };
        let claim = |claim: Claim| {
            let formula = Comparison::parse(&claim.holds)?;
            Ok((claim, formula))
        };
        let figures = target.figures().into_iter().map(figure).collect::<Result<Vec<_>>>()?;
        let claims = target.claims().into_iter().map(claim).collect::<Result<Vec<_>>>()?;
        let oracle = targets.oracle.get(&target.scenario);
        let limit = Limit::of(target, oracle, &draws.usual(), &measures(&figures, &claims));
        let limit_says = oracle.and_then(|oracle| oracle.says.as_deref());
        Ok(Self { target, draws, figures, claims, limit, limit_says, pictures: targets.pictures_of(&target.id) })
    }

    /// Replaces each case whose name `case` maps to another one.
    pub(super) fn varied(mut self, case: impl Fn(&str) -> Option<String>) -> Self {
        let vary = |measure: &mut Measure| {
            if let Some(other) = case(&measure.case) {
                measure.case = other;
            }
        };
        let figures = self.figures.iter_mut().map(|(_, formula)| formula);
        let claims = self.claims.iter_mut().flat_map(|(_, formula)| &mut formula.values);
        figures.chain(claims).for_each(|formula| formula.change_measures(&vary));
        self
    }

    /// True if seeds do not matter.
    pub(super) fn is_procedure(&self) -> bool {
        procedure::is_known(&self.target.scenario)
    }

    /// Lists the runs that its rows need.
    pub(super) fn wanted(&self) -> Vec<Wanted> {
        let figures = self.figures.iter().map(|(_, formula)| std::slice::from_ref(formula));
        let claims = self.claims.iter().map(|(_, formula)| formula.values.as_slice());
        let of_row = |formulas: &[Expression]| {
            let measures = measures_of(formulas);
            let seeds = self.draws.of(&measures);
            Wanted { scenario: self.target.scenario.clone(), measures: measures.into_iter().cloned().collect(), seeds }
        };
        figures.chain(claims).map(of_row).collect()
    }

    /// Lists the runs that the limit beside its rows needs.
    pub(super) fn wanted_by_limit(&self) -> Wanted {
        self.limit.wanted()
    }

    /// Judges its figures and claims after the runs.
    pub(super) fn judge(&self, runs: &Runs<'_>) -> Outcome {
        let values = |formulas: &[Expression]| -> Vec<Vec<Option<f64>>> {
            let seeds = self.draws.of(&measures_of(formulas));
            let of_seed = |formula: &Expression, seed: &u64| {
                formula.evaluate(&|measure| runs.figure(&self.target.scenario, *seed, measure))
            };
            formulas.iter().map(|formula| seeds.iter().map(|seed| of_seed(formula, seed)).collect()).collect()
        };
        // A value that is made of several figures does not show them.
        let made_of = |formulas: &[Expression]| {
            let seeds = self.draws.of(&measures_of(formulas));
            let several = formulas.iter().filter(|formula| !matches!(formula, Expression::Measure(_)));
            let measures = several.flat_map(|formula| measures_of(std::slice::from_ref(formula)));
            let mean = |of: &Measure| runs.mean(&self.target.scenario, &seeds, of).map(rounded);
            measures.filter_map(|of| Some((of.to_string(), mean(of)?))).collect()
        };
        let figures = self.figures.iter().map(|(figure, formula)| {
            let formulas = std::slice::from_ref(formula);
            Row { figures: made_of(formulas), ..figure_row(self.target, figure, &values(formulas)[0]) }
        });
        let claims = self.claims.iter().map(|(claim, comparison)| {
            let formulas = &comparison.values;
            Row { figures: made_of(formulas), ..claim_row(self.target, claim, comparison, &values(formulas)) }
        });
        let rows: Vec<_> = figures.chain(claims).collect();
        let target = self.target;
        Outcome {
            id: target.id.clone(),
            paper: paper(&target.id).unwrap_or_default().to_owned(),
            mechanism: target.mechanism.clone(),
            kind: target.kind,
            source: target.source.clone(),
            text: target.text.trim().to_owned(),
            seeds: self.draws.usual().len(),
            seeds_with: self.draws.with().clone(),
            commit: tidemark_version::COMMIT.map(Into::into),
            verdict: Tally::of(rows.iter().filter(|row| !row.own).map(|row| row.verdict)).verdict(),
            calibrated: target.calibrated.as_ref().map(|of| of.says.trim().to_owned()),
            calibrated_to: rows
                .iter()
                .map(|row| &row.name)
                .filter(|name| target.is_calibrated_to(name))
                .cloned()
                .collect(),
            note: target.note.as_ref().map(|note| note.trim().to_owned()),
            contradicted: target.contradicted.clone(),
            limit_says: self.limit_says.map(Into::into),
            limit: self.limit.judge(runs),
            pictures: self.pictures.clone(),
            rows,
        }
    }
}

/// Figures that the formulas of a row need.
fn measures_of(formulas: &[Expression]) -> Vec<&Measure> {
    let mut measures = Vec::new();
    formulas.iter().for_each(|formula| formula.measures(&mut measures));
    measures
}

/// Every figure that the formulas need.
fn measures(figures: &[(Figure, Expression)], claims: &[(Claim, Comparison)]) -> Vec<Measure> {
    let mut measures = Vec::new();
    figures.iter().for_each(|(_, formula)| formula.measures(&mut measures));
    claims.iter().flat_map(|(_, formula)| &formula.values).for_each(|value| value.measures(&mut measures));
    measures.into_iter().cloned().collect()
}

fn figure_row(target: &Target, figure: &Figure, values: &[Option<f64>]) -> Row {
    let tolerance = Tolerance::of(target.kind, figure);
    let ours = estimate(values);
    Row {
        name: figure.name.clone(),
        kind: target.kind,
        verdict: figure_verdict(target, figure, ours.map(|ours| ours.mean)),
        own: false,
        published: Some(figure.published),
        ours: vec![Value::new(&figure.ours, ours)],
        figures: BTreeMap::new(),
        agrees_if: tolerance.text(),
        is_near: ours.is_some_and(|ours| tolerance.is_near(&ours)),
    }
}

/// Verdict on a figure by our mean.
fn figure_verdict(target: &Target, figure: &Figure, ours: Option<f64>) -> Verdict {
    match ours.map_or(Verdict::Missed, |ours| Tolerance::of(target.kind, figure).verdict(ours)) {
        _ if target.is_contradicted(&figure.name) => Verdict::Contradicted,
        verdict if !target.is_calibrated_to(&figure.name) => verdict,
        Verdict::Agrees => Verdict::Calibrated,
        _ => Verdict::Missed,
    }
}

fn claim_row(target: &Target, claim: &Claim, comparison: &Comparison, values: &[Vec<Option<f64>>]) -> Row {
    let judged = claim::judge(comparison, values);
    let ours = comparison.texts.iter().zip(values).map(|(text, values)| Value::new(text, estimate(values)));
    Row {
        name: claim.says.clone(),
        kind: Kind::Relation,
        verdict: if target.is_contradicted(&claim.says) { Verdict::Contradicted } else { judged.verdict },
        own: claim.own,
        published: None,
        ours: ours.collect(),
        figures: BTreeMap::new(),
        agrees_if: comparison.orders.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        is_near: judged.is_near,
    }
}

/// Estimate over the seeds that measured it.
fn estimate(values: &[Option<f64>]) -> Option<Estimate> {
    Estimate::of(&values.iter().copied().flatten().filter(|value| value.is_finite()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::results::Results;
    use super::*;

    #[test]
    fn stored_verdicts_are_those_that_the_targets_give_to_stored_values() {
        let targets = Targets::load().unwrap();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/papers/results.json");
        for stored in Results::read(&file).unwrap().targets {
            let id = &stored.id;
            let target = targets.target.iter().find(|target| target.id == *id).unwrap_or_else(|| panic!("{id}"));
            assert_eq!(stored.contradicted, target.contradicted, "{id}");
            let row = |name: &str| {
                let found = stored.rows.iter().find(|row| row.name == name);
                found.unwrap_or_else(|| panic!("{id} has no results of {name}: run it"))
            };
            for figure in target.figures() {
                let row = row(&figure.name);
                assert_eq!(row.verdict, figure_verdict(target, &figure, row.ours[0].mean), "{id}: {}", row.name);
                assert_eq!(row.agrees_if, Tolerance::of(target.kind, &figure).text(), "{id}: {}", row.name);
            }
            for claim in target.claims() {
                let is_contradicted = row(&claim.says).verdict == Verdict::Contradicted;
                assert_eq!(is_contradicted, target.is_contradicted(&claim.says), "{id}: {}", claim.says);
            }
            let counted = stored.of_paper().map(|row| row.verdict);
            assert_eq!(stored.verdict, Tally::of(counted).verdict(), "{id}");
        }
    }
}
