//! Seeds that a study adds where the interval of a metric is wide.

use crate::form::{UntilCi, Wrong};
use crate::metric::Metric;
use crate::schema::MAX_SEEDS;
use crate::statistics::Estimate;

/// Rule by which seeds are added to a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Widening {
    /// Metric whose intervals count.
    pub metric: Metric,
    /// Greatest half-width of a 95 % confidence interval, as a share of its mean.
    pub within: f64,
    /// Largest number of seeds for a point.
    pub max_seeds: u64,
}

impl Widening {
    pub(crate) fn new(form: &UntilCi, metrics: &[Metric]) -> Result<Self, Wrong> {
        let wrong = |key: &str, message: String| Wrong::new(&["until_ci", key], message);
        let within = share(&form.within).filter(|within| *within > 0.0 && *within < 1.0);
        let within = within.ok_or_else(|| {
            wrong("within", format!("`{}` is not a share between 0 and 1, as in 5 % or 0.05", form.within))
        })?;
        let metric = match &form.metric {
            Some(name) => Metric::parse(name).map_err(|message| wrong("metric", message))?,
            None => metrics[0].clone(),
        };
        if !(2..=MAX_SEEDS).contains(&form.max_seeds) {
            return Err(wrong("max_seeds", format!("must be between 2 and {MAX_SEEDS}")));
        }
        Ok(Self { metric, within, max_seeds: form.max_seeds })
    }

    /// Number of seeds to have next, of a point with the values of each group of flows at its seeds; `None` where all intervals are
    /// narrow, or no more seeds may be added.
    pub(crate) fn next(&self, seeds: usize, groups: &[Vec<f64>]) -> Option<usize> {
        let is_wide = |values: &Vec<f64>| match Estimate::of(values) {
            // What no run has does not get narrower by more of them.
            None => false,
            Some(estimate) => estimate.relative().is_none_or(|relative| relative > self.within),
        };
        let next = (seeds + (seeds / 2).max(1)).min(self.max_seeds as usize);
        (groups.iter().any(is_wide) && next > seeds).then_some(next)
    }
}

/// Reads a share: `5 %` or `0.05`.
pub(crate) fn share(text: &str) -> Option<f64> {
    let text = text.trim();
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    match text.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_added_until_every_group_is_sure_or_there_are_enough() {
        let form = UntilCi { within: "5 %".into(), metric: Some("owd_ms.p99".into()), max_seeds: 9 };
        let widening = Widening::new(&form, &[]).unwrap();
        let (sure, unsure) = (vec![10.0, 10.01, 9.99, 10.0], vec![10.0, 20.0, 5.0, 7.0]);
        assert_eq!(widening.next(4, &[sure.clone(), unsure.clone()]), Some(6));
        assert_eq!(widening.next(8, std::slice::from_ref(&unsure)), Some(9));
        assert_eq!(widening.next(9, &[unsure]), None);
        assert_eq!(widening.next(4, &[sure, Vec::new()]), None);
        // One seed says nothing of the spread.
        assert_eq!(widening.next(1, &[vec![10.0]]), Some(2));
    }
}
