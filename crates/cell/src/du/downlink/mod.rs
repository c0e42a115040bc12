//! Downlink of a cell: retransmissions, the choice of UEs, and the fate of transport blocks.

mod active;
mod blocks;
mod filling;
mod selection;

use tidemark_core::{Inspect, Instant, Stream};
use tidemark_radio::slots::Slot;
use tidemark_wire::mac::Direction;

use super::carrier::{Carrier, DownlinkSlot};
use super::harq::Block;
use super::queues::Queues;
use super::scheduler::{Candidate, Contender, Offer, Remaining, Scheduler};
use super::{Port, recommendations};
use crate::index::{DrbIndex, UeDrbs};
use crate::multiplexing::prioritise;
use crate::output::{DropReason, UeId};
use crate::rlc::Status;
use active::Active;
use blocks::Blocks;
use filling::{AtDequeue, Filling};
use selection::Selection;

/// Downlink of a cell.
pub(super) struct Downlink {
    active: Active,
    selection: Selection,
    blocks: Blocks,
}

impl Downlink {
    /// A downlink with nothing to send. The scheduler's random numbers follow from `seed`.
    pub(super) fn new(carrier: &Carrier, seed: u64) -> Self {
        let config = &carrier.config;
        let carriers = (config.prbs, config.resource_block_group());
        let scheduler = Scheduler::new(&config.scheduler, config.slot(), carriers, Stream::new(seed, 0, "turn"));
        Self { active: Active::default(), selection: Selection::new(scheduler), blocks: Blocks::default() }
    }

    /// Time of the next event without a new packet; `FAR` if there is none.
    pub(super) fn next_deadline(&self, carrier: &Carrier) -> Instant {
        self.active.next_deadline(carrier).min(self.blocks.next_deadline())
    }

    /// Notes that a bearer has something to send.
    pub(super) fn activate<P: Inspect>(
        &mut self,
        now: Instant,
        drb: DrbIndex,
        carrier: &Carrier,
        queues: &mut Queues<P>,
    ) {
        recommendations::begin_window(now, drb, Direction::Downlink, queues);
        queues.arm_discard(drb);
        self.active.add(now, drb, carrier, &mut queues.timers);
    }

    /// Continues a bearer after a message of the UE: sends the remaining data, and delivers packets that are in order.
    pub(super) fn go_on<P: Inspect>(
        &mut self,
        now: Instant,
        index: DrbIndex,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        // RLC may have to retransmit, or its window has opened (TS 38.322 5.2.3.1.1).
        if queues.drbs[index].bearer.has_data() {
            self.activate(now, index, carrier, queues);
        }
        queues.release(now, index, port);
    }

    /// Brings to RLC what UEs have decoded.
    pub(super) fn receive_due<P: Inspect>(&mut self, now: Instant, queues: &mut Queues<P>, port: &mut impl Port<P>) {
        while let Some(content) = self.blocks.poll_decoded(now) {
            for (part, segments) in content.parts() {
                let bearer = &mut queues.drbs[part.drb].bearer;
                let mut has_news = false;
                for segment in segments {
                    has_news |= bearer.arrived(now, *segment);
                }
                // Where many UEs share a slot, most blocks have a piece from the middle of an SDU.
                if has_news {
                    queues.release(now, part.drb, port);
                }
            }
            self.blocks.give_back(content);
        }
    }

    /// Takes the HARQ acknowledgements that have come.
    pub(super) fn acknowledge_due<P: Inspect>(
        &mut self,
        now: Instant,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        while let Some(feedback) = self.blocks.poll_feedback(now) {
            // Feedback of a failed block makes its bearer wait for a slot again.
            if let Some((from, drb)) = self.blocks.handle_feedback(now, feedback, carrier, queues, port) {
                self.activate(from, drb, carrier, queues);
            }
        }
    }

    /// Decides on the slots whose time has come.
    pub(super) fn decide_due<P: Inspect>(
        &mut self,
        now: Instant,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        while let Some(slot) = self.active.due(now, carrier) {
            self.run_slot(slot, carrier, queues, port);
        }
    }

    /// Sends the blocks whose slots have begun.
    pub(super) fn transmit_due<P: Inspect>(
        &mut self,
        now: Instant,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        while let Some((slot, block)) = self.blocks.poll_planned(now) {
            self.blocks.transmit(slot, block, carrier, queues, port);
        }
    }

    /// A status report of the UE reaches the gNB.
    pub(super) fn handle_status<P: Inspect>(
        &mut self,
        now: Instant,
        (index, status): (DrbIndex, &Status),
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        let drb = &mut queues.drbs[index];
        drb.acknowledged(status.delivered);
        drb.bearer.handle_status(status);
        self.go_on(now, index, carrier, queues, port);
        queues.report(now, index, port);
    }

    /// Lets a bearer's pacer check what waits above PDCP. Packets that it passes can be sent.
    pub(super) fn pace<P: Inspect>(
        &mut self,
        now: Instant,
        index: DrbIndex,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        let drb = &mut queues.drbs[index];
        drb.disarm_pacer();
        let ue = drb.id.ue;
        let mut gate = AtDequeue { now, bearer: drb.id, ue, port, dropped: 0 };
        drb.bearer.pace(now, &mut gate);
        let dropped = gate.dropped;
        drb.stats.dropped += dropped;
        let has_data = drb.bearer.has_data();
        queues.ues[ue].count_all_dropped(DropReason::Law, dropped);
        // The law may have dropped everything that was let go on.
        if has_data {
            self.activate(now, index, carrier, queues);
        }
        queues.arm_pacer(now, index);
    }

    /// Decides on one slot, `scheduling_lead` before it begins: retransmissions first, then the UEs that the scheduler chooses.
    fn run_slot<P: Inspect>(&mut self, slot: Slot, carrier: &Carrier, queues: &mut Queues<P>, port: &mut impl Port<P>) {
        let at = carrier.decision(slot);
        let mut remaining = Remaining { prbs: carrier.config.prbs, blocks: carrier.config.ues_per_slot };
        self.selection.begin_slot(&at);
        // Retransmissions come before new blocks: delivery in order waits for them.
        self.blocks.retransmit(&at, &mut remaining, &mut self.active, carrier, queues);
        self.selection.choose(&at, &mut remaining, self.active.drbs(), carrier, queues);
        let contenders = self.selection.take_contenders();
        for contender in contenders.iter().filter(|contender| contender.prbs > 0) {
            self.send_new(&at, contender, carrier, queues, port);
        }
        self.selection.put_back(contenders);
        self.active.end_slot(slot, carrier, queues);
    }

    /// A new transport block for a UE.
    fn send_new<P: Inspect>(
        &mut self,
        at: &DownlinkSlot,
        contender: &Contender,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        let &DownlinkSlot { slot, symbols, now } = at;
        let &Contender { candidate: Candidate { ue: id, offer, .. }, prbs, .. } = contender;
        let ue = &mut queues.ues[id];
        // A channel that is a rate knows no MCS.
        let (room, mcs) = match offer {
            Offer::Mcs(mcs) => (f64::from(carrier.sizes.of(symbols, mcs)[prbs as usize]), Some(mcs)),
            Offer::Bytes(bytes) => (ue.room_on(prbs, bytes, carrier.config.prbs), None),
        };
        let mut content = self.blocks.take_content();
        let (drbs, due) = (&mut queues.drbs, carrier.decoded_at(slot));
        let mut filling = Filling { drbs, port, now, due, content: &mut content, carried: 0, dropped: 0 };
        prioritise(&ue.groups, room as u32, &mut filling);
        let Filling { carried, dropped, .. } = filling;
        ue.count_all_dropped(DropReason::Law, dropped);
        self.selection.served(id, carried);
        self.active.serve(id);
        // What a rate channel offered and no packet filled is kept for those that wait, not for those to come.
        if mcs.is_none() {
            let has_more = ue.drbs().iter().any(|drb| queues.drbs[drb].bearer.has_data());
            ue.keep(if has_more { room - f64::from(carried) } else { 0.0 });
        }
        let drbs = ue.drbs();
        for index in drbs.iter() {
            queues.report(now, index, port);
            queues.arm(now, index);
        }
        // The law dropped all: no block.
        if content.parts.is_empty() {
            self.blocks.give_back(content);
            return;
        }
        // A rate channel gives the bytes that arrive: no block fails, and none takes a HARQ process.
        let process = mcs.map(|_| queues.ues[id].processes.take(slot)).unwrap_or_default();
        let (energy, transmissions) = (0.0, 0);
        let block = Block { ue: id, process, mcs, bytes: room as u32, prbs, symbols, energy, transmissions, content };
        self.blocks.plan(slot, block, carrier);
    }

    /// Drops everything of a UE that leaves with its bearers.
    pub(super) fn forget(&mut self, ue: UeId, drbs: UeDrbs) {
        self.active.forget(drbs);
        self.blocks.forget(ue);
    }
}
