//! Targets that no simulation's result answers.

use std::collections::BTreeMap;

use miette::{Result, miette};

use super::{egress, processing, switches, tunnels};

type Figures = BTreeMap<String, f64>;
/// Figures of a case, those of each of its runs.
type Procedure = fn(&str) -> Result<Vec<Figures>>;

/// The procedures by the names that targets use as their scenario.
const PROCEDURES: [(&str, Procedure); 4] = [
    ("egress", |case| once(egress::run(case))),
    ("processing", |case| once(processing::run(case))),
    (switches::NAME, switches::run),
    ("tunnels", |case| once(tunnels::run(case))),
];

/// True if targets may name it.
pub(super) fn is_known(name: &str) -> bool {
    PROCEDURES.iter().any(|(known, _)| *known == name)
}

/// Reason why a procedure cannot run on this machine, if there is one.
pub(super) fn unavailable(name: &str) -> Option<&'static str> {
    if name == switches::NAME { switches::unavailable() } else { None }
}

/// Number of runs of each case.
pub(super) fn repetitions(name: &str) -> u64 {
    if name == switches::NAME { switches::REPETITIONS } else { 1 }
}

/// The figures that a procedure finds out for a case, those of each of its runs.
pub(super) fn run(name: &str, case: &str) -> Result<Vec<Figures>> {
    let (_, procedure) =
        PROCEDURES.iter().find(|(known, _)| *known == name).ok_or_else(|| miette!("there is no procedure {name}"))?;
    procedure(case)
}

fn once(figures: Result<Figures>) -> Result<Vec<Figures>> {
    Ok(vec![figures?])
}
