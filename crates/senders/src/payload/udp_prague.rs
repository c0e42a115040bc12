//! The messages of UDP Prague (L4STeam/udp_prague, `pkt_format.h`) as values.

use tidemark_core::{Bytes, Duration, Ecn, Instant};

use super::{IP_HEADER, UDP_HEADER};

/// Type 1 (bulk, 13 bytes) or, with a frame, type 2 (real time, 25 bytes).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PragueData {
    /// Number of the packet, from 1.
    pub seq: u64,
    /// Time of sending.
    pub timestamp: Instant,
    /// The peer's last timestamp, plus the time for which it was held.
    pub echo: Instant,
    /// UDP payload, its header included.
    pub size: u32,
    /// Part of a frame that it carries.
    pub frame: Option<FramePart>,
}

/// A packet's place in its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FramePart {
    /// Number of the frame, from 1.
    pub number: u64,
    /// Size of the frame in bytes.
    pub size: u32,
    /// Bytes of the frame in this packet.
    pub len: u32,
    /// Time at which the frame was captured: what the media's own timestamp says.
    pub captured: Instant,
}

impl FramePart {
    /// Number of padding that fills a probe and belongs to no frame.
    pub const PADDING: u64 = 0;
}

/// Type 17: cumulative counters, after each data packet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PragueAck {
    /// The packet that triggered it; 0 opens the path.
    pub ack_seq: u64,
    /// Time of sending.
    pub timestamp: Instant,
    /// The data packet's timestamp, plus the time for which it was held.
    pub echo: Instant,
    /// Data packets received.
    pub received: u64,
    /// Data packets that were received with CE.
    pub marked: u64,
    /// Data packets considered lost; may fall again.
    pub lost: u64,
    /// True if a packet arrived that was neither ECT(1) nor CE.
    pub error: bool,
}

/// Type 18: a word for each packet of a range, as in RFC 8888 but in units of 1024 us and back from the
/// sending of the report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PragueReport {
    /// The first packet that it covers.
    pub begin: u64,
    /// One word for each packet.
    pub words: Vec<PragueWord>,
}

/// Arrival of a packet: 0, or bit 15, the ECN field in bits 14 and 13, and its age in bits 12 to 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PragueWord(pub u16);

impl PragueWord {
    /// Nanoseconds of a unit of age.
    const UNIT: u64 = 1_024_000;

    /// Word of a packet that was received with `ecn`, this long ago. An age of more than 8.4 s wraps.
    pub fn received(ecn: Ecn, age: Duration) -> Self {
        let units = (age.as_nanos() + Self::UNIT / 2) / Self::UNIT;
        Self(0x8000 | u16::from(ecn.bits()) << 13 | (units & 0x1FFF) as u16)
    }
    /// The ECN field and the age, of a packet that was received.
    pub fn arrival(self) -> Option<(Ecn, Duration)> {
        let age = Duration::from_nanos(u64::from(self.0 & 0x1FFF) * Self::UNIT);
        (self.0 & 0x8000 != 0).then(|| (Ecn::from_bits((self.0 >> 13) as u8), age))
    }
}

impl PragueReport {
    /// Size of the IP packet.
    pub fn wire_size(&self) -> Bytes {
        Bytes(IP_HEADER + UDP_HEADER + 7 + 2 * self.words.len() as u64)
    }
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
