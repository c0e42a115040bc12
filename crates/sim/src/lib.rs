//! Virtual time: a scenario becomes a run, a run becomes results.
//!
//! [`Simulation`] runs a [`Scenario`](scenario::Scenario), [`output`] writes a [`RunResult`].

#![warn(unnameable_types, unreachable_pub)]

mod addresses;
mod capture;
pub mod event;
mod flow;
pub mod ledger;
mod marked;
pub mod modem;
mod parts;
mod recommend;
mod shard;
mod sides;
mod simulation;
mod stamped;
mod summary;
mod warning;
mod wire;
mod workers;

pub use capture::Capture;
pub use ledger::NotConserved;
pub use simulation::{SetUpError, Simulation};
pub use stamped::{Stamped, Way};
pub use tidemark_record::{
    AnbrResult, BearerResult, CellResult, CellSeries, Event, EventKind, FlowResult, FlowSeries, Lateness, LiveResult,
    MarkResult, MediaResult, NetworkCellResult, RouterResult, RouterSeries, RunResult, Series, Split, Transfers,
    UePlace, UeResult, UeSeries, UplinkResult, UplinkSeries, bearers, distribution, fairness, output,
};
pub use tidemark_scenario as scenario;
pub use warning::broken_guarantees;
