//! Figures of an application itself on the time axis of a run. Each format has its own module.

mod iperf3;
mod qlog;
mod webrtc;

use std::fs;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic as _, Result, WrapErr as _, miette};
use serde::Serialize;
use serde_json::{Value, json};
use tidemark_core::Duration;

use crate::page::Page;

/// Figure of an application over time.
#[derive(Clone, Debug, PartialEq)]
struct Series {
    /// Name of the program and of its figure.
    name: String,
    /// Unit of the values.
    unit: &'static str,
    /// Times in seconds from the application's start, with the values then.
    points: Vec<(f64, f64)>,
}

/// Reader of a format: `None` for a text in another format.
type Reader = fn(&str) -> Option<Vec<Series>>;

/// Formats, by the names that users know.
const FORMATS: [(&str, Reader); 3] = [
    ("what `iperf3 --json` prints", iperf3::read),
    ("qlog", qlog::read),
    ("a dump of chrome://webrtc-internals", webrtc::read),
];

/// First bytes of a compressed file (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Value of a figure in an interval of a run: the mean of the interval's points, or else the last value before it.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Point<'a> {
    name: &'a str,
    unit: &'a str,
    /// End of the interval, in seconds from the start of the run.
    t_s: f64,
    value: f64,
}

/// Figures of applications on the axis of a run.
#[derive(Debug, Default)]
pub(crate) struct Application {
    /// Ends of the run's intervals.
    times: Vec<f64>,
    /// Figures, with their value in each interval.
    series: Vec<(Series, Vec<Option<f64>>)>,
}

impl Application {
    /// Reads the files of an application that started this long after the run, and adds their figures to the run's page.
    ///
    /// # Errors
    /// A file of no known format.
    pub(crate) fn join(page: &mut Page, files: &[PathBuf], start: Duration) -> Result<Self> {
        let times = page.data["series"]["t_s"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        let mut all = Self { times, series: Vec::new() };
        for file in files {
            for series in of_file(file)? {
                let means = on_axis(&series.points, &all.times, start.as_secs_f64());
                all.series.push((series, means));
            }
        }
        let of =
            |(series, means): &(Series, Vec<_>)| json!({ "name": series.name, "unit": series.unit, "values": means });
        page.data["application"] = all.series.iter().map(of).collect();
        Ok(all)
    }

    /// All values that exist.
    pub(crate) fn points(&self) -> Vec<Point<'_>> {
        let mut points = Vec::new();
        for (Series { name, unit, .. }, means) in &self.series {
            let values = self.times.iter().zip(means).filter_map(|(t_s, value)| Some((*t_s, (*value)?)));
            points.extend(values.map(|(t_s, value)| Point { name, unit, t_s, value }));
        }
        points
    }

    /// A line for each figure: its mean and its extremes.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |(Series { name, unit, points }, _): &(Series, Vec<_>)| {
            let values = || points.iter().map(|(_, value)| *value);
            let mean = values().sum::<f64>() / points.len().max(1) as f64;
            let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
            format!("{name}: mean {mean:.2} {unit}, {least:.2} to {most:.2}")
        };
        self.series.iter().map(line).collect()
    }
}

/// Mean of the points in each interval that ends at one of these times. Applications may sample less often than a run has intervals, so
/// a value holds until the next one.
fn on_axis(points: &[(f64, f64)], times: &[f64], start: f64) -> Vec<Option<f64>> {
    let mut sums = vec![(0.0, 0_u32); times.len()];
    let mut last = 0;
    for (at, value) in points {
        let interval = times.partition_point(|end| *end <= at + start);
        if let Some((sum, count)) = sums.get_mut(interval) {
            *sum += value;
            *count += 1;
            last = last.max(interval);
        }
    }
    let mut held = None;
    let means = sums.into_iter().enumerate().map(|(interval, (sum, count))| {
        held = if count > 0 { Some(sum / f64::from(count)) } else { held.filter(|_| interval <= last) };
        held
    });
    means.collect()
}

fn of_file(file: &Path) -> Result<Vec<Series>> {
    let text = read(file)?;
    let series: Vec<_> = FORMATS.iter().find_map(|(_, read)| read(&text)).unwrap_or_default();
    if series.iter().all(|series| series.points.is_empty()) {
        let names = FORMATS.map(|(name, _)| name).join(", or ");
        return Err(miette!("--series {}: no figures over time found: give {names}", file.display()));
    }
    Ok(series)
}

fn read(file: &Path) -> Result<String> {
    let bytes = fs::read(file).into_diagnostic().wrap_err_with(|| format!("{} can't be read", file.display()))?;
    // Chromium compresses its dumps.
    if bytes.starts_with(&GZIP) {
        return Err(miette!("{} is compressed: unpack it with gunzip first", file.display()));
    }
    String::from_utf8(bytes).map_err(|_| miette!("{} is not a text file", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_the_mean_of_what_is_in_it_or_the_value_before() {
        let points = [(0.0, 1.0), (0.5, 3.0), (2.5, 7.0)];
        assert_eq!(on_axis(&points, &[1.0, 2.0, 3.0, 4.0], 0.0), [Some(2.0), Some(2.0), Some(7.0), None]);
        assert_eq!(on_axis(&points, &[1.0, 2.0, 3.0], 1.0), [None, Some(2.0), None]);
    }

    #[test]
    fn a_file_of_no_format_is_refused_with_those_that_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("app.json");
        fs::write(&file, "{\"a\": 1}").unwrap();
        let error = of_file(&file).unwrap_err().to_string();
        assert!(error.contains("app.json") && error.contains("iperf3 --json") && error.contains("qlog"), "{error}");
        for (bytes, right) in [(&[0x1f, 0x8b, 8][..], "gunzip"), (&[0xff], "is not a text")] {
            fs::write(&file, bytes).unwrap();
            assert!(of_file(&file).unwrap_err().to_string().contains(right), "{right}");
        }
    }
}
