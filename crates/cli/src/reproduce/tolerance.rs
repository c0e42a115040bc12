//! Values of ours that agree with a published figure, and the side of them that is better.

use std::fmt::Write as _;

use tidemark_study::statistics::Estimate;

use super::target::{Figure, Good, Kind};
use super::verdict::Verdict;

/// Values that agree with a figure.
#[derive(Debug, PartialEq)]
pub(super) struct Tolerance {
    published: f64,
    low: f64,
    high: f64,
    /// Side on which a value beyond the tolerance is better than published.
    good: Option<Good>,
    /// True for a change between two of our own runs.
    is_reduction: bool,
}

impl Tolerance {
    /// Tolerance of a figure: of a value the wider of its relative and its absolute distance, to both sides; of a change its
    /// slack, and going further than published is better.
    pub(super) fn of(kind: Kind, figure: &Figure) -> Self {
        let published = figure.published;
        let is_reduction = kind == Kind::Reduction;
        let (distance, good) = if is_reduction {
            let further = if published < 0.0 { Good::Lower } else { Good::Higher };
            (figure.slack.unwrap_or(0.0), Some(further))
        } else {
            let relative = figure.within.unwrap_or(0.0) * published.abs();
            (relative.max(figure.floor.unwrap_or(0.0)), figure.better)
        };
        Self { published, low: published - distance, high: published + distance, good, is_reduction }
    }

    /// Verdict on a value of ours.
    pub(super) fn verdict(&self, ours: f64) -> Verdict {
        match self.good {
            _ if (self.low..=self.high).contains(&ours) => Verdict::Agrees,
            Some(Good::Lower) if ours < self.low => Verdict::Better,
            Some(Good::Higher) if ours > self.high => Verdict::Better,
            _ => Verdict::Missed,
        }
    }

    /// True if a bound lies in the interval of ours, so that other seeds may change the verdict.
    pub(super) fn is_near(&self, ours: &Estimate) -> bool {
        ours.interval()
            .is_some_and(|[low, high]| [self.low, self.high].iter().any(|bound| low < *bound && *bound < high))
    }

    /// Values that agree, in words.
    pub(super) fn text(&self) -> String {
        if self.is_reduction {
            return match self.good {
                Some(Good::Lower) => format!("{:.2} at most", self.high),
                _ => format!("{:.2} at least", self.low),
            };
        }
        let mut text = format!("{:.2} to {:.2}", self.low, self.high);
        let percent = 100.0 * (self.high - self.published) / self.published.abs();
        if percent.is_finite() {
            let _ = write!(text, " (± {percent:.0} %)");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(published: f64, within: f64, floor: f64, better: Option<Good>) -> Tolerance {
        let (within, floor) = (Some(within), Some(floor));
        Tolerance::of(Kind::Value, &Figure { published, within, floor, better, ..Figure::default() })
    }

    fn reduction(published: f64, slack: f64) -> Tolerance {
        Tolerance::of(Kind::Reduction, &Figure { published, slack: Some(slack), ..Figure::default() })
    }

    #[test]
    fn the_wider_of_both_distances_counts() {
        let agrees =
            |published, within, floor, ours| value(published, within, floor, None).verdict(ours) == Verdict::Agrees;
        assert!(agrees(100.0, 0.25, 3.0, 75.0) && !agrees(100.0, 0.25, 3.0, 74.9));
        assert!(agrees(1.0, 0.25, 3.0, 3.9) && !agrees(1.0, 0.25, 3.0, 4.1));
        let text = |published, within, floor| value(published, within, floor, None).text();
        assert_eq!(text(10.0, 0.25, 1.0), "7.50 to 12.50 (± 25 %)");
        assert_eq!(text(2.0, 0.25, 3.0), "-1.00 to 5.00 (± 150 %)");
        assert_eq!(text(0.0, 0.25, 1.0), "-1.00 to 1.00");
    }

    #[test]
    fn a_value_is_better_on_its_declared_side_alone() {
        let verdicts = |good| [10.0, 20.0, 30.0].map(|ours| value(20.0, 0.1, 0.0, good).verdict(ours));
        use Verdict::{Agrees, Better, Missed};
        assert_eq!(verdicts(None), [Missed, Agrees, Missed]);
        assert_eq!(verdicts(Some(Good::Lower)), [Better, Agrees, Missed]);
        assert_eq!(verdicts(Some(Good::Higher)), [Missed, Agrees, Better]);
    }

    #[test]
    fn a_change_that_goes_further_than_published_is_better() {
        use Verdict::{Agrees, Better, Missed};
        let verdicts = |published, slack, ours: [f64; 3]| ours.map(|ours| reduction(published, slack).verdict(ours));
        assert_eq!(verdicts(-90.0, 2.0, [-87.9, -88.0, -99.0]), [Missed, Agrees, Better]);
        assert_eq!(verdicts(148.0, 148.0, [-1.0, 0.0, 400.0]), [Missed, Agrees, Better]);
        assert_eq!(reduction(-90.0, 2.0).text(), "-88.00 at most");
    }

    #[test]
    fn a_bound_within_the_interval_is_near() {
        let near = |values: &[f64]| value(100.0, 0.1, 0.0, None).is_near(&Estimate::of(values).unwrap());
        assert!(near(&[88.0, 93.0]) && near(&[108.0, 113.0]));
        assert!(!near(&[99.9, 100.1]) && !near(&[110.0, 110.0]) && !near(&[110.0]));
    }
}
