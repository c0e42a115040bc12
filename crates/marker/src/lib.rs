//! The marking engine: estimators, marking laws, feedback short-circuit and the packet path.
//!
//! [`DrbMarker`] is one DRB of one UE, seen from the CU-UP. It is told of downlink packets, of the PDCP SNs that they
//! get and of the DU's delivery reports, predicts how long a packet will wait in the RLC queue, and answers
//! each packet with a [`Verdict`] by the law that its [`MarkerConfig`] names.
//!
//! Nothing here knows a clock, a socket or a thread, and nothing allocates after set-up.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod backlog;
mod config;
mod drb;
mod dual_queue;
mod egress;
mod flow;
mod law;
pub mod path;
mod policy;
mod profile;
mod report;
mod shortcircuit;
mod stamps;
mod verdict;

pub use config::{ConfigError, MarkerConfig};
pub use drb::{Counters, DrbMarker, Estimate};
pub use dual_queue::{Dequeued, DualQueue, DualQueueConfig, DualScheduler};
pub use egress::Egress;
pub use law::{
    CodelConfig, DropHeadConfig, DualPi2Config, L4SpanConfig, LawConfig, NotEctRule, QueueDelay, RampConfig,
    SharedRule, StepConfig, UpfConfig,
};
pub use policy::{Policy, PolicyRule};
pub use report::{DeliveryStatus, RlcQueue, SnLength};
pub use verdict::{Class, Verdict};
