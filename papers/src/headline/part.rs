//! Parts of headlines with their formulas, and their verdicts after the runs.

use miette::{Result, miette};
use serde::{Deserialize, Serialize};
use tidemark_study::statistics::Estimate;

use super::super::expression::{Expression, Measure};
use super::super::results::rounded;
use super::declared::{self, Extent, expanded, formula};
use super::statistics::{jackknife, slope, spearman};
use super::verdict::{self, Side};

/// Outcome of a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Part in words.
    pub says: String,
    /// Verdict.
    pub verdict: verdict::Part,
    /// Published effect, if it is a single number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    /// Our mean over seeds. For a column, its slope, or its rank if no slope is required; for a count, its number of means.
    pub ours: Option<f64>,
    /// Lower end of the 95 % confidence interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Condition in words.
    pub needs: String,
    /// Logarithm of our ratio divided by the logarithm of the published one: 1 is the paper's effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotient: Option<f64>,
    /// Rank correlation of a column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<f64>,
    /// Number of rows whose interval lies on the counted side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<usize>,
    /// Values of the rows, if a part has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Option<f64>>,
}

/// Part with its formulas.
pub(super) struct Prepared<'a> {
    part: &'a declared::Part,
    /// Formulas of the rows, or the values of an order.
    of: Vec<Expression>,
    /// Formulas that they are compared with, one per row.
    over: Vec<Expression>,
}

/// Values of a formula, one per seed; `None` where a seed did not measure it.
type Values = Option<Vec<f64>>;

impl<'a> Prepared<'a> {
    /// Reads the formulas of a part, and applies the replacements `replace` to the names of cases.
    ///
    /// # Errors
    /// A formula that can't be read, or a column whose lengths differ.
    pub(super) fn new(part: &'a declared::Part, replace: &[(String, String)]) -> Result<Self> {
        let (of, over, rows): (&String, Option<&String>, &[String]) = match part {
            declared::Part::Ratio(effect) | declared::Part::Difference(effect) => {
                (&effect.of, effect.over.as_ref(), &effect.rows)
            }
            declared::Part::Bound(bound) => (&bound.of, None, &bound.rows),
            declared::Part::NoEffect(none) => (&none.of, None, &[]),
            declared::Part::Order(order) => {
                let of = order.values.iter().map(|text| read(text, replace)).collect::<Result<_>>()?;
                return Ok(Self { part, of, over: Vec::new() });
            }
            declared::Part::Column(column) => (&column.of, column.against.as_ref(), &column.rows),
            declared::Part::Count(count) => (&count.of, count.over.as_ref(), &count.rows),
        };
        let rows: Vec<_> =
            if rows.is_empty() { vec![String::new()] } else { rows.iter().flat_map(|row| expanded(row)).collect() };
        let each = |template: &String| -> Result<Vec<_>> {
            rows.iter().map(|row| read(&formula(template, row), replace)).collect()
        };
        let prepared = Self { part, of: each(of)?, over: over.map_or(Ok(Vec::new()), each)? };
        if let declared::Part::Column(column) = part
            && column.against.is_none()
            && column.published.len() != prepared.of.len()
        {
            let (rows, published) = (prepared.of.len(), column.published.len());
            return Err(miette!("`{}` has {rows} rows and {published} published values", column.says));
        }
        Ok(prepared)
    }

    /// Lists the figures that it needs.
    pub(super) fn measures(&self) -> Vec<&Measure> {
        let mut measures = Vec::new();
        self.of.iter().chain(&self.over).for_each(|formula| formula.measures(&mut measures));
        measures
    }

    /// Judges the part. `figure` gives a figure for a seed's index, which is below `seeds`.
    pub(super) fn judge(&self, seeds: usize, figure: &dyn Fn(usize, &Measure) -> Option<f64>) -> Outcome {
        let values = |formulas: &[Expression]| -> Vec<Values> {
            let of_seed = |formula: &Expression, seed: usize| {
                formula.evaluate(&|measure| figure(seed, measure)).filter(|value| value.is_finite())
            };
            formulas.iter().map(|formula| (0..seeds).map(|seed| of_seed(formula, seed)).collect()).collect()
        };
        let (of, over) = (values(&self.of), values(&self.over));
        match self.part {
            declared::Part::Ratio(effect) => ratio(effect, &of, &over, seeds),
            declared::Part::Difference(effect) => difference(effect, &of, &over, seeds),
            declared::Part::Bound(bound) => of_bound(bound, &of),
            declared::Part::NoEffect(none) => of_none(none, &of),
            declared::Part::Order(order) => of_order(order, &of),
            declared::Part::Column(column) => of_column(column, &of, &over, seeds),
            declared::Part::Count(count) => of_count(count, &of, &over, seeds),
        }
    }
}

fn read(text: &str, replace: &[(String, String)]) -> Result<Expression> {
    let mut formula = Expression::parse(text)?;
    formula.change_measures(&|measure| measure.case = replaced(&measure.case, replace));
    Ok(formula)
}

/// Replaces whole parts of a case's name, one or several adjacent ones; an empty text removes them.
fn replaced(case: &str, replace: &[(String, String)]) -> String {
    let (scenario, case) = case.split_once(':').map_or(("", case), |(scenario, case)| (scenario, case));
    let mut text = format!(".{case}.");
    for (old, new) in replace {
        text = text.replace(&format!(".{old}."), &format!(".{new}.")).replace("..", ".");
    }
    let case = text.trim_matches('.');
    if scenario.is_empty() { case.into() } else { format!("{scenario}:{case}") }
}

/// Outcome of a part that was not measured.
fn unmeasured(says: &str, published: Option<f64>, needs: String) -> Outcome {
    Outcome {
        says: says.into(),
        verdict: verdict::Part::Fails,
        published,
        ours: None,
        low: None,
        high: None,
        needs,
        quotient: None,
        rank: None,
        intervals: None,
        rows: Vec::new(),
    }
}

/// All rows, or `None` if one was not measured.
fn all(rows: &[Values]) -> Option<Vec<&[f64]>> {
    rows.iter().map(|values| values.as_deref()).collect()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// Mean over some seeds.
fn over_seeds(values: &[f64], seeds: &[usize]) -> f64 {
    mean(seeds.iter().map(|seed| values[*seed]))
}

/// Estimates the logarithm of a ratio: the mean of the logarithms over seeds or, if a value is zero in some seed, the logarithm of the
/// ratio of means, by the jackknife.
fn log_ratio(of: &[f64], over: Option<&[f64]>, seeds: usize) -> Option<Estimate> {
    let ones = vec![1.0; seeds];
    pooled_log_ratio(&[of], &[over.unwrap_or(&ones)], seeds)
}

/// Estimates the mean over rows of the logarithms of ratios.
fn pooled_log_ratio(of: &[&[f64]], over: &[&[f64]], seeds: usize) -> Option<Estimate> {
    let pairs = || of.iter().zip(over);
    if of.iter().chain(over).all(|row| row.iter().all(|value| *value > 0.0)) {
        let of_seed = |seed: usize| mean(pairs().map(|(of, over)| (of[seed] / over[seed]).ln()));
        return Estimate::of(&(0..seeds).map(of_seed).collect::<Vec<_>>());
    }
    jackknife(seeds, &|some| Some(mean(pairs().map(|(of, over)| (over_seeds(of, some) / over_seeds(over, some)).ln()))))
}

fn side(effect: &declared::Effect, none: f64) -> Side {
    effect.side.unwrap_or(match effect.published {
        Some(published) if published < none => Side::Below,
        _ => Side::Above,
    })
}

fn needs_of_effect(effect: &declared::Effect, none: f64) -> String {
    let word = match side(effect, none) {
        Side::Below => "below",
        Side::Above => "above",
    };
    let bounds = effect.bounds.map_or_else(String::new, |bounds| format!(", {}", of_bounds(bounds)));
    format!("interval {word} {none}{bounds}")
}

fn of_bounds([low, high]: [f64; 2]) -> String {
    match (low.is_finite(), high.is_finite()) {
        (true, true) => format!("{low} to {high}"),
        (true, false) => format!("{low} or more"),
        (false, true) => format!("{high} or less"),
        (false, false) => "any value".into(),
    }
}

fn ratio(effect: &declared::Effect, of: &[Values], over: &[Values], seeds: usize) -> Outcome {
    let blank = unmeasured(&effect.says, effect.published, needs_of_effect(effect, 1.0));
    let (Some(of), Some(over)) = (all(of), all(over)) else { return blank };
    let ones = vec![1.0; seeds];
    let over = if over.is_empty() { vec![ones.as_slice(); of.len()] } else { over };
    let side = side(effect, 1.0);
    let Some(log) = pooled_log_ratio(&of, &over, seeds) else {
        return without_logarithm(effect, blank, &of, &over, seeds);
    };
    let bounds = effect.bounds.map(|bounds| bounds.map(f64::ln));
    let quotient = effect.published.map(|published| log.mean / published.ln()).filter(|of| of.is_finite());
    Outcome {
        verdict: verdict::effect(&log, 0.0, side, bounds),
        ours: Some(rounded(log.mean.exp())),
        low: log.interval().map(|ends| rounded(ends[0].exp())),
        high: log.interval().map(|ends| rounded(ends[1].exp())),
        quotient: quotient.map(rounded),
        ..blank
    }
}

/// Judges a ratio with a side that is zero in every seed: its sign by the difference of the sides, its size by their means.
fn without_logarithm(
    effect: &declared::Effect,
    blank: Outcome,
    of: &[&[f64]],
    over: &[&[f64]],
    seeds: usize,
) -> Outcome {
    let of_seed = |seed: usize| mean(of.iter().zip(over).map(|(of, over)| of[seed] - over[seed]));
    let Some(difference) = Estimate::of(&(0..seeds).map(of_seed).collect::<Vec<_>>()) else { return blank };
    let all: Vec<_> = (0..seeds).collect();
    let total = |rows: &[&[f64]]| rows.iter().map(|row| over_seeds(row, &all)).sum::<f64>();
    let ours = total(of) / total(over);
    let is_inside = effect.bounds.is_none_or(|[low, high]| (low..=high).contains(&ours));
    let verdict = match verdict::effect(&difference, 0.0, side(effect, 1.0), None) {
        verdict::Part::Holds if !is_inside => verdict::Part::DirectionOnly,
        verdict => verdict,
    };
    Outcome { verdict, ours: ours.is_finite().then(|| rounded(ours)), ..blank }
}

fn difference(effect: &declared::Effect, of: &[Values], over: &[Values], seeds: usize) -> Outcome {
    let blank = unmeasured(&effect.says, effect.published, needs_of_effect(effect, 0.0));
    let (Some(of), Some(over)) = (all(of), all(over)) else { return blank };
    let zeros = vec![0.0; seeds];
    let over = if over.is_empty() { vec![zeros.as_slice(); of.len()] } else { over };
    let of_seed = |seed: usize| mean(of.iter().zip(&over).map(|(of, over)| of[seed] - over[seed]));
    let Some(ours) = Estimate::of(&(0..seeds).map(of_seed).collect::<Vec<_>>()) else { return blank };
    let quotient = effect.published.map(|published| ours.mean / published).filter(|of| of.is_finite());
    Outcome {
        verdict: verdict::effect(&ours, 0.0, side(effect, 0.0), effect.bounds),
        quotient: quotient.map(rounded),
        ..with(blank, &ours)
    }
}

/// Outcome with a mean and its interval.
fn with(blank: Outcome, ours: &Estimate) -> Outcome {
    Outcome {
        ours: Some(rounded(ours.mean)),
        low: ours.interval().map(|ends| rounded(ends[0])),
        high: ours.interval().map(|ends| rounded(ends[1])),
        ..blank
    }
}

fn of_bound(bound: &declared::Bound, of: &[Values]) -> Outcome {
    let extent = match bound.extent {
        Extent::Mean => "mean",
        Extent::Interval => "interval",
        Extent::Seeds => "every seed",
    };
    let blank = unmeasured(&bound.says, bound.published, format!("{extent} {}", of_bounds(bound.bounds)));
    let Some(rows) = all(of) else { return blank };
    let estimates: Option<Vec<_>> = rows.iter().map(|row| Estimate::of(row)).collect();
    let Some(estimates) = estimates else { return blank };
    let is_inside = |value: &f64| (bound.bounds[0]..=bound.bounds[1]).contains(value);
    let one = |(estimate, row): (&Estimate, &&[f64])| match bound.extent {
        Extent::Mean => verdict::bound(estimate, bound.bounds, false),
        Extent::Interval => verdict::bound(estimate, bound.bounds, true),
        Extent::Seeds if row.iter().all(is_inside) => verdict::Part::Holds,
        Extent::Seeds => verdict::Part::Fails,
    };
    let verdict = estimates.iter().zip(&rows).map(one).min().unwrap_or(verdict::Part::Fails);
    // The first row that fails is shown, or the first.
    let shown = estimates.iter().zip(&rows).position(|of| one(of) == verdict).unwrap_or(0);
    let means = estimates.iter().map(|of| Some(rounded(of.mean))).collect();
    let rows = if estimates.len() > 1 { means } else { Vec::new() };
    Outcome { verdict, rows, ..with(blank, &estimates[shown]) }
}

fn of_none(none: &declared::NoEffect, of: &[Values]) -> Outcome {
    let blank = unmeasured(&none.says, None, "interval around 0".into());
    let Some(ours) = of.first().and_then(|row| Estimate::of(row.as_deref()?)) else { return blank };
    let is_none = ours.is_tie().unwrap_or(false);
    Outcome { verdict: if is_none { verdict::Part::Holds } else { verdict::Part::Fails }, ..with(blank, &ours) }
}

fn of_order(order: &declared::Order, of: &[Values]) -> Outcome {
    let needs = if order.means { "means rise" } else { "each step's interval above 0" };
    let blank = unmeasured(&order.says, None, needs.into());
    let Some(values) = all(of) else { return blank };
    let mut least: Option<Estimate> = None;
    let mut verdict = verdict::Part::Holds;
    for pair in values.windows(2) {
        let steps: Vec<_> = pair[1].iter().zip(pair[0]).map(|(high, low)| high - low).collect();
        let Some(step) = Estimate::of(&steps) else { return blank };
        let rises = if order.means {
            if step.mean > 0.0 { verdict::Part::Holds } else { verdict::Part::Fails }
        } else {
            verdict::effect(&step, 0.0, Side::Above, None)
        };
        if least.is_none() || rises < verdict {
            least = Some(step);
        }
        verdict = verdict.min(rises);
    }
    let Some(least) = least else { return blank };
    let means = values.iter().map(|row| Some(rounded(mean(row.iter().copied())))).collect();
    Outcome { verdict, rows: means, ..with(blank, &least) }
}

fn of_column(column: &declared::Column, of: &[Values], against: &[Values], seeds: usize) -> Outcome {
    let rank_needs = column
        .rank
        .map(|rank| if rank < 0.0 { format!("rank {rank} or less") } else { format!("rank {rank} or more") });
    let slope_needs = column.slope.map(|bounds| format!("slope {}, its interval above 0", of_bounds(bounds)));
    let needs: Vec<_> = rank_needs.into_iter().chain(slope_needs).collect();
    let blank = unmeasured(&column.says, None, needs.join(", "));
    let (Some(ours), Some(against)) = (all(of), all(against)) else { return blank };
    let of_value = |value: f64| {
        let value = column.floor.map_or(value, |floor| value.max(floor));
        if column.plain { value } else { value.ln() }
    };
    let every: Vec<_> = (0..seeds).collect();
    // A value that no logarithm has in a seed is taken from means.
    let has_logarithms =
        column.plain || column.floor.is_some() || ours.iter().all(|row| row.iter().all(|of| *of > 0.0));
    let of_row = |row: &[f64], some: &[usize]| {
        if has_logarithms {
            mean(some.iter().map(|seed| of_value(row[*seed])))
        } else {
            of_value(over_seeds(row, some))
        }
    };
    let published: Vec<_> = if against.is_empty() {
        column.published.iter().map(|value| of_value(*value)).collect()
    } else {
        against.iter().map(|row| of_row(row, &every)).collect()
    };
    let means = |some: &[usize]| ours.iter().map(|row| of_row(row, some)).collect::<Vec<_>>();
    let tied = |values: &[f64]| -> Vec<f64> {
        let bound = column.tied_below.map_or(f64::NEG_INFINITY, of_value);
        values.iter().map(|value| value.max(bound)).collect()
    };
    let plain_rows = ours.iter().map(|row| Some(rounded(over_seeds(row, &every)))).collect();
    let rank = spearman(&tied(&means(&every)), &tied(&published));
    let rank_holds = column
        .rank
        .is_none_or(|least| rank.is_some_and(|rank| if least < 0.0 { rank <= least } else { rank >= least }));
    let blank = Outcome { rank: rank.map(rounded), rows: plain_rows, ..blank };
    if !rank_holds {
        return Outcome { ours: blank.rank, ..blank };
    }
    let Some(bounds) = column.slope else {
        return Outcome { ours: blank.rank, verdict: verdict::Part::Holds, ..blank };
    };
    let of_some = |some: &[usize]| slope(&published, &means(some)).filter(|of| of.is_finite());
    let Some(ours) = jackknife(seeds, &of_some) else { return blank };
    Outcome { verdict: verdict::effect(&ours, 0.0, Side::Above, Some(bounds)), ..with(blank, &ours) }
}

fn of_count(count: &declared::Count, of: &[Values], over: &[Values], seeds: usize) -> Outcome {
    let (side, limit) = match (count.below, count.above) {
        (Some(limit), _) => (Side::Below, limit),
        (None, limit) => (Side::Above, limit.unwrap_or(0.0)),
    };
    let word = if side == Side::Below { "below" } else { "above" };
    let needs = format!("{} of {} means and {} intervals {word} {limit}", count.means, of.len(), count.intervals);
    let blank = unmeasured(&count.says, None, needs);
    let (Some(of), Some(over)) = (all(of), all(over)) else { return blank };
    let (mut means, mut intervals, mut rows) = (0, 0, Vec::new());
    for (index, row) in of.iter().enumerate() {
        let of_row = match over.get(index) {
            Some(over) => log_ratio(row, Some(over), seeds).map(|of| (of, limit.ln(), true)),
            None => Estimate::of(row).map(|of| (of, limit, false)),
        };
        let Some((ours, limit, is_log)) = of_row else {
            rows.push(None);
            continue;
        };
        let lies = match side {
            Side::Below => ours.mean < limit,
            Side::Above => ours.mean > limit,
        };
        means += usize::from(lies);
        intervals += usize::from(verdict::effect(&ours, limit, side, None) == verdict::Part::Holds);
        rows.push(Some(rounded(if is_log { ours.mean.exp() } else { ours.mean })));
    }
    let holds = means >= count.means && intervals >= count.intervals;
    let verdict = if holds { verdict::Part::Holds } else { verdict::Part::Fails };
    Outcome { verdict, ours: Some(means as f64), intervals: Some(intervals), rows, ..blank }
}

#[cfg(test)]
mod tests {
    use super::super::verdict::Part::{DirectionOnly, Fails, Holds};
    use super::*;

    /// Judges a part by the values of its cases, each a list over seeds.
    fn judged(part: &str, values: &[(&str, &[f64])]) -> Outcome {
        let part: declared::Part = toml::from_str(part).unwrap();
        let prepared = Prepared::new(&part, &[]).unwrap();
        let figure = |seed: usize, measure: &Measure| {
            values.iter().find(|(case, _)| *case == measure.case).map(|(_, of)| of[seed])
        };
        prepared.judge(values[0].1.len(), &figure)
    }

    #[test]
    fn a_ratio_is_judged_by_the_logarithms_of_its_pairs() {
        let part = "kind = 'ratio'\nsays = 's'\nof = 'm[a]'\nover = 'm[b]'\npublished = 0.25\nbounds = [0.0625, 0.5]";
        // Ratios 1/2, 1/4, 1/8: their geometric mean is 1/4; the interval is ln 4 +- ln 2 * 4.303 / sqrt 3.
        let wide = judged(part, &[("a", &[4.0, 1.0, 1.0]), ("b", &[8.0, 4.0, 8.0])]);
        assert_eq!((wide.verdict, wide.ours, wide.quotient), (Fails, Some(0.25), Some(1.0)));
        assert!((wide.high.unwrap() - (0.25f64.ln() + 2f64.ln() * 4.302_652_73 / 3f64.sqrt()).exp()).abs() < 1e-3);
        let same = judged(part, &[("a", &[2.0, 1.0, 2.0]), ("b", &[8.0, 4.0, 8.0])]);
        assert_eq!(same.verdict, Holds);
        let small = judged(part, &[("a", &[6.0, 3.0, 6.0]), ("b", &[8.0, 4.0, 8.0])]);
        assert_eq!((small.verdict, small.ours), (DirectionOnly, Some(0.75)));
        assert_eq!(judged(part, &[("a", &[2.0, 1.0])]).verdict, Fails, "an arm that was not measured");
    }

    #[test]
    fn a_ratio_of_losses_that_are_zero_in_a_seed_is_that_of_means() {
        let part = "kind = 'ratio'\nsays = 's'\nof = 'm[a]'\nover = 'm[b]'\npublished = 0.25\nbounds = [0.0625, 0.5]";
        let some = judged(part, &[("a", &[0.0, 1.0, 1.0, 1.0]), ("b", &[3.0, 3.0, 3.0, 3.0])]);
        assert_eq!((some.verdict, some.ours), (Holds, Some(0.25)));
        let none = judged(part, &[("a", &[0.0; 3]), ("b", &[3.0, 3.1, 2.9])]);
        assert_eq!((none.verdict, none.ours), (DirectionOnly, Some(0.0)), "less than the least size");
        assert_eq!(judged(part, &[("a", &[0.0; 3]), ("b", &[0.0; 3])]).verdict, Fails);
    }

    #[test]
    fn a_difference_is_judged_by_its_pairs() {
        let part = "kind = 'difference'\nsays = 's'\nof = 'm[a]'\nover = 'm[b]'\npublished = 1.4\nbounds = [0.7, 2.8]";
        let judge = |a: [f64; 3]| judged(part, &[("a", &a), ("b", &[10.0, 20.0, 30.0])]).verdict;
        assert_eq!(judge([11.0, 21.1, 30.9]), Holds);
        assert_eq!(judge([13.0, 23.1, 32.9]), DirectionOnly);
        assert_eq!(judge([11.0, 19.0, 31.0]), Fails);
    }

    #[test]
    fn a_bound_may_be_of_each_seed() {
        let part =
            |extent| format!("kind = 'bound'\nsays = 's'\nof = 'm[a]'\nbounds = [0.0, 0.0]\nextent = '{extent}'");
        let judge = |values: &[f64], extent| judged(&part(extent), &[("a", values)]).verdict;
        assert_eq!(judge(&[0.0, 0.0], "seeds"), Holds);
        assert_eq!(judge(&[-1.0, 1.0], "seeds"), Fails);
        assert_eq!(judge(&[-1.0, 1.0], "mean"), Holds);
        assert_eq!(judge(&[-1.0, 1.0], "interval"), Fails);
    }

    #[test]
    fn no_effect_is_an_interval_around_zero() {
        let part = "kind = 'no-effect'\nsays = 's'\nof = 'm[a]'";
        let judge = |values: &[f64]| judged(part, &[("a", values)]).verdict;
        assert_eq!((judge(&[0.0, 0.0]), judge(&[-1.0, 1.1]), judge(&[1.0, 1.0])), (Holds, Holds, Fails));
    }

    #[test]
    fn a_null_replaces_whole_parts_of_a_case() {
        let of = |case: &str, old: &str, new: &str| replaced(case, &[(old.into(), new.into())]);
        assert_eq!(of("a.q2-1.b", "q2-1", "q2-100"), "a.q2-100.b");
        assert_eq!(of("a.q2-10", "q2-1", "q2-100"), "a.q2-10");
        assert_eq!(of("rr.l4s", "rr.l4s", "rr.not-l4s"), "rr.not-l4s");
        assert_eq!(of("rr.not-l4s", "l4s", "x"), "rr.not-l4s");
        assert_eq!(of("s:a.15mb.b", "15mb", ""), "s:a.b");
    }

    #[test]
    fn an_order_needs_every_step() {
        let part = "kind = 'order'\nsays = 's'\nvalues = ['m[a]', 'm[b]', 'm[c]']";
        let (a, b, c) = (&[1.0, 5.0, 9.0][..], &[2.0, 6.1, 9.9][..], &[2.1, 6.0, 10.0][..]);
        assert_eq!(judged(part, &[("a", a), ("b", b), ("c", b)]).verdict, Fails);
        assert_eq!(judged(part, &[("a", a), ("b", b), ("c", c)]).verdict, Fails, "a tie of the seeds");
        assert_eq!(judged(&format!("{part}\nmeans = true"), &[("a", a), ("b", b), ("c", c)]).verdict, Holds);
    }

    #[test]
    fn a_column_needs_its_rank_and_its_slope() {
        let part = "kind = 'column'\nsays = 's'\nof = 'm[$row]'\nrows = ['a', 'b', 'c']\npublished = [1, 10, 100]\nrank = 0.8\nslope = [0.5, 2]";
        let judge = |a: f64, b: f64, c: f64| {
            let outcome = judged(part, &[("a", &[a, a * 1.01]), ("b", &[b, b * 1.01]), ("c", &[c, c * 1.01])]);
            (outcome.verdict, outcome.ours)
        };
        assert_eq!(judge(2.0, 20.0, 200.0), (Holds, Some(1.0)));
        assert_eq!(judge(1.0, 10f64.powf(0.25), 10f64.sqrt()), (DirectionOnly, Some(0.25)));
        assert_eq!(judge(5.0, 5.0, 5.0), (Fails, None), "flat columns have no rank");
        assert_eq!(judge(3.0, 2.0, 1.0), (Fails, Some(-1.0)));
    }

    #[test]
    fn a_column_may_have_a_floor_and_ties() {
        let floor = "kind = 'column'\nsays = 's'\nof = 'm[$row]'\nrows = ['a', 'b', 'c']\npublished = [0, 1, 2]\nslope = [0.5, 2]\nfloor = 1.0";
        let outcome = judged(floor, &[("a", &[0.2, 0.3]), ("b", &[0.9, 0.8]), ("c", &[2.0, 2.0])]);
        assert_eq!((outcome.verdict, outcome.ours), (Holds, Some(1.0)));
        let tied = "kind = 'column'\nsays = 's'\nof = 'm[$row]'\nrows = ['a', 'b', 'c']\npublished = [1.04, 0.97, 1.5]\nrank = 1.0\ntied_below = 1.1";
        assert_eq!(judged(tied, &[("a", &[1.0, 1.0]), ("b", &[1.05, 1.05]), ("c", &[1.4, 1.4])]).verdict, Holds);
    }

    #[test]
    fn a_count_is_of_means_and_of_intervals() {
        let part = |intervals| {
            format!(
                "kind = 'count'\nsays = 's'\nof = 'm[$row]'\nover = 'm[n]'\nrows = ['a', 'b']\nbelow = 1.0\nmeans = 2\nintervals = {intervals}"
            )
        };
        let values: [(&str, &[f64]); 3] = [("a", &[1.0, 1.0, 1.1]), ("b", &[1.9, 2.1, 1.9]), ("n", &[2.0; 3])];
        let one = judged(&part(1), &values);
        assert_eq!((one.verdict, one.ours, one.intervals), (Holds, Some(2.0), Some(1)));
        assert_eq!(judged(&part(2), &values).verdict, Fails);
    }
}
