//! The vocabulary of every other crate of Tidemark: time, units, ECN codepoints, packets and random streams.
//!
//! Nothing here knows a clock, a socket or a thread. All arithmetic is either on integers or on IEEE 754
//! operations that are exact by definition; transcendental functions come from `libm`, so a run gives the
//! same bits on every machine.
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

pub use bounds::{Bounded, Range};
pub use config::ConfigError;
pub use ecn::Ecn;
pub use normal::normal_cdf;
pub use packet::{Dscp, FlowId, Inspect, Packet, Selectors, TcpFeedback, TcpFlags, TcpView};
pub use random::Stream;
pub use slab::{Key, Slab};
pub use time::{Duration, Instant};
pub use units::{BitRate, Bytes, Probability, share};
