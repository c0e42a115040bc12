//! The downlink slots of a cell: retransmissions, whom the scheduler chooses, and what becomes of a transport block.

use tidemark_core::{Bytes, Duration, Inspect, Instant, Packet};
use tidemark_marker::{RlcQueue, Verdict};
use tidemark_wire::mac::Direction;

use super::harq::Retransmission;
use super::scheduler::{Candidate, Contender, Need, Offer, Remaining};
use super::timers::Timer;
use super::{Block, Drb, Du, Feedback, Port};
use crate::event::{BearerId, Event};
use crate::index::DrbIndex;
use crate::multiplexing::{Channels, Content, prioritise};
use crate::output::{DropReason, Output, UeId};
use crate::rlc::{DequeueGate, Open};
use crate::room::MIN_BLOCK;
use crate::slab::Slab;
use tidemark_radio::slots::Slot;

/// Slots from the start of a transport block until the UE has decoded it: its own and one of processing
/// (N1 of TS 38.214 5.3).
pub(crate) const DECODED_AFTER: u64 = 2;

/// CU's law at the point where packets leave the RLC queue.
struct AtDequeue<'a, Q> {
    now: Instant,
    bearer: BearerId,
    ue: UeId,
    port: &'a mut Q,
    dropped: u64,
}

impl<P: Inspect, Q: Port<P>> DequeueGate<P> for AtDequeue<'_, Q> {
    fn decide(&mut self, packet: &Packet<P>, sn: u32, sojourn: Duration, behind: RlcQueue) -> Verdict {
        self.port.dequeue(self.now, self.bearer, (sn, packet), sojourn, behind)
    }
    fn dropped(&mut self, packet: Packet<P>) {
        self.dropped += 1;
        self.port.output(Output::Dropped { at: self.now, ue: self.ue, packet, reason: DropReason::Law });
    }
}

/// Bearers of a UE that fill a block of the downlink.
struct Downlink<'a, P, Q> {
    drbs: &'a mut Slab<DrbIndex, Drb<P>>,
    port: &'a mut Q,
    now: Instant,
    /// Time at which the block is decoded.
    due: Instant,
    content: &'a mut Content,
    /// Bytes of SDUs in the block.
    carried: u32,
    /// Packets that laws dropped on the way.
    dropped: u64,
}

impl<P: Inspect, Q: Port<P>> Channels for Downlink<'_, P, Q> {
    fn waiting(&mut self, drb: DrbIndex) -> u32 {
        let Drb { bearer, qos, .. } = &mut self.drbs[drb];
        if bearer.has_data() && qos.may_send(self.now) { bearer.backlog() } else { 0 }
    }

    fn is_owed(&mut self, drb: DrbIndex) -> bool {
        self.drbs[drb].qos.is_owed(self.now)
    }

    /// The downlink's prioritised bit rates are the guaranteed ones.
    fn due(&mut self, _drb: DrbIndex) -> u32 {
        0
    }

    fn fill(&mut self, index: DrbIndex, limit: u32) -> u32 {
        let drb = &mut self.drbs[index];
        let (id, before) = (drb.id, self.content.segments.len());
        let (sent_before, pdus_before) = (drb.bearer.sent(), drb.bearer.sent_pdus());
        let segments = &mut self.content.segments;
        // A law that decides on arrival, or at a pacer, has done so: its bearer fills the block without a gate.
        let filled = if self.port.decides_at_dequeue(id) && !drb.bearer.is_paced() {
            let mut gate = AtDequeue { now: self.now, bearer: id, ue: id.ue, port: &mut *self.port, dropped: 0 };
            let filled = drb.bearer.fill(self.now, self.due, limit, segments, &mut gate);
            self.dropped += gate.dropped;
            drb.stats.dropped += gate.dropped;
            filled
        } else {
            drb.bearer.fill(self.now, self.due, limit, segments, &mut Open)
        };
        self.port.events().emit(self.now, id, || Event::Transmitted {
            bytes: Bytes(drb.bearer.sent_pdus() - pdus_before),
            backlog: drb.bearer.queue_state(self.now).backlog,
        });
        drb.qos.sent(filled.carried);
        self.carried += filled.carried;
        let later = self.content.segments[before..].iter().filter(|segment| segment.offset > 0).count() as u64;
        let sent = drb.bearer.sent() - sent_before + later * u64::from(drb.of_later_segment);
        self.content.add(index, before, filled.used, sent);
        filled.used
    }
}

impl<P: Inspect> Du<P> {
    /// Sets the timer for the pacer's next look, if something waits above PDCP.
    pub(super) fn arm_pacer(&mut self, now: Instant, index: DrbIndex) {
        if let Some(at) = self.drbs[index].arm_pacer(now) {
            self.set_timer(at, index, Timer::Pacer);
        }
    }

    /// A bearer's pacer looks at what waits above PDCP: what it lets go on can be sent.
    pub(super) fn pace(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        let drb = &mut self.drbs[index];
        drb.disarm_pacer();
        let ue = drb.id.ue;
        let mut gate = AtDequeue { now, bearer: drb.id, ue, port, dropped: 0 };
        drb.bearer.pace(now, &mut gate);
        let dropped = gate.dropped;
        drb.stats.dropped += dropped;
        let has_data = drb.bearer.has_data();
        self.ues[ue].count_all_dropped(DropReason::Law, dropped);
        if has_data {
            self.activate(now, index);
        }
        self.arm_pacer(now, index);
    }

    /// Decides on one downlink slot, `scheduling_lead` before it begins: retransmissions first, then whom the scheduler chooses.
    pub(super) fn run_slot(&mut self, slot: Slot, port: &mut impl Port<P>) {
        let symbols = self.pattern.downlink_symbols(slot);
        let mut remaining = Remaining { prbs: self.config.prbs, blocks: self.config.ues_per_slot };
        self.scheduler.begin_slot(slot);
        // Retransmissions come before new blocks: delivery in order waits for them.
        for position in 0..self.retransmitting.len() {
            self.retransmit(slot, self.retransmitting[position], symbols, &mut remaining);
        }
        if !self.served.is_empty() {
            let ues = &self.ues;
            self.retransmitting.retain(|ue| !ues[*ue].retransmissions.is_empty());
        }
        // Guaranteed rates first; once nobody is owed anything, the scheduler chooses among all.
        let mut contenders = std::mem::take(&mut self.contenders);
        contenders.clear();
        if self.has_gbr {
            self.hand_out(slot, symbols, true, &mut contenders, &mut remaining);
        }
        self.hand_out(slot, symbols, false, &mut contenders, &mut remaining);
        for Contender { candidate, prbs, .. } in contenders.iter().filter(|contender| contender.prbs > 0) {
            self.send_new(slot, candidate, *prbs, symbols, port);
        }
        self.contenders = contenders;
        self.open_slot = slot + 1;
        self.plan_next(slot + 1);
    }

    /// Hands out what is left of a slot, among those that are owed a guaranteed rate or among all. Contenders come with what they have been
    /// given, and go with what they have been given in all.
    fn hand_out(
        &mut self,
        slot: Slot,
        symbols: u32,
        only_owed: bool,
        contenders: &mut Vec<Contender>,
        remaining: &mut Remaining,
    ) {
        if remaining.prbs == 0 {
            return;
        }
        let before = std::mem::replace(&mut self.given, std::mem::take(contenders));
        *contenders = before;
        self.contend(slot, symbols, only_owed, contenders);
        for given in self.given.drain(..).filter(|given| given.prbs > 0) {
            let position = contenders.binary_search_by_key(&given.candidate.ue, |contender| contender.candidate.ue);
            if let Ok(position) = position {
                contenders[position].prbs = given.prbs;
            }
        }
        let (now, all) = (self.decided_at(slot), self.config.prbs);
        let Self { scheduler, ues, drbs, sizes, .. } = self;
        scheduler.share(contenders, remaining, only_owed, |candidate, free| {
            let ue = &mut ues[candidate.ue];
            let wanted = |drb: &mut Drb<P>| {
                let waits = drb.bearer.has_data() && drb.qos.may_send(now) && (!only_owed || drb.qos.is_owed(now));
                if waits { drb.bearer.backlog() } else { 0 }
            };
            let wanted = ue.drbs().iter().map(|index| wanted(&mut drbs[index])).sum::<u32>();
            let least = wanted.min(MIN_BLOCK);
            match candidate.offer {
                Offer::Mcs(mcs) => {
                    let sizes = &sizes.of(symbols, mcs)[..=free as usize];
                    let fewest = |bytes| sizes.partition_point(|size| *size < bytes) as u32;
                    let need = Need { least: fewest(least), all: fewest(wanted) };
                    (need.least <= free).then_some(need)
                }
                Offer::Bytes(bytes) => {
                    let fewest = |wanted| ue.fewest_prbs(wanted, bytes, all);
                    let need = Need { least: fewest(least), all: fewest(wanted) };
                    // An offer that is too small for a block is kept for the next slot.
                    if need.least > all {
                        ue.keep(bytes);
                    }
                    (need.least <= free).then_some(need)
                }
            }
        });
    }

    /// Finds the UEs that can be sent something in a slot, in order, each by the bearer that the scheduler ranks highest.
    fn contend(&mut self, slot: Slot, symbols: u32, only_owed: bool, contenders: &mut Vec<Contender>) {
        let (now, begins) = (self.decided_at(slot), self.pattern.start(slot));
        let before = self.pattern.start(self.pattern.previous_downlink(slot));
        let (of_symbols, of_wait) = (self.sizes.capacity(symbols), self.pattern.wait_for_downlink(slot));
        let Self { scheduler, ues, drbs, table, sizes, .. } = self;
        let all = self.config.prbs as usize;
        // Bearers of a UE are side by side.
        for index in &self.active {
            let drb = &mut drbs[*index];
            let ue = &mut ues[drb.id.ue];
            if !drb.bearer.has_data() || ue.is_silent(now) {
                continue;
            }
            // A maximum rate that is used up holds the bearer back, and a UE whose HARQ processes all wait for feedback has no block.
            if only_owed && !drb.qos.is_owed(now) || !drb.qos.may_send(now) || !ue.processes.has_free(slot) {
                continue;
            }
            let offer = ue.offer(table, now, before..begins);
            // CQI 0: no MCS would arrive (TS 38.214 table 5.2.2.1-2).
            if ue.is_out_of_range() {
                continue;
            }
            let (capacity, share) = match offer {
                Offer::Mcs(mcs) => (f64::from(sizes.of(symbols, mcs)[all]), of_symbols),
                Offer::Bytes(bytes) => (bytes, of_wait),
            };
            let head_of_line = drb.bearer.head_of_line(now);
            let (priority, five_qi) = (drb.qos.priority, drb.qos.five_qi);
            let candidate = Candidate { ue: drb.id.ue, capacity, head_of_line, priority, five_qi, offer };
            match contenders.last_mut().filter(|last| last.candidate.ue == candidate.ue) {
                Some(last) if scheduler.rank(&candidate) > scheduler.rank(&last.candidate) => {
                    last.candidate = candidate
                }
                Some(_) => {}
                None => contenders.push(Contender::new(candidate, share)),
            }
        }
    }

    /// Forgets bearers that have nothing to do any more, and finds the slot in which others have.
    fn plan_next(&mut self, earliest: Slot) {
        let (ues, drbs, pattern) = (&self.ues, &self.drbs, &self.pattern);
        let retransmission = |drb: &Drb<P>| ues[drb.id.ue].retransmissions.front().map(|block| block.slot);
        let is_active = |index: &DrbIndex| {
            let drb = &drbs[*index];
            drb.bearer.has_data() || retransmission(drb).is_some()
        };
        for served in self.served.drain(..) {
            for index in ues[served].drbs().iter().filter(|index| !is_active(index)) {
                if let Ok(position) = self.active.binary_search(&index) {
                    self.active.remove(position);
                }
            }
        }
        let mut active = self.active.iter().map(|index| &drbs[*index]);
        self.soonest = pattern.next_downlink(earliest);
        self.next_slot = if active.any(|drb| drb.bearer.has_data()) {
            Some(self.soonest)
        } else {
            self.active.retain(is_active);
            let waiting = self.active.iter().filter_map(|index| retransmission(&drbs[*index])).min();
            waiting.map(|slot| pattern.next_downlink(slot.max(earliest)))
        };
    }

    /// Retransmissions of a UE that are due and fit.
    fn retransmit(&mut self, slot: Slot, id: UeId, symbols: u32, remaining: &mut Remaining) {
        if self.ues[id].is_silent(self.decided_at(slot)) {
            return;
        }
        loop {
            let waiting = &mut self.ues[id].retransmissions;
            let fits = remaining.blocks > 0
                && waiting.front().is_some_and(|first| {
                    // The block keeps its size and MCS, so that it needs as many symbols and resource blocks as at first.
                    first.slot <= slot && first.block.symbols <= symbols && first.block.prbs <= remaining.prbs
                });
            let Some(first) = fits.then(|| waiting.pop_front()).flatten() else { return };
            remaining.prbs -= first.block.prbs;
            remaining.blocks -= 1;
            self.served.push(id);
            self.air.plan(slot, first.block);
        }
    }

    /// A new transport block for a UE.
    fn send_new(
        &mut self,
        slot: Slot,
        &Candidate { ue: id, offer, .. }: &Candidate,
        prbs: u32,
        symbols: u32,
        port: &mut impl Port<P>,
    ) {
        let (now, due) = (self.decided_at(slot), self.pattern.start(slot + DECODED_AFTER));
        let (room, mcs) = match offer {
            Offer::Mcs(mcs) => (f64::from(self.sizes.of(symbols, mcs)[prbs as usize]), Some(mcs)),
            Offer::Bytes(bytes) => (self.ues[id].room_on(prbs, bytes, self.config.prbs), None),
        };
        let mut content = self.pool.take();
        let ue = &mut self.ues[id];
        let mut downlink =
            Downlink { drbs: &mut self.drbs, port, now, due, content: &mut content, carried: 0, dropped: 0 };
        prioritise(&ue.groups, room as u32, &mut downlink);
        let Downlink { carried, dropped, .. } = downlink;
        ue.count_all_dropped(DropReason::Law, dropped);
        self.scheduler.served(id, carried);
        self.served.push(id);
        if mcs.is_none() {
            let has_more = ue.drbs().iter().any(|drb| self.drbs[drb].bearer.has_data());
            ue.keep(if has_more { room - f64::from(carried) } else { 0.0 });
        }
        for index in ue.drbs().iter() {
            self.report(now, index, port);
            self.arm(now, index);
        }
        // The law dropped all: no block.
        if content.parts.is_empty() {
            self.pool.give_back(content);
            return;
        }
        // A rate channel gives the bytes that arrive: no block fails, and none takes a HARQ process.
        let process = mcs.map(|_| self.ues[id].processes.take(slot)).unwrap_or_default();
        let (energy, transmissions) = (0.0, 0);
        let block = Block { ue: id, process, mcs, bytes: room as u32, prbs, symbols, energy, transmissions, content };
        self.air.plan(slot, block);
    }

    /// A block goes on the air.
    pub(super) fn transmit(&mut self, slot: Slot, mut block: Block, port: &mut impl Port<P>) {
        let (id, now) = (block.ue, self.pattern.start(slot));
        let ue = &mut self.ues[id];
        let is_received = !ue.is_silent(now);
        let decoded = ue.transmit(now, &self.table, &mut block);
        let taken = u64::from(block.prbs * block.symbols);
        self.stats.resources += taken;
        let all = u64::from(block.content.bytes()).max(1);
        for part in &mut block.content.parts {
            let own = taken * u64::from(part.bytes) / all;
            self.drbs[part.drb].count_sent(now, own, std::mem::take(&mut part.first_sent));
        }
        // A block holds bytes of several bearers: its event names the UE by its default one.
        port.events().emit(now, self.drbs[ue.drbs().default_drb()].id, || {
            let Block { transmissions: transmission, mcs, bytes, prbs, .. } = block;
            Event::Block { direction: Direction::Downlink, transmission, mcs, bytes, prbs, decoded }
        });
        let acknowledged = self.pattern.next_uplink(slot + self.config.harq_k1);
        // Outer-loop link adaptation learns from first transmissions alone, and from no block that the UE had no coverage for: neither
        // is an error of the MCS.
        let (process, first, radio) = (block.process, block.transmissions == 1 && is_received, block.mcs.is_some());
        // Segments reach RLC when they are decoded; a block that failed keeps its own for the retransmission.
        let failed = if decoded {
            self.air.send_content(self.pattern.start(slot + DECODED_AFTER), id, block.content);
            None
        } else {
            Some(block)
        };
        if radio {
            let at = self.pattern.start(acknowledged + 1);
            self.air.send_feedback(Feedback { at, slot: acknowledged, ue: id, process, first, failed });
        } else if let Some(block) = failed {
            self.give_up(now, block, port);
        }
    }

    /// HARQ sends a block no more: what it carried is RLC's to repair, or lost.
    fn give_up(&mut self, now: Instant, block: Block, port: &mut impl Port<P>) {
        self.ues[block.ue].count_lost_block();
        for (part, segments) in block.content.parts() {
            self.drbs[part.drb].bearer.lost(now, segments);
            self.release(now, part.drb, port);
        }
        self.pool.give_back(block.content);
    }

    pub(super) fn handle_feedback(&mut self, now: Instant, feedback: Feedback, port: &mut impl Port<P>) {
        let ue = &mut self.ues[feedback.ue];
        if feedback.first {
            ue.learn(&self.table, feedback.failed.is_none());
        }
        let processed = feedback.slot + self.config.harq_processing.max(1 + self.lead);
        // The process is free once the gNB has processed the acknowledgement, not before.
        let Some(block) = feedback.failed else {
            ue.processes.give_back(feedback.process, processed);
            return;
        };
        // A block that failed too often is given up: in AM, RLC retransmits what it carried.
        if block.transmissions < self.config.harq_transmissions {
            let slot = self.pattern.next_downlink(processed);
            let drb = ue.drbs().default_drb();
            ue.retransmissions.push_back(Retransmission { slot, block });
            if let Err(position) = self.retransmitting.binary_search(&feedback.ue) {
                self.retransmitting.insert(position, feedback.ue);
            }
            self.activate(self.decided_at(slot), drb);
        } else {
            ue.processes.give_back(feedback.process, processed);
            self.give_up(now, block, port);
        }
    }
}
