//! Points of a study: parameters that are crossed, parameters that change together, and cases with parameters of their own.

use std::collections::BTreeSet;

use crate::values::{Value, Values};

/// Axes that are crossed. The first changes slowest.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Grid {
    pub(crate) axes: Vec<Axis>,
}

/// Axis of a study.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Axis {
    /// Parameters whose values change together; usually one.
    Keys(Vec<(String, Values)>),
    /// Cases under a name of the study's own.
    Cases { name: String, cases: Vec<Case> },
}

/// A case: values that it sets, and what is varied within it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) label: String,
    /// Keys with values.
    pub(crate) set: Vec<(String, Value)>,
    pub(crate) grid: Grid,
}

/// One point of a study.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Varied keys, and names of cases, with their values as text.
    pub values: Vec<(String, String)>,
    /// `key=value` overrides that make the scenario of it, in order.
    pub assignments: Vec<String>,
}

impl Grid {
    /// Number of points.
    pub(crate) fn count(&self) -> u128 {
        self.axes.iter().map(Axis::count).fold(1, u128::saturating_mul)
    }

    /// Adds the values of the point at an index below [`count`](Self::count).
    pub(crate) fn add(&self, mut index: u128, point: &mut Point) {
        let mut below = self.count();
        for axis in &self.axes {
            below /= axis.count();
            axis.add(index / below, point);
            index %= below;
        }
    }

    /// Writes a key in place of a short one, wherever that is varied.
    ///
    /// # Errors
    /// The key's error, if the short one is varied.
    pub(crate) fn rename(&mut self, short: &str, key: &Result<String, String>) -> Result<(), String> {
        for axis in &mut self.axes {
            match axis {
                Axis::Keys(keys) => {
                    for (name, _) in keys.iter_mut().filter(|(name, _)| name == short) {
                        *name = key.clone()?;
                    }
                }
                Axis::Cases { cases, .. } => cases.iter_mut().try_for_each(|case| case.grid.rename(short, key))?,
            }
        }
        Ok(())
    }

    /// Adds names of columns that are not among them yet.
    pub(crate) fn columns(&self, names: &mut Vec<String>) {
        let mut add = |name: &String| {
            if !names.contains(name) {
                names.push(name.clone());
            }
        };
        for axis in &self.axes {
            match axis {
                Axis::Keys(keys) => keys.iter().for_each(|(key, _)| add(key)),
                Axis::Cases { name, .. } => add(name),
            }
        }
        for axis in &self.axes {
            if let Axis::Cases { cases, .. } = axis {
                cases.iter().for_each(|case| case.grid.columns(names));
            }
        }
    }
}

impl Axis {
    fn count(&self) -> u128 {
        match self {
            Self::Keys(keys) => keys.first().map_or(1, |(_, values)| values.count().into()),
            Self::Cases { cases, .. } => cases.iter().map(|case| case.grid.count()).fold(0, u128::saturating_add),
        }
    }

    /// Values that are listed twice, in one line; ranges have none.
    pub(crate) fn repeated(&self) -> Option<String> {
        let Self::Keys(keys) = self else { return None };
        if keys.iter().any(|(_, values)| matches!(values, Values::Range { .. })) {
            return None;
        }
        let mut seen = BTreeSet::new();
        let nth = |index| keys.iter().map(move |(_, values)| values.nth(index));
        (0..self.count() as u64)
            .find(|index| !seen.insert(nth(*index).map(|value| value.assigned).collect::<Vec<_>>()))
            .map(|index| nth(index).map(|value| value.shown).collect::<Vec<_>>().join(", "))
    }

    fn add(&self, mut index: u128, point: &mut Point) {
        match self {
            Self::Keys(keys) => {
                for (key, values) in keys {
                    point.set(key, &values.nth(index as u64));
                    point.values.push((key.clone(), values.nth(index as u64).shown));
                }
            }
            Self::Cases { name, cases } => {
                for case in cases {
                    if index < case.grid.count() {
                        point.values.push((name.clone(), case.label.clone()));
                        case.set.iter().for_each(|(key, value)| point.set(key, value));
                        case.grid.add(index, point);
                        return;
                    }
                    index -= case.grid.count();
                }
            }
        }
    }
}

impl Point {
    pub(crate) fn set(&mut self, key: &str, value: &Value) {
        self.assignments.push(format!("{key}={}", value.assigned));
    }

    /// Value of a varied key, or the label of a case; `None` where this point does not vary it.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Values in one line, as in `marker.law=ramp, ue.0.count=4`.
    pub fn label(&self) -> String {
        self.values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(key: &str, values: &str) -> Axis {
        Axis::Keys(vec![(key.into(), Values::parse(values).unwrap())])
    }

    fn labels(grid: &Grid) -> Vec<String> {
        let point = |index| {
            let mut point = Point::default();
            grid.add(index, &mut point);
            point.label()
        };
        (0..grid.count()).map(point).collect()
    }

    #[test]
    fn axes_are_crossed_and_the_first_changes_slowest() {
        let grid = Grid { axes: vec![keys("a", "1,2"), keys("b", "3..5+1")] };
        assert_eq!(labels(&grid), ["a=1, b=3", "a=1, b=4", "a=1, b=5", "a=2, b=3", "a=2, b=4", "a=2, b=5"]);
        assert_eq!(labels(&Grid::default()), [""]);
    }

    #[test]
    fn a_case_varies_what_belongs_to_it() {
        let case = |label: &str, axes| Case { label: label.into(), set: Vec::new(), grid: Grid { axes } };
        let cases = Axis::Cases {
            name: "way".into(),
            cases: vec![case("none", vec![]), case("ramp", vec![keys("low", "2,5")])],
        };
        let grid = Grid { axes: vec![cases, keys("n", "1,2")] };
        assert_eq!(
            labels(&grid),
            [
                "way=none, n=1",
                "way=none, n=2",
                "way=ramp, low=2, n=1",
                "way=ramp, low=2, n=2",
                "way=ramp, low=5, n=1",
                "way=ramp, low=5, n=2"
            ]
        );
        let mut columns = Vec::new();
        grid.columns(&mut columns);
        assert_eq!(columns, ["way", "n", "low"]);
    }
}
