//! The packet path: real IP packets in, verdicts out, marks and feedback written in place.
//!
//! A [`Ue`] holds the state of one UE's DRBs. It shares nothing with other UEs, so a caller may serve each UE on the strand that
//! it already has. A [`Shard`] holds the UEs of one thread; [`shard_of`] chooses the shard of a UE.
//!
//! | in a gNB's CU-UP | call |
//! | --- | --- |
//! | a packet from the UPF, its QFI known, in clear | [`Ue::downlink`] |
//! | PDCP numbered it and sends it to the DU | [`Ue::pdcp_pdu`] |
//! | PDCP discarded it | [`Ue::discard`] |
//! | a packet leaves the caller's own queue | [`Ue::dequeue`], for laws that decide there |
//! | DL DATA DELIVERY STATUS on F1-U | [`Ue::feedback`] |
//! | a packet towards the UPF, in clear | [`Ue::uplink`] |
//! | a QoS flow is marked here, not marked, or reported to the UPF | [`Ue::set_marking`], [`Ue::congestion`] |
//! | DRB set-up, release | [`Ue::add_drb`], [`Ue::remove_drb`] |
//! | the UE moves to another CU-UP | [`Ue::export`] there, [`Ue::import`] here |
//! | handover of all DRBs, or of one | [`Ue::handover`], [`Ue::handover_drb`] |
//!
//! ```
//! use tidemark_core::{Bytes, Instant, Stream};
//! use tidemark_marker::path::{DrbId, FlowKey, Shard, Ue};
//! use tidemark_marker::{DeliveryStatus, L4SpanConfig, LawConfig, MarkerConfig, SnLength, Verdict};
//!
//! // Once for each thread, with a key drawn at random for the instance.
//! let key = FlowKey::new(b"sixteen secrets!");
//! let mut shard = Shard::new(4_096);
//!
//! // A UE and its DRB are set up.
//! let config = MarkerConfig::with_law(LawConfig::L4span(L4SpanConfig::default()));
//! let mut ue = Ue::new(key);
//! ue.add_drb(DrbId(1), &[9], &config, SnLength::Bits18, Stream::new(1, 0, "mark"))?;
//! let Ok(handle) = shard.add(Box::new(ue)) else { return Ok(()) };
//!
//! // A packet comes from the UPF, gets its SN, and is reported as transmitted.
//! let mut packet = [0x45, 1, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 10, 45, 0, 2];
//! if let Some(ue) = shard.ue(handle) {
//!     let now = Instant::from_millis(3);
//!     match ue.downlink(now, 9, &mut packet) {
//!         Verdict::Pass | Verdict::Mark => ue.pdcp_pdu(now, DrbId(1), 0, Bytes(23)),
//!         Verdict::Drop => {}
//!     }
//!     let report = DeliveryStatus { highest_transmitted: Some(0), ..DeliveryStatus::default() };
//!     ue.feedback(Instant::from_millis(8), DrbId(1), &report);
//! }
//! # Ok::<(), tidemark_marker::path::SetupError>(())
//! ```

mod drbs;
mod flow_key;
mod qos_flows;
mod relocation;
mod shard;
mod ue;

pub use drbs::DrbId;
pub use flow_key::FlowKey;
pub use shard::{Shard, UeHandle, shard_of};
pub use ue::{NoReport, SetupError, Ue, UeCounters};
