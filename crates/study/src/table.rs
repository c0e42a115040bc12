//! Table of a study: a row for each run and group of flows, in an order that depends on the study alone.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::metric::{Metric, NoSuchMetric};
use crate::plan::Plan;
use crate::record::Record;
use crate::statistics::Estimate;
use crate::store::{Store, StoreError};
use crate::study::Study;

/// Heading of the seeds, behind varied keys and names of cases.
const SEED: &str = "seed";
/// Heading of the groups of flows, after the seeds.
const FLOW: &str = "flow";
/// Heading of the runs' keys, the last one.
const RUN: &str = "run";

/// Tidy table of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Varied keys and names of cases.
    pub columns: Vec<String>,
    /// Metrics that have columns.
    pub metrics: Vec<Metric>,
    /// True where every group of flows has rows of its own.
    pub by_flow: bool,
    /// Rows: by point, then by seed, then by group of flows.
    pub rows: Vec<Row>,
}

/// One run, or one group of its flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Key of the run.
    pub key: String,
    /// Value of each column; `None` where the point does not vary it.
    pub values: Vec<Option<String>>,
    /// Seed.
    pub seed: u64,
    /// Name of the `[[flow]]`; `None` in a table of runs.
    pub flow: Option<String>,
    /// Value of each metric; `None` where it was not measured.
    pub metrics: Vec<Option<f64>>,
}

/// All seeds of a point, or of one group of its flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Value of each column.
    pub values: Vec<Option<String>>,
    /// Name of the `[[flow]]`; `None` in a table of runs.
    pub flow: Option<String>,
    /// Seeds, in order.
    pub seeds: Vec<u64>,
    /// Key of the run of each seed.
    pub keys: Vec<String>,
    /// Value of each metric at each seed.
    pub metrics: Vec<Vec<Option<f64>>>,
}

/// A table that can't be made.
#[derive(Debug, Error)]
pub enum TableError {
    /// A record can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Runs that have no record yet.
    #[error("{missing} of {total} runs are missing: start the study again to make them")]
    Missing {
        /// Runs without a record.
        missing: usize,
        /// All runs.
        total: usize,
    },
    /// Metrics that the study names and no run has.
    #[error(transparent)]
    NoSuchMetric(#[from] NoSuchMetric),
}

impl Table {
    /// Makes the table of a study whose runs are in the store.
    ///
    /// # Errors
    /// Runs that are missing, records that can't be read, or metrics that no run has.
    pub fn new(study: &Study, plan: &Plan, store: &Store) -> Result<Self, TableError> {
        let columns = study.columns();
        let mut by_flow = study.metrics.iter().any(Metric::is_of_flows);
        let mut rows = Vec::new();
        let (mut missing, mut total) = (0, 0);
        let mut example = None;
        // Steps of a search are tried in another order than is read.
        let mut points: Vec<_> = plan.points.iter().collect();
        points.sort_by_key(|planned| (planned.index, planned.step));
        for planned in points {
            let values: Vec<_> = columns.iter().map(|name| planned.point.value(name).map(str::to_string)).collect();
            let mut seeds = planned.seeds.clone();
            seeds.sort_unstable();
            for seed in seeds {
                let key = planned.hash.key(seed);
                total += 1;
                let Some(record) = store.get(&key)? else {
                    missing += 1;
                    continue;
                };
                let groups = study.groups(&record);
                // A scenario without flows has a row a run.
                by_flow &= !groups.is_empty();
                let groups = if by_flow { groups.into_iter().map(Some).collect() } else { vec![None] };
                for group in groups {
                    rows.push(Row {
                        key: key.clone(),
                        values: values.clone(),
                        seed,
                        flow: group.map(str::to_string),
                        metrics: study.metrics.iter().map(|metric| metric.value(&record, group)).collect(),
                    });
                }
                example.get_or_insert(record);
            }
        }
        if missing > 0 {
            return Err(TableError::Missing { missing, total });
        }
        let mut table = Self { columns, metrics: study.metrics.clone(), by_flow, rows };
        table.drop_empty(study.names_metrics, example.as_ref())?;
        Ok(table)
    }

    /// Drops metrics that no run has, which is an error where the study asks for them.
    fn drop_empty(&mut self, named: bool, example: Option<&Record>) -> Result<(), TableError> {
        let is_there: Vec<bool> =
            (0..self.metrics.len()).map(|index| self.rows.iter().any(|row| row.metrics[index].is_some())).collect();
        if named && is_there.contains(&false) {
            let missing = self.metrics.iter().zip(&is_there).filter(|(_, there)| !**there).map(|(metric, _)| metric);
            return Err(NoSuchMetric::new(missing, example).into());
        }
        let mut there = is_there.iter();
        self.metrics.retain(|_| there.next().copied().unwrap_or_default());
        for row in &mut self.rows {
            let mut there = is_there.iter();
            row.metrics.retain(|_| there.next().copied().unwrap_or_default());
        }
        Ok(())
    }

    /// Reads the text of a table that `csv` wrote; `None` for another text.
    pub fn read(text: &str) -> Option<Self> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let headings: Vec<String> = reader.headers().ok()?.iter().map(str::to_string).collect();
        // A study may vary a key of the same name.
        let seed = headings.iter().rposition(|heading| heading == SEED)?;
        let by_flow = headings.get(seed + 1).is_some_and(|heading| heading == FLOW);
        let first = seed + 1 + usize::from(by_flow);
        let last = headings.len().checked_sub(1).filter(|last| *last >= first && headings[*last] == RUN)?;
        let metrics = headings[first..last].iter().map(|name| Metric::parse(name)).collect::<Result<_, _>>().ok()?;
        let given = |cell: &str| (!cell.is_empty()).then(|| cell.to_string());
        let row = |cells: &csv::StringRecord| {
            Some(Row {
                key: cells.get(last)?.into(),
                values: cells.iter().take(seed).map(given).collect(),
                seed: cells.get(seed)?.parse().ok()?,
                flow: given(cells.get(seed + 1)?).filter(|_| by_flow),
                metrics: (first..last).map(|index| cells[index].parse().ok()).collect(),
            })
        };
        let rows = reader.records().map(|cells| row(&cells.ok()?)).collect::<Option<_>>()?;
        Some(Self { columns: headings[..seed].to_vec(), metrics, by_flow, rows })
    }

    /// Names of all columns, with their units.
    pub fn headings(&self) -> Vec<(String, Option<&'static str>)> {
        let plain = |name: &String| (name.clone(), None);
        let mut headings: Vec<_> = self.columns.iter().map(plain).collect();
        headings.push((SEED.into(), None));
        if self.by_flow {
            headings.push((FLOW.into(), None));
        }
        headings.extend(self.metrics.iter().map(|metric| (metric.name().to_string(), metric.unit())));
        headings.push((RUN.into(), None));
        headings
    }

    /// Text of the table as CSV (RFC 4180 2). A cell without a value is empty.
    pub fn csv(&self) -> String {
        let headings = self.headings();
        let rows = self.rows.iter().map(|row| {
            let text = |value: &Option<String>| value.clone().unwrap_or_default();
            let mut cells: Vec<String> = row.values.iter().map(text).collect();
            cells.push(row.seed.to_string());
            cells.extend(self.by_flow.then(|| text(&row.flow)));
            cells.extend(row.metrics.iter().map(|value| value.map_or_else(String::new, |value| value.to_string())));
            cells.push(row.key.clone());
            cells
        });
        csv([headings.into_iter().map(|(name, _)| name).collect()].into_iter().chain(rows))
    }

    /// Text of a CSV file with the unit of each column; empty for counts, shares and text.
    pub fn units_csv(&self) -> String {
        let rows = self.headings().into_iter().map(|(name, unit)| vec![name, unit.unwrap_or_default().to_string()]);
        csv([vec!["column".to_string(), "unit".into()]].into_iter().chain(rows))
    }

    /// Rows put together by point and group of flows.
    pub fn summaries(&self) -> Vec<Summary> {
        let mut summaries: Vec<Summary> = Vec::new();
        let mut places: BTreeMap<(&[Option<String>], Option<&str>), usize> = BTreeMap::new();
        for row in &self.rows {
            let place = *places.entry((&row.values, row.flow.as_deref())).or_insert_with(|| {
                let (values, flow) = (row.values.clone(), row.flow.clone());
                summaries.push(Summary {
                    values,
                    flow,
                    seeds: Vec::new(),
                    keys: Vec::new(),
                    metrics: vec![Vec::new(); self.metrics.len()],
                });
                summaries.len() - 1
            });
            let summary = &mut summaries[place];
            summary.seeds.push(row.seed);
            summary.keys.push(row.key.clone());
            summary.metrics.iter_mut().zip(&row.metrics).for_each(|(values, value)| values.push(*value));
        }
        summaries
    }
}

impl Summary {
    /// Mean of a metric over the seeds that have it.
    pub fn estimate(&self, metric: usize) -> Option<Estimate> {
        Estimate::of(&self.metrics[metric].iter().flatten().copied().collect::<Vec<_>>())
    }

    /// Mean of a metric's difference from a baseline, over the seeds that both have.
    pub fn difference(&self, baseline: &Self, metric: usize) -> Option<Estimate> {
        let pair = |(seed, value): (&u64, &Option<f64>)| {
            let at = baseline.seeds.iter().position(|other| other == seed)?;
            Some((baseline.metrics[metric][at]?, (*value)?))
        };
        Estimate::of_differences(&self.seeds.iter().zip(&self.metrics[metric]).filter_map(pair).collect::<Vec<_>>())
    }
}

/// Text of CSV rows.
fn csv(rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // A vector takes everything.
    rows.for_each(|row| _ = writer.write_record(row));
    writer.into_inner().map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}
