//! `tidemark._engine`, the part of the Python package that is Rust. `python/tidemark` gives it Python's manners.

mod error;
mod outcome;
mod run;
mod scenario;

use pyo3::pymodule;

#[pymodule]
mod _engine {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::outcome::Outcome;
    #[pymodule_export]
    use crate::run::run;
    #[pymodule_export]
    use crate::scenario::Scenario;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
