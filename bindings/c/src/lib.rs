//! `libtidemark`: the packet path of [`tidemark_marker`] behind a C interface.
//!
//! [`instance`] owns the UEs of a CU-UP and lets several threads in, each UE one at a time; [`setup`], [`path`] and
//! [`read`] are the calls; [`types`] has what crosses the border by value, and [`status`] what comes back.
//!
//! No call panics across the border, and none trusts an argument: a null pointer, a wrong length and a handle of a UE that is
//! gone each have their status. What C can't promise otherwise stays with the caller: that a pointer points to as much
//! as its length says.

pub mod instance;
pub mod status;
pub mod types;

// In the order that the header has them in.
pub mod setup;

pub mod path;

pub mod read;
