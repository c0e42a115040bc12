//! The packet path: real IP packets in, verdicts out, marks and feedback written in place.
//!
//! A [`Ue`] holds what one UE's DRBs need. It knows no other UE, so that a caller may serve every UE on the strand that it
//! already has; a [`Shard`] holds the UEs of one thread, and [`shard_of`] says which.
//!
//! | in a gNB's CU-UP | call |
//! | --- | --- |
//! | a packet from the UPF, its QFI known, in clear | [`Ue::downlink`] |
//! | PDCP numbered it and sends it to the DU | [`Ue::pdcp_pdu`] |
//! | PDCP discarded it | [`Ue::discard`] |
//! | DL DATA DELIVERY STATUS on F1-U | [`Ue::feedback`] |
//! | a packet towards the UPF, in clear | [`Ue::uplink`] |
//! | DRB set-up, release; handover | [`Ue::add_drb`], [`Ue::remove_drb`], [`Ue::handover`] |

mod flow_key;
mod shard;
mod ue;

pub use flow_key::FlowKey;
pub use shard::{Shard, UeHandle, shard_of};
pub use ue::{DrbId, SetupError, Ue, UeCounters};
