//! TCP segments as values, with the size that they have on the wire.

use tidemark_core::packet::AccEcnCounters;
use tidemark_core::{BitRate, Bytes, Instant, TcpFeedback, TcpFlags, TcpView};

use super::IP_HEADER;

/// TCP header without options.
const TCP_HEADER: u64 = 20;
/// Options of a SYN: maximum segment size 4, window scale 3, SACK permitted 2, timestamps 10, padding 1.
const SYN_OPTIONS: u64 = 20;
/// The timestamps option (RFC 7323 3.2).
const TIMESTAMPS: u64 = 10;
/// An experimental option with an identifier of two octets and a rate of four (RFC 6994 3).
const RECOMMENDATION: u64 = 8;

/// A TCP segment. Sequence numbers are 64-bit offsets here, so that the endpoints need no wrap-around
/// arithmetic; [`tidemark_core::Inspect::tcp`] shows their low 32 bits, as the header would.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TcpSegment {
    /// Number of the connection within its flow, whose connections follow one another: it stands for the client's port.
    pub connection: u32,
    /// Flags; with AccECN their ECN bits are the ACE field.
    pub flags: TcpFlags,
    /// Offset of the first payload byte. The SYN has offset 0, the first byte of data 1.
    pub seq: u64,
    /// Offset of the next byte expected from the peer; meaningful with the ACK flag.
    pub ack: u64,
    /// Payload length in bytes.
    pub payload: u32,
    /// Receive window in bytes, already scaled.
    pub window: u32,
    /// Time at which the segment was sent, by its sender's clock: TSval (RFC 7323). A nanosecond clock stands in for
    /// the option's 32 bits.
    pub timestamp: Instant,
    /// The timestamp echoed to the peer: TSecr.
    pub echo: Instant,
    /// Selective acknowledgement (RFC 2018).
    pub sack: SackBlocks,
    /// The AccECN option (RFC 9768 3.2.3), where there is one.
    pub accecn: Option<AccEcnCounters>,
    /// Rate that the access network recommended to the receiver, in an experimental option of our own.
    pub recommended: Option<BitRate>,
}

/// SACK blocks, up to three: as many as fit beside timestamps. Held relative to the cumulative acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks {
    blocks: [(u32, u32); Self::MAX],
    len: u8,
}

impl SackBlocks {
    /// The number of blocks that fit beside a timestamps option.
    pub const MAX: usize = 3;

    /// Adds the block `start..end` to a segment that acknowledges `ack`; does nothing where there is no room
    /// for it or where it lies out of reach of a 32-bit offset.
    pub fn push(&mut self, ack: u64, start: u64, end: u64) {
        let relative = |to: u64, from: u64| to.checked_sub(from).and_then(|span| u32::try_from(span).ok());
        let block = relative(start, ack).zip(relative(end, start).filter(|length| *length > 0));
        if let (Some(block), Some(free)) = (block, self.blocks.get_mut(usize::from(self.len))) {
            *free = block;
            self.len += 1;
        }
    }
    /// The blocks of a segment that acknowledges `ack`, as `(start, end)`, most recent first.
    pub fn iter(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.blocks[..usize::from(self.len)].iter().map(move |&(offset, length)| {
            let start = ack.saturating_add(u64::from(offset));
            (start, start.saturating_add(u64::from(length)))
        })
    }
    /// The number of blocks.
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }
    /// True if there is no block.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl TcpSegment {
    /// Size of the IP packet: IPv4 header, TCP header, options rounded up to 32 bits, payload.
    pub fn wire_size(&self) -> Bytes {
        let options = if self.flags.syn { SYN_OPTIONS } else { TIMESTAMPS } + self.sack_size() + self.accecn_size();
        // The recommendation takes room as any option.
        let options = options + if self.recommended.is_some() { RECOMMENDATION } else { 0 };
        Bytes(IP_HEADER + TCP_HEADER + options.next_multiple_of(4) + u64::from(self.payload))
    }
    fn sack_size(&self) -> u64 {
        // Without blocks there is no option (RFC 2018 3).
        if self.sack.is_empty() { 0 } else { 2 + 8 * self.sack.len() as u64 }
    }
    fn accecn_size(&self) -> u64 {
        self.accecn.map_or(0, |counters| {
            let fields = [counters.e0b, counters.ceb, counters.e1b].iter().flatten().count();
            2 + 3 * fields as u64
        })
    }
}

impl TcpSegment {
    pub(super) fn view(&self) -> TcpView {
        TcpView {
            is_authenticated: false,
            flags: self.flags,
            seq: self.seq as u32,
            ack: self.ack as u32,
            payload: self.payload,
            accecn: self.accecn,
        }
    }

    pub(super) fn set_feedback(&mut self, feedback: TcpFeedback) {
        // A counter that the segment lacks is not added: its size would change.
        let view = self.view().with_feedback(feedback);
        (self.flags, self.accecn) = (view.flags, view.accecn);
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Inspect;
    use tidemark_core::packet::AccEcnChange;

    use super::*;
    use crate::payload::Payload;

    #[test]
    fn a_full_segment_fills_an_ethernet_frame() {
        let segment = TcpSegment { payload: 1448, ..TcpSegment::default() };
        assert_eq!(segment.wire_size(), Bytes(1500));
    }

    #[test]
    fn options_cost_what_they_cost_on_the_wire() {
        let mut ack = TcpSegment::default();
        assert_eq!(ack.wire_size(), Bytes(52));
        ack.sack.push(0, 1000, 2000);
        assert_eq!(ack.wire_size(), Bytes(60), "timestamps 10, one block 10");
        ack.accecn = Some(AccEcnCounters { e0b: None, ceb: Some(0), e1b: Some(1) });
        assert_eq!(ack.wire_size(), Bytes(68), "10 + 10 + 8");
        ack.sack.push(0, 3000, 4000);
        ack.accecn = Some(AccEcnCounters { e0b: Some(1), ceb: Some(0), e1b: Some(1) });
        assert_eq!(ack.wire_size(), Bytes(80), "10 + 18 + 11 fill the 40 bytes that TCP has for options");
        let syn = TcpSegment { flags: TcpFlags { syn: true, ..TcpFlags::default() }, ..TcpSegment::default() };
        assert_eq!(syn.wire_size(), Bytes(60));
    }

    #[test]
    fn the_network_sees_32_bits_of_a_sequence_number() {
        let payload = Payload::Tcp(TcpSegment { seq: (1 << 32) + 7, ..TcpSegment::default() });
        assert_eq!(payload.tcp().map(|view| view.seq), Some(7));
    }

    #[test]
    fn rewritten_feedback_never_changes_the_size() {
        let counters = AccEcnCounters { e0b: None, ceb: Some(10), e1b: Some(20) };
        let mut payload = Payload::Tcp(TcpSegment { accecn: Some(counters), ..TcpSegment::default() });
        let change = AccEcnChange { ace: 13, e0b: 1, ceb: 2, e1b: 0xFF_FFFF };
        payload.set_tcp_feedback(TcpFeedback::AccEcn(change));
        let view = payload.tcp().unwrap();
        assert_eq!(view.flags.ace(), 5);
        assert_eq!(view.accecn, Some(AccEcnCounters { e0b: None, ceb: Some(12), e1b: Some(19) }));
    }
}
