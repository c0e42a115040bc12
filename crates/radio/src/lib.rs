//! The radio of a 5G cell as functions of time and place: reception at a UE, capacity of a slot, and block errors.
//!
//! Nothing here uses packets, queues or schedulers. A [`channel`] gives the radio quality of a UE at an instant, and a
//! [`deployment`] the power that a UE receives from each site of a network. [`mcs`], [`tbs`] and [`blocks`] give the
//! capacity of a slot, [`bler`] its error rate, and [`link`] chooses its MCS.
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
