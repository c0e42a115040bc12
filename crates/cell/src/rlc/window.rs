//! What has been sent and has not yet left in order.

use std::collections::VecDeque;

use tidemark_core::{Bytes, FlowId, Instant, Packet};

use super::Segment;
use crate::output::DelaySplit;

/// An SDU that was sent, at least in part.
#[derive(Debug)]
pub(crate) struct Sent<P> {
    pub(super) packet: Packet<P>,
    /// PDCP sequence number.
    pub(super) sn: u32,
    /// When it came to the queue.
    pub(super) arrived: Instant,
    /// When it stood at the head of the queue.
    pub(super) head: Instant,
    /// When its last byte would arrive if nothing failed.
    pub(super) due: Instant,
    /// Bytes that have not arrived.
    pub(super) missing: u32,
    /// RLC retransmissions.
    pub(super) retransmissions: u8,
    pub(super) given_up: bool,
}

/// What the window lets go of.
pub(crate) enum Released<P> {
    /// Arrived, and everything before it has arrived or is given up.
    Delivered(Packet<P>, u32, DelaySplit),
    /// Given up.
    Lost(Packet<P>),
}

/// SDUs in the order of sending.
#[derive(Debug)]
pub(crate) struct Window<P> {
    entries: VecDeque<Sent<P>>,
    /// Number of the first entry.
    base: u64,
}

impl<P> Default for Window<P> {
    fn default() -> Self {
        Self { entries: VecDeque::new(), base: 0 }
    }
}

impl<P> Window<P> {
    /// Number of the next SDU to be sent.
    pub(super) fn next(&self) -> u64 {
        self.base + self.entries.len() as u64
    }
    pub(super) fn push(&mut self, sent: Sent<P>) {
        self.entries.push_back(sent);
    }
    pub(super) fn last_mut(&mut self) -> Option<&mut Sent<P>> {
        self.entries.back_mut()
    }
    /// The SDU with this number, unless it has left.
    pub(super) fn get_mut(&mut self, sdu: u64) -> Option<&mut Sent<P>> {
        let index = sdu.checked_sub(self.base)?;
        self.entries.get_mut(usize::try_from(index).ok()?)
    }
    /// A segment has arrived.
    pub(super) fn arrived(&mut self, segment: Segment) {
        if let Some(sent) = self.get_mut(segment.sdu) {
            sent.missing = sent.missing.saturating_sub(segment.bytes);
        }
    }
    /// The next SDU that may leave.
    pub(super) fn release(&mut self, now: Instant) -> Option<Released<P>> {
        let first = self.entries.front()?;
        if first.missing > 0 && !first.given_up {
            return None;
        }
        let first = self.entries.pop_front()?;
        self.base += 1;
        if first.given_up {
            return Some(Released::Lost(first.packet));
        }
        let split = DelaySplit {
            queuing: first.head.since(first.arrived),
            scheduling: first.due.since(first.head),
            retransmission: now.since(first.due),
        };
        Some(Released::Delivered(first.packet, first.sn, split))
    }
    pub(super) fn held(&self, flow: FlowId) -> Bytes {
        self.entries.iter().filter(|sent| sent.packet.flow == flow).map(|sent| sent.packet.size).sum()
    }
}
