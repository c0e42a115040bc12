//! Range of our values that agree with a published figure.

use std::fmt::Write as _;

use tidemark_study::statistics::Estimate;

use super::target::{Figure, Kind};
use super::verdict::Verdict;

/// Values that agree with a figure.
#[derive(Debug, PartialEq)]
pub(super) struct Tolerance {
    published: f64,
    low: f64,
    high: f64,
    /// True for a change between two of our own runs.
    is_reduction: bool,
}

impl Tolerance {
    /// Range around a figure: for a value, the wider of its relative and absolute tolerance; for a change, its tolerance. A value that is
    /// better than published misses like one that is worse, because it differs.
    pub(super) fn of(kind: Kind, figure: &Figure) -> Self {
        let published = figure.published;
        let is_reduction = kind == Kind::Reduction;
        let distance = if is_reduction {
            figure.slack.unwrap_or(0.0)
        } else {
            let relative = figure.within.unwrap_or(0.0) * published.abs();
            relative.max(figure.floor.unwrap_or(0.0))
        };
        Self { published, low: published - distance, high: published + distance, is_reduction }
    }

    /// Verdict on our value.
    pub(super) fn verdict(&self, ours: f64) -> Verdict {
        if (self.low..=self.high).contains(&ours) { Verdict::Agrees } else { Verdict::Missed }
    }

    /// True if a bound lies within our interval, so that other seeds may change the verdict.
    pub(super) fn is_near(&self, ours: &Estimate) -> bool {
        ours.interval()
            .is_some_and(|[low, high]| [self.low, self.high].iter().any(|bound| low < *bound && *bound < high))
    }

    /// Values that agree, in words.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{:.2} to {:.2}", self.low, self.high);
        let percent = 100.0 * (self.high - self.published) / self.published.abs();
        if percent.is_finite() && !self.is_reduction {
            let _ = write!(text, " (± {percent:.0} %)");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(published: f64, within: f64, floor: f64) -> Tolerance {
        let (within, floor) = (Some(within), Some(floor));
        Tolerance::of(Kind::Value, &Figure { published, within, floor, ..Figure::default() })
    }

    fn reduction(published: f64, slack: f64) -> Tolerance {
        Tolerance::of(Kind::Reduction, &Figure { published, slack: Some(slack), ..Figure::default() })
    }

    #[test]
    fn the_wider_of_both_distances_counts() {
        let agrees = |published, within, floor, ours| value(published, within, floor).verdict(ours) == Verdict::Agrees;
        assert!(agrees(100.0, 0.25, 3.0, 75.0) && !agrees(100.0, 0.25, 3.0, 74.9));
        assert!(agrees(1.0, 0.25, 3.0, 3.9) && !agrees(1.0, 0.25, 3.0, 4.1));
        let text = |published, within, floor| value(published, within, floor).text();
        assert_eq!(text(10.0, 0.25, 1.0), "7.50 to 12.50 (± 25 %)");
        assert_eq!(text(2.0, 0.25, 3.0), "-1.00 to 5.00 (± 150 %)");
        assert_eq!(text(0.0, 0.25, 1.0), "-1.00 to 1.00");
    }

    #[test]
    fn what_lies_beyond_is_missed_on_either_side() {
        use Verdict::{Agrees, Missed};
        assert_eq!([10.0, 20.0, 30.0].map(|ours| value(20.0, 0.1, 0.0).verdict(ours)), [Missed, Agrees, Missed]);
        assert_eq!([-87.9, -88.0, -99.0].map(|ours| reduction(-90.0, 2.0).verdict(ours)), [Missed, Agrees, Missed]);
        assert_eq!(reduction(-90.0, 2.0).text(), "-92.00 to -88.00");
    }

    #[test]
    fn a_bound_within_the_interval_is_near() {
        let near = |values: &[f64]| value(100.0, 0.1, 0.0).is_near(&Estimate::of(values).unwrap());
        assert!(near(&[88.0, 93.0]) && near(&[108.0, 113.0]));
        assert!(!near(&[99.9, 100.1]) && !near(&[110.0, 110.0]) && !near(&[110.0]));
    }
}
