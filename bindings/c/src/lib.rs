//! `libtidemark`: the packet path of [`tidemark_marker`] behind a C interface.
//!
//! [`instance`] owns the UEs of a CU-UP and serves several threads, one at a time for each UE. [`setup`], [`path`], [`batch`], [`qos_flow`],
//! [`read`], [`totals`], [`notices`] and [`relocation`] have the calls, [`types`] the types passed by value, and [`status`] the status that
//! calls return.
//!
//! No call panics across the C interface, and none trusts an argument: a null pointer, a wrong length and the handle of a
//! removed UE each have a status. The caller only has to ensure that a pointer points to as many bytes as its length says.

pub mod instance;
mod sized;
pub mod status;
pub mod types;

// In the order of the header.
pub mod setup;

pub mod path;

pub mod batch;

pub mod qos_flow;

pub mod read;

pub mod totals;

pub mod notices;

pub mod relocation;
