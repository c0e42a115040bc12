//! Studies: a scenario over many values and seeds, and the folder of its runs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use tidemark_study::statistics::Estimate;
use tidemark_study::{Base, ExecuteError, Form, Found, Limits, Plan, Program, Progress, Run, Store, StudyError, Table};

use crate::error::{point_error, scenario_error, study_error};
use crate::own::Own;
use crate::raised::Raised;
use crate::scenario::toml_text;

/// Time between two checks for signals and for finished runs.
const LOOK: Duration = Duration::from_millis(50);

/// A study, read and checked.
#[pyclass(module = "tidemark", frozen)]
pub(crate) struct Study(tidemark_study::Study);

/// Text columns, number columns with their units, and the table as CSV.
type Columns = (Vec<String>, Vec<(String, Option<String>)>, String);

/// Varied values with their keys, and the result of a search at them.
type Finding = (Vec<(String, String)>, Option<u64>);

#[pymethods]
impl Study {
    /// Reads the file of a study.
    #[staticmethod]
    fn from_file(file: PathBuf) -> PyResult<Self> {
        tidemark_study::Study::load(&file).map(Self::new).map_err(|error| exception(&error, true))
    }

    /// Makes a study from a form in JSON and the text of a scenario, which is TOML, or JSON if it was a dict.
    #[staticmethod]
    fn from_form(form: &str, file: &str, text: &str, is_json: bool, folder: PathBuf) -> PyResult<Self> {
        let form: Form = serde_json::from_str(form).map_err(|error| study_error(&error.to_string()))?;
        let text = if is_json { toml_text(text)? } else { text.into() };
        let base = Base { file: file.into(), text, folder };
        tidemark_study::Study::new(&form, base).map(Self::new).map_err(|error| exception(&error, !is_json))
    }

    /// Name of the study.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Number of points: combinations of values.
    #[getter]
    fn points(&self) -> u64 {
        self.0.points()
    }

    /// Seeds of every point.
    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.0.seeds.clone()
    }

    /// Names of varied keys and cases.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.columns()
    }

    /// Gives the study with a law and controllers from Python, checked; `code` is their hash.
    #[pyo3(signature = (code, law, controllers))]
    fn with_code(
        &self,
        code: String,
        law: Option<Bound<'_, PyAny>>,
        controllers: Vec<(String, Bound<'_, PyAny>)>,
    ) -> PyResult<Self> {
        let mut study = self.0.clone();
        study.program.code = Some(code);
        let point = study.point(0);
        let first = study.run(0, &point, study.seeds[0]).map_err(|error| exception(&error, true))?;
        let mut scenario = first.scenario().map_err(|error| scenario_error(&error, true))?;
        Own::new(law.as_ref(), &controllers, &Raised::default())?.replace(&mut scenario)?;
        Ok(Self(study))
    }

    /// Checks every point and opens the folder of the study's runs; makes the folder if it is missing.
    fn open(&self, py: Python<'_>, folder: PathBuf, jobs: usize) -> PyResult<Folder> {
        let study = self.0.clone();
        py.detach(|| {
            let limits = Limits { jobs, memory: None, proceed: &|| true };
            let plan = Plan::new(&study, &limits).map_err(|error| execute_error(&error))?;
            let store = Store::open(&folder, &study).map_err(|error| study_error(&error.to_string()))?;
            Ok(Folder { study, store, plan: Mutex::new(plan), jobs })
        })
    }
}

impl Study {
    fn new(mut study: tidemark_study::Study) -> Self {
        study.program = program();
        Self(study)
    }
}

/// Folder of a study's runs.
#[pyclass(module = "tidemark", frozen)]
pub(crate) struct Folder {
    study: tidemark_study::Study,
    store: Store,
    plan: Mutex<Plan>,
    jobs: usize,
}

#[pymethods]
impl Folder {
    /// Runs that the folder lacks: their keys, and the arguments for `make_run`.
    fn missing(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        py.detach(|| {
            let plan = self.plan();
            let missing = plan.runs(&self.study).filter(|run| !self.store.has(&run.key));
            let as_json = |run: Run| Ok((run.key.clone(), serde_json::to_string(&run)?));
            let runs: serde_json::Result<Vec<_>> = missing.map(as_json).collect();
            runs.map_err(|error| study_error(&error.to_string()))
        })
    }

    /// Number of runs, with added seeds.
    fn count(&self) -> usize {
        self.plan().runs(&self.study).count()
    }

    /// Adds further runs that the study needs after the records so far, because it adds seeds or searches; false once it is complete. All
    /// runs so far must be in the folder.
    fn advance(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| self.plan().advance(&self.study, &self.store).map_err(|error| execute_error(&error)))
    }

    /// Results of a search: varied values, and the value found.
    fn found(&self) -> Vec<Finding> {
        let found = self.plan().found(&self.study).into_iter();
        found.map(|Found { point, value, .. }| (point.values, value)).collect()
    }

    /// Series of the run with this key: file names with texts. None if the study keeps no series, or the run is missing.
    fn series(&self, key: &str) -> PyResult<Vec<(String, String)>> {
        let record = self.store.get(key).map_err(|error| study_error(&error.to_string()))?;
        let files = record.iter().flat_map(|record| record.series_files());
        Ok(files.map(|(name, text)| (name.into(), text.into())).collect())
    }

    /// Stores a record from `make_run`; an existing one stays.
    fn put(&self, key: &str, record: &[u8]) -> PyResult<()> {
        self.store.put(key, record).map_err(|error| study_error(&error.to_string()))
    }

    /// Makes the missing runs on the cores of this machine; adds seeds and searches if the study says so. `progress` is called with
    /// the number of finished runs and of all runs.
    fn execute(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<()> {
        py.detach(|| {
            let stop = AtomicBool::new(false);
            let proceed = || !stop.load(Ordering::Relaxed);
            let (sender, news) = mpsc::channel::<Progress>();
            // Only the main thread receives signals, so it waits while another thread works.
            thread::scope(|scope| {
                let work = scope.spawn(move || {
                    let limits = Limits { jobs: self.jobs, memory: None, proceed: &proceed };
                    let tell = |progress| _ = sender.send(progress);
                    tidemark_study::execute(&self.study, &mut self.plan(), &self.store, &limits, tell)
                });
                let mut raised = None;
                loop {
                    let heard = news.recv_timeout(LOOK);
                    if let Err(RecvTimeoutError::Disconnected) = heard {
                        break;
                    }
                    let looked = Python::attach(|py| {
                        py.check_signals()?;
                        let (Some(progress), Ok(at)) = (&progress, heard) else { return Ok(()) };
                        progress.call1(py, (at.done, at.total)).map(drop)
                    });
                    if let Err(error) = looked {
                        raised.get_or_insert(error);
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                let outcome = work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                raised.map_or_else(|| outcome.map(drop).map_err(|error| execute_error(&error)), Err)
            })
        })
    }

    /// Table of the study.
    fn table(&self, py: Python<'_>) -> PyResult<Columns> {
        py.detach(|| {
            let table = self.read_table()?;
            let unit = |unit: Option<&str>| unit.map(str::to_string);
            let metrics = table.metrics.iter().map(|metric| (metric.name().to_string(), unit(metric.unit()))).collect();
            Ok((table.columns.clone(), metrics, table.csv()))
        })
    }

    /// Mean of each metric over the seeds of each point and group of flows: values, flow, metric, mean, half-width of its 95 % confidence
    /// interval, seeds.
    #[expect(clippy::type_complexity, reason = "a row of a table")]
    fn means(
        &self,
        py: Python<'_>,
    ) -> PyResult<Vec<(Vec<Option<String>>, Option<String>, String, f64, Option<f64>, usize)>> {
        py.detach(|| {
            let table = self.read_table()?;
            let mut rows = Vec::new();
            for summary in table.summaries() {
                for (index, metric) in table.metrics.iter().enumerate() {
                    if let Some(mean) = summary.estimate(index) {
                        let (values, flow) = (summary.values.clone(), summary.flow.clone());
                        rows.push((values, flow, metric.name().to_string(), mean.mean, mean.half, mean.count));
                    }
                }
            }
            Ok(rows)
        })
    }
}

impl Folder {
    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_table(&self) -> PyResult<Table> {
        Table::new(&self.study, &self.plan(), &self.store).map_err(|error| study_error(&error.to_string()))
    }
}

/// Version and build of this library.
fn program() -> Program {
    Program { build: tidemark_version::BUILD.into(), commit: tidemark_version::COMMIT.map(Into::into), code: None }
}

/// Makes a run from `Folder.missing`, in any process and on any machine with the same build of this library, with the law and the
/// controllers of the study. Gives its record.
#[pyfunction]
#[pyo3(signature = (run, law = None, controllers = Vec::new()))]
pub(crate) fn make_run(
    py: Python<'_>,
    run: &str,
    law: Option<Bound<'_, PyAny>>,
    controllers: Vec<(String, Bound<'_, PyAny>)>,
) -> PyResult<Vec<u8>> {
    let run: Run = serde_json::from_str(run).map_err(|error| study_error(&error.to_string()))?;
    if run.program.build != tidemark_version::BUILD {
        let (own, other) = (tidemark_version::BUILD, run.program.build);
        return Err(study_error(&format!(
            "this worker has build {own} of tidemark, but the study has build {other}: install the same wheel on both"
        )));
    }
    let raised = Raised::default();
    let own = Own::new(law.as_ref(), &controllers, &raised)?;
    let mut scenario = run.scenario().map_err(|error| study_error(&error.to_string()))?;
    own.replace(&mut scenario)?;
    py.detach(|| {
        let made = tidemark_study::run_scenario(&run, &scenario, || !raised.happened());
        raised.check()?;
        let record = made.map_err(|error| study_error(&error.to_string()))?;
        record.ok_or_else(|| study_error("the run was interrupted"))
    })
}

/// Mean difference, second minus first, over pairs, with the half-width of its 95 % confidence interval and the number of pairs; `None`
/// without pairs.
#[pyfunction]
pub(crate) fn difference(pairs: Vec<(f64, f64)>) -> Option<(f64, Option<f64>, usize)> {
    Estimate::of_differences(&pairs).map(|of| (of.mean, of.half, of.count))
}

fn exception(error: &StudyError, is_written: bool) -> PyErr {
    match error {
        StudyError::Wrong(wrong) => {
            scenario_error(&tidemark_sim::scenario::LoadError::Wrong(wrong.clone()), is_written)
        }
        StudyError::Scenario(error) => scenario_error(error, is_written),
        StudyError::Point { point, error } => point_error(point, error),
        other => study_error(&other.to_string()),
    }
}

fn execute_error(error: &ExecuteError) -> PyErr {
    match error {
        ExecuteError::Study(error) => exception(error, true),
        other => study_error(&other.to_string()),
    }
}
