//! `libtidemark`: the packet path of [`tidemark_marker`] behind a C interface.
//!
//! [`instance`] owns the UEs of a CU-UP and lets several threads in, each UE one at a time; [`setup`], [`path`], [`batch`], [`qos_flow`],
//! [`read`], [`totals`], [`notices`] and [`relocation`] have the calls, [`types`] the types that cross the border by value, and [`status`] the
//! status that calls return.
//!
//! No call panics across the border, and none trusts an argument: a null pointer, a wrong length and a handle of a UE that is
//! gone each have their status. One promise stays with the caller: that a pointer points to as many bytes as its length
//! says.

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
