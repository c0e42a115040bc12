//! The types that all other crates of Tidemark share: time, units, ECN codepoints, packets and random streams.
//!
//! Nothing here uses a clock, a socket or a thread. Arithmetic is on integers or uses IEEE 754 operations
//! with exactly defined results. Transcendental functions come from `libm`. A run therefore gives the same
//! bits on every machine.
#![no_std]
#![warn(unnameable_types, unreachable_pub)]

extern crate alloc;

pub mod bounds;
mod config;
pub mod ecn;
mod normal;
pub mod packet;
pub mod random;
mod slab;
pub mod time;
pub mod units;

#[cfg(feature = "serde")]
mod text;
#[cfg(feature = "words")]
pub mod words;

pub use bounds::{Bounded, Range};
pub use config::ConfigError;
pub use ecn::Ecn;
pub use normal::normal_cdf;
pub use packet::{Dscp, FlowId, Inspect, Packet, Selectors, TcpFeedback, TcpFlags, TcpView};
pub use random::Stream;
pub use slab::{Key, Slab};
pub use time::{Duration, Instant};
pub use units::{BitRate, Bytes, Probability, share};
