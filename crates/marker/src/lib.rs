//! The marking engine: estimators, marking laws, feedback short-circuit and the packet path.
//!
//! [`DrbMarker`] is one DRB of one UE, seen from the CU-UP. It takes downlink packets, their PDCP SNs and the DU's
//! delivery reports. It predicts how long a packet will wait in the RLC queue, and answers each packet with a [`Verdict`]
//! by the law in its [`MarkerConfig`].
//!
//! ```
//! use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet, Stream};
//! use tidemark_marker::{DeliveryStatus, DrbMarker, L4SpanConfig, LawConfig, MarkerConfig, SnLength, Verdict};
//!
//! let config = MarkerConfig::with_law(LawConfig::L4span(L4SpanConfig::default()));
//! let mut marker = DrbMarker::new(&config, SnLength::Bits18, Stream::new(1, 0, "mark"))?;
//! let mut marks = 0;
//! for sn in 0..1_000u32 {
//!     // A packet every 200 us, 60 Mbit/s, of which the radio carries two thirds.
//!     let now = Instant::ZERO + Duration::from_micros(200) * u64::from(sn);
//!     let packet = Packet { flow: FlowId(0), size: Bytes(1_500), ecn: Ecn::Ect1, payload: () };
//!     let verdict = marker.handle_downlink(now, &packet, None);
//!     marks += u32::from(verdict == Verdict::Mark);
//!     marker.handle_pdcp_pdu(now, sn, packet.size);
//!     if sn % 25 == 24 {
//!         // Every 5 ms the DU says how far it got.
//!         let status = DeliveryStatus { highest_transmitted: Some(sn * 2 / 3), ..DeliveryStatus::default() };
//!         marker.handle_report(now, &status);
//!     }
//! }
//! assert!(marks > 500);
//! assert!(marker.estimate(Instant::from_millis(200)).sojourn > Some(Duration::from_millis(50)));
//! # Ok::<(), tidemark_marker::ConfigError>(())
//! ```
//!
//! [`path`] is the same engine for real packets: it reads headers, and writes marks and feedback in place.
//!
//! Nothing here uses a clock, a socket or a thread, and nothing allocates after set-up.
#![no_std]
#![warn(unnameable_types, unreachable_pub)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod backlog;
mod bearers;
mod beyond;
mod busy;
mod config;
mod counters;
mod decision;
mod drain;
mod drb;
mod dual_queue;
mod egress;
mod estimate;
mod five_qi;
mod flow;
mod flow_table;
mod law;
mod mode;
mod overload;
pub mod path;
mod policy;
mod profile;
mod qos_flow;
mod relocation;
mod report;
mod require;
mod shortcircuit;
mod stamps;
mod verdict;

pub use bearers::Bearers;
pub use config::MarkerConfig;
pub use counters::Counters;
pub use decision::{Decision, Draw, Outcome};
pub use drb::DrbMarker;
pub use dual_queue::{Dequeued, DualQueue, DualQueueConfig, DualScheduler};
pub use egress::{Egress, EgressTime};
pub use estimate::Estimate;
pub use five_qi::{Characteristics, KNOWN_FIVE_QIS, Resource};
pub use law::*;
pub use mode::Mode;
pub use policy::{Policy, PolicyRule};
pub use qos_flow::{CongestionReport, Marking, QosFlow};
pub use relocation::RelocationError;
pub use report::{DeliveryStatus, RlcQueue, SnLength};
pub use tidemark_core::ConfigError;
pub use verdict::{Class, Verdict};
