//! Edges of QUIC's spin bit, which are a whole round trip apart where both ends spin (RFC 9000 17.4).

use tidemark_core::{Duration, Instant};
use tidemark_wire::quic::Header;

/// Edges of a spin bit.
#[derive(Clone, Debug, Default)]
pub(super) struct Spin {
    /// True once a long header was seen.
    is_quic: bool,
    /// Bit of the last packet, and the time of the last edge.
    last: Option<(bool, Option<Instant>)>,
    packets: u64,
    edges: u64,
}

impl Spin {
    /// Looks at a UDP payload of one direction, which has every edge, and gives a round trip that ends with it.
    pub(super) fn pass(&mut self, now: Instant, payload: &[u8]) -> Option<Duration> {
        match Header::parse(payload)? {
            Header::Long => {
                self.is_quic = true;
                None
            }
            Header::Short { spin } if self.is_quic => self.spun(now, spin),
            Header::Short { .. } => None,
        }
    }

    fn spun(&mut self, now: Instant, spin: bool) -> Option<Duration> {
        self.packets += 1;
        let (bit, edge) = *self.last.get_or_insert((spin, None));
        if bit == spin {
            return None;
        }
        self.last = Some((spin, Some(now)));
        self.edges += 1;
        // An end that does not spin may draw the bit at random for each packet, so that half of the packets are edges.
        edge.filter(|_| 4 * self.edges <= self.packets).map(|edge| now.since(edge))
    }
}
