//! Runs of scenarios.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tidemark_sim::Simulation;

use crate::error::field_error;
use crate::outcome::Outcome;
use crate::scenario::Scenario;

/// Time between two looks for signals: short beside a person's patience, long beside what a look costs.
const LOOK: Duration = Duration::from_millis(50);

/// Runs a scenario without Python's lock. `progress`, if any, is called with the virtual seconds that have passed, some times a second.
///
/// An exception ends the run: that of a signal's handler (`KeyboardInterrupt`) or of `progress`.
#[pyfunction]
#[pyo3(signature = (scenario, *, keep_marks, progress = None))]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    keep_marks: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let scenario = &scenario.get().0;
    py.detach(|| {
        let mut simulation = Simulation::new(scenario).map_err(|error| field_error("scenario", &error.to_string()))?;
        if keep_marks {
            simulation.keep_marks();
        }
        let raised = RefCell::new(None);
        let looked = Cell::new(Instant::now());
        let result = simulation.run(|now| {
            if looked.get().elapsed() < LOOK {
                return true;
            }
            looked.set(Instant::now());
            let seconds = now.since(tidemark_core::Instant::ZERO).as_secs_f64();
            let looked = Python::attach(|py| {
                py.check_signals()?;
                progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (seconds,)).map(drop))
            });
            looked.map_err(|error| raised.replace(Some(error))).is_ok()
        });
        match raised.take() {
            Some(error) => Err(error),
            None => result.map(Outcome::from).map_err(|error| PyRuntimeError::new_err(error.to_string())),
        }
    })
}
