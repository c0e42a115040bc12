//! Headlines from the files of `scenarios/papers/headlines/`.

use serde::Deserialize;

use super::verdict::Side;

/// Claim by which a reader would call a paper reproduced, as an effect between runs that differ in one respect.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Headline {
    /// Short names of the paper and the claim, joined by a dot.
    pub id: String,
    /// Figures, tables and sections that make the claim.
    pub source: String,
    /// Claim in a few words, for a table.
    pub claim: String,
    /// Published effect in a few words.
    pub published: String,
    /// Choices that the paper leaves open, made before any run.
    pub conditions: String,
    /// Scenario of its cases, unless a case names its own as `scenario:case`.
    #[serde(default)]
    pub scenario: String,
    /// True for a headline that runs within seconds, for `--quick`.
    #[serde(default)]
    pub quick: bool,
    /// Reason why it is not run.
    pub not_run: Option<String>,
    /// Evidence that it is impossible as published, if so.
    pub disputed: Option<String>,
    /// Part of our set-up that was fitted to this effect.
    pub calibrated: Option<String>,
    /// Parts, all of which must hold.
    #[serde(default)]
    pub part: Vec<Part>,
    /// System without the mechanism.
    pub null: Null,
}

/// System without the mechanism, which must fail the headline.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Null {
    /// Sentence on the result of such a system.
    pub says: String,
    /// Parts in the names of cases, and their replacements in the null's runs; none if the null is argued instead of run.
    #[serde(default)]
    pub replace: Vec<(String, String)>,
}

/// Part of a headline.
#[derive(Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Part {
    /// Ratio of two figures; over several rows their geometric mean.
    Ratio(Effect),
    /// Difference of two figures; over several rows their mean.
    Difference(Effect),
    /// Figures that lie within bounds, each row by itself.
    Bound(Bound),
    /// Difference whose interval contains zero.
    NoEffect(NoEffect),
    /// Figures in rising order.
    Order(Order),
    /// Column of figures, compared with a published one or with another of ours.
    Column(Column),
    /// Number of rows with an effect of one sign.
    Count(Count),
}

/// Effect between two arms.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Effect {
    /// Effect in words.
    pub says: String,
    /// Formula of the first arm; `$1` and so on stand for the words of a row, `$row` for the whole row.
    pub of: String,
    /// Formula of the second arm; without it the effect is the first arm's value.
    pub over: Option<String>,
    /// Pooled rows; `{a,b}` stands for each of several words.
    #[serde(default)]
    pub rows: Vec<String>,
    /// Published effect.
    pub published: Option<f64>,
    /// Bounds of the effect's size.
    pub bounds: Option<[f64; 2]>,
    /// Direction of the effect, if no published effect shows it.
    pub side: Option<Side>,
}

/// Figures within bounds.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bound {
    /// Statement in words.
    pub says: String,
    /// Formula.
    pub of: String,
    /// Rows, each of which must lie within the bounds.
    #[serde(default)]
    pub rows: Vec<String>,
    /// Published value.
    pub published: Option<f64>,
    /// Lowest and highest value.
    pub bounds: [f64; 2],
    /// Extent of the figure that must lie within the bounds.
    #[serde(default)]
    pub extent: Extent,
}

/// Difference that must be indistinguishable from zero.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoEffect {
    /// Statement in words.
    pub says: String,
    /// Formula of the difference.
    pub of: String,
}

/// Extent of a figure that is compared with bounds.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Extent {
    /// Mean over seeds.
    #[default]
    Mean,
    /// Interval of the mean.
    Interval,
    /// Each seed.
    Seeds,
}

/// Figures in rising order.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    /// Order in words.
    pub says: String,
    /// Formulas, from the lowest to the highest.
    pub values: Vec<String>,
    /// True if means decide; false if the interval of each step must exclude zero.
    #[serde(default)]
    pub means: bool,
}

/// Our column compared with a published one.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Column {
    /// Column in words.
    pub says: String,
    /// Formula of a row.
    pub of: String,
    /// Rows.
    pub rows: Vec<String>,
    /// Published values, one per row.
    #[serde(default)]
    pub published: Vec<f64>,
    /// Formula of a second column of ours, instead of published values.
    pub against: Option<String>,
    /// Minimum rank correlation; a negative number is a maximum.
    pub rank: Option<f64>,
    /// Bounds of the slope on the published column, whose interval must exclude zero.
    pub slope: Option<[f64; 2]>,
    /// True if the slope is computed from the values, not from their logarithms.
    #[serde(default)]
    pub plain: bool,
    /// Minimum value in both columns, for tables in whole units.
    pub floor: Option<f64>,
    /// Values below this are tied in rank.
    pub tied_below: Option<f64>,
}

/// Number of rows with an effect of one sign.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Count {
    /// Statement in words.
    pub says: String,
    /// Formula of a row, taken as a ratio to `over` if that is set.
    pub of: String,
    /// Formula of the other arm.
    pub over: Option<String>,
    /// Rows.
    pub rows: Vec<String>,
    /// The mean of a row, or its interval, must lie below this value.
    pub below: Option<f64>,
    /// The mean of a row, or its interval, must lie above this value.
    pub above: Option<f64>,
    /// Minimum number of rows whose mean lies there.
    pub means: usize,
    /// Minimum number of rows whose whole interval lies there.
    #[serde(default)]
    pub intervals: usize,
}

/// Expands `{a,b}` in a text to rows, from the left: `{x,y}.{1,2}` is `x.1`, `x.2`, `y.1`, `y.2`.
pub(super) fn expanded(row: &str) -> Vec<String> {
    let Some((before, rest)) = row.split_once('{') else { return vec![row.to_owned()] };
    let Some((choices, after)) = rest.split_once('}') else { return vec![row.to_owned()] };
    let after = expanded(after);
    choices.split(',').flat_map(|choice| after.iter().map(move |after| format!("{before}{choice}{after}"))).collect()
}

/// Writes a formula for a row: `$row` stands for the whole row, `$1` for its first word.
pub(super) fn formula(template: &str, row: &str) -> String {
    let mut text = template.replace("$row", row);
    for (index, word) in row.split_whitespace().enumerate() {
        text = text.replace(&format!("${}", index + 1), word);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_stand_for_each_of_several_words() {
        assert_eq!(expanded("{x,y}.{1,2}"), ["x.1", "x.2", "y.1", "y.2"]);
        assert_eq!(expanded("plain"), ["plain"]);
        assert_eq!(expanded("a {1 25,2 60}"), ["a 1 25", "a 2 60"]);
    }

    #[test]
    fn a_formula_takes_the_words_of_its_row() {
        assert_eq!(formula("a[$1.$2] / b[$row]", "x y"), "a[x.y] / b[x y]");
    }
}
