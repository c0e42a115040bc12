//! Verdicts on rows and on targets, and their counts.

use serde::{Deserialize, Serialize};

/// Verdict on a figure, a claim or a whole target.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    /// Not measured, or beyond the tolerance.
    #[default]
    Missed,
    /// An order between runs that the seeds do not decide.
    Tie,
    /// A figure that contradicts its own publication, or the program that it names.
    Contradicted,
    /// A figure that the scenario was calibrated to.
    Calibrated,
    /// Within the tolerance, or an order that holds.
    Agrees,
}

impl Verdict {
    /// Word for the verdict.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Missed => "missed",
            Self::Tie => "tie",
            Self::Contradicted => "contradicted",
            Self::Calibrated => "calibrated",
            Self::Agrees => "agrees",
        }
    }
}

/// Count of each verdict.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(super) struct Tally {
    /// Number that agree.
    pub agrees: usize,
    /// Number that miss.
    pub missed: usize,
    /// Number of orders that the seeds do not decide.
    pub tie: usize,
    /// Number that are calibrated, which prove nothing.
    pub calibrated: usize,
    /// Number that are contradicted, which can't be met.
    pub contradicted: usize,
}

impl Tally {
    /// Counts verdicts.
    pub(super) fn of(verdicts: impl IntoIterator<Item = Verdict>) -> Self {
        let mut tally = Self::default();
        for verdict in verdicts {
            *match verdict {
                Verdict::Agrees => &mut tally.agrees,
                Verdict::Missed => &mut tally.missed,
                Verdict::Tie => &mut tally.tie,
                Verdict::Calibrated => &mut tally.calibrated,
                Verdict::Contradicted => &mut tally.contradicted,
            } += 1;
        }
        tally
    }

    /// Number that could agree.
    pub(super) fn counted(&self) -> usize {
        self.agrees + self.missed + self.tie
    }

    /// Verdict on the whole: the worst of the rows that could agree or, without any, contradicted before calibrated.
    pub(super) fn verdict(&self) -> Verdict {
        match self {
            Self { missed: 1.., .. } => Verdict::Missed,
            Self { tie: 1.., .. } => Verdict::Tie,
            Self { agrees: 1.., .. } => Verdict::Agrees,
            Self { contradicted: 1.., .. } => Verdict::Contradicted,
            Self { calibrated: 1.., .. } => Verdict::Calibrated,
            _ => Verdict::Missed,
        }
    }

    /// The count in words: `22 of 24; 1 missed, 1 tie; beside them 2 calibrated`.
    pub(super) fn text(&self) -> String {
        let some = |counts: &[(usize, &str)]| {
            let parts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
            parts.collect::<Vec<_>>().join(", ")
        };
        let bad = some(&[(self.missed, "missed"), (self.tie, "tie")]);
        let beside = some(&[(self.contradicted, "contradicted"), (self.calibrated, "calibrated")]);
        let mut text = format!("{} of {}", self.agrees, self.counted());
        for (before, part) in [("; ", bad), ("; beside them ", beside)] {
            if !part.is_empty() {
                text = text + before + &part;
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{Agrees, Calibrated, Contradicted, Missed, Tie};
    use super::*;

    #[test]
    fn a_whole_is_as_good_as_the_worst_that_could_agree() {
        let whole = |verdicts: &[Verdict]| Tally::of(verdicts.iter().copied()).verdict();
        assert_eq!(whole(&[Agrees, Calibrated, Contradicted]), Agrees);
        assert_eq!(whole(&[Agrees, Tie, Missed]), Missed);
        assert_eq!(whole(&[Agrees, Tie]), Tie);
        assert_eq!(whole(&[Contradicted, Calibrated]), Contradicted);
        assert_eq!(whole(&[Calibrated]), Calibrated);
        assert_eq!(whole(&[]), Missed, "a target without a row shows nothing");
    }

    #[test]
    fn neither_calibrated_nor_contradicted_rows_are_counted() {
        let tally = Tally::of([Agrees, Agrees, Missed, Tie, Calibrated, Contradicted, Contradicted]);
        assert_eq!((tally.agrees, tally.counted()), (2, 4));
        assert_eq!(tally.text(), "2 of 4; 1 missed, 1 tie; beside them 2 contradicted, 1 calibrated");
        assert_eq!(Tally::of([Agrees]).text(), "1 of 1");
    }
}
