//! Metrics: numbers of a run's summary, by the names that `summary.json` has for them.

use std::fmt;

use serde_json::Value;
use thiserror::Error;
use tidemark_core::words::meant;
use tidemark_record::fields::{Declared as _, Number, Struct};
use tidemark_record::{BearerResult, FlowResult, RouterResult, RunResult, UeResult};

use crate::record::Record;

/// A number of a run, or of one group of its flows.
///
/// A name is a path of `summary.json`: `throughput_mbps` and `owd_ms.p99` are of flows, `ue.queue_ms.p99`,
/// `bearer.in_budget` and `router.utilisation` of all UEs, downlink bearers and routers, `cell.utilisation` (or
/// `utilisation`) and `jain` of the run. Over several flows, UEs, bearers or routers the metric is their mean, or their
/// sum, minimum or maximum with `sum(...)`, `min(...)` or `max(...)`. `a/b` is the sum of `a` divided by the sum of
/// `b`.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    name: String,
    of: Of,
    how: How,
    path: Vec<String>,
    divisor: Option<Vec<String>>,
    unit: Option<&'static str>,
}

/// Rows that a metric is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Flows,
    Ues,
    Bearers,
    Routers,
    Run,
}

/// Way from several rows to one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Mean,
    Sum,
    Min,
    Max,
}

const WAYS: [(&str, How); 4] = [("mean(", How::Mean), ("sum(", How::Sum), ("min(", How::Min), ("max(", How::Max)];
/// Beginning of a name, what it is of, and the list in `summary.json`.
const LISTS: [(&str, Of, &str); 4] = [
    ("ue.", Of::Ues, "ues"),
    ("bearer.", Of::Bearers, "bearers"),
    ("router.", Of::Routers, "routers"),
    ("", Of::Flows, "flows"),
];

/// Metrics of a study that names none.
pub const DEFAULT: [&str; 9] = [
    "throughput_mbps",
    "owd_ms.mean",
    "owd_ms.p99",
    "queue_ms.p99",
    "media.delay_ms.p99",
    "media.in_budget",
    "transfers.completion_ms.p95",
    "marked",
    "dropped",
];

/// Fields that are shares.
const SHARES: [&str; 5] = ["satisfied", "utilisation", "uplink_utilisation", "in_budget", "jain"];

impl Metric {
    /// Reads a metric's name.
    ///
    /// # Errors
    /// A name that no result has, with similar names.
    pub fn parse(text: &str) -> Result<Self, String> {
        let name: String = text.split_whitespace().collect();
        let way = WAYS.iter().find_map(|(prefix, how)| Some((name.strip_prefix(prefix)?.strip_suffix(')')?, *how)));
        let (inner, how) = way.unwrap_or((&name, How::Mean));
        let (path, divisor) = inner.split_once('/').map_or((inner, None), |(path, divisor)| (path, Some(divisor)));
        let (of, found) = find(path).ok_or_else(|| unknown(path))?;
        let mut unit = found.unit;
        let divisor = divisor.map(|divisor| find(divisor).ok_or_else(|| unknown(divisor))).transpose()?;
        if let Some((of_divisor, found)) = &divisor {
            if *of_divisor != of {
                return Err(format!(
                    "`{name}` divides what is not of the same rows: take two fields of flows, or two of UEs"
                ));
            }
            unit = unit.filter(|unit| Some(*unit) != found.unit);
        }
        let steps = |number: Number| number.path.split('.').map(str::to_string).collect();
        Ok(Self { path: steps(found), divisor: divisor.map(|(_, number)| steps(number)), of, how, unit, name })
    }

    /// True for a share, which is 1 at most.
    pub(crate) fn is_share(&self) -> bool {
        let is_named = self.path.last().is_some_and(|name| SHARES.contains(&name.as_str()));
        is_named && self.divisor.is_none() && !self.name.starts_with("sum(")
    }

    /// Name in a study, and heading in tables.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Unit; `None` for counts and shares.
    pub fn unit(&self) -> Option<&'static str> {
        self.unit
    }

    /// True for a metric that each group of flows has for itself.
    pub fn is_of_flows(&self) -> bool {
        self.of == Of::Flows
    }

    /// Value in a run, for one group of flows if the metric is one of flows; `None` if it was not measured.
    pub fn value(&self, record: &Record, group: Option<&str>) -> Option<f64> {
        let rows: Vec<&Value> = match LISTS.iter().find(|(_, of, _)| *of == self.of) {
            None => vec![record.summary()],
            Some((_, of, list)) => {
                let rows = record.summary()[*list].as_array()?.iter().enumerate();
                let is_wanted = |index: usize, row: &Value| match of {
                    Of::Flows => group.is_none_or(|group| record.group(index) == Some(group)),
                    Of::Bearers => row["direction"] == "downlink",
                    _ => true,
                };
                rows.filter(|(index, row)| is_wanted(*index, row)).map(|(_, row)| row).collect()
            }
        };
        let numbers = |path: &[String]| {
            let number = |row: &&Value| path.iter().try_fold(*row, |value, step| value.get(step))?.as_f64();
            rows.iter().filter_map(number).collect::<Vec<_>>()
        };
        let values = numbers(&self.path);
        if values.is_empty() {
            return None;
        }
        let sum = values.iter().sum::<f64>();
        if let Some(divisor) = &self.divisor {
            let divisor = numbers(divisor).iter().sum::<f64>();
            return (divisor != 0.0).then(|| sum / divisor);
        }
        match self.how {
            How::Mean => Some(sum / values.len() as f64),
            How::Sum => Some(sum),
            How::Min => values.into_iter().reduce(f64::min),
            How::Max => values.into_iter().reduce(f64::max),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Metrics that a study names and no run has.
#[derive(Debug, Error)]
#[error("no run has {names}: {right}. The runs are kept: correct `metrics`, and no run is repeated")]
pub struct NoSuchMetric {
    /// The metrics.
    names: String,
    /// Metrics that one of the runs has.
    right: String,
}

impl NoSuchMetric {
    pub(crate) fn new<'a>(metrics: impl Iterator<Item = &'a Metric>, example: Option<&Record>) -> Self {
        let names_of = metrics.map(|metric| format!("`{metric}`")).collect::<Vec<_>>().join(", ");
        let has = |name: &String| {
            let metric = Metric::parse(name).ok();
            example.is_some_and(|record| metric.is_some_and(|metric| metric.value(record, None).is_some()))
        };
        let right: Vec<_> = names().into_iter().filter(has).take(24).collect();
        let right =
            if right.is_empty() { "it has no flows".into() } else { format!("use one of {}", right.join(", ")) };
        Self { names: names_of, right }
    }
}

fn of_rows(of: Of) -> Struct {
    match of {
        Of::Flows => FlowResult::STRUCT,
        Of::Ues => UeResult::STRUCT,
        Of::Bearers => BearerResult::STRUCT,
        Of::Routers => RouterResult::STRUCT,
        Of::Run => RunResult::STRUCT,
    }
}

/// Path within a row.
fn within(path: &str, of: Of) -> &str {
    let prefix = LISTS.iter().find(|(_, list, _)| *list == of).map_or("", |(prefix, ..)| prefix);
    path.strip_prefix(prefix).unwrap_or(path)
}

/// Rows that a name is of, and the number that it names.
fn find(name: &str) -> Option<(Of, Number)> {
    let lists = LISTS.iter().map(|(_, of, _)| *of).chain([Of::Run]);
    lists.filter(|of| within(name, *of) != name || matches!(of, Of::Flows | Of::Run)).find_map(|of| {
        // The cell is what a name without a list may mean as well.
        let paths = [within(name, of).to_string(), format!("cell.{name}")];
        let mut numbers = of_rows(of).numbers().into_iter();
        Some((of, numbers.find(|number| paths.contains(&number.path))?))
    })
}

/// Every name that a metric can have, without `sum(...)` and the like.
pub fn names() -> Vec<String> {
    let of_list = |(prefix, of, _): &(&str, Of, &str)| {
        of_rows(*of).numbers().into_iter().map(|number| format!("{prefix}{}", number.path)).collect::<Vec<_>>()
    };
    let run = of_rows(Of::Run).numbers().into_iter().map(|number| number.path);
    LISTS.iter().rev().flat_map(of_list).chain(run).collect()
}

fn unknown(name: &str) -> String {
    let names = names();
    let words = |text: &str| text.split(['.', '_']).map(str::to_string).collect::<Vec<_>>();
    let wanted = words(name);
    let shared = |known: &String| words(known).iter().filter(|word| wanted.contains(word)).count();
    let mut near: Vec<&String> = names.iter().filter(|known| shared(known) > 0).collect();
    near.sort_by_key(|known| (usize::MAX - shared(known), known.len()));
    near.truncate(6);
    let right = if near.is_empty() {
        DEFAULT.join(", ")
    } else {
        near.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
    };
    let of_summary = format!("a field of summary.json, as in {right}");
    // The cell's have a short name as well.
    let short = names.iter().filter_map(|name| name.strip_prefix("cell."));
    match meant(name, names.iter().map(String::as_str).chain(short)) {
        Some(meant) => format!("no result is called `{name}`: did you mean `{meant}`? Expected {of_summary}"),
        None => format!("no result is called `{name}`: use {of_summary}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record::parse(
            br#"{"key":"k","groups":["video","video","bulk"],"summary":{
                "seed":3,"jain":0.5,"cell":{"utilisation":0.25},
                "flows":[{"throughput_mbps":1.0,"owd_ms":{"p99":10.0},"media":{"frames_lost":1,"frames_sent":10}},
                         {"throughput_mbps":2.0,"owd_ms":null,"media":{"frames_lost":0,"frames_sent":30}},
                         {"throughput_mbps":9.0}],
                "ues":[],"bearers":[{"direction":"downlink","in_budget":0.5},{"direction":"uplink","in_budget":1.0}]}}"#,
        )
        .unwrap()
    }

    #[test]
    fn a_metric_is_of_a_group_of_flows_or_of_the_run() {
        let value = |name: &str| Metric::parse(name).unwrap().value(&record(), Some("video"));
        assert_eq!(value("throughput_mbps"), Some(1.5));
        assert_eq!(value("sum(throughput_mbps)"), Some(3.0));
        assert_eq!(value("max(throughput_mbps)"), Some(2.0));
        assert_eq!(value("owd_ms.p99"), Some(10.0));
        assert_eq!(value("media.frames_lost / media.frames_sent"), Some(0.025));
        assert_eq!(value("cell.utilisation"), Some(0.25));
        assert_eq!(value("utilisation"), Some(0.25));
        assert_eq!(value("jain"), Some(0.5));
        assert_eq!(value("bearer.in_budget"), Some(0.5));
        assert_eq!(value("ue.queue_ms.p99"), None);
        assert_eq!(Metric::parse("throughput_mbps").unwrap().value(&record(), None), Some(4.0));
    }

    #[test]
    fn a_metric_has_the_unit_of_its_field() {
        let unit = |name: &str| Metric::parse(name).unwrap().unit();
        assert_eq!(unit("owd_ms.p99"), Some("ms"));
        assert_eq!(unit("sum(throughput_mbps)"), Some("Mbit/s"));
        assert_eq!(unit("marked"), None);
        assert_eq!(unit("media.frames_lost/media.frames_sent"), None);
    }

    #[test]
    fn every_name_is_a_metric_and_defaults_are_among_them() {
        let names = names();
        names.iter().for_each(|name| assert!(Metric::parse(name).is_ok(), "{name}"));
        DEFAULT.iter().for_each(|name| assert!(names.iter().any(|known| known == name), "{name}"));
    }

    #[test]
    fn an_unknown_name_is_answered_with_near_ones() {
        let error = Metric::parse("owd_p99").unwrap_err();
        assert!(error.contains("owd_ms.p99"), "{error}");
        assert!(Metric::parse("marked/ue.marked").unwrap_err().contains("same rows"));
        let error = Metric::parse("xyz").unwrap_err();
        assert!(error.contains("throughput_mbps") && !error.contains("did you mean"), "{error}");
        for (wrong, meant) in [
            ("throughput_mbs", "throughput_mbps"),
            ("sum(ue.qeue_ms.p99)", "ue.queue_ms.p99"),
            ("satisfed", "satisfied"),
        ] {
            let error = Metric::parse(wrong).unwrap_err();
            assert!(error.contains(&format!(": did you mean `{meant}`? Expected a field of summary.json")), "{error}");
        }
    }
}
