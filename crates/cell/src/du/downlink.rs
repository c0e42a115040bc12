//! The downlink slots of a cell: retransmissions, whom the scheduler chooses, and what becomes of a transport block.

use tidemark_core::{Bytes, Duration, Inspect, Instant, Packet};
use tidemark_marker::{RlcQueue, Verdict};
use tidemark_wire::mac::Direction;

use super::harq::Retransmission;
use super::scheduler::{Candidate, Offer, Served};
use super::{Block, Drb, Du, Feedback, Port};
use crate::event::{BearerId, Event};
use crate::index::DrbIndex;
use crate::output::{DropReason, Output, UeId};
use crate::rlc::{DequeueGate, Open};
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

impl<P: Inspect> Du<P> {
    /// Decides on one downlink slot, `scheduling_lead` before it begins: retransmissions first, then whom the scheduler chooses.
    pub(super) fn run_slot(&mut self, slot: Slot, port: &mut impl Port<P>) {
        let (now, begins) = (self.decided_at(slot), self.pattern.start(slot));
        let symbols = self.pattern.downlink_symbols(slot);
        let mut free = self.config.prbs;
        self.scheduler.begin_slot(slot);
        // Retransmissions come before new blocks: delivery in order waits for them.
        for position in 0..self.retransmitting.len() {
            free -= self.retransmit(slot, self.retransmitting[position], symbols, free);
        }
        if !self.served.is_empty() {
            let ues = &self.ues;
            self.retransmitting.retain(|ue| !ues[*ue].retransmissions.is_empty());
        }
        let before = self.pattern.start(self.pattern.previous_downlink(slot));
        // Guaranteed rates first; once nobody is owed anything, the scheduler chooses among all.
        let mut only_owed = self.has_gbr;
        while free > 0 {
            let (ues, drbs, table, sizes, all) =
                (&mut self.ues, &mut self.drbs, &self.table, &self.sizes, self.config.prbs as usize);
            let candidate = |index: DrbIndex| {
                let drb = &mut drbs[index];
                let ue = &mut ues[drb.id.ue];
                // A bearer has one block a slot: one that was cut short by the queue or by the blocks left has had it.
                if drb.was_tried_in(slot) || !drb.bearer.has_data() || ue.is_silent(now) {
                    return None;
                }
                // A maximum rate that is used up holds the bearer back, and so does a UE whose HARQ processes all wait for feedback.
                if only_owed && !drb.qos.is_owed(now) || !drb.qos.may_send(now) || !ue.processes.has_free(slot) {
                    return None;
                }
                let offer = ue.offer(table, now, before..begins);
                // CQI 0: no MCS would arrive (TS 38.214 table 5.2.2.1-2).
                if ue.is_out_of_range() {
                    return None;
                }
                let capacity = match offer {
                    Offer::Mcs(mcs) => f64::from(sizes.of(symbols, mcs)[all]),
                    Offer::Bytes(bytes) => bytes,
                };
                let head_of_line = drb.bearer.head_of_line(now);
                let (priority, five_qi) = (drb.qos.priority, drb.qos.five_qi);
                Some(Candidate { drb: index, capacity, head_of_line, priority, five_qi, offer })
            };
            let Some(chosen) = self.scheduler.choose(&self.active, only_owed, candidate) else {
                // The owed are served: a second pass, for everybody.
                if std::mem::take(&mut only_owed) {
                    continue;
                }
                break;
            };
            let (prbs, bytes) = self.send_new(slot, &chosen, symbols, free, port);
            free -= prbs;
            let whole = match chosen.offer {
                Offer::Mcs(_) => self.sizes.capacity(symbols),
                Offer::Bytes(_) => self.pattern.wait_for_downlink(slot),
            };
            let share = whole * f64::from(prbs) / f64::from(self.config.prbs);
            self.scheduler.served(Served { drb: chosen.drb, is_due: only_owed, share, bytes });
            self.served.push(chosen.drb);
            self.drbs[chosen.drb].qos.sent(bytes);
            self.report(now, chosen.drb, port);
            self.arm(now, chosen.drb);
        }
        self.open_slot = slot + 1;
        self.plan_next(slot + 1);
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
            for index in ues[drbs[served].id.ue].drbs().iter().filter(|index| !is_active(index)) {
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

    /// Retransmissions of a UE that are due and fit; returns the resource blocks they took.
    fn retransmit(&mut self, slot: Slot, id: UeId, symbols: u32, free: u32) -> u32 {
        let mut taken = 0;
        if self.ues[id].is_silent(self.decided_at(slot)) {
            return taken;
        }
        loop {
            let waiting = &mut self.ues[id].retransmissions;
            let fits = waiting.front().is_some_and(|first| {
                // The block keeps its size and MCS, so that it needs as many symbols and resource blocks as at first.
                first.slot <= slot && first.block.symbols <= symbols && first.block.prbs <= free - taken
            });
            let Some(first) = fits.then(|| waiting.pop_front()).flatten() else { return taken };
            taken += first.block.prbs;
            self.served.push(first.block.drb);
            self.air.plan(slot, first.block);
        }
    }

    /// A new transport block for a bearer; returns its resource blocks and bytes.
    fn send_new(
        &mut self,
        slot: Slot,
        chosen: &Candidate,
        symbols: u32,
        free: u32,
        port: &mut impl Port<P>,
    ) -> (u32, u32) {
        let (now, due) = (self.decided_at(slot), self.pattern.start(slot + DECODED_AFTER));
        let drb = &mut self.drbs[chosen.drb];
        let ue = &mut self.ues[drb.id.ue];
        drb.try_in(slot);
        let backlog = drb.bearer.backlog();
        let (prbs, room, mcs) = match chosen.offer {
            Offer::Mcs(mcs) => {
                let (prbs, bytes) = self.sizes.fitting(symbols, mcs, free, backlog);
                (prbs, f64::from(bytes), Some(mcs))
            }
            Offer::Bytes(bytes) => match ue.share_of(backlog, bytes, free, self.config.prbs) {
                Some((prbs, room)) => (prbs, room, None),
                None => return (0, 0),
            },
        };
        let mut segments = self.pool.take();
        let (bearer, id) = (drb.id, drb.id.ue);
        let (mut dropped, sent_before, pdus_before) = (0, drb.bearer.sent(), drb.bearer.sent_pdus());
        // A law that decides on arrival has done so: its bearer fills the block without a gate.
        let filled = if port.decides_at_dequeue(bearer) {
            let mut gate = AtDequeue { now, bearer, ue: id, port: &mut *port, dropped: 0 };
            let filled = drb.bearer.fill(now, due, room as u32, &mut segments, &mut gate);
            dropped = gate.dropped;
            filled
        } else {
            drb.bearer.fill(now, due, room as u32, &mut segments, &mut Open)
        };
        ue.count_all_dropped(DropReason::Law, dropped);
        drb.stats.dropped += dropped;
        port.events().emit(now, bearer, || Event::Transmitted {
            bytes: Bytes(drb.bearer.sent_pdus() - pdus_before),
            backlog: drb.bearer.queue_state(now).backlog,
        });
        if mcs.is_none() {
            ue.keep(drb.bearer.has_data(), room, filled.carried);
        }
        // The law dropped all, or the room was too small for a segment: no block, and the resource blocks stay free for others.
        if segments.is_empty() {
            self.pool.give_back(segments);
            return (0, 0);
        }
        // A rate channel gives the bytes that arrive: no block fails, and none takes a HARQ process.
        let block = Block {
            ue: drb.id.ue,
            process: mcs.map(|_| ue.processes.take(slot)).unwrap_or_default(),
            drb: chosen.drb,
            mcs,
            bytes: room as u32,
            prbs,
            symbols,
            first_sent: drb.bearer.sent() - sent_before,
            energy: 0.0,
            transmissions: 0,
            segments,
        };
        self.air.plan(slot, block);
        (prbs, filled.carried)
    }

    /// A block goes on the air.
    pub(super) fn transmit(&mut self, slot: Slot, mut block: Block, port: &mut impl Port<P>) {
        let (id, now) = (block.ue, self.pattern.start(slot));
        let ue = &mut self.ues[id];
        let is_received = !ue.is_silent(now);
        let decoded = ue.transmit(now, &self.table, &mut block);
        let taken = u64::from(block.prbs * block.symbols);
        self.stats.resources += taken;
        let drb = &mut self.drbs[block.drb];
        drb.count_sent(now, taken, std::mem::take(&mut block.first_sent));
        port.events().emit(now, drb.id, || {
            let Block { transmissions: transmission, mcs, bytes, prbs, .. } = block;
            Event::Block { direction: Direction::Downlink, transmission, mcs, bytes, prbs, decoded }
        });
        let acknowledged = self.pattern.next_uplink(slot + self.config.harq_k1);
        // Outer-loop link adaptation learns from first transmissions alone, and from no block that the UE had no coverage for: neither
        // is an error of the MCS.
        let (process, first, radio) = (block.process, block.transmissions == 1 && is_received, block.mcs.is_some());
        // Segments reach RLC when they are decoded; a block that failed keeps its own for the retransmission.
        let failed = if decoded {
            self.air.send_segments(self.pattern.start(slot + DECODED_AFTER), block.drb, block.segments);
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
        self.drbs[block.drb].bearer.lost(now, &block.segments);
        self.pool.give_back(block.segments);
        self.release(now, block.drb, port);
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
            let drb = block.drb;
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
