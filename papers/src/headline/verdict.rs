//! Verdicts on headlines and on their parts.

use serde::{Deserialize, Serialize};
use tidemark_study::statistics::Estimate;

/// Verdict on a part of a headline, from the worst to the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// Not shown, or not measured.
    Fails,
    /// An effect of the published sign with a size outside its bounds.
    DirectionOnly,
    /// Shown.
    Holds,
}

/// Verdict on a headline.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// Not run, for a reason that its file gives.
    NotRun,
    /// Impossible as published, with evidence. Counts as not held.
    Disputed,
    /// Also shown by a system without the mechanism, or by one that was calibrated to it.
    NoPower,
    /// A part fails.
    Fails,
    /// No part fails, but at least one has a size outside its bounds.
    DirectionOnly,
    /// Every part holds.
    Holds,
}

impl Verdict {
    /// Word for the verdict.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::NotRun => "not run",
            Self::Disputed => "disputed",
            Self::NoPower => "no power",
            Self::Fails => "fails",
            Self::DirectionOnly => "direction only",
            Self::Holds => "holds",
        }
    }

    /// Gives the verdict of a headline: the worst of its parts, or no power if a system without the mechanism also meets it.
    pub(crate) fn of(parts: impl IntoIterator<Item = Part>, null_holds: bool) -> Self {
        match parts.into_iter().min() {
            None | Some(Part::Fails) => Self::Fails,
            Some(_) if null_holds => Self::NoPower,
            Some(Part::DirectionOnly) => Self::DirectionOnly,
            Some(Part::Holds) => Self::Holds,
        }
    }
}

/// Side of the no-effect value on which a published effect lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Side {
    /// Below the no-effect value.
    Below,
    /// Above the no-effect value.
    Above,
}

/// Judges an effect by its estimate, in logarithms for a ratio: `none` is the no-effect value, and `bounds` are those of its size. Its interval
/// must exclude `none`, and its mean must lie within the bounds.
pub(super) fn effect(ours: &Estimate, none: f64, side: Side, bounds: Option<[f64; 2]>) -> Part {
    let is_shown = ours.interval().is_some_and(|[low, high]| match side {
        Side::Below => high < none,
        Side::Above => low > none,
    });
    match bounds {
        _ if !is_shown => Part::Fails,
        Some([low, high]) if !(low..=high).contains(&ours.mean) => Part::DirectionOnly,
        _ => Part::Holds,
    }
}

/// Judges a figure that must lie within bounds, with its whole interval if `whole`.
pub(super) fn bound(ours: &Estimate, bounds: [f64; 2], whole: bool) -> Part {
    let inside = |value: f64| (bounds[0]..=bounds[1]).contains(&value);
    let interval = ours.interval().is_some_and(|ends| ends.into_iter().all(inside));
    if inside(ours.mean) && (interval || !whole) { Part::Holds } else { Part::Fails }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Part::{DirectionOnly, Fails, Holds};
    use super::*;

    fn estimate(mean: f64, half: f64) -> Estimate {
        Estimate { mean, half: Some(half), count: 10 }
    }

    #[test]
    fn an_effect_needs_its_sign_and_its_size() {
        let judge = |mean, half| effect(&estimate(mean, half), 0.0, Side::Below, Some([-2.0, -0.5]));
        assert_eq!(judge(-1.0, 0.9), Holds);
        assert_eq!(judge(-0.4, 0.3), DirectionOnly, "too small");
        assert_eq!(judge(-2.5, 0.3), DirectionOnly, "too large");
        assert_eq!(judge(-1.0, 1.0), Fails, "the interval meets no effect");
        assert_eq!(judge(1.0, 0.1), Fails, "the other side");
        assert_eq!(effect(&estimate(0.1, 0.0), 0.0, Side::Above, None), Holds);
        let one = Estimate { mean: -1.0, half: None, count: 1 };
        assert_eq!(effect(&one, 0.0, Side::Below, None), Fails, "one seed has no interval");
    }

    #[test]
    fn a_bound_is_of_the_mean_or_of_the_whole_interval() {
        assert_eq!(bound(&estimate(0.45, 0.2), [0.4, 0.6], false), Holds);
        assert_eq!(bound(&estimate(0.45, 0.2), [0.4, 0.6], true), Fails);
        assert_eq!(bound(&estimate(0.5, 0.1), [0.35, 0.65], true), Holds);
        assert_eq!(bound(&estimate(0.7, 0.0), [0.4, 0.6], false), Fails);
    }

    #[test]
    fn a_headline_is_as_good_as_its_worst_part() {
        assert_eq!(Verdict::of([Holds, Holds], false), Verdict::Holds);
        assert_eq!(Verdict::of([Holds, DirectionOnly], false), Verdict::DirectionOnly);
        assert_eq!(Verdict::of([Holds, DirectionOnly, Fails], false), Verdict::Fails);
        assert_eq!(Verdict::of([Holds, Holds], true), Verdict::NoPower);
        assert_eq!(Verdict::of([Holds, Fails], true), Verdict::Fails);
        assert_eq!(Verdict::of([], false), Verdict::Fails, "a headline without a part shows nothing");
    }

    proptest! {
        #[test]
        fn no_verdict_improves_when_its_interval_widens(
            mean in -3.0..3.0f64, half in 0.0..3.0f64, more in 0.0..3.0f64, low in -2.0..0.0f64, width in 0.0..3.0f64,
        ) {
            let (narrow, wide) = (estimate(mean, half), estimate(mean, half + more));
            let bounds = [low, low + width];
            for side in [Side::Below, Side::Above] {
                prop_assert!(effect(&wide, 0.0, side, Some(bounds)) <= effect(&narrow, 0.0, side, Some(bounds)));
            }
            for whole in [false, true] {
                prop_assert!(bound(&wide, bounds, whole) <= bound(&narrow, bounds, whole));
            }
        }
    }
}
