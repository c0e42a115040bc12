//! SDUs that were sent, at least in part, as both ends of the bearer see them: what arrived, what is acknowledged, and what
//! PDCP has handed on.

use std::collections::VecDeque;

use tidemark_core::{Bytes, Duration, FlowId, Instant, Packet};

use super::Segment;
use super::ranges::Ranges;
use crate::output::DelaySplit;

/// An SDU that was sent, at least in part.
#[derive(Debug)]
pub(crate) struct Sent<P> {
    /// `None` once PDCP has handed it on or has given it up.
    pub(super) packet: Option<Packet<P>>,
    /// PDCP sequence number.
    pub(super) sn: u32,
    /// Bytes of the SDU, PDCP's header included.
    pub(super) size: u32,
    /// When it came to the CU, and to the queue.
    pub(super) entered: Instant,
    pub(super) arrived: Instant,
    /// When it stood at the head of the queue.
    pub(super) head: Instant,
    /// When its last byte would arrive if nothing failed.
    pub(super) due: Instant,
    /// When HARQ first gave up a part of it.
    pub(super) lost: Option<Instant>,
    /// When it had arrived whole.
    pub(super) complete: Option<Instant>,
    pub(super) received: Ranges,
    /// RETX_COUNT of TS 38.322.
    pub(super) retransmissions: u8,
    /// Acknowledged or given up by the sender.
    pub(super) settled: bool,
    /// Only an SN that PDCP discarded: RLC knows nothing of it.
    pub(super) is_hole: bool,
}

impl<P> Sent<P> {
    /// An SN without an SDU.
    pub(super) fn hole(sn: u32, entered: Instant, arrived: Instant) -> Self {
        Self {
            packet: None,
            sn,
            size: 0,
            entered,
            arrived,
            head: arrived,
            due: arrived,
            lost: None,
            complete: None,
            received: Ranges::default(),
            retransmissions: 0,
            settled: false,
            is_hole: true,
        }
    }
}

impl<P> Sent<P> {
    /// Its time in the cell, taken apart, if it was `complete` then and leaves now.
    fn split(&self, complete: Instant, now: Instant) -> DelaySplit {
        let harq_ends = self.lost.map_or(complete, |lost| lost.min(complete)).max(self.due);
        DelaySplit {
            cu: self.arrived.since(self.entered),
            queuing: self.head.since(self.arrived),
            scheduling: self.due.since(self.head),
            harq: harq_ends.since(self.due),
            rlc: complete.since(harq_ends),
            reordering: now.since(complete),
        }
    }
}

/// What leaves the window upwards.
pub(crate) enum Released<P> {
    /// In order, or as far as reordering waits; with its PDCP SN.
    Delivered(Packet<P>, u32, DelaySplit),
    /// Given up.
    Lost(Packet<P>),
}

/// SDUs in the order of sending.
#[derive(Debug)]
pub(crate) struct Window<P> {
    /// True if the sender waits for acknowledgements.
    am: bool,
    entries: VecDeque<Sent<P>>,
    /// Number of the first entry.
    base: u64,
    /// The next SDU to be handed on: RX_DELIV of TS 38.323.
    rx_deliv: u64,
    /// Behind the last SDU that is complete: PDCP's RX_NEXT.
    rx_next: u64,
    /// Where t-Reordering was started, and when it ends.
    reordering: Option<(u64, Instant)>,
}

impl<P> Window<P> {
    pub(super) fn new(am: bool) -> Self {
        Self { am, entries: VecDeque::new(), base: 0, rx_deliv: 0, rx_next: 0, reordering: None }
    }
    /// Number of the next SDU to be sent.
    pub(super) fn next(&self) -> u64 {
        self.base + self.entries.len() as u64
    }
    /// Number of the first SDU that is remembered.
    pub(super) fn base(&self) -> u64 {
        self.base
    }
    pub(super) fn push(&mut self, sent: Sent<P>) {
        self.entries.push_back(sent);
    }
    /// The SDU with this number, unless it has left.
    pub(super) fn get_mut(&mut self, sdu: u64) -> Option<&mut Sent<P>> {
        let index = sdu.checked_sub(self.base)?;
        self.entries.get_mut(usize::try_from(index).ok()?)
    }
    pub(super) fn get(&self, sdu: u64) -> Option<&Sent<P>> {
        let index = sdu.checked_sub(self.base)?;
        self.entries.get(usize::try_from(index).ok()?)
    }
    /// True for an SDU that has arrived whole, or that nobody remembers.
    pub(super) fn is_complete(&self, sdu: u64) -> bool {
        sdu < self.base || self.get(sdu).is_some_and(|sent| sent.complete.is_some() || sent.is_hole)
    }
    /// True for an SDU with which the sender is done.
    pub(super) fn is_settled(&self, sdu: u64) -> bool {
        self.get(sdu).is_none_or(|sent| sent.settled)
    }
    /// A segment has arrived; true if it is the last one of its SDU.
    pub(super) fn arrived(&mut self, now: Instant, segment: Segment) -> bool {
        let Some(sent) = self.get_mut(segment.sdu).filter(|sent| sent.complete.is_none()) else { return false };
        sent.received.add(segment.offset, segment.offset + segment.bytes);
        if !sent.received.covers(sent.size) {
            return false;
        }
        sent.complete = Some(now);
        self.rx_next = self.rx_next.max(segment.sdu + 1);
        true
    }
    /// The next SDU that leaves: the one in order; after t-Reordering also those behind what is missing (TS 38.323 5.2.2).
    pub(super) fn release(&mut self, now: Instant, t_reordering: Option<Duration>) -> Option<Released<P>> {
        loop {
            let expired = self.reordering.filter(|(_, end)| *end <= now).map(|(upto, _)| upto);
            let (rx_deliv, has_more, am) = (self.rx_deliv, self.rx_next > self.rx_deliv, self.am);
            let first = self.get_mut(rx_deliv)?;
            if let Some(complete) = first.complete {
                let (packet, sn, split) = (first.packet.take()?, first.sn, first.split(complete, now));
                self.advance();
                return Some(Released::Delivered(packet, sn, split));
            }
            // What AM gave up takes the bearer's re-establishment with it, and nobody waits for what nothing came after.
            let is_over = first.settled && (am && !first.is_hole || !has_more);
            if expired.is_none_or(|upto| rx_deliv >= upto) && !is_over {
                if has_more && self.reordering.is_none() {
                    self.reordering = t_reordering.map(|span| (self.rx_next, now + span));
                }
                return None;
            }
            let lost = first.packet.take();
            self.advance();
            if let Some(packet) = lost {
                return Some(Released::Lost(packet));
            }
        }
    }
    fn advance(&mut self) {
        self.rx_deliv += 1;
        // The timer waits for what it was started for, and is then started anew if something else is missing.
        if self.reordering.is_some_and(|(upto, _)| self.rx_deliv >= upto) {
            self.reordering = None;
        }
        self.forget();
    }
    /// Lets go of what both ends are done with.
    pub(super) fn forget(&mut self) {
        // What waits for its acknowledgement only, or for being handed on only, stays.
        let am = self.am;
        let is_done =
            |first: &Sent<P>, sdu: u64| first.packet.is_none() && sdu < self.rx_deliv && (first.settled || !am);
        while self.entries.front().is_some_and(|first| is_done(first, self.base)) {
            self.entries.pop_front();
            self.base += 1;
        }
    }
    /// When t-Reordering ends.
    pub(super) fn reordering_ends(&self) -> Option<Instant> {
        self.reordering.map(|(_, end)| end)
    }
    /// Takes everything: what has not left in order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Sent<P>> + '_ {
        self.base += self.entries.len() as u64;
        (self.rx_deliv, self.rx_next, self.reordering) = (self.base, self.base, None);
        self.entries.drain(..)
    }
    pub(super) fn held(&self, flow: FlowId) -> Bytes {
        let size = |sent: &Sent<P>| sent.packet.as_ref().filter(|packet| packet.flow == flow).map(|packet| packet.size);
        self.entries.iter().filter_map(size).sum()
    }
}
