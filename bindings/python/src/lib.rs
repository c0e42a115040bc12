//! `tidemark._engine`, the part of the Python package that is Rust. `python/tidemark` wraps it in a Python interface.

mod controller;
mod drb;
mod error;
mod law;
mod outcome;
mod own;
mod raised;
mod run;
mod scenario;
mod study;

use pyo3::pymodule;

#[pymodule]
mod _engine {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::controller::Ack;
    #[pymodule_export]
    use crate::drb::{Answer, Drb, Estimate};
    #[pymodule_export]
    use crate::law::{Arrival, Departure, Law};
    #[pymodule_export]
    use crate::outcome::{Outcome, columns};
    #[pymodule_export]
    use crate::run::run;
    #[pymodule_export]
    use crate::scenario::Scenario;
    #[pymodule_export]
    use crate::study::{Folder, Study, difference, make_run};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
