//! Outcome of a target: every figure beside the published one, every claim, and the verdict.

use miette::Result;

use super::expression::{Comparison, Expression, Measure};
use super::runs::Runs;
use super::target::{Figure, Kind, Target};
use super::{reduction, value};

/// The verdict of a target of which nothing was missed.
pub(super) const AGREES: &str = "agrees";
/// Addition to it where there are no published figures.
pub(super) const RELATIONS_ONLY: &str = ", in relations only";
/// Addition to a verdict where a part of the scenario was taken from published results.
pub(super) const CALIBRATED: &str = ", calibrated";

/// A target's result.
pub(super) struct Outcome {
    /// Figures in the target's order.
    pub figures: Vec<FigureOutcome>,
    /// Claims in the target's order.
    pub claims: Vec<ClaimOutcome>,
    /// The widest relative tolerance of a value.
    pub within: Option<f64>,
    /// True if a part of the scenario was taken from published results.
    pub calibrated: bool,
}

/// Verdict on a figure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Verdict {
    /// Not measured, or outside its tolerance.
    Missed,
    /// A figure within its tolerance, which the scenario was calibrated to.
    Calibrated,
    /// A figure that agrees.
    Agrees,
}

impl Verdict {
    /// Gives the word for it.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Missed => "missed",
            Self::Calibrated => "calibrated",
            Self::Agrees => AGREES,
        }
    }
}

/// A figure beside the published one.
pub(super) struct FigureOutcome {
    /// Name of the figure.
    pub name: String,
    /// Value of the paper.
    pub published: f64,
    /// Value of our runs; `None` where it was not measured.
    pub ours: Option<f64>,
    /// Values that would agree, in words.
    pub allowed: String,
    /// Verdict on our value.
    pub verdict: Verdict,
}

/// A claim and its values.
pub(super) struct ClaimOutcome {
    /// The claim in words.
    pub says: String,
    /// The compared values, in their order.
    pub values: Vec<Option<f64>>,
    /// True if all values were measured and every order holds.
    pub holds: bool,
}

impl Outcome {
    /// Runs the cases of a target, with `seeds` seeds unless the target has its own number, and judges its figures and claims.
    ///
    /// # Errors
    /// A formula that can't be read, or a run that fails.
    pub(super) fn of(target: &Target, runs: &mut Runs<'_>, seeds: u64) -> Result<Self> {
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
                .map(|(formula, figure)| judge(target, figure, formula.evaluate(&measured)))
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
            within: widest(target),
            calibrated: target.calibrated.is_some(),
        })
    }

    /// True if nothing was missed.
    pub(super) fn agrees(&self) -> bool {
        self.missed() == 0
    }

    /// Words on the target: `agrees`, or the count of what was missed, and what limits the agreement. Figures that the scenario was
    /// calibrated to are not counted.
    pub(super) fn verdict(&self) -> String {
        let mut verdict = match self.missed() {
            0 if self.figures.is_empty() => format!("{AGREES}{RELATIONS_ONLY}"),
            0 => match self.within {
                Some(within) => format!("{AGREES} within {:.0} %", 100.0 * within),
                None => AGREES.to_owned(),
            },
            missed => {
                let calibrated = self.figures.iter().filter(|figure| figure.verdict == Verdict::Calibrated).count();
                format!("missed ({missed} of {})", self.figures.len() + self.claims.len() - calibrated)
            }
        };
        if self.calibrated {
            verdict.push_str(CALIBRATED);
        }
        verdict
    }

    fn missed(&self) -> usize {
        self.figures.iter().filter(|figure| figure.verdict == Verdict::Missed).count()
            + self.claims.iter().filter(|claim| !claim.holds).count()
    }
}

fn widest(target: &Target) -> Option<f64> {
    let counted = |figure: &Figure| target.kind == Kind::Value && !target.is_calibrated_to(&figure.name);
    let all = target.figures().into_iter().filter(counted).filter_map(|figure| figure.within);
    all.filter(|within| *within > 0.0).reduce(f64::max)
}

fn judge(target: &Target, figure: &Figure, ours: Option<f64>) -> FigureOutcome {
    let (agrees, allowed) = match target.kind {
        Kind::Reduction => reduction::judge(figure, ours),
        Kind::Value | Kind::Relation => value::judge(figure, ours),
    };
    let verdict = match agrees {
        false => Verdict::Missed,
        true if target.is_calibrated_to(&figure.name) => Verdict::Calibrated,
        true => Verdict::Agrees,
    };
    FigureOutcome { name: figure.name.clone(), published: figure.published, ours, allowed, verdict }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(figures: &[Verdict], claims: &[bool], calibrated: bool) -> Outcome {
        let figure = |verdict: &Verdict| FigureOutcome {
            name: String::new(),
            published: 0.0,
            ours: None,
            allowed: String::new(),
            verdict: *verdict,
        };
        let claim = |holds: &bool| ClaimOutcome { says: String::new(), values: Vec::new(), holds: *holds };
        let (figures, claims) = (figures.iter().map(figure).collect(), claims.iter().map(claim).collect());
        Outcome { figures, claims, within: None, calibrated }
    }

    #[test]
    fn what_was_calibrated_to_is_neither_agreement_nor_miss() {
        use Verdict::{Agrees, Calibrated, Missed};
        let verdict = |figures: &[Verdict], claims: &[bool]| outcome(figures, claims, true).verdict();
        assert_eq!(verdict(&[Agrees, Calibrated], &[true]), "agrees, calibrated");
        assert_eq!(verdict(&[Agrees, Calibrated, Calibrated], &[false]), "missed (1 of 2), calibrated");
        assert_eq!(verdict(&[Missed, Agrees], &[true]), "missed (1 of 3), calibrated");
    }

    #[test]
    fn agreement_of_values_says_how_near() {
        let outcome = Outcome { within: Some(0.5), ..outcome(&[Verdict::Agrees], &[], false) };
        assert_eq!(outcome.verdict(), "agrees within 50 %");
    }

    #[test]
    fn relations_alone_are_called_so() {
        assert_eq!(outcome(&[], &[true, true], false).verdict(), "agrees, in relations only");
        assert_eq!(outcome(&[], &[true, false], false).verdict(), "missed (1 of 2)");
        assert_eq!(outcome(&[Verdict::Agrees], &[true], false).verdict(), "agrees");
    }
}
