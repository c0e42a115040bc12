//! Converts errors of the engine to exceptions of `tidemark.errors`. These are written in Python, because a class of the stable ABI can't
//! extend ValueError.

use pyo3::prelude::*;
use tidemark_sim::scenario::{LoadError, OverrideError};

/// File, line and key of an error, as far as known.
#[derive(Default)]
struct Place<'a> {
    file: Option<&'a str>,
    line: Option<usize>,
    key: Option<&'a str>,
}

/// Exception with the error's place. A text that the user did not write has no lines.
pub(crate) fn scenario_error(error: &LoadError, is_written: bool) -> PyErr {
    let first = match error {
        LoadError::Several(errors) => errors.first().unwrap_or(error),
        one => one,
    };
    let place = match first {
        LoadError::Wrong(wrong) if is_written => {
            Place { file: Some(&wrong.file), line: Some(wrong.line), key: first.key() }
        }
        _ => Place { key: first.key(), ..Place::default() },
    };
    exception(&message(error, is_written), &place)
}

/// Message of an error. An override is named as an argument, not as a flag.
fn message(error: &LoadError, is_written: bool) -> String {
    match error {
        LoadError::Wrong(wrong) if !is_written => wrong.message.clone(),
        LoadError::Override(wrong @ OverrideError::NoSuchPlace { .. }) => format!("set: {wrong}"),
        LoadError::Assigned { assignment, error } => format!("set {assignment}: {}", error.message),
        LoadError::Several(errors) => {
            errors.iter().map(|error| message(error, is_written)).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
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
