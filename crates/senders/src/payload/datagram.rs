//! Datagrams of UDP without feedback.

use tidemark_core::Bytes;

use super::{IP_HEADER, UDP_HEADER};

/// A datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// Number, from 0.
    pub seq: u64,
    /// UDP payload in bytes.
    pub len: u32,
}

impl Datagram {
    /// Size of the IP packet.
    pub fn wire_size(&self) -> Bytes {
        Bytes(IP_HEADER + UDP_HEADER + u64::from(self.len))
    }
}
