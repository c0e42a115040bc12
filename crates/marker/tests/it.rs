//! All integration tests in one program, because linking takes longer than most of the tests.

#[path = "common/anything/mod.rs"]
mod anything;
#[path = "common/bytes.rs"]
mod bytes;
mod common;
#[path = "common/state.rs"]
mod state;

mod bearers;
mod counters;
mod decision;
mod drain;
mod estimate;
mod faces;
mod faults;
mod handover;
mod hostile;
mod invariants;
mod jitter;
mod overload;
mod qos_flows;
mod reconfigure;
mod reference;
mod relocation;
mod retransmission;
mod scenario;
mod shared;
mod split_bearer;
mod thresholds;
mod ue;
