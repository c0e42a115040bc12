//! The messages of UDP Prague (L4STeam/udp_prague, `pkt_format.h`) as values.

use tidemark_core::{Bytes, Instant};

use super::{IP_HEADER, UDP_HEADER};

/// Type 1 (bulk, 13 bytes) or, with a frame, type 2 (real time, 25 bytes).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PragueData {
    /// Number of the packet, from 1.
    pub seq: u64,
    /// When it was sent.
    pub timestamp: Instant,
    /// The peer's last timestamp, moved on by how long it was held.
    pub echo: Instant,
    /// UDP payload, its header included.
    pub size: u32,
    /// Which part of which frame it is.
    pub frame: Option<FramePart>,
}

/// A packet's place in its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FramePart {
    /// Number of the frame, from 1.
    pub number: u64,
    /// Size of the frame in bytes.
    pub size: u32,
    /// How much of it is in this packet.
    pub len: u32,
    /// When the frame was captured: what the media's own timestamp says.
    pub captured: Instant,
}

/// Type 17: cumulative counters, after each data packet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PragueAck {
    /// The packet that triggered it; 0 opens the path.
    pub ack_seq: u64,
    /// When it was sent.
    pub timestamp: Instant,
    /// The data packet's timestamp, moved on by how long it was held.
    pub echo: Instant,
    /// Data packets received.
    pub received: u64,
    /// Of these with CE.
    pub marked: u64,
    /// Held for lost; may fall again.
    pub lost: u64,
    /// A packet arrived that was neither ECT(1) nor CE.
    pub error: bool,
}

impl PragueData {
    /// Size of the IP packet.
    pub fn wire_size(&self) -> Bytes {
        Bytes(IP_HEADER + UDP_HEADER + u64::from(self.size))
    }
}

impl PragueAck {
    /// Size of the IP packet.
    pub fn wire_size(&self) -> Bytes {
        Bytes(IP_HEADER + UDP_HEADER + 26)
    }
}
