//! Seeds of a target's rows.

use std::collections::BTreeMap;

use super::expression::Measure;

/// Consecutive seeds: a usual number for every row, and more for rows whose cases need them.
pub(super) struct Draws {
    first: u64,
    usual: u64,
    /// Number of seeds by part of a case.
    with: BTreeMap<String, u64>,
}

impl Draws {
    /// Takes the first seed, the usual number, and the numbers for cases with certain parts.
    pub(super) fn new(first: u64, usual: u64, with: BTreeMap<String, u64>) -> Self {
        Self { first, usual, with }
    }

    /// Seeds of a row whose cases need no more.
    pub(super) fn usual(&self) -> Vec<u64> {
        self.take(self.usual)
    }

    /// Number of seeds by part of a case.
    pub(super) fn with(&self) -> &BTreeMap<String, u64> {
        &self.with
    }

    /// Seeds of a row with these measures. Its cases are paired, so all have as many as the case with the most.
    pub(super) fn of(&self, measures: &[&Measure]) -> Vec<u64> {
        let parts = measures.iter().flat_map(|measure| measure.case.split('.'));
        self.take(parts.filter_map(|part| self.with.get(part).copied()).max().unwrap_or(self.usual))
    }

    fn take(&self, count: u64) -> Vec<u64> {
        (self.first..).take(count as usize).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cases_of_a_row_have_the_same_seeds() {
        let draws = Draws::new(11, 1, BTreeMap::from([("2".into(), 3), ("5".into(), 2)]));
        let of = |case: &str| Measure { metric: "owd_mean".into(), case: case.into(), flow: None, window: None };
        let [two, five, twelve] = [of("rr.2.l4s"), of("rr.5.l4s"), of("rr.12.l4s")];
        assert_eq!(draws.of(&[&two]), [11, 12, 13]);
        assert_eq!(draws.of(&[&five, &two]), [11, 12, 13]);
        assert_eq!(draws.of(&[&five, &twelve]), [11, 12]);
        assert_eq!(draws.of(&[&twelve]), draws.usual());
    }
}
