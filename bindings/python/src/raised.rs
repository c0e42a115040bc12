//! An exception of Python code that the engine calls, stored until the engine returns.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

/// The first exception of a run's Python code. After it the code is not called again, and the run ends.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Calls Python code, unless an exception was raised before; `None` if one was or is raised.
    pub(crate) fn call<T>(&self, code: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        if self.happened() {
            return None;
        }
        match Python::attach(code) {
            Ok(value) => Some(value),
            Err(error) => {
                self.lock().get_or_insert(error);
                None
            }
        }
    }

    /// True once an exception was raised.
    pub(crate) fn happened(&self) -> bool {
        self.lock().is_some()
    }

    /// Gives the exception, once.
    ///
    /// # Errors
    /// The exception.
    pub(crate) fn check(&self) -> PyResult<()> {
        self.lock().take().map_or(Ok(()), Err)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
