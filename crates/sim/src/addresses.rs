//! Addresses and ports of simulated flows, which packet filters and captures read.

use std::net::Ipv4Addr;

use tidemark_cell::UeId;
use tidemark_core::{Dscp, FlowId, Selectors};
use tidemark_senders::{AppConfig, Payload};
use tidemark_wire::{tcp, udp};

use crate::scenario::NamedFlow;

/// Port of the end on the wire. No protocol is known by it, so that no decoder looks for one in the payload.
const REMOTE_PORT: u16 = 5001;
/// Port of media on the wire (RFC 3551 8).
const MEDIA_PORT: u16 = 5004;
/// First port of the UE's end: one for each connection of a flow.
const LOCAL_PORTS: u16 = 49_152;
const LOCAL_PORT_COUNT: u32 = 16_384;

/// Header fields that are alike in all packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addresses {
    remote: Ipv4Addr,
    local: Ipv4Addr,
    remote_port: u16,
    pub(crate) dscp: Dscp,
}

impl Addresses {
    /// Gives those of a flow: what the scenario says, else its own in the block for benchmarks, 198.18.0.0/15 (RFC 2544), and for
    /// UEs in the usual pool, 10.45.0.0/16.
    pub(crate) fn of(id: FlowId, flow: &NamedFlow<'_>) -> Self {
        let ue = flow.ue.map_or(0, |UeId(ue)| ue + 2);
        let is_media = matches!(flow.app, AppConfig::Video(_) | AppConfig::Xr(_));
        Self {
            remote: flow.remote_address.unwrap_or(Ipv4Addr::from_bits(0xC612_0000 | id.0 & 0x1_FFFF)),
            local: Ipv4Addr::from_bits(0x0A2D_0000 | ue & 0xFFFF),
            remote_port: flow.remote_port.unwrap_or(if is_media { MEDIA_PORT } else { REMOTE_PORT }),
            dscp: flow.dscp,
        }
    }

    /// Gives the headers of a packet with this payload, from the UE or to it.
    pub(crate) fn selectors(&self, payload: &Payload, up: bool) -> Selectors {
        let (protocol, connection) = match payload {
            Payload::Tcp(segment) => (tcp::PROTOCOL, segment.connection),
            _ => (udp::PROTOCOL, 0),
        };
        let local_port = LOCAL_PORTS + (connection % LOCAL_PORT_COUNT) as u16;
        let (remote, local) = ((self.remote, self.remote_port), (self.local, local_port));
        let (source, destination) = if up { (local, remote) } else { (remote, local) };
        Selectors {
            source: source.0.into(),
            destination: destination.0.into(),
            protocol,
            ports: Some((source.1, destination.1)),
            dscp: self.dscp,
        }
    }
}
