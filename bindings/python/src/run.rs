//! Runs of scenarios.

use std::borrow::Cow;
use std::cell::Cell;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tidemark_sim::Simulation;

use crate::error::field_error;
use crate::outcome::Outcome;
use crate::own::Own;
use crate::raised::Raised;
use crate::scenario::Scenario;

/// Time between two checks for signals: short for a person, long compared with the cost of a check.
const LOOK: Duration = Duration::from_millis(50);

/// Runs a scenario without Python's lock. `law` replaces the scenario's law, and `controllers` replace those of the flows that they
/// name. `progress`, if set, is called a few times a second with the virtual seconds so far.
///
/// An exception of a signal handler (`KeyboardInterrupt`), of `progress`, of a law or of a controller ends the run.
#[pyfunction]
#[pyo3(signature = (scenario, *, keep_marks, law = None, controllers = Vec::new(), progress = None))]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    keep_marks: bool,
    law: Option<Bound<'_, PyAny>>,
    controllers: Vec<(String, Bound<'_, PyAny>)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let raised = Raised::default();
    let mut scenario = Cow::Borrowed(&scenario.get().0);
    let own = Own::new(law.as_ref(), &controllers, &raised)?;
    if !own.is_empty() {
        own.replace(scenario.to_mut())?;
    }
    let scenario = &*scenario;
    py.detach(|| {
        let simulation = Simulation::new(scenario);
        raised.check()?;
        let mut simulation = simulation.map_err(|error| field_error("scenario", &error.to_string()))?;
        if keep_marks {
            simulation.keep_marks();
        }
        let looked = Cell::new(Instant::now());
        let result = simulation.run(|now| {
            if looked.get().elapsed() >= LOOK {
                looked.set(Instant::now());
                let seconds = now.since(tidemark_core::Instant::ZERO).as_secs_f64();
                raised.call(|py| {
                    py.check_signals()?;
                    progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (seconds,)).map(drop))
                });
            }
            !raised.happened()
        });
        raised.check()?;
        result.map(Outcome::from).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    })
}
