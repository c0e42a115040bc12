//! One recorder for simulated and live cells: what happens goes in, results and the folder of a run come out.

pub mod bearers;
pub mod distribution;
pub mod fairness;
pub mod output;
pub mod recorder;
mod result;
pub mod router;
mod subject;
pub mod unit;
mod uplink;

pub use result::{
    AnbrResult, BearerResult, CellResult, CellSeries, Event, EventKind, FlowResult, FlowSeries, Lateness, LiveResult,
    MediaResult, NetworkCellResult, RouterResult, RouterSeries, RunResult, Series, Split, Transfers, UePlace, UeResult,
    UeSeries, UplinkResult, UplinkSeries,
};
pub use subject::{Direction, NamedUe};
