//! Search for the largest whole number at which a condition holds: how many users a cell carries.

use std::fmt;

use tidemark_sim::scenario::Scenario;

use crate::form::{Find, Wrong};
use crate::grid::Point;
use crate::metric::Metric;
use crate::seeds::share;

/// Short key for the number of UEs, in a scenario with one kind of them.
pub(crate) const USERS: &str = "users";

/// Search along one parameter. Larger values are assumed to be worse: the search tries 1, 2, 4 and so on, and then
/// bisects between the last success and the first failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Key of the parameter.
    pub key: String,
    /// Condition, on the mean over all seeds.
    pub condition: Condition,
    /// Largest value to try.
    pub max: u64,
}

/// Condition on a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Metric; one of flows is taken over all flows of a run.
    pub metric: Metric,
    /// True for a condition that holds from `value` on, false for one that holds up to it.
    pub is_least: bool,
    /// Bound, which itself meets the condition.
    pub value: f64,
}

/// State of a search at one point of a study.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bracket {
    /// Largest value at which the condition held.
    pub(crate) good: Option<u64>,
    /// Least value at which it did not.
    pub(crate) bad: Option<u64>,
}

impl Search {
    pub(crate) fn new(form: &Find, scenario: &Scenario) -> Result<Self, Wrong> {
        let wrong = |key: &str, message: String| Wrong::new(&["find", key], message);
        let key = match form.key.as_str() {
            USERS => count_of_users(scenario).map_err(|message| wrong("key", message))?,
            key => key.to_string(),
        };
        if form.max == 0 {
            return Err(wrong("max", "must be 1 or more".into()));
        }
        let condition = Condition::parse(&form.until).map_err(|message| wrong("until", message))?;
        Ok(Self { key, condition, max: form.max })
    }

    /// Point at a value of the parameter.
    pub(crate) fn at(&self, point: &Point, value: u64) -> Point {
        let mut point = point.clone();
        point.assignments.push(format!("{}={value}", self.key));
        point.values.push((self.key.clone(), value.to_string()));
        point
    }

    /// Value to try next; `None` once the search is over.
    pub(crate) fn next(&self, bracket: &Bracket) -> Option<u64> {
        match (bracket.good, bracket.bad) {
            (None, None) => Some(1),
            (Some(good), None) => (good < self.max).then(|| good.saturating_mul(2).min(self.max)),
            (good, Some(bad)) => {
                let good = good.unwrap_or(0);
                (bad - good > 1).then(|| good + (bad - good) / 2)
            }
        }
    }
}

/// Key of the number of UEs in a scenario with one kind of them.
///
/// # Errors
/// Several kinds or none, with the keys that would be right.
pub(crate) fn count_of_users(scenario: &Scenario) -> Result<String, String> {
    let kinds: Vec<_> = scenario.ue.iter().map(|ue| format!("ue.{}.count", ue.name)).collect();
    match &kinds[..] {
        [_] => Ok("ue.0.count".into()),
        [] => Err(format!("`{USERS}` counts UEs, and the scenario has none: give it a [[ue]]")),
        several => {
            let (count, right) = (several.len(), several.join(" or "));
            Err(format!("`{USERS}` counts UEs of one kind, and the scenario has {count} kinds: name {right}"))
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.metric, if self.is_least { ">=" } else { "<=" }, self.value)
    }
}

impl Condition {
    /// Reads a condition, as in `satisfied >= 90 %` or `owd_ms.p99 <= 20`.
    ///
    /// # Errors
    /// What is wrong, and what would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is not a condition: write a metric, >= or <=, and a number, as in satisfied >= 90 %");
        let (metric, is_least, value) = match (text.split_once(">="), text.split_once("<=")) {
            (Some((metric, value)), None) => (metric, true, value),
            (None, Some((metric, value))) => (metric, false, value),
            _ => return Err(wrong()),
        };
        let (metric, number) = (Metric::parse(metric)?, share(value).ok_or_else(wrong)?);
        if metric.is_share() && number > 1.0 {
            return Err(format!("`{text}`: `{metric}` is a share, at most 1: write {} %", value.trim()));
        }
        Ok(Self { metric, is_least, value: number })
    }

    /// True for a mean that meets the condition.
    pub fn holds(&self, mean: f64) -> bool {
        if self.is_least { mean >= self.value } else { mean <= self.value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_above_one_is_refused() {
        let error = |text: &str| Condition::parse(text).unwrap_err();
        assert_eq!(error("satisfied >= 90"), "`satisfied >= 90`: `satisfied` is a share, at most 1: write 90 %");
        assert!(error("media.in_budget >= 1.01").contains("share"));
        assert!(Condition::parse("owd_ms.p99 <= 20").is_ok() && Condition::parse("satisfied >= 90 %").is_ok());
    }

    fn search(max: u64) -> Search {
        Search { key: "ue.0.count".into(), condition: Condition::parse("jain >= 90 %").unwrap(), max }
    }

    fn find(search: &Search, limit: u64) -> (Option<u64>, usize) {
        let (mut bracket, mut tries) = (Bracket::default(), 0);
        while let Some(value) = search.next(&bracket) {
            if value <= limit {
                bracket.good = Some(value)
            } else {
                bracket.bad = Some(value)
            }
            tries += 1;
        }
        (bracket.good, tries)
    }

    #[test]
    fn the_largest_value_is_found_in_few_tries() {
        for limit in [0, 1, 2, 3, 17, 64, 100, 999, 1024, 5000] {
            let (found, tries) = find(&search(1024), limit);
            assert_eq!(found, (limit > 0).then_some(limit.min(1024)), "{limit}");
            assert!(tries <= 21, "{limit}: {tries}");
        }
    }

    #[test]
    fn a_condition_names_a_metric_and_a_bound() {
        let condition = Condition::parse("owd_ms.p99<=20").unwrap();
        assert!(condition.holds(20.0) && !condition.holds(20.1));
        assert!(search(1).condition.holds(0.9) && !search(1).condition.holds(0.89));
        assert!(Condition::parse("owd_ms.p99 < 20").unwrap_err().contains(">= or <="));
        assert!(Condition::parse("nothing >= 20").unwrap_err().contains("summary.json"));
    }
}
