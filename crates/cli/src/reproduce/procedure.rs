//! Targets that no simulation's result answers.

use std::collections::BTreeMap;

use miette::{Result, miette};

use super::{egress, processing, switches, tunnels};

type Figures = BTreeMap<String, f64>;
type Procedure = fn(&str) -> Result<Figures>;

/// The procedures by the names that targets use as their scenario.
const PROCEDURES: [(&str, Procedure); 4] = [
    ("egress", egress::run),
    ("processing", processing::run),
    (switches::NAME, switches::run),
    ("tunnels", tunnels::run),
];

/// True if targets may name it.
pub(super) fn is_known(name: &str) -> bool {
    PROCEDURES.iter().any(|(known, _)| *known == name)
}

/// Reason why a procedure cannot run on this machine, if there is one.
pub(super) fn unavailable(name: &str) -> Option<&'static str> {
    if name == switches::NAME { switches::unavailable() } else { None }
}

/// The figures that a procedure finds out for a case.
pub(super) fn run(name: &str, case: &str) -> Result<Figures> {
    let (_, procedure) =
        PROCEDURES.iter().find(|(known, _)| *known == name).ok_or_else(|| miette!("there is no procedure {name}"))?;
    procedure(case)
}
