//! Scenarios, read and checked.

use std::path::PathBuf;

use pyo3::prelude::*;
use tidemark_sim::scenario;

use crate::error::{field_error, scenario_error};

/// A scenario, read and checked, that `run` takes.
#[pyclass(module = "tidemark", frozen)]
pub(crate) struct Scenario(pub(crate) scenario::Scenario);

#[pymethods]
impl Scenario {
    /// Reads a TOML text; traces are relative to `folder`. `assignments` are pairs of a key and a value as JSON.
    #[staticmethod]
    fn from_toml(file: &str, text: &str, folder: PathBuf, assignments: Vec<(String, String)>) -> PyResult<Self> {
        let assignments =
            assignments.iter().map(|(key, value)| assignment(key, value)).collect::<PyResult<Vec<_>>>()?;
        let read = scenario::Scenario::parse(file, text, &folder, &assignments);
        read.map(Self).map_err(|error| scenario_error(&error, true))
    }

    /// Reads a JSON text like `from_toml`. Errors have no lines, because nobody wrote the text.
    #[staticmethod]
    fn from_json(json: &str, folder: PathBuf, assignments: Vec<(String, String)>) -> PyResult<Self> {
        let text = toml_text(json)?;
        let assignments =
            assignments.iter().map(|(key, value)| assignment(key, value)).collect::<PyResult<Vec<_>>>()?;
        let read = scenario::Scenario::parse("scenario", &text, &folder, &assignments);
        read.map(Self).map_err(|error| scenario_error(&error, false))
    }

    /// Text of the scenario, with overrides applied.
    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// Length of the run in virtual seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.0.duration.as_secs_f64()
    }

    /// Name of the scenario.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Parts of the scenario that the run ignores, and likely mistakes.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings()
    }

    /// A line that describes the run.
    fn outline(&self) -> String {
        self.0.outline()
    }
}

/// TOML text of a scenario in JSON.
pub(crate) fn toml_text(json: &str) -> PyResult<String> {
    toml::to_string(&toml_of("", json)?).map_err(|error| field_error("scenario", &error.to_string()))
}

/// Override in the form of the command's `--set`.
fn assignment(key: &str, json: &str) -> PyResult<String> {
    Ok(format!("{key}={}", toml_of(key, json)?))
}

/// Value of a JSON text. TOML has no null, and the converter's message would name Rust types, so the error names the path of the first
/// null instead.
fn toml_of(key: &str, json: &str) -> PyResult<toml::Value> {
    let wrong = |error: &dyn std::fmt::Display| field_error(key, &error.to_string());
    let value: serde_json::Value = serde_json::from_str(json).map_err(|error| wrong(&error))?;
    if let Some(path) = null_in(&value) {
        let path = [key].into_iter().filter(|key| !key.is_empty()).chain(path.iter().map(String::as_str));
        let path = path.collect::<Vec<_>>().join(".");
        return Err(field_error(&path, "a scenario can't have None: leave the key out"));
    }
    toml::Value::try_from(value).map_err(|error| wrong(&error))
}

/// Path of the first null in a value, if there is any.
fn null_in(value: &serde_json::Value) -> Option<Vec<String>> {
    use serde_json::Value;
    let below = |step: String, value| Some([vec![step], null_in(value)?].concat());
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| below(index.to_string(), item)),
        Value::Object(fields) => fields.iter().find_map(|(name, value)| below(name.clone(), value)),
        _ => None,
    }
}
