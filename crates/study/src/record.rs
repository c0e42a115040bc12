//! Record of one run: what its summary says, and which flows belong together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidemark_record::files;
use tidemark_record::output::report_data;
use tidemark_sim::RunResult;

/// Record of one run, as a store keeps it.
#[derive(Clone, Debug, Deserialize)]
pub struct Record {
    /// Key of the run.
    key: String,
    /// Name of the `[[flow]]` of each flow of the summary.
    groups: Vec<String>,
    /// `summary.json` of the run.
    summary: Value,
    /// Texts of the files of series by their names, where the study keeps series.
    #[serde(default)]
    series: BTreeMap<String, String>,
    /// Data of the report's page, where the study keeps series.
    #[serde(default)]
    report: Option<String>,
}

/// Record of a run that has just ended, in the form in which [`Record`] is read.
#[derive(Serialize)]
struct Written<'a> {
    key: &'a str,
    groups: Vec<String>,
    summary: &'a RunResult,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    series: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
}

impl Record {
    /// Writes the record of a run that is over, as one line of JSON.
    ///
    /// # Errors
    /// None for a result that a run made.
    pub(crate) fn write(
        key: &str,
        groups: Vec<String>,
        result: &RunResult,
        series: bool,
    ) -> serde_json::Result<Vec<u8>> {
        let report = series.then(|| report_data(result)).transpose()?;
        let series = if series { files::series(result).collect() } else { BTreeMap::new() };
        let mut bytes = serde_json::to_vec(&Written { key, groups, summary: result, series, report })?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Reads a record.
    ///
    /// # Errors
    /// Bytes that are no record.
    pub fn parse(bytes: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(bytes)
    }

    /// Key of the run.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// `summary.json` of the run.
    pub fn summary(&self) -> &Value {
        &self.summary
    }

    /// Seed of the run.
    pub fn seed(&self) -> Option<u64> {
        self.summary["seed"].as_u64()
    }

    /// Files of series with their names; none where the study keeps no series.
    pub fn series_files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.series.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Data of the report's page; `None` where the study keeps no series.
    pub fn report(&self) -> Option<&str> {
        self.report.as_deref()
    }

    /// Group of a flow, which is its `[[flow]]`.
    pub(crate) fn group(&self, flow: usize) -> Option<&str> {
        self.groups.get(flow).map(String::as_str)
    }

    /// Groups of flows, each once, in the scenario's order.
    pub fn groups(&self) -> Vec<&str> {
        let mut groups = Vec::new();
        for group in &self.groups {
            if !groups.contains(&group.as_str()) {
                groups.push(group);
            }
        }
        groups
    }
}
