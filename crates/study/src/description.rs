//! Description of a study, by which a folder recognises its study.

use serde::{Deserialize, Serialize};

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

/// Lines that only one of two texts has, `-` for the first and `+` for the second: twelve of them at most.
pub fn difference(here: &[String], there: &[String]) -> String {
    let alone = |own: &[String], others: &[String], sign: char| {
        let lines = own.iter().filter(|line| !others.contains(line)).map(move |line| format!("{sign} {line}"));
        lines.collect::<Vec<_>>()
    };
    let mut difference = [alone(here, there, '-'), alone(there, here, '+')].concat();
    if difference.is_empty() {
        difference.push("the same lines in another order".into());
    }
    let hidden = difference.len().saturating_sub(MAX_LINES);
    difference.truncate(MAX_LINES);
    if hidden > 0 {
        difference.push(format!("and {hidden} more lines"));
    }
    difference.join("\n")
}

/// Lines of a difference that are shown.
const MAX_LINES: usize = 12;
