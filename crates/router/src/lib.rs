//! Wired bottlenecks: a link with a rate that may change, and the queue before it.
//!
//! The simulator and `tidemark net hop` use the same [`Router`]. It takes packets and times as values. Its driver asks which packets
//! left, which were dropped, and when to call next.

#![warn(unnameable_types, unreachable_pub)]

mod config;
mod harq;
mod overdue;
mod queue;
mod rate;
mod router;
mod sdn_port;

pub use config::{CodelQueueConfig, DropTailConfig, FifoConfig, LeavingRamp, QueueConfig, RateChange, RouterConfig};
pub use harq::LinkHarqConfig;
pub use overdue::OverdueConfig;
pub use router::Router;
pub use sdn_port::{LiteralConfig, SdnMarking, SdnPortConfig, SoundConfig};
