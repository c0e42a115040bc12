//! Transport blocks of the downlink, from the decision on their slot to the end of HARQ.

use tidemark_core::{Inspect, Instant};
use tidemark_radio::slots::Slot;
use tidemark_wire::mac::Direction;

use super::active::Active;
use crate::air::Air;
use crate::du::carrier::{Carrier, DownlinkSlot};
use crate::du::harq::{Block, Feedback, Pool, Retransmission};
use crate::du::queues::Queues;
use crate::du::scheduler::Remaining;
use crate::du::{Drb, Port};
use crate::event::Event;
use crate::index::DrbIndex;
use crate::multiplexing::Content;
use crate::output::UeId;

/// Blocks of slots that were decided on, on the air, or to be retransmitted.
#[derive(Default)]
pub(super) struct Blocks {
    /// Blocks of slots that have not begun.
    planned: Air<(Slot, Block)>,
    /// Content that UEs will have decoded.
    decoded: Air<(UeId, Content)>,
    /// HARQ acknowledgements.
    feedback: Air<Feedback>,
    /// UEs that have blocks to be retransmitted, in order.
    retransmitting: Vec<UeId>,
    pool: Pool,
}

impl Blocks {
    /// Time at which the next block begins, is decoded or is acknowledged; `FAR` if there is none.
    pub(super) fn next_deadline(&self) -> Instant {
        self.planned.next_deadline().min(self.decoded.next_deadline()).min(self.feedback.next_deadline())
    }

    /// Content of a block that has nothing in it.
    pub(super) fn take_content(&mut self) -> Content {
        self.pool.take()
    }
    /// Takes back the content of a block that is done with, or that nothing went into.
    pub(super) fn give_back(&mut self, content: Content) {
        self.pool.give_back(content);
    }

    /// Plans a block for a slot that is being decided on.
    pub(super) fn plan(&mut self, slot: Slot, block: Block, carrier: &Carrier) {
        self.planned.send(carrier.pattern.start(slot), (slot, block));
    }
    /// Next block whose slot has begun, with its slot.
    pub(super) fn poll_planned(&mut self, now: Instant) -> Option<(Slot, Block)> {
        self.planned.poll(now).map(|(_, planned)| planned)
    }
    /// Next content that a UE has decoded.
    pub(super) fn poll_decoded(&mut self, now: Instant) -> Option<Content> {
        self.decoded.poll(now).map(|(_, (_, content))| content)
    }
    /// Next HARQ acknowledgement that has come.
    pub(super) fn poll_feedback(&mut self, now: Instant) -> Option<Feedback> {
        self.feedback.poll(now).map(|(_, feedback)| feedback)
    }

    /// Plans the retransmissions that are due and fit.
    pub(super) fn retransmit<P: Inspect>(
        &mut self,
        at: &DownlinkSlot,
        remaining: &mut Remaining,
        active: &mut Active,
        carrier: &Carrier,
        queues: &mut Queues<P>,
    ) {
        let mut has_sent = false;
        for position in 0..self.retransmitting.len() {
            let id = self.retransmitting[position];
            // Without coverage the block waits: a transmission would be lost for certain.
            if queues.ues[id].is_silent(at.now) {
                continue;
            }
            let waiting = &mut queues.ues[id].retransmissions;
            // In the order of their failures: a large block must not be overtaken for ever by small ones.
            while waiting.front().is_some_and(|first| fits(first, at, remaining)) {
                let Some(first) = waiting.pop_front() else { break };
                remaining.prbs -= first.block.prbs;
                remaining.blocks -= 1;
                active.serve(id);
                self.plan(at.slot, first.block, carrier);
                has_sent = true;
            }
        }
        // Only where something was sent can a queue have become empty.
        if has_sent {
            self.retransmitting.retain(|ue| !queues.ues[*ue].retransmissions.is_empty());
        }
    }

    /// A block goes on the air.
    pub(super) fn transmit<P: Inspect>(
        &mut self,
        slot: Slot,
        mut block: Block,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        let (id, now) = (block.ue, carrier.pattern.start(slot));
        let ue = &mut queues.ues[id];
        let is_received = !ue.is_silent(now);
        let decoded = ue.transmit(now, &carrier.table, &mut block);
        let taken = u64::from(block.prbs * block.symbols);
        queues.stats.resources += taken;
        let all = u64::from(block.content.bytes()).max(1);
        for part in &mut block.content.parts {
            let own = taken * u64::from(part.bytes) / all;
            queues.drbs[part.drb].count_sent(now, own, std::mem::take(&mut part.first_sent));
        }
        // A block holds bytes of several bearers: its event names the UE by its default one.
        port.events().emit(now, queues.drbs[ue.drbs().default_drb()].id, || {
            let Block { transmissions: transmission, mcs, bytes, prbs, .. } = block;
            Event::Block { direction: Direction::Downlink, transmission, mcs, bytes, prbs, decoded }
        });
        let slot_of_feedback = carrier.acknowledged_in(slot);
        // Outer-loop link adaptation learns from first transmissions alone, and from no block that the UE had no coverage for: neither
        // is an error of the MCS.
        let (process, first, radio) = (block.process, block.transmissions == 1 && is_received, block.mcs.is_some());
        // Segments reach RLC when they are decoded; a block that failed keeps its own for the retransmission.
        let failed = if decoded {
            self.decoded.send(carrier.decoded_at(slot), (id, block.content));
            None
        } else {
            Some(block)
        };
        // HARQ needs an answer in any case, a rate channel only the blocks that failed.
        if radio {
            let feedback = Feedback { slot: slot_of_feedback, ue: id, process, first, failed };
            self.feedback.send(carrier.pattern.start(slot_of_feedback + 1), feedback);
        } else if let Some(block) = failed {
            // A rate channel has no HARQ: its rate is what the IP layer gets.
            self.give_up(now, block, queues, port);
        }
    }

    /// Takes an acknowledgement; gives the time from which on a block can be retransmitted, and the default bearer of its UE.
    pub(super) fn handle_feedback<P: Inspect>(
        &mut self,
        now: Instant,
        feedback: Feedback,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) -> Option<(Instant, DrbIndex)> {
        let ue = &mut queues.ues[feedback.ue];
        // A retransmission says nothing of the MCS: its energy was added to that of those before.
        if feedback.first {
            ue.learn(&carrier.table, feedback.failed.is_none());
        }
        let processed = carrier.processed_in(feedback.slot);
        // The process is free once the gNB has processed the acknowledgement, not before.
        let Some(block) = feedback.failed else {
            ue.processes.give_back(feedback.process, processed);
            return None;
        };
        // A block that failed too often is given up: in AM, RLC retransmits what it carried (TS 38.322 5.3.2).
        if block.transmissions >= carrier.config.harq_transmissions {
            ue.processes.give_back(feedback.process, processed);
            self.give_up(now, block, queues, port);
            return None;
        }
        let slot = carrier.pattern.next_downlink(processed);
        let drb = ue.drbs().default_drb();
        ue.retransmissions.push_back(Retransmission { slot, block });
        // A UE that waits already is in the list.
        if let Err(position) = self.retransmitting.binary_search(&feedback.ue) {
            self.retransmitting.insert(position, feedback.ue);
        }
        Some((carrier.decided_at(slot), drb))
    }

    /// Gives up a block after the last HARQ transmission. RLC must repair its content, or it is lost.
    fn give_up<P: Inspect>(&mut self, now: Instant, block: Block, queues: &mut Queues<P>, port: &mut impl Port<P>) {
        queues.ues[block.ue].count_lost_block();
        for (part, segments) in block.content.parts() {
            let Drb { bearer, .. } = &mut queues.drbs[part.drb];
            bearer.lost(now, segments);
            queues.release(now, part.drb, port);
        }
        self.give_back(block.content);
    }

    /// Drops everything of a UE that leaves.
    pub(super) fn forget(&mut self, ue: UeId) {
        self.planned.forget(|(_, block)| block.ue == ue);
        self.decoded.forget(|(other, _)| *other == ue);
        self.feedback.forget(|feedback| feedback.ue == ue);
        self.retransmitting.retain(|other| *other != ue);
    }
}

/// True if a retransmission is due in a slot and there is room for it. The block keeps its size and MCS, so it needs as many symbols and
/// resource blocks as before.
fn fits(first: &Retransmission, at: &DownlinkSlot, remaining: &Remaining) -> bool {
    remaining.blocks > 0
        && first.slot <= at.slot
        && first.block.symbols <= at.symbols
        && first.block.prbs <= remaining.prbs
}
