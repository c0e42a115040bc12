//! Studies: one scenario over many values and seeds.
//!
//! A [`Study`] expands into [`Run`]s, each of them plain data with a key of its own. [`run_one`] makes the record of a run, a [`Store`]
//! keeps records in a folder that several processes may share, and [`execute()`] makes those that are missing on all
//! processors. A [`Table`] has a row for each run and group of flows, [`statistics`] the intervals over its seeds.

#![warn(unnameable_types, unreachable_pub)]

mod description;
mod error;
mod execute;
mod form;
mod grid;
mod limits;
mod memory;
pub mod metric;
pub mod page;
mod plan;
mod record;
mod records;
mod run;
mod schema;
mod search;
mod seeds;
pub mod statistics;
mod store;
mod study;
mod table;
mod values;

pub use error::ExecuteError;
pub use execute::{Progress, execute};
pub use form::{CaseForm, Cases, Find, Form, Keys, Labels, UntilCi};
pub use grid::Point;
pub use limits::Limits;
pub use metric::{Metric, NoSuchMetric};
pub use plan::{Found, Plan};
pub use record::Record;
pub use records::{Claim, FileError, Records};
pub use run::{PointHash, Program, Run, RunError, VERSION, run_one, run_scenario, run_while};
pub use search::{Condition, Search};
pub use seeds::Widening;
pub use store::{Store, StoreError};
pub use study::{Base, MAX_RUNS, Study, StudyError};
pub use table::{Row, Summary, Table, TableError};
