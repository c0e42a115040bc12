//! QoS flows: what each is due, how packets come to them, and which bearer carries them.

mod five_qi;
mod flow;
mod meter;
mod sdap;

pub(crate) use five_qi::KNOWN as KNOWN_FIVE_QIS;
pub use five_qi::{Characteristics, Resource};
pub(crate) use flow::Qos;
pub use flow::{DrbConfig, EcnField, PacketFilter, Protocol, QosFlowConfig};
pub(crate) use sdap::Sdap;
