//! Figures of rows since the start, which the page of a live program draws: of the UEs of a cell, the bearers of a CU, the ways
//! of a hop. All points cover equal times, however old they are.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::json;

/// Most points; when they are reached, pairs of points are merged.
const MAX_POINTS: usize = 2_048;

/// Declares which fields of a row are drawn over time, and how several values of each become one.
macro_rules! drawn {
    ($row:ident { $($field:ident: $merge:ident),* $(,)? }) => {
        impl $crate::live::past::Drawn for $row {
            const FIGURES: &'static [$crate::live::past::Figure<Self>] = &[$($crate::live::past::Figure {
                name: stringify!($field),
                merge: $crate::live::past::Merge::$merge,
                value: |row| $crate::live::exposition::Sample::sample(&row.$field),
            }),*];
        }
    };
}
pub(super) use drawn;

/// Rows with figures that are drawn over time.
pub(super) trait Drawn: Sized + 'static {
    /// Figures, each under its field's name.
    const FIGURES: &'static [Figure<Self>];
}

/// A figure of a row.
pub(super) struct Figure<T> {
    /// Name of its field.
    pub(super) name: &'static str,
    /// Way in which its values are merged.
    pub(super) merge: Merge,
    /// Value; `None` if it was not measured.
    pub(super) value: fn(&T) -> Option<f64>,
}

/// Way in which values of several samples become one. What was not measured changes nothing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Merge {
    /// For rates.
    Mean,
    /// For delays.
    Maximum,
    /// For counters and states.
    Last,
}

impl Merge {
    /// Merges the value of this many samples with that of one more.
    fn apply(self, samples: u32, value: Option<f64>, next: Option<f64>) -> Option<f64> {
        let (Some(value), Some(next)) = (value, next) else { return next.or(value) };
        Some(match self {
            Self::Mean => (value * f64::from(samples) + next) / f64::from(samples + 1),
            Self::Maximum => value.max(next),
            Self::Last => next,
        })
    }
}

/// Figures of rows since the start, which one thread adds to and others read.
pub(super) struct Past<T: Drawn>(Mutex<Points<T>>);

impl<T: Drawn> Default for Past<T> {
    fn default() -> Self {
        let series = T::FIGURES.iter().map(|figure| Series { figure, rows: Vec::new() }).collect();
        Self(Mutex::new(Points { t_s: Vec::new(), series, length: 1, taken: 0 }))
    }
}

impl<T: Drawn> Past<T> {
    /// Adds the rows at this time, in seconds. It never waits: a page that is reading misses the sample.
    pub(super) fn push(&self, t_s: f64, rows: &[T]) {
        if let Ok(mut points) = self.0.try_lock() {
            points.push(t_s, rows);
        }
    }

    /// Times and figures as JSON: of each figure a list for each row, with a value for each time.
    pub(super) fn json(&self) -> String {
        let points = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rows: BTreeMap<_, _> = points.series.iter().map(|series| (series.figure.name, series.values())).collect();
        json!({ "t_s": points.t_s, "rows": rows }).to_string()
    }
}

struct Points<T: Drawn> {
    /// Ends of the intervals, in seconds.
    t_s: Vec<f64>,
    series: Vec<Series<T>>,
    /// Samples per point, and samples in the unfinished point.
    length: u32,
    taken: u32,
}

impl<T: Drawn> Points<T> {
    fn push(&mut self, t_s: f64, rows: &[T]) {
        self.series.iter_mut().for_each(|series| series.add(self.taken, rows));
        self.taken += 1;
        if self.taken < self.length {
            return;
        }
        self.taken = 0;
        self.t_s.push(t_s);
        self.rows_mut().for_each(|(_, row)| row.points.push(row.open.take()));
        if self.t_s.len() >= MAX_POINTS {
            self.halve();
        }
    }

    /// Halves the number of points.
    fn halve(&mut self) {
        self.length *= 2;
        self.t_s = self.t_s.chunks(2).filter_map(|pair| pair.last().copied()).collect();
        self.rows_mut().for_each(|(merge, row)| {
            let both = |pair: &[Option<f64>]| pair.iter().copied().reduce(|a, b| merge.apply(1, a, b)).flatten();
            row.points = row.points.chunks(2).map(both).collect();
        });
    }

    fn rows_mut(&mut self) -> impl Iterator<Item = (Merge, &mut Row)> {
        self.series.iter_mut().flat_map(|series| series.rows.iter_mut().map(|row| (series.figure.merge, row)))
    }
}

/// One figure of all rows.
struct Series<T: Drawn> {
    figure: &'static Figure<T>,
    rows: Vec<Row>,
}

#[derive(Clone, Default)]
struct Row {
    points: Vec<Option<f64>>,
    /// Value over the samples of the unfinished point.
    open: Option<f64>,
}

impl<T: Drawn> Series<T> {
    fn add(&mut self, taken: u32, rows: &[T]) {
        self.rows.resize(rows.len(), Row::default());
        for (row, now) in self.rows.iter_mut().zip(rows) {
            row.open = self.figure.merge.apply(taken, row.open, (self.figure.value)(now));
        }
    }

    fn values(&self) -> Vec<&[Option<f64>]> {
        self.rows.iter().map(|row| &*row.points).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Way {
        rate: f64,
        delay: Option<f64>,
        bytes: u64,
    }
    drawn! { Way { rate: Mean, delay: Maximum, bytes: Last } }

    /// Reads what a page gets.
    fn read(past: &Past<Way>) -> serde_json::Value {
        serde_json::from_str(&past.json()).unwrap()
    }

    #[test]
    fn a_day_is_kept_in_bounds_with_its_mean_rate_longest_delay_and_counters() {
        let past = Past::default();
        for sample in 1..=100_000u32 {
            let delay = (sample % 3 == 0).then_some(if sample == 777 { 500.0 } else { 5.0 });
            let way = Way { rate: f64::from(7 + 2 * (sample % 2)), delay, bytes: 100 * u64::from(sample) };
            past.push(f64::from(sample) / 10.0, &[Way::default(), way]);
            assert!(past.0.lock().unwrap().t_s.len() < MAX_POINTS);
        }
        let seen = read(&past);
        let list = |value: &serde_json::Value| -> Vec<f64> { serde_json::from_value(value.clone()).unwrap() };
        let [t_s, rate, delay, bytes] =
            [&seen["t_s"], &seen["rows"]["rate"][1], &seen["rows"]["delay"][1], &seen["rows"]["bytes"][1]].map(list);
        assert_eq!([t_s.len(), rate.len(), delay.len(), bytes.len()], [1562; 4]);
        assert!(rate.iter().all(|rate| (rate - 8.0).abs() < 1e-9));
        assert_eq!(delay.iter().copied().fold(0.0, f64::max), 500.0);
        let step = t_s[1] - t_s[0];
        assert!(
            t_s.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() < 1e-6),
            "points stand as close at the start as at the end"
        );
        // A counter is the one at its point's end, so that its growth over the points is exact.
        assert!(t_s.iter().zip(&bytes).all(|(t_s, bytes)| (bytes - t_s * 1000.0).abs() < 1e-6));
    }

    #[test]
    fn what_no_sample_of_a_point_measured_is_absent_and_a_reader_holds_up_nobody() {
        let past = Past::default();
        past.push(0.1, &[Way { rate: 2.0, ..Way::default() }]);
        let reading = past.0.lock().unwrap();
        past.push(0.2, &[Way::default()]);
        drop(reading);
        let expected = json!({ "t_s": [0.1], "rows": { "rate": [[2.0]], "delay": [[null]], "bytes": [[0.0]] } });
        assert_eq!(read(&past), expected);
    }
}
