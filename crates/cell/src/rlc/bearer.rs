//! The queue of a bearer, its segmentation, and both ends of its RLC and PDCP.

use std::collections::VecDeque;

use tidemark_core::{Bytes, Duration, Inspect, Instant, Packet};
use tidemark_marker::{RlcQueue, Verdict};

use super::gate::DequeueGate;
use super::pacer::Pacer;
use super::poll::Poll;
use super::reassembly::Reassembly;
use super::status::{Receiver, Status};
use super::window::{Released, Waiting, Window};
use super::{Overhead, Segment};
use crate::config::{Numbering, RlcConfig, RlcMode};

/// Less of an SDU than this is not worth a segment of its own.
const MIN_SEGMENT: u32 = 8;

/// t-Reordering where a law leaves holes and nothing is configured: srsRAN's for its default bearer, AM with 5QI 9.
const REORDERING_WITH_HOLES: Duration = Duration::from_millis(220);

/// Bytes that went into a transport block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled {
    /// Bytes of SDUs.
    pub(crate) carried: u32,
    /// Bytes with RLC's and MAC's headers.
    pub(crate) used: u32,
}

impl Filled {
    fn add(&mut self, carried: u32, used: u32) {
        self.carried += carried;
        self.used += used;
    }
}

/// The last SDUs of the queue, which wait above PDCP until the pacer lets them go on.
#[derive(Debug, Default)]
struct Above {
    pacer: Pacer,
    sdus: usize,
    bytes: Bytes,
}

/// The RLC and PDCP entities of one bearer, downlink.
#[derive(Debug)]
pub(crate) struct Bearer<P> {
    config: RlcConfig,
    overhead: Overhead,
    /// The queue, and what was sent.
    window: Window<P>,
    /// IP bytes in the queue, and what a transport block would need for them.
    queued: Bytes,
    needed: u32,
    /// Part of the queue that a pacer keeps above PDCP, if there is one.
    above: Option<Above>,
    /// The SDU that was begun last, and its bytes that wait to be sent.
    begun: u64,
    unsent: u32,
    /// Time at which the SDU at the head came there, unless it arrived later.
    head_since: Instant,
    /// Segments that a status report asked for, in order.
    retransmissions: VecDeque<Segment>,
    poll: Poll,
    receiver: Receiver,
    /// UM's receiver, and the SN that was given last.
    reassembly: Reassembly,
    um_sn: u32,
    /// SDUs that AM may have under way.
    max_unacknowledged: u64,
    /// TX_Next_Ack: everything below is acknowledged or given up.
    tx_next_ack: u64,
    /// PDCP SN of the SDU that was begun last.
    highest_transmitted: Option<u32>,
    /// IP bytes that were sent for the first time, and the same with PDCP headers.
    sent: u64,
    sent_pdus: u64,
}

impl<P: Inspect> Bearer<P> {
    pub(crate) fn new(config: RlcConfig, overhead: Overhead) -> Self {
        Self {
            window: Window::new(config.mode == RlcMode::Am, config.max_under_way()),
            reassembly: Reassembly::new(config.rlc_sn().window()),
            max_unacknowledged: config.rlc_sn().window().min(config.max_under_way()).into(),
            above: config.paced.then(Above::default),
            config,
            overhead,
            queued: Bytes(0),
            needed: 0,
            begun: 0,
            unsent: 0,
            head_since: Instant::ZERO,
            retransmissions: VecDeque::new(),
            poll: Poll::default(),
            receiver: Receiver::default(),
            um_sn: 0,
            tx_next_ack: 0,
            highest_transmitted: None,
            sent: 0,
            sent_pdus: 0,
        }
    }

    /// True if another packet of this size would exceed a limit.
    pub(crate) fn is_full(&self, size: Bytes) -> bool {
        self.window.is_full() || self.exceeds(self.window.waiting() as u32, self.queued + size)
    }
    /// True if a queue of this many SDUs takes no other, or would exceed its limit with this many bytes.
    pub(crate) fn exceeds(&self, sdus: u32, bytes: Bytes) -> bool {
        sdus >= self.config.queue_sdus || self.config.queue_bytes.is_some_and(|limit| bytes > limit)
    }
    /// Queues an SDU that came to the CU at `entered`.
    pub(crate) fn push(&mut self, now: Instant, entered: Instant, sn: u32, packet: Packet<P>) {
        self.queued += packet.size;
        let size = packet.size.0 as u32 + self.overhead.sdu;
        // Above PDCP a packet is nothing that a transport block could carry yet.
        match &mut self.above {
            Some(above) => (above.sdus, above.bytes) = (above.sdus + 1, above.bytes + packet.size),
            None => self.needed += self.overhead.with_headers(0, size),
        }
        self.window.push(Waiting { packet, sn, size, entered, arrived: now });
    }
    /// SDUs in RLC's queue: all that wait, but those above PDCP.
    fn waiting(&self) -> usize {
        self.window.waiting() - self.above.as_ref().map_or(0, |above| above.sdus)
    }
    /// True if there is a pacer before RLC's queue, at which the law decides.
    pub(crate) fn is_paced(&self) -> bool {
        self.above.is_some()
    }
    /// Time after `now` at which the pacer checks the packets above PDCP; `None` if none wait.
    pub(crate) fn next_look(&self, now: Instant) -> Option<Instant> {
        self.above.as_ref().filter(|above| above.sdus > 0).map(|_| Pacer::next_look(now))
    }
    /// Moves the packets that the pacer and `gate` let pass from above PDCP into RLC's queue.
    pub(crate) fn pace(&mut self, now: Instant, gate: &mut impl DequeueGate<P>) {
        let (in_rlc, unsent) = (self.waiting(), Bytes(u64::from(self.unsent)));
        // Without a pacer everything went to RLC when it came.
        let Some(above) = &mut self.above else { return };
        above.pacer.look(now, self.queued - above.bytes + unsent);
        let mut before = in_rlc;
        // Only what PDCP holds is paced: RLC's own queue is the DU's already.
        while let Some(first) = self.window.waiting_behind(before) {
            let (sn, size, head_of_line) = (first.sn, first.size, now.since(first.arrived));
            let packet = &mut first.packet;
            let bytes = packet.size;
            // In order: what does not pass holds back all behind it.
            if !above.pacer.passes(now, bytes) {
                return;
            }
            // TC-RAN's law is asked before the packet is taken out, and counts it among what waits.
            let queue = RlcQueue { backlog: above.bytes, packets: above.sdus as u32, head_of_line };
            let verdict = gate.decide(packet, sn, head_of_line, queue);
            (above.sdus, above.bytes) = (above.sdus - 1, above.bytes - bytes);
            match verdict {
                // It has no SN yet, so that nobody waits for it: the pacer goes on with the next.
                Verdict::Drop => {
                    self.queued -= bytes;
                    self.window.withdraw_behind(before).into_iter().for_each(|packet| gate.dropped(packet));
                    continue;
                }
                Verdict::Mark => packet.ecn = packet.ecn.marked(),
                Verdict::Pass => {}
            }
            above.pacer.pass(bytes);
            self.needed += self.overhead.with_headers(0, size);
            before += 1;
        }
    }
    /// Notes that a law may drop packets with an SN, so that the receiver does not wait for missing ones without end.
    pub(crate) fn expect_holes(&mut self) {
        // Numbered on leaving, what a law drops has no SN and leaves no hole.
        if self.config.numbering == Numbering::OnArrival {
            self.config.t_reordering = self.config.t_reordering().or(Some(REORDERING_WITH_HOLES));
        }
    }
    /// Drops the SDU that was begun last, of which nothing was sent.
    fn drop_begun(&mut self) -> Option<(u32, Packet<P>)> {
        match self.config.numbering {
            Numbering::OnArrival => self.window.discard(),
            Numbering::OnLeaving => self.window.withdraw(),
        }
    }
    /// Discards an SDU that has waited for longer than PDCP's discardTimer (TS 38.323 5.3), and gives it with its SN.
    pub(crate) fn discard(&mut self, now: Instant, mut discarded: impl FnMut(u32, Packet<P>)) {
        // PDCP may have no discardTimer: packets wait as long as it takes.
        let Some(limit) = self.config.discard_timer else { return };
        // The timer runs from PDCP's upper edge. What was begun goes on: a part of it is with the UE, which waits for the rest.
        while self.window.first_waiting().is_some_and(|first| now.since(first.entered) >= limit) {
            self.window.begin();
            // Nothing of it was sent, so that nobody misses its SN at RLC.
            let Some((sn, packet)) = self.drop_begun() else { return };
            self.queued -= packet.size;
            self.needed -= self.overhead.with_headers(0, packet.size.0 as u32 + self.overhead.sdu);
            discarded(sn, packet);
        }
        self.acknowledge();
    }
    /// SDUs of which nothing has been sent, with their PDCP SNs, oldest first.
    pub(crate) fn queued(&self) -> impl Iterator<Item = (u32, &Packet<P>)> + '_ {
        self.window.queued().map(|sdu| (sdu.sn, &sdu.packet))
    }
    /// True if a transport block would carry something.
    pub(crate) fn has_data(&self) -> bool {
        self.unsent > 0 || !self.retransmissions.is_empty() || self.waiting() > 0 && !self.is_stalled()
    }
    /// True if AM waits for acknowledgements before it sends anything new (TS 38.322 5.2.3.1.1). Besides AM_Window_Size,
    /// half of PDCP's SNs are a limit.
    fn is_stalled(&self) -> bool {
        self.config.mode == RlcMode::Am && self.window.next() - self.tx_next_ack >= self.max_unacknowledged
    }
    /// TX_Next_Ack goes on to the first SDU with which the sender is not done.
    fn acknowledge(&mut self) {
        // The window is counted from the oldest SDU that may be retransmitted (TS 38.322 5.2.3.1.1).
        while self.tx_next_ack < self.window.next() && self.window.is_settled(self.tx_next_ack) {
            self.tx_next_ack += 1;
        }
    }
    /// Bytes that a transport block would need to empty the bearer.
    pub(crate) fn backlog(&self) -> u32 {
        // Of what was begun, something was sent.
        let begun = if self.unsent > 0 { self.overhead.with_headers(1, self.unsent) } else { 0 };
        let retransmitted = self.retransmissions.iter().map(|lost| self.overhead.with_headers(lost.offset, lost.bytes));
        self.needed + begun + retransmitted.sum::<u32>()
    }
    /// The queue as laws see it.
    pub(crate) fn queue_state(&self, now: Instant) -> RlcQueue {
        RlcQueue {
            backlog: self.queued + Bytes(u64::from(self.unsent)),
            packets: self.window.waiting() as u32 + u32::from(self.unsent > 0),
            head_of_line: self.window.first_waiting().map_or(Duration::ZERO, |first| now.since(first.arrived)),
        }
    }
    /// Age of the oldest SDU that waits for transmission, in whole or in part, or for retransmission. It is for schedulers. Laws use the SDUs
    /// of which nothing was sent, since an SDU that takes two slots is no queue yet.
    pub(crate) fn head_of_line(&self, now: Instant) -> Duration {
        let retransmitted = self.retransmissions.front().map(|lost| lost.sdu);
        let begun = (self.unsent > 0).then_some(self.begun);
        let sent = retransmitted.or(begun).and_then(|sdu| self.window.get(sdu)).map(|sdu| sdu.arrived);
        let oldest = sent.or_else(|| self.window.first_waiting().map(|sdu| sdu.arrived));
        oldest.map_or(Duration::ZERO, |arrived| now.since(arrived))
    }
    pub(crate) fn highest_transmitted(&self) -> Option<u32> {
        self.highest_transmitted
    }
    /// IP bytes that were sent for the first time, without headers.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }
    /// Bytes of PDCP PDUs that were sent for the first time.
    pub(crate) fn sent_pdus(&self) -> u64 {
        self.sent_pdus
    }
    pub(crate) fn mode(&self) -> RlcMode {
        self.config.mode
    }

    /// Fills a transport block with at most `room` bytes, which arrives at `due` if it does not fail: first what a
    /// status report asked for, then the SDU that was begun, then new ones that `gate` lets pass.
    pub(crate) fn fill(
        &mut self,
        now: Instant,
        due: Instant,
        room: u32,
        block: &mut Vec<Segment>,
        gate: &mut impl DequeueGate<P>,
    ) -> Filled {
        let before = block.len();
        let mut filled = Filled { carried: 0, used: 0 };
        // RLC gives retransmissions priority over new data (TS 38.322 5.2.3.1.1).
        self.fill_retransmissions(room, block, &mut filled);
        let retransmitted = block.len() - before;
        // A retransmission that did not fit goes on in the next block: new data would overtake it.
        if self.retransmissions.is_empty() {
            self.fill_new((now, due), room, block, &mut filled, gate);
        }
        // UM has no status reports to poll for.
        if self.config.mode == RlcMode::Am {
            self.poll_in(now, &mut block[before..], retransmitted);
        }
        filled
    }

    fn fill_retransmissions(&mut self, room: u32, block: &mut Vec<Segment>, filled: &mut Filled) {
        while let Some(lost) = self.retransmissions.front_mut() {
            // A later report may have acknowledged the SDU, or it was given up, since the retransmission was asked for.
            if self.window.is_settled(lost.sdu) {
                self.retransmissions.pop_front();
                continue;
            }
            let (taken, used) = self.overhead.fit(room - filled.used, lost.offset, lost.bytes);
            // The headers of a sliver would cost more than it carries: the rest waits for the next block.
            if taken < MIN_SEGMENT.min(lost.bytes) {
                break;
            }
            block.push(Segment { bytes: taken, ..*lost });
            filled.add(taken, used);
            // A block that is too small takes a part of the segment, which RLC may cut once more (TS 38.322 5.3.2).
            lost.offset += taken;
            lost.bytes -= taken;
            // Sent to its end: the next lost segment may follow in the same block.
            if lost.bytes == 0 {
                self.retransmissions.pop_front();
            }
        }
    }

    fn fill_new(
        &mut self,
        (now, due): (Instant, Instant),
        room: u32,
        block: &mut Vec<Segment>,
        filled: &mut Filled,
        gate: &mut impl DequeueGate<P>,
    ) {
        let overhead = self.overhead;
        loop {
            let left = room - filled.used;
            // An SDU that was begun is finished first. A new one is begun only if some of it fits, since the law decides when it is:
            // a decision for a packet that stays would be too early.
            if self.unsent == 0 {
                let is_enough = left >= overhead.least(MIN_SEGMENT);
                // Too little room, too many unacknowledged, or nothing waits.
                if !is_enough || self.is_stalled() || !self.begin_next(now, gate) {
                    return;
                }
            }
            // A window that moved on has no such SDU: a status report acknowledged it meanwhile.
            let Some(sent) = self.window.get_mut(self.begun) else { return };
            let offset = sent.size - self.unsent;
            let (taken, used) = overhead.fit(left, offset, self.unsent);
            // As of a retransmission: headers would cost more than so little carries.
            if taken < MIN_SEGMENT.min(self.unsent) {
                return;
            }
            // The last segment's time remains in the end: the SDU is whole then, if nothing fails.
            sent.due = due;
            // In UM only an SDU that goes out in segments has an SN (TS 38.322 6.2.2.3). Zero stands for none, and is skipped.
            if taken < sent.size && sent.um_sn == 0 {
                self.um_sn = self.um_sn.wrapping_add(1).max(1);
                sent.um_sn = self.um_sn;
            }
            // The PDCP header goes first.
            let of_header = overhead.sdu.saturating_sub(offset);
            self.sent += u64::from(taken.saturating_sub(of_header));
            self.sent_pdus += u64::from(taken);
            block.push(Segment { sdu: self.begun, offset, bytes: taken, poll: false });
            self.unsent -= taken;
            filled.add(taken, used);
            // What was cut has filled the block.
            if self.unsent > 0 {
                return;
            }
            // The next SDU is at the head from now on: its wait before is queuing, its wait from here on scheduling.
            self.head_since = now;
        }
    }

    /// Puts a poll into the block if one is due. The first `retransmitted` segments don't count (TS 38.322 5.3.3.2).
    fn poll_in(&mut self, now: Instant, block: &mut [Segment], retransmitted: usize) {
        // The end of data polls, since no later PDU could (TS 38.322 5.3.3.2).
        let is_empty = !self.has_data();
        let Some(last) = block.len().checked_sub(1) else { return };
        for (index, segment) in block.iter_mut().enumerate() {
            // Only new data counts towards the next poll (TS 38.322 5.3.3.2).
            if index >= retransmitted {
                self.poll.count(segment.bytes);
            }
            segment.poll = self.poll.is_due(&self.config, is_empty && index == last);
            // The answer to the newest poll says all that those of older ones would.
            if segment.poll {
                self.poll.polled(now, self.begun, self.config.t_poll_retransmit);
            }
        }
    }

    /// Takes the next SDU that the law lets pass from the queue into the window. What it drops leaves
    /// what a discarded one leaves.
    fn begin_next(&mut self, now: Instant, gate: &mut impl DequeueGate<P>) -> bool {
        while self.waiting() > 0
            && let Some(first) = self.window.begin()
        {
            self.queued -= Bytes(u64::from(first.size - self.overhead.sdu));
            self.needed -= self.overhead.with_headers(0, first.size);
            let (number, behind) = (self.window.next() - 1, self.queue_state(now));
            // It was begun just now: it is there, and has its packet.
            let Some(begun) = self.window.get_mut(number) else { return false };
            let Some(packet) = &mut begun.packet else { return false };
            // Here the law decides that looks at what leaves; those at the CU let all pass.
            match gate.decide(packet, begun.sn, now.since(begun.arrived), behind) {
                Verdict::Pass => {}
                Verdict::Mark => packet.ecn = packet.ecn.marked(),
                // The loop goes on with the next SDU: the room of the block is not lost with the packet.
                Verdict::Drop => {
                    self.drop_begun().into_iter().for_each(|(_, packet)| gate.dropped(packet));
                    self.acknowledge();
                    continue;
                }
            }
            (begun.head, begun.due) = (self.head_since.max(begun.arrived), now);
            (self.begun, self.unsent) = (number, begun.size);
            self.highest_transmitted = Some(begun.sn);
            return true;
        }
        false
    }

    /// Gives up the SDUs that were begun: no more of them will arrive, and PDCP's receiver delivers those that are complete.
    pub(crate) fn conclude(&mut self) {
        self.window.conclude();
    }
    /// Re-establishes the entity at a handover (TS 38.322 5.1.2). Gives the SDUs that have not left in order, oldest first, with
    /// SN and time of arrival. The receiver gives up its parts of them, so that nothing arrives twice.
    pub(crate) fn re_establish(&mut self) -> Vec<(u32, Instant, Packet<P>)> {
        self.unsent = 0;
        (self.queued, self.needed) = (Bytes(0), 0);
        self.above = self.config.paced.then(Above::default);
        self.retransmissions.clear();
        self.highest_transmitted = None;
        self.poll = Poll::default();
        self.tx_next_ack = self.window.next();
        self.receiver = Receiver::beginning(self.tx_next_ack);
        self.reassembly.begin(self.tx_next_ack);
        self.window.drain().collect()
    }

    /// A segment arrived at the UE. False if it only continues the SDU that is awaited: then nothing leaves, and no timer changes.
    pub(crate) fn arrived(&mut self, now: Instant, segment: Segment) -> bool {
        self.window.arrived(now, segment, self.config.t_reordering());
        let t_reassembly = self.config.t_reassembly;
        match self.config.mode {
            RlcMode::Am => self.receiver.arrived(now, &self.window, segment, t_reassembly),
            RlcMode::Um => {
                self.reassembly.arrived(now, &mut self.window, segment, t_reassembly);
                true
            }
        }
    }
    /// HARQ has given up these segments. Without acknowledgements that is the end of their SDUs.
    pub(crate) fn lost(&mut self, now: Instant, segments: &[Segment]) {
        let am = self.config.mode == RlcMode::Am;
        for segment in segments {
            // Both ends may be done with it by now: a loss means nothing then.
            let Some(sent) = self.window.get_mut(segment.sdu) else { continue };
            sent.lost = sent.lost.min(now);
            // In AM the receiver's report asks for them.
            if !am {
                self.settle(segment.sdu);
            }
        }
        self.window.forget();
    }
    /// Delivers packets towards the IP stack of the UE.
    pub(crate) fn release(&mut self, now: Instant, leave: impl FnMut(Released<P>)) {
        self.window.release(now, self.config.t_reordering(), leave);
    }

    /// Takes a status report at the sender (TS 38.322 5.3.2). An SDU that was requested too often is given up, where a gNB
    /// would declare a radio link failure.
    pub(crate) fn handle_status(&mut self, status: &Status) {
        self.poll.answered(status.ack_sn);
        let mut missing = status.missing.iter().map(|segment| segment.sdu).peekable();
        for sdu in self.tx_next_ack..status.ack_sn.min(self.window.next()) {
            while missing.next_if(|next| *next < sdu).is_some() {}
            // Everything below ACK_SN that no NACK names has arrived (TS 38.322 6.2.2.5).
            if missing.peek() != Some(&sdu) {
                self.settle(sdu);
            }
        }
        self.tx_next_ack = status.missing.first().map_or(status.ack_sn, |first| first.sdu).max(self.tx_next_ack);
        // The report speaks of everything that an earlier one asked for.
        let pending = std::mem::take(&mut self.retransmissions);
        let mut counted = None;
        for segment in &status.missing {
            // Given up or acknowledged before: it is not sent again.
            let Some(sent) = self.window.get_mut(segment.sdu).filter(|sent| !sent.settled) else { continue };
            // Of an SDU that is being sent, what was not sent is not missing.
            let sent_so_far = if segment.sdu == self.begun { sent.size - self.unsent } else { sent.size };
            let bytes = segment.bytes.min(sent_so_far.saturating_sub(segment.offset));
            let is_pending = pending.binary_search_by_key(&segment.sdu, |segment| segment.sdu).is_ok();
            // RETX_COUNT rises once a report, however many segments it names, and not while a retransmission waits (TS 38.322 5.3.2).
            if counted != Some(segment.sdu) && !is_pending {
                sent.retransmissions = sent.retransmissions.saturating_add(1);
            }
            counted = Some(segment.sdu);
            // A UE that never gets an SDU would hold the window back: it is given up.
            if sent.retransmissions > self.config.max_retransmissions {
                self.settle(segment.sdu);
            } else if bytes > 0 {
                // Nothing of it was sent when the report was written: it is not missing.
                self.retransmissions.push_back(Segment { bytes, ..*segment });
            }
        }
        self.acknowledge();
        self.window.forget();
    }
    /// The sender is done with an SDU.
    fn settle(&mut self, sdu: u64) {
        let Some(sent) = self.window.get_mut(sdu) else { return };
        sent.settled = true;
        // Nobody waits for the rest of it.
        if sdu == self.begun {
            self.unsent = 0;
        }
    }

    /// SDUs that are remembered.
    #[cfg(test)]
    pub(crate) fn remembered(&self) -> usize {
        self.window.len()
    }
    /// True if more was sent or discarded than there are SNs, so that the sender has forgotten the SDU for which the receiver waits longest.
    pub(crate) fn outruns_receiver(&self) -> bool {
        self.window.outruns_receiver()
    }
    /// Gives the end of the discardTimer of the first SDU that waits.
    pub(crate) fn discards_at(&self) -> Option<Instant> {
        let limit = self.config.discard_timer?;
        Some(self.window.first_waiting()?.entered + limit)
    }
    /// The earliest end of another timer: t-PollRetransmit, t-Reassembly, t-StatusProhibit with a report behind it, t-Reordering.
    pub(crate) fn next_timer(&self, now: Instant) -> Option<Instant> {
        let timers = [
            self.poll.ends(),
            self.receiver.reassembly_ends(),
            self.reassembly.ends(),
            self.receiver.report_due(now),
            self.window.reordering_ends(),
        ];
        let first = timers.into_iter().fold(Instant::FAR, |first, at| first.min(at.unwrap_or(Instant::FAR)));
        (first != Instant::FAR).then_some(first)
    }
    /// Handles timers that have ended; returns the status report to send.
    pub(crate) fn handle_timers(&mut self, now: Instant) -> Option<Status> {
        if self.poll.expire(now) && !self.has_data() {
            // Nothing would carry the poll: the last SDU that is not acknowledged is retransmitted, which counts (TS 38.322 5.3.2).
            let last = (self.window.base()..self.window.next()).rev().find(|sdu| !self.window.is_settled(*sdu));
            if let Some((sdu, sent)) = last.and_then(|sdu| Some((sdu, self.window.get_mut(sdu)?))) {
                sent.retransmissions = sent.retransmissions.saturating_add(1);
                // As where a report asks too often: the SDU is given up.
                if sent.retransmissions > self.config.max_retransmissions {
                    self.settle(sdu);
                    self.acknowledge();
                    self.window.forget();
                } else {
                    self.retransmissions.push_back(Segment { sdu, offset: 0, bytes: sent.size, poll: false });
                }
            }
        }
        self.receiver.expire(now, &self.window, self.config.t_reassembly);
        self.reassembly.expire(now, &mut self.window, self.config.t_reassembly);
        let due = self.receiver.report_due(now).is_some_and(|at| at <= now);
        due.then(|| self.receiver.report(now, &self.window, &self.config))
    }

    /// Packets that are here.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet<P>> {
        self.window.packets()
    }
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod tests;
