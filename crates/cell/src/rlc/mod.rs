//! RLC (TS 38.322): the queue at the DU, segmentation into transport blocks, reassembly and order at the UE.
//!
//! One object is both ends of a bearer, since the simulator sees both. A sent SDU stays in the window until it has
//! arrived in order or is given up.

mod bearer;
mod gate;
mod overhead;
mod pacer;
mod poll;
mod ranges;
mod reassembly;
mod sn;
mod status;
mod window;

pub(crate) use bearer::Bearer;
pub(crate) use gate::{DequeueGate, Open};
pub(crate) use overhead::{Overhead, mac_subheader};
pub use sn::RlcSn;
pub(crate) use status::Status;
pub(crate) use window::Released;

/// A part of an SDU inside a transport block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Number of the SDU, counted from the bearer's beginning.
    pub(crate) sdu: u64,
    /// Offset in the SDU at which it begins, in bytes.
    pub(crate) offset: u32,
    /// Bytes of it.
    pub(crate) bytes: u32,
    /// AM: the sender asks for a status report.
    pub(crate) poll: bool,
}
