//! Virtual time: a scenario becomes a run, a run becomes results.
pub mod distribution;
pub mod event;
pub mod ledger;
pub mod scenario;
