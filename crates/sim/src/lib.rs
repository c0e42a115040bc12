//! Virtual time: a scenario becomes a run, a run becomes results.
//!
//! [`scenario::Scenario`] reads and checks a scenario file, [`Simulation`] runs it, [`output`] writes what a
//! [`RunResult`] says.

mod addresses;
pub mod bearers;
mod capture;
pub mod distribution;
pub mod event;
pub mod fairness;
mod flow;
pub mod ledger;
pub mod modem;
pub mod output;
mod recommend;
mod recorder;
mod result;
pub mod router;
pub mod scenario;
mod sides;
mod simulation;
mod stamped;
mod summary;
mod warning;
mod wire;

pub use capture::Capture;
pub use ledger::NotConserved;
pub use result::{
    AnbrResult, BearerResult, CellResult, CellSeries, Event, EventKind, FlowResult, FlowSeries, Lateness, LiveResult,
    MediaResult, NetworkCellResult, RouterResult, RouterSeries, RunResult, Series, Split, Transfers, UePlace, UeResult,
    UeSeries, UplinkResult, UplinkSeries,
};
pub use simulation::{SetUpError, Simulation};
pub use stamped::Stamped;
