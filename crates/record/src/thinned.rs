//! Series for the report page, reduced to the points that a screen can show. Extremes are kept.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::fields::{Declared, Fields};
use crate::result::{CellSeries, FlowSeries, RouterSeries, RunResult, Series, UeSeries, UplinkSeries};

/// Largest number of points of a line.
const MOST: usize = 2_000;
/// Largest number of values in all lines together, which make a page of 30 MB.
const ALL: usize = 4_000_000;
/// Decimals of a number: more than a plot shows.
const SCALE: f64 = 1e4;

/// Series of a run, thinned.
pub(crate) struct Thinned<'a> {
    series: &'a Series,
    /// Flows, UEs, routers and cells.
    subjects: [usize; 4],
    runs: Runs,
}

/// Intervals that become two points each.
#[derive(Clone, Copy, Debug)]
struct Runs {
    intervals: usize,
    /// Intervals of a run; 1 where every interval is a point of its own.
    length: usize,
}

impl Runs {
    /// Runs of this many intervals, of which at most this many points come.
    fn new(intervals: usize, points: usize) -> Self {
        let length = if intervals <= points { 1 } else { (2 * intervals).div_ceil(points.max(2)) };
        Self { intervals, length }
    }

    /// Intervals of each run.
    fn iter(self) -> impl Iterator<Item = std::ops::Range<usize>> {
        (0..self.intervals).step_by(self.length).map(move |start| start..(start + self.length).min(self.intervals))
    }

    /// Intervals at whose ends the points of a run stand: its middle and its last one.
    fn points(self, run: std::ops::Range<usize>) -> impl Iterator<Item = usize> {
        let middle = run.start + (run.len() - 1) / 2;
        (run.len() > 1).then_some(middle).into_iter().chain([run.end - 1])
    }

    /// Values of a run's points: its least and its largest, in their order.
    fn values(
        self,
        run: std::ops::Range<usize>,
        at: impl Fn(usize) -> Option<f64>,
    ) -> impl Iterator<Item = Option<f64>> {
        let measured = || run.clone().filter_map(|interval| Some((at(interval)?, interval)));
        let least = measured().min_by(|a, b| a.0.total_cmp(&b.0));
        // The last one of those that are equal: a line that stands still ends where it ends.
        let largest = measured().max_by(|a, b| a.0.total_cmp(&b.0));
        let in_order = |(a, b): ((f64, usize), (f64, usize))| if a.1 <= b.1 { [a.0, b.0] } else { [b.0, a.0] };
        let pair = least.zip(largest).map(in_order);
        let points = self.points(run.clone()).count();
        (2 - points..2).map(move |point| pair.map(|pair| pair[point]))
    }
}

impl<'a> Thinned<'a> {
    /// Series of a result.
    pub(crate) fn new(of: &'a RunResult) -> Self {
        let subjects = [of.flows.len(), of.ues.len(), of.routers.len(), of.cells.len()];
        let [flows, ues, routers, cells] = subjects;
        let fields = |of: crate::fields::Struct| of.fields.len();
        let lines = flows * fields(FlowSeries::STRUCT)
            + ues * (fields(UeSeries::STRUCT) + fields(UplinkSeries::STRUCT))
            + routers * fields(RouterSeries::STRUCT)
            + cells * fields(CellSeries::STRUCT);
        let points = MOST.min(ALL / lines.max(1));
        Self { series: &of.series, subjects, runs: Runs::new(of.series.t_s.len(), points) }
    }
}

impl Serialize for Thinned<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Series { t_s, flows, ues, uplinks, routers, cells } = self.series;
        let [of_flows, of_ues, of_routers, of_cells] = self.subjects;
        let runs = self.runs;
        let times: Vec<_> = runs.iter().flat_map(|run| runs.points(run)).map(|interval| t_s[interval]).collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("t_s", &times)?;
        map.serialize_entry("flows", &Lines { of: flows, subjects: of_flows, runs })?;
        map.serialize_entry("ues", &Lines { of: ues, subjects: of_ues, runs })?;
        map.serialize_entry("uplinks", &Lines { of: uplinks, subjects: of_ues, runs })?;
        map.serialize_entry("routers", &Lines { of: routers, subjects: of_routers, runs })?;
        map.serialize_entry("cells", &Lines { of: cells, subjects: of_cells, runs })?;
        map.end()
    }
}

/// Lines of this many subjects, by field.
struct Lines<'a, T> {
    of: &'a T,
    subjects: usize,
    runs: Runs,
}

impl<T: Declared + Fields> Serialize for Lines<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (index, field) in T::STRUCT.fields.iter().enumerate() {
            let values = self.of.field(index);
            let line = |subject: usize| -> Vec<Shown> {
                let at = |interval| values.number(&[subject, interval]);
                self.runs.iter().flat_map(|run| self.runs.values(run, at)).map(Shown).collect()
            };
            let line = |subject| Some(line(subject)).filter(|line| line.iter().any(|value| value.0.is_some()));
            let lines: Vec<_> = (0..self.subjects).map(|subject| line(subject).unwrap_or_default()).collect();
            let is_shown = lines.iter().any(|line| !line.is_empty());
            map.serialize_entry(field.name, if is_shown { &lines[..] } else { &[] })?;
        }
        map.end()
    }
}

/// Number as short as a plot needs it.
struct Shown(Option<f64>);

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.map(|value| (value * SCALE).round() / SCALE) {
            None => serializer.serialize_none(),
            Some(value) if value.fract() == 0.0 && value.abs() < 1e15 => serializer.serialize_i64(value as i64),
            Some(value) => serializer.serialize_f64(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn thinned(line: &[Option<f64>], points: usize) -> Vec<Option<f64>> {
        let runs = Runs::new(line.len(), points);
        runs.iter().flat_map(|run| runs.values(run, |interval| line[interval])).collect()
    }

    proptest! {
        #[test]
        fn a_line_keeps_its_extremes_and_has_no_more_points_than_it_may(
            line in prop::collection::vec(prop::option::of(-100i32..100), 0..300), points in 2usize..50,
        ) {
            let line: Vec<_> = line.into_iter().map(|value| value.map(f64::from)).collect();
            let kept = thinned(&line, points);
            let extremes = |of: &[Option<f64>]| {
                let measured = || of.iter().copied().flatten();
                (measured().reduce(f64::min), measured().reduce(f64::max))
            };
            // A run at the end that has one interval alone has one point.
            prop_assert!(kept.len() <= points.max(2) + 1);
            prop_assert_eq!(extremes(&kept), extremes(&line));
        }

        #[test]
        fn every_value_has_a_time(intervals in 0usize..300, points in 2usize..50) {
            let runs = Runs::new(intervals, points);
            let times: Vec<_> = runs.iter().flat_map(|run| runs.points(run)).collect();
            prop_assert_eq!(times.len(), thinned(&vec![Some(1.0); intervals], points).len());
            prop_assert!(times.is_sorted_by(|a, b| a < b), "{:?}", times);
            prop_assert_eq!(times.last().copied(), intervals.checked_sub(1));
        }
    }

    #[test]
    fn a_short_line_is_as_it_was() {
        let line = [Some(1.0), None, Some(3.0)];
        assert_eq!(thinned(&line, 3), line);
    }
}
