//! QoS flows: their treatment, their packets, and their bearers.

mod filter;
mod flow;
mod meter;
mod recent;
mod rules;
mod sdap;
mod selector;

pub use filter::{EcnField, FilterDirection, PacketFilter};
pub(crate) use flow::Qos;
pub use flow::{DrbConfig, QosFlowConfig};
pub use rules::{DEFAULT_QFI, Mapped};
pub(crate) use sdap::{Sdap, UeSdap};
pub use selector::{PortRange, Prefix, Protocol, TrafficClass};
