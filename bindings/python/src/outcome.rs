//! Results of a run for Python.

use std::path::PathBuf;

use pyo3::exceptions::{PyFileExistsError, PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use tidemark_record::distribution::Distribution;
use tidemark_record::files::{self, FILES, File};
use tidemark_record::{FlowResult, RunResult, earlier, output, seeds, staging};

/// Name of a delay, and its distribution in a flow's results.
type Delay = (&'static str, fn(&FlowResult) -> &Distribution);

/// Delays of a flow that have a distribution.
const DELAYS: [Delay; 7] = [
    ("owd", |flow| &flow.owd),
    ("rtt", |flow| &flow.rtt),
    ("queue", |flow| &flow.queue),
    ("router_queue", |flow| &flow.router_queue),
    ("completion", |flow| &flow.completions),
    ("frame", |flow| &flow.frames),
    ("sender_queue", |flow| &flow.sender_queue),
];

/// All measurements of a run.
#[pyclass(module = "tidemark", frozen)]
pub(crate) struct Outcome(RunResult);

impl From<RunResult> for Outcome {
    /// Adds the commit of this library to a result, as the command adds its own.
    fn from(result: RunResult) -> Self {
        Self(RunResult { commit: tidemark_version::COMMIT.map(Into::into), ..result })
    }
}

#[pymethods]
impl Outcome {
    /// Text of `summary.json`.
    fn summary(&self) -> PyResult<String> {
        output::summary(&self.0).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Series as JSON, nested by kind, field, subject and interval.
    fn series(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.series).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Text of the CSV file with this name; None for marks if they were not recorded.
    fn table(&self, file: &str) -> PyResult<Option<String>> {
        let named = File::named(file).ok_or_else(|| {
            let known: Vec<_> = FILES.iter().map(|file| file.name).collect();
            PyKeyError::new_err(format!("there is no `{file}`: use one of {}", known.join(", ")))
        })?;
        Ok(named.text(&self.0))
    }

    /// Cumulative distribution of a delay for each flow: a few hundred points at most, of milliseconds and share.
    fn cdf(&self, delay: &str) -> PyResult<Vec<Vec<(f64, f64)>>> {
        let (_, of) = DELAYS.iter().find(|(name, _)| *name == delay).ok_or_else(|| {
            let known: Vec<_> = DELAYS.iter().map(|(name, _)| *name).collect();
            PyKeyError::new_err(format!("delay: there is no `{delay}`: use one of {}", known.join(", ")))
        })?;
        Ok(self.0.flows.iter().map(|flow| of(flow).cdf()).collect())
    }

    /// Writes the report page.
    fn report(&self, file: PathBuf) -> PyResult<()> {
        Ok(staging::replace_file(&file, tidemark_report::page(&self.0)?.as_bytes())?)
    }

    /// Writes the folder of the run, like the command; without `force` not in place of other results.
    fn write(&self, folder: PathBuf, force: bool) -> PyResult<()> {
        if let Some(lost) = earlier::lost_by_run(&folder, &self.0.scenario).filter(|_| !force) {
            let folder = folder.display();
            let right = "name another folder, or replace what is there with force=True";
            return Err(PyFileExistsError::new_err(format!("{folder} has {lost}\n{right}")));
        }
        output::write_folder(&folder, &self.0, Some(tidemark_report::write_page))?;
        Ok(seeds::remove(&folder)?)
    }
}

/// Text of `columns.csv`: file, column, type, unit and meaning.
#[pyfunction]
pub(crate) fn columns() -> String {
    files::columns_csv()
}
