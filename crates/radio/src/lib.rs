//! The radio of a 5G cell as functions of time and place: what a UE receives, what a slot carries, and how likely it fails.
//!
//! Nothing here knows a packet, a queue or a scheduler. A [`channel`] says what the radio of a UE is like at an instant, a
//! [`deployment`] what it receives of each site of a network. [`mcs`], [`tbs`] and [`blocks`] say what fits into a slot,
//! [`bler`] how often that fails, and [`link`] which MCS is chosen for it.
#![warn(unnameable_types, unreachable_pub)]

pub mod bler;
pub mod blocks;
pub mod carrier;
pub mod channel;
mod constellation;
pub mod deployment;
pub mod link;
pub mod mcs;
pub mod segmentation;
mod shared_channel;
pub mod slots;
pub mod tbs;

pub use shared_channel::SharedChannel;
