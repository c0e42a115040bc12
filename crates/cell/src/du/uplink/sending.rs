//! Blocks of UEs on the air.

use tidemark_core::{Inspect, Instant};
use tidemark_radio::slots::{SYMBOLS_PER_SLOT, Slot};
use tidemark_wire::mac::Direction;

use crate::air::Air;
use crate::du::Port;
use crate::du::carrier::Carrier;
use crate::du::queues::Queues;
use crate::event::Event;
use crate::output::UeId;
use crate::ue_stack::block::{Allocation, UplinkBlock};

/// Blocks that UEs have sent, and lists for those to come.
#[derive(Default)]
pub(super) struct Sending {
    /// Blocks that the gNB will have decoded, or not.
    blocks: Air<(bool, Box<UplinkBlock>)>,
    #[expect(clippy::vec_box, reason = "what is reused is the box")]
    spare: Vec<Box<UplinkBlock>>,
}

impl Sending {
    /// Time at which the next block has come; `FAR` if there is none.
    pub(super) fn next_deadline(&self) -> Instant {
        self.blocks.next_deadline()
    }

    /// Next block that has come, with its time and whether it is decoded.
    pub(super) fn poll(&mut self, now: Instant) -> Option<(Instant, bool, Box<UplinkBlock>)> {
        self.blocks.poll(now).map(|(at, (decoded, block))| (at, decoded, block))
    }

    /// Takes back a block that is done with.
    pub(super) fn give_back(&mut self, block: Box<UplinkBlock>) {
        self.spare.push(block);
    }

    /// A UE fills the block that it was granted and sends it.
    pub(super) fn send<P: Inspect>(
        &mut self,
        slot: Slot,
        (id, allocation): (UeId, Allocation),
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        let (now, due) = (carrier.pattern.start(slot), carrier.pattern.start(slot + 1));
        let mut block = self.spare.pop().unwrap_or_default();
        let ue = &mut queues.ues[id];
        ue.uplink.estimate.grant(u64::from(allocation.bytes));
        block.begin(id, ue.uplink.processes.take(slot), allocation);
        ue.note_sent_up(now);
        let waiting = port.ue(id).send(now, due, &mut block);
        block.report = ue.uplink.estimate.write(waiting);
        // What was sent waits for status reports from now on: RLC's timers of these bearers may end earlier than before.
        for part in &block.content.parts {
            queues.arm_uplink(now, part.drb, port);
        }
        self.transmit(slot, block, carrier, queues, port);
    }

    /// Sends blocks of a UE that failed and whose slot has come; returns the resource blocks, out of `free`.
    pub(super) fn retransmit<P: Inspect>(
        &mut self,
        slot: Slot,
        (id, free): (UeId, u32),
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) -> u32 {
        let mut taken = 0;
        loop {
            let waiting = &mut queues.ues[id].uplink.retransmissions;
            // A block keeps its size and MCS, so that it needs as many resource blocks as at first.
            let fits = waiting.front().is_some_and(|(from, block)| *from <= slot && block.prbs <= free - taken);
            let Some((_, block)) = fits.then(|| waiting.pop_front()).flatten() else { return taken };
            taken += block.prbs;
            self.transmit(slot, block, carrier, queues, port);
        }
    }

    /// A block is sent, for the first time or as a retransmission.
    fn transmit<P: Inspect>(
        &mut self,
        slot: Slot,
        mut block: Box<UplinkBlock>,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        let (now, id) = (carrier.pattern.start(slot), block.ue);
        let ue = &mut queues.ues[id];
        let decoded = ue.transmit_up(&carrier.uplink, now, &mut block);
        // A block holds bytes of several bearers: its event names the UE by its default one.
        port.events().emit(now, queues.drbs[ue.drbs().default_drb()].id, || {
            let UplinkBlock { transmissions: transmission, mcs, bytes, prbs, .. } = *block;
            Event::Block { direction: Direction::Uplink, transmission, mcs: Some(mcs), bytes, prbs, decoded }
        });
        let taken = u64::from(block.prbs * SYMBOLS_PER_SLOT);
        queues.stats.uplink_resources += taken;
        // A block that failed too often goes up too, as one that is lost: RLC and the gNB's estimate have to know.
        if decoded || block.transmissions >= carrier.config.harq_transmissions {
            let at = carrier.pattern.start(slot + 1);
            self.blocks.send(at, (decoded, block));
            queues.timers.wake(at);
        } else {
            // The gNB decodes it, grants a retransmission, and the UE gets ready for it.
            let granted = carrier.pattern.next_uplink(slot + 1 + carrier.grant_delay());
            ue.uplink.retransmissions.push_back((granted, block));
        }
    }

    /// Drops the blocks of a UE that leaves.
    pub(super) fn forget(&mut self, ue: UeId) {
        self.blocks.forget(|(_, block)| block.ue == ue);
    }
}
