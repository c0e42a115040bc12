//! What came of a target: every figure beside the published one, every claim, and the verdict.

use miette::Result;

use super::expression::{Comparison, Expression, Measure};
use super::runs::Runs;
use super::target::{Figure, Kind, Target};
use super::{reduction, value};

/// The verdict of a target of which nothing was missed.
pub const AGREES: &str = "agrees";

/// A target's result.
pub struct Outcome {
    pub figures: Vec<FigureOutcome>,
    pub claims: Vec<ClaimOutcome>,
}

pub struct FigureOutcome {
    pub name: String,
    pub published: f64,
    /// `None` where it was not measured.
    pub ours: Option<f64>,
    /// What would agree.
    pub allowed: String,
    pub agrees: bool,
}

pub struct ClaimOutcome {
    pub says: String,
    /// The compared values, in their order.
    pub values: Vec<Option<f64>>,
    pub holds: bool,
}

impl Outcome {
    pub fn of(target: &Target, runs: &mut Runs<'_>, seeds: u64) -> Result<Self> {
        let seeds = target.seeds.unwrap_or(seeds);
        let figures: Vec<_> = target
            .figures()
            .into_iter()
            .map(|figure| Ok((Expression::parse(&figure.ours)?, figure)))
            .collect::<Result<_>>()?;
        let claims: Vec<_> = target
            .claims()
            .into_iter()
            .map(|claim| Ok((Comparison::parse(&claim.holds)?, claim)))
            .collect::<Result<_>>()?;
        let mut measures = Vec::new();
        figures.iter().for_each(|(formula, _)| formula.measures(&mut measures));
        claims.iter().flat_map(|(formula, _)| &formula.values).for_each(|value| value.measures(&mut measures));
        let cases: Vec<_> = measures.iter().map(|measure| measure.case.as_str()).collect();
        runs.prepare(&target.scenario, &cases, seeds)?;
        let measured = |measure: &Measure| runs.figure(&target.scenario, seeds, measure);
        Ok(Self {
            figures: figures
                .iter()
                .map(|(formula, figure)| judge(target.kind, figure, formula.evaluate(&measured)))
                .collect(),
            claims: claims
                .iter()
                .map(|(formula, claim)| {
                    let values: Vec<_> = formula.values.iter().map(|value| value.evaluate(&measured)).collect();
                    let complete: Option<Vec<_>> = values.iter().copied().collect();
                    let holds = complete.is_some_and(|values| formula.holds(&values));
                    ClaimOutcome { says: claim.says.clone(), values, holds }
                })
                .collect(),
        })
    }

    pub fn agrees(&self) -> bool {
        self.figures.iter().all(|figure| figure.agrees) && self.claims.iter().all(|claim| claim.holds)
    }

    /// `agrees`, or how much of it was missed.
    pub fn verdict(&self) -> String {
        let missed = self.figures.iter().filter(|figure| !figure.agrees).count()
            + self.claims.iter().filter(|claim| !claim.holds).count();
        match (missed, self.figures.len() + self.claims.len()) {
            (0, _) => AGREES.into(),
            (missed, all) => format!("missed ({missed} of {all})"),
        }
    }
}

fn judge(kind: Kind, figure: &Figure, ours: Option<f64>) -> FigureOutcome {
    let (agrees, allowed) = match kind {
        Kind::Reduction => reduction::judge(figure, ours),
        Kind::Value | Kind::Relation => value::judge(figure, ours),
    };
    FigureOutcome { name: figure.name.clone(), published: figure.published, ours, allowed, agrees }
}
