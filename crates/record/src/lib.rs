//! One recorder for simulated cells, live cells and endpoints: what happens goes in, results and the folder of a run come out.
//!
//! A driver hands a [`Recorder`] each [`Event`](event::Event), and the [`Counters`] of cells and endpoints once an interval,
//! and asks for a [`RunResult`] at the end. [`Limits`] bound the memory of a cell that runs for days.

#![warn(unnameable_types, unreachable_pub)]

pub mod bearers;
mod cell;
mod counters;
pub mod distribution;
pub mod earlier;
pub mod endpoint;
pub mod endpoint_result;
pub mod event;
pub mod fairness;
pub mod fields;
pub mod files;
mod flow;
mod frames;
pub mod marks;
pub mod output;
pub mod python;
mod recorder;
mod result;
mod router;
pub mod seeds;
pub mod series;
pub mod staging;
mod subject;
mod summary;
mod thinned;
mod ue;
pub mod unit;
mod watched;

pub use counters::Counters;
pub use event::Arrival;
pub use flow::{FlowDescription, FlowRecord};
pub use recorder::{FlowNumber, Limits, Recorder};
pub use result::{
    AnbrResult, BearerResult, CellPlace, CellResult, CellSeries, Codepoints, Event, EventKind, FlowResult, FlowSeries,
    Freeze, Lateness, LiveResult, MarkResult, MediaResult, NetworkCellResult, Quantiles, RouterResult, RouterSeries,
    RouterTdq, RunResult, STRUCTS, Series, Split, Threshold, Transfers, UePlace, UeResult, UeSeries, UplinkResult,
    UplinkSeries,
};
pub use router::RouterDescription;
pub use subject::{Direction, NamedUe};
pub use summary::Description;
pub use ue::{UeInterval, UeRecord, Watched};
