//! Targets whose figures do not come from the result of a simulation.

use std::collections::BTreeMap;

use miette::{Result, miette};

use super::{egress, processing, switches, tunnels};

type Figures = BTreeMap<String, f64>;

/// One way to measure figures.
struct Procedure {
    /// Name that targets use as their scenario.
    name: &'static str,
    /// Number of runs of each case.
    repetitions: u64,
    /// Reason why it cannot run on this machine, if there is one.
    unavailable: fn() -> Option<&'static str>,
    /// Measures a case: the figures of each of its runs.
    run: fn(&str) -> Result<Vec<Figures>>,
}

const PROCEDURES: [Procedure; 4] = [
    Procedure { name: "egress", repetitions: 1, unavailable: || None, run: |case| once(egress::run(case)) },
    Procedure { name: "processing", repetitions: 1, unavailable: || None, run: |case| once(processing::run(case)) },
    Procedure {
        name: "switches",
        repetitions: switches::REPETITIONS,
        unavailable: switches::unavailable,
        run: switches::run,
    },
    Procedure { name: "tunnels", repetitions: 1, unavailable: || None, run: |case| once(tunnels::run(case)) },
];

/// True for the name of a procedure.
pub(super) fn is_known(name: &str) -> bool {
    find(name).is_some()
}

/// Reason why a procedure cannot run on this machine; `None` if it can, and for a scenario.
pub(super) fn unavailable(name: &str) -> Option<&'static str> {
    find(name).and_then(|procedure| (procedure.unavailable)())
}

/// Number of runs of each case; `None` for a scenario, which has one for each seed.
pub(super) fn repetitions(name: &str) -> Option<u64> {
    find(name).map(|procedure| procedure.repetitions)
}

/// Measures a case by a procedure: the figures of each run.
pub(super) fn run(name: &str, case: &str) -> Result<Vec<Figures>> {
    let procedure = find(name).ok_or_else(|| miette!("there is no procedure {name}"))?;
    (procedure.run)(case)
}

fn find(name: &str) -> Option<&'static Procedure> {
    PROCEDURES.iter().find(|procedure| procedure.name == name)
}

fn once(figures: Result<Figures>) -> Result<Vec<Figures>> {
    Ok(vec![figures?])
}
