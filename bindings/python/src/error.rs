//! Errors of the engine as exceptions of `tidemark.errors`, which are Python's: a class of the stable ABI can't extend ValueError.

use pyo3::prelude::*;
use tidemark_sim::scenario::{LoadError, OverrideError};

/// File, line and key of what is wrong, as far as they are known.
#[derive(Default)]
struct Place<'a> {
    file: Option<&'a str>,
    line: Option<usize>,
    key: Option<&'a str>,
}

/// Exception with the place that the error names. A text that the user did not write has no lines.
pub(crate) fn scenario_error(error: &LoadError, is_written: bool) -> PyErr {
    match error {
        LoadError::Wrong(wrong) => {
            let key = wrong.key.as_deref();
            if is_written {
                let place = Place { file: Some(&wrong.file), line: Some(wrong.line), key };
                exception(&wrong.to_string(), &place)
            } else {
                exception(&wrong.message, &Place { key, ..Place::default() })
            }
        }
        LoadError::Override(wrong @ OverrideError::NoSuchPlace { key, .. }) => {
            exception(&format!("set: {wrong}"), &Place { key: Some(key), ..Place::default() })
        }
        LoadError::Assigned { assignment, error } => {
            let key = error.key.as_deref();
            exception(&format!("set {assignment}: {}", error.message), &Place { key, ..Place::default() })
        }
        LoadError::Several(errors) => match errors.first().filter(|_| is_written) {
            Some(first) => {
                let place = Place { file: Some(&first.file), line: Some(first.line), key: error.key() };
                exception(&error.to_string(), &place)
            }
            None => {
                let messages: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
                exception(&messages.join("\n"), &Place { key: error.key(), ..Place::default() })
            }
        },
        other => exception(&other.to_string(), &Place::default()),
    }
}

/// A `ScenarioError` about a field.
pub(crate) fn field_error(key: &str, message: &str) -> PyErr {
    exception(&format!("{key}: {message}"), &Place { key: Some(key), ..Place::default() })
}

/// A `ScenarioError` about the scenario of one point of a study.
pub(crate) fn point_error(point: &str, error: &LoadError) -> PyErr {
    exception(&format!("{point}: {error}"), &Place { key: error.key(), ..Place::default() })
}

/// A `StudyError`.
pub(crate) fn study_error(message: &str) -> PyErr {
    Python::attach(|py| {
        let class = py.import("tidemark.errors").and_then(|module| module.getattr("StudyError"));
        class.and_then(|class| class.call1((message,))).map_or_else(|error| error, PyErr::from_value)
    })
}

fn exception(message: &str, place: &Place<'_>) -> PyErr {
    Python::attach(|py| {
        let class = py.import("tidemark.errors").and_then(|module| module.getattr("ScenarioError"));
        let made = class.and_then(|class| class.call1((message, place.file, place.line, place.key)));
        made.map_or_else(|error| error, PyErr::from_value)
    })
}
