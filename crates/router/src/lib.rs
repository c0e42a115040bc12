//! Wired bottlenecks: a link of a rate that may change, and the queue before it.
//!
//! The simulator's routers and those of `tidemark net hop` are one [`Router`]: packets and times come in as values, and its driver asks
//! for what left, what was dropped and when it wants to be called next.

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
