//! Description of a study, by which a folder recognises its study.

use serde::{Deserialize, Serialize};
use tidemark_record::earlier::difference;

use crate::study::Study;

/// Facts of a study that a folder keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Description {
    /// Name of the study.
    name: String,
    /// Text of the scenario.
    scenario: String,
    /// Overrides of every run.
    set: Vec<String>,
    /// Varied keys and cases. They and what follows may change.
    columns: Vec<String>,
    /// Seeds of every point.
    seeds: Vec<u64>,
    /// Metrics.
    metrics: Vec<String>,
}

impl Description {
    pub(crate) fn of(study: &Study) -> Self {
        Self {
            name: study.name.clone(),
            scenario: study.base.text.clone(),
            set: study.set.clone(),
            columns: study.columns(),
            seeds: study.seeds.clone(),
            metrics: study.metrics.iter().map(ToString::to_string).collect(),
        }
    }

    /// Lines in which another study differs; `None` if it is this study with more or fewer values.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        let lines = |of: &Self| {
            let name = format!("name = \"{}\"", of.name);
            let set = of.set.iter().map(|assignment| format!("set {assignment}"));
            [name].into_iter().chain(set).chain(of.scenario.lines().map(str::to_string)).collect::<Vec<_>>()
        };
        if self.name == other.name && self.scenario == other.scenario && self.set == other.set {
            return None;
        }
        Some(difference(&lines(self), &lines(other)))
    }
}
