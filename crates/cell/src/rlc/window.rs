//! The SDUs of a bearer at both ends: waiting, sent, arrived, acknowledged, and delivered by PDCP.

use std::collections::VecDeque;

use tidemark_core::{Duration, Instant, Packet};

use super::Segment;
use super::ranges::Ranges;
use crate::output::DelaySplit;

/// An SDU of which nothing has been sent. A full queue has thousands: the state of those that were sent would be most of its memory.
#[derive(Debug)]
pub(crate) struct Waiting<P> {
    pub(super) packet: Packet<P>,
    /// PDCP sequence number.
    pub(super) sn: u32,
    /// Bytes of the SDU, PDCP's header included.
    pub(super) size: u32,
    /// Times of its arrival at the CU and at the queue.
    pub(super) entered: Instant,
    pub(super) arrived: Instant,
}

/// An SDU that was sent, at least in part, on its way to the IP stack of the UE.
#[derive(Debug)]
pub(crate) struct Sdu<P> {
    /// `None` once PDCP has handed it on or has given it up.
    pub(super) packet: Option<Packet<P>>,
    /// PDCP sequence number.
    pub(super) sn: u32,
    /// Bytes of the SDU, PDCP's header included.
    pub(super) size: u32,
    /// Times of its arrival at the CU and at the queue.
    pub(super) entered: Instant,
    pub(super) arrived: Instant,
    /// Time at which it came to the head of the queue.
    pub(super) head: Instant,
    /// Time at which its last byte would arrive if nothing failed.
    pub(super) due: Instant,
    /// Time at which HARQ first gave up a part of it; `FAR` if it did not.
    pub(super) lost: Instant,
    /// Time at which it had arrived whole.
    pub(super) complete: Option<Instant>,
    pub(super) received: Ranges,
    /// RETX_COUNT of TS 38.322.
    pub(super) retransmissions: u8,
    /// Acknowledged or given up by the sender; in UM lost, or given up by the receiver.
    pub(super) settled: bool,
    /// UM: its SN, from 1. A whole SDU has none, and 0 here (TS 38.322 6.2.2.3).
    pub(super) um_sn: u32,
    /// Only an SN that PDCP discarded: RLC knows nothing of it.
    pub(super) is_hole: bool,
}

impl<P> Sdu<P> {
    /// One that is begun.
    fn begun(Waiting { packet, sn, size, entered, arrived }: Waiting<P>) -> Self {
        Self {
            packet: Some(packet),
            sn,
            size,
            entered,
            arrived,
            head: arrived,
            due: arrived,
            lost: Instant::FAR,
            complete: None,
            received: Ranges::default(),
            retransmissions: 0,
            settled: false,
            um_sn: 0,
            is_hole: false,
        }
    }
    /// Splits its delay in the cell, if it was `complete` then and leaves now.
    fn split(&self, complete: Instant, now: Instant) -> DelaySplit {
        let harq_ends = self.lost.min(complete).max(self.due);
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

/// SDU that leaves the window upwards, in order or as far as reordering waits.
pub(crate) struct Released<P> {
    pub(crate) packet: Packet<P>,
    /// PDCP SN.
    pub(crate) sn: u32,
    /// Delay in the cell; `None` if it was given up.
    pub(crate) delay: Option<DelaySplit>,
}

/// SDUs in the order of sending.
#[derive(Debug)]
pub(crate) struct Window<P> {
    /// True if the sender waits for acknowledgements.
    am: bool,
    /// SDUs that were sent, at least in part, and those that wait behind them.
    sent: VecDeque<Sdu<P>>,
    waiting: VecDeque<Waiting<P>>,
    /// Number of the first that was sent.
    base: u64,
    /// The next SDU to be handed on: RX_DELIV of TS 38.323.
    rx_deliv: u64,
    /// The first of those that have not left.
    handed: u64,
    /// First SDU whose fate has not been reported: those before it were handed on, or handed out as lost.
    reported_lost: u64,
    /// RX_NEXT of PDCP: the SDU behind the last one that is complete.
    rx_next: u64,
    /// SDU at which t-Reordering was started, and its end.
    reordering: Option<(u64, Instant)>,
    /// Half of the SNs: this many may be under way (TS 38.323 5.2.1, note 1).
    half: usize,
    /// Count of those sent that are only an SN.
    holes: usize,
}

impl<P> Window<P> {
    pub(super) fn new(am: bool, half: u32) -> Self {
        Self {
            am,
            sent: VecDeque::new(),
            waiting: VecDeque::new(),
            base: 0,
            rx_deliv: 0,
            handed: 0,
            reported_lost: 0,
            rx_next: 0,
            reordering: None,
            half: half as usize,
            holes: 0,
        }
    }
    /// The SDU that was begun last is taken out: it never had an SN.
    pub(super) fn withdraw(&mut self) -> Option<(u32, Packet<P>)> {
        let withdrawn = self.sent.pop_back()?;
        Some((withdrawn.sn, withdrawn.packet?))
    }
    /// True if as many SDUs have an SN as may be under way.
    pub(super) fn is_full(&self) -> bool {
        self.sent.len() + self.waiting() - self.holes >= self.half
    }
    /// Number of those that are remembered.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.sent.len() + self.waiting()
    }
    /// True if more than may be under way has gone since the first that is remembered, holes included.
    pub(super) fn outruns_receiver(&self) -> bool {
        self.sent.len() > self.half
    }
    /// Number of the next SDU to be sent.
    pub(super) fn next(&self) -> u64 {
        self.base + self.sent.len() as u64
    }
    /// Number of the first SDU that is remembered.
    pub(super) fn base(&self) -> u64 {
        self.base
    }
    /// Adds an SDU to what waits.
    pub(super) fn push(&mut self, sdu: Waiting<P>) {
        self.waiting.push_back(sdu);
    }
    /// Counts the SDUs that wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }
    /// The first that waits.
    pub(super) fn first_waiting(&self) -> Option<&Waiting<P>> {
        self.waiting.front()
    }
    /// The SDU that waits behind this many others.
    pub(super) fn waiting_behind(&mut self, others: usize) -> Option<&mut Waiting<P>> {
        self.waiting.get_mut(others)
    }
    /// Takes out the SDU that waits behind this many others: it never had an SN.
    pub(super) fn withdraw_behind(&mut self, others: usize) -> Option<Packet<P>> {
        self.waiting.remove(others).map(|withdrawn| withdrawn.packet)
    }
    /// Gives the SDUs that wait, oldest first.
    pub(super) fn queued(&self) -> impl Iterator<Item = &Waiting<P>> + '_ {
        self.waiting.iter()
    }
    /// The first that waits is sent from now on.
    pub(super) fn begin(&mut self) -> Option<&mut Sdu<P>> {
        let begun = self.waiting.pop_front()?;
        self.sent.push_back(Sdu::begun(begun));
        self.sent.back_mut()
    }
    /// Discards the SDU that was begun last before anything of it is sent. Only its SN remains.
    pub(super) fn discard(&mut self) -> Option<(u32, Packet<P>)> {
        let hole = self.sent.back_mut()?;
        (hole.is_hole, hole.settled, hole.size) = (true, true, 0);
        let discarded = (hole.sn, hole.packet.take()?);
        self.holes += 1;
        Some(discarded)
    }
    /// The SDU with this number, if it was sent and has not left.
    pub(super) fn get_mut(&mut self, sdu: u64) -> Option<&mut Sdu<P>> {
        let index = self.index(sdu)?;
        self.sent.get_mut(index)
    }
    pub(super) fn get(&self, sdu: u64) -> Option<&Sdu<P>> {
        self.sent.get(self.index(sdu)?)
    }
    fn index(&self, sdu: u64) -> Option<usize> {
        usize::try_from(sdu.checked_sub(self.base)?).ok()
    }
    /// True for an SDU for which no receiver waits: it has arrived whole, the sender is done with it, or nobody remembers it.
    pub(super) fn is_over(&self, sdu: u64) -> bool {
        sdu < self.base || self.get(sdu).is_some_and(|sent| sent.complete.is_some() || sent.settled)
    }
    /// The first SDU from this one on for which a receiver waits.
    pub(super) fn missing_from(&self, mut sdu: u64) -> u64 {
        while self.is_over(sdu) {
            sdu += 1;
        }
        sdu
    }
    /// True for the SDU that PDCP hands on next, while its beginning has arrived without a gap.
    pub(super) fn is_continued(&self, sdu: u64) -> bool {
        let is_open = |next: &Sdu<P>| next.complete.is_none() && !next.settled && !next.received.has_gap();
        self.handed == sdu && self.get(sdu).is_some_and(is_open)
    }
    /// True for an SDU of which something arrived behind a gap.
    pub(super) fn has_gap(&self, sdu: u64) -> bool {
        self.get(sdu).is_some_and(|sdu| sdu.received.has_gap())
    }
    /// UM's SN of an SDU that went out in segments; 0 of any other.
    pub(super) fn um_sn(&self, sdu: u64) -> u32 {
        self.get(sdu).map_or(0, |sent| sent.um_sn)
    }
    /// True for one of them that is not whole.
    pub(super) fn lacks_segments(&self, sdu: u64) -> bool {
        self.get(sdu).is_some_and(|sent| sent.um_sn > 0 && sent.complete.is_none())
    }
    /// UM's receiver gives up an SDU that is not whole, if it has an SN.
    pub(super) fn give_up(&mut self, sdu: u64) {
        if let Some(sent) = self.get_mut(sdu).filter(|sent| sent.um_sn > 0 && sent.complete.is_none()) {
            sent.settled = true;
        }
    }
    /// True for an SDU with which the sender is done.
    pub(super) fn is_settled(&self, sdu: u64) -> bool {
        self.get(sdu).is_none_or(|sent| sent.settled)
    }
    /// A segment has arrived.
    pub(super) fn arrived(&mut self, now: Instant, segment: Segment, t_reordering: Option<Duration>) {
        let am = self.am;
        // A duplicate changes nothing. UM's receiver discards segments of an SDU that it gave up (TS 38.322 5.2.2.2); in AM an SDU that
        // the sender gave up may still come.
        let Some(sdu) = self.get_mut(segment.sdu).filter(|sdu| sdu.complete.is_none() && (am || !sdu.settled)) else {
            return;
        };
        sdu.received.add(segment.offset, segment.offset + segment.bytes);
        // Only a whole SDU goes up to PDCP (TS 38.322 5.2.2.2 and 5.2.3.2).
        if sdu.received.covers(sdu.size) {
            sdu.complete = Some(now);
            self.rx_next = self.rx_next.max(segment.sdu + 1);
            self.progress(now, t_reordering, None);
        }
    }
    /// Moves RX_DELIV on over what is in order, and where t-Reordering `expired`, over what is missing before RX_REORD
    /// (TS 38.323 5.2.2).
    fn progress(&mut self, now: Instant, t_reordering: Option<Duration>, expired: Option<u64>) {
        while let Some(first) = self.get(self.rx_deliv) {
            // What is whole is in order up to here, and leaves.
            if first.complete.is_none() {
                // What AM gave up takes the bearer's re-establishment with it, and more than half of the SNs nobody remembers.
                // Otherwise the receiver cannot know that what is missing will not come.
                let is_over = first.settled && (self.am && !first.is_hole || self.outruns_receiver());
                if expired.is_none_or(|upto| self.rx_deliv >= upto) && !is_over {
                    // A later SDU is here: the timer bounds the wait for the one that is missing, and runs once at a time.
                    if self.rx_next > self.rx_deliv && self.reordering.is_none() {
                        self.reordering = t_reordering.map(|span| (self.rx_next, now + span));
                    }
                    break;
                }
            }
            self.rx_deliv += 1;
            // The timer waits for what it was started for, and is then started anew if something else is missing.
            if self.reordering.is_some_and(|(upto, _)| self.rx_deliv >= upto) {
                self.reordering = None;
            }
        }
    }
    /// Delivers the SDUs that RX_DELIV has passed, and gives those that are lost.
    pub(super) fn release(&mut self, now: Instant, t_reordering: Option<Duration>, mut leave: impl FnMut(Released<P>)) {
        let expired = self.reordering.filter(|(_, end)| *end <= now).map(|(upto, _)| upto);
        self.progress(now, t_reordering, expired);
        let before = self.handed;
        while self.handed < self.rx_deliv {
            let handed = self.handed;
            // Of a hole there is no packet, nor of an SDU that was reported as lost.
            if let Some(first) = self.get_mut(handed)
                && let Some(packet) = first.packet.take()
            {
                let delay = first.complete.map(|complete| first.split(complete, now));
                leave(Released { packet, sn: first.sn, delay });
            }
            self.handed += 1;
        }
        self.report_lost(&mut leave);
        // Otherwise the first entry is still somebody's.
        if self.handed > before {
            self.forget();
        }
    }
    /// Hands out what is lost, as soon as that is so: of those behind an SDU whose fate is open, once it is not.
    fn report_lost(&mut self, leave: &mut impl FnMut(Released<P>)) {
        self.reported_lost = self.reported_lost.max(self.handed);
        while self.is_over(self.reported_lost) {
            let next = self.reported_lost;
            // What is complete was handed on, or will be, in its order.
            if let Some(lost) = self.get_mut(next).filter(|sdu| sdu.complete.is_none())
                && let Some(packet) = lost.packet.take()
            {
                leave(Released { packet, sn: lost.sn, delay: None });
            }
            self.reported_lost += 1;
        }
    }
    /// Forgets the SDUs with which both ends are done.
    pub(super) fn forget(&mut self) {
        // An entry stays while either end needs it: the sender until the acknowledgement, the receiver until it is handed on.
        let handed_on = (self.handed - self.base) as usize;
        let is_done = |index: &usize| !self.am || self.sent[*index].settled;
        let done = (0..handed_on).take_while(is_done).count();
        if done > 0 {
            self.holes -= self.sent.drain(..done).filter(|first| first.is_hole).count();
            self.base += done as u64;
        }
    }
    /// Ends the SDUs that were begun: complete ones can be delivered, the others are lost.
    pub(super) fn conclude(&mut self) {
        (self.rx_deliv, self.reordering) = (self.next(), None);
    }
    /// Gives the end of t-Reordering.
    pub(super) fn reordering_ends(&self) -> Option<Instant> {
        self.reordering.map(|(_, end)| end)
    }
    /// Takes all SDUs that have not left in order, each with SN, time of arrival and packet.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (u32, Instant, Packet<P>)> + '_ {
        self.base = self.next();
        (self.rx_deliv, self.rx_next, self.reordering) = (self.base, self.base, None);
        (self.handed, self.reported_lost) = (self.base, self.base);
        self.holes = 0;
        let sent = self.sent.drain(..).filter_map(|sdu| Some((sdu.sn, sdu.arrived, sdu.packet?)));
        sent.chain(self.waiting.drain(..).map(|sdu| (sdu.sn, sdu.arrived, sdu.packet)))
    }
    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet<P>> {
        let sent = self.sent.iter().filter_map(|sdu| sdu.packet.as_ref());
        sent.chain(self.waiting.iter().map(|sdu| &sdu.packet))
    }
}
