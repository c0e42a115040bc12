//! The 5G cell: channel, scheduler, HARQ, QoS flows, RLC, PDCP numbering and F1-U feedback.
//!
//! [`Cell`] does no I/O: `handle_*` takes packets and the time, [`Cell::poll_output`] gives the outputs, and
//! [`Cell::next_deadline`] says when to call [`Cell::handle_timeout`]. It works with virtual or real time.
//!
//! ```
//! use tidemark_cell::{Cell, CellConfig, Output, UeConfig};
//! use tidemark_core::{Bytes, Ecn, FlowId, Instant, Packet};
//!
//! let mut cell = Cell::new(&CellConfig::default(), 1)?;
//! let ue = cell.add_ue(&UeConfig::default())?;
//! cell.handle_downlink(Instant::ZERO, ue, Packet { flow: FlowId(0), size: Bytes(1500), ecn: Ecn::Ect1, payload: () });
//! let mut arrived = None;
//! while let Some(now) = cell.next_deadline() {
//!     cell.handle_timeout(now);
//!     while let Some(output) = cell.poll_output() {
//!         if let Output::Downlink { at, .. } = output {
//!             arrived = Some(at);
//!         }
//!     }
//! }
//! assert!(arrived.is_some_and(|at| at <= Instant::from_millis(20)));
//! # Ok::<(), tidemark_cell::ConfigError>(())
//! ```

#![warn(unnameable_types, unreachable_pub)]

mod air;
mod cell;
mod config;
mod cu_up;
mod du;
mod event;
mod f1u;
mod handover;
mod index;
mod multiplexing;
pub mod network;
mod output;
mod qos;
mod rlc;
mod room;
mod split_du;
mod ue_stack;

pub use cell::{Cell, Leaving};
pub use config::{
    BearerConfig, CellConfig, Duplex, F1uConfig, Numbering, RECEIVER_LOSS_DB, RlcConfig, RlcMode, UeConfig,
};
pub use cu_up::CuUp;
pub use du::scheduler::*;
pub use du::{AnbrConfig, AnbrDirection, AnbrEstimate, AnbrMultiplier, ConfiguredGrant, Means, UplinkConfig};
pub use event::{BearerId, Event, Observer};
pub use handover::{HandoverData, HandoverExecution, HandoverMarker};
pub use index::DrbIndex;
pub use network::{Cells, DeployedConfig, NetworkConfig, Radio};
pub use output::{CellStats, DelaySplit, DrbStats, DropReason, Output, UeId, UeStats, UplinkStats};
pub use qos::{
    DEFAULT_QFI, DrbConfig, EcnField, FilterDirection, Mapped, PacketFilter, PortRange, Prefix, Protocol,
    QosFlowConfig, TrafficClass,
};
pub use rlc::RlcSn;
pub use split_du::SplitDu;
pub use tidemark_core::ConfigError;
pub use tidemark_radio::channel::{self, ChannelConfig};
pub use ue_stack::buffer_status::BsrFormat;
