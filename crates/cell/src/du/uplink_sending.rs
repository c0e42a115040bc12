//! Blocks of UEs on the air, and what reaches UEs or falls due there: RLC's timers of both ends run on the DU's queue of timers.

use tidemark_core::{Inspect, Instant, Packet};
use tidemark_wire::mac::Direction;

use super::timers::Timer;
use super::{Drb, Du, Port};
use crate::event::Event;
use crate::index::DrbIndex;
use crate::output::{DropReason, Output, UeId};
use crate::qos::Mapped;
use crate::rlc::Status;
use crate::ue_stack::block::{Allocation, UplinkBlock};
use crate::ue_stack::control::Control;
use tidemark_radio::slots::{SYMBOLS_PER_SLOT, Slot};

impl<P: Inspect> Du<P> {
    /// Takes a packet of the IP stack of a UE: SDAP finds its bearer, whose queue takes it if there is room.
    pub(crate) fn handle_uplink(&mut self, now: Instant, id: UeId, packet: Packet<P>, port: &mut impl Port<P>) {
        if self.ue(id).is_none() {
            return;
        }
        let Mapped { qfi, drb, .. } = port.ue(id).sdap_mut().map(&packet);
        let bearer = self.drbs[drb].id;
        port.events().emit(now, bearer, || Event::UplinkArrived { packet: &packet, qfi });
        let stack = port.ue(id);
        if stack.is_full(drb, packet.size) {
            let (direction, reason) = (Direction::Uplink, DropReason::QueueFull);
            port.events().emit(now, bearer, || Event::Dropped { packet: &packet, direction, reason });
            port.output(Output::Dropped { at: now, ue: id, packet, reason });
            return;
        }
        let is_first = stack.push(now, drb, qfi, packet);
        self.arm_uplink_discard(drb, port);
        // Behind others it changes nothing of when the UE asks and is granted.
        if is_first {
            self.wake_uplink(now, id, port);
        }
    }

    /// RLC or MAC of a UE has something to say.
    pub(super) fn send_control(&mut self, now: Instant, id: UeId, control: Control, port: &mut impl Port<P>) {
        port.ue(id).push_control(control);
        self.wake_uplink(now, id, port);
    }

    /// A UE fills the block that it was granted and sends it.
    pub(super) fn send_up(&mut self, slot: Slot, id: UeId, allocation: Allocation, port: &mut impl Port<P>) {
        let (now, due) = (self.pattern.start(slot), self.pattern.start(slot + 1));
        let mut block = self.spare_blocks.pop().unwrap_or_default();
        let ue = &mut self.ues[id];
        ue.uplink.estimate.grant(u64::from(allocation.bytes));
        block.begin(id, ue.uplink.processes.take(slot), allocation);
        ue.note_sent_up(now);
        let waiting = port.ue(id).send(now, due, &mut block);
        block.report = ue.uplink.estimate.write(waiting);
        // What was sent waits for status reports from now on: RLC's timers of these bearers may end earlier than before.
        for part in &block.content.parts {
            self.arm_uplink(now, part.drb, port);
        }
        self.transmit_up(slot, block, port);
    }

    /// A block is sent, for the first time or as a retransmission.
    pub(super) fn transmit_up(&mut self, slot: Slot, mut block: Box<UplinkBlock>, port: &mut impl Port<P>) {
        let (now, id) = (self.pattern.start(slot), block.ue);
        let ue = &mut self.ues[id];
        let decoded = ue.transmit_up(&self.uplink_carrier, now, &mut block);
        // A block holds bytes of several bearers: its event names the UE by its default one.
        port.events().emit(now, self.drbs[ue.drbs().default_drb()].id, || {
            let UplinkBlock { transmissions: transmission, mcs, bytes, prbs, .. } = *block;
            Event::Block { direction: Direction::Uplink, transmission, mcs: Some(mcs), bytes, prbs, decoded }
        });
        let taken = u64::from(block.prbs * SYMBOLS_PER_SLOT);
        self.stats.uplink_resources += taken;
        // A block that failed too often goes up too, as one that is lost: RLC and the gNB's estimate have to know.
        if decoded || block.transmissions >= self.config.harq_transmissions {
            let at = self.pattern.start(slot + 1);
            self.air.send_up(at, decoded, block);
            self.wake(at);
        } else {
            // The gNB decodes it, grants a retransmission, and the UE gets ready for it.
            let granted = self.pattern.next_uplink(slot + 1 + self.grant_delay());
            self.ues[id].uplink.retransmissions.push_back((granted, block));
        }
    }

    /// A status report of the gNB reaches the UE.
    pub(super) fn status_arrives_down(
        &mut self,
        now: Instant,
        index: DrbIndex,
        status: &Status,
        port: &mut impl Port<P>,
    ) {
        port.ue(self.drbs[index].id.ue).receive_status(index, status);
        self.go_on_up(now, index, port);
    }

    /// A timer of RLC or PDCP of what a bearer sends up may have ended.
    pub(super) fn handle_uplink_timer(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        let drb = &mut self.drbs[index];
        drb.disarm(now, Direction::Uplink);
        self.go_on_up(now, index, port);
    }

    /// Hands on what came up of a bearer, and sees to it that its UE asks for what is still to be sent.
    fn go_on_up(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        let id = self.drbs[index].id.ue;
        self.settle_up(now, id, index, port);
        // A timer or a report may have brought up a retransmission or a poll.
        if port.ue(id).has_data(index) {
            self.wake_uplink(now, id, port);
        }
    }

    /// The discardTimer has ended of what waited first at the UE when it was set, which may have left.
    pub(super) fn handle_uplink_discard_timer(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        let drb = &mut self.drbs[index];
        drb.disarm_discard(Direction::Uplink);
        let (ue, id) = (drb.id.ue, drb.id);
        let mut discarded = std::mem::take(&mut self.discarded);
        port.ue(ue).discard(now, index, |packet| discarded.push(packet));
        for packet in discarded.drain(..) {
            let (direction, reason) = (Direction::Uplink, DropReason::Discarded);
            port.events().emit(now, id, || Event::Dropped { packet: &packet, direction, reason });
            port.output(Output::Dropped { at: now, ue, packet, reason });
        }
        self.discarded = discarded;
        // More SNs were discarded than the gNB's window holds: it waits no longer for the first.
        if port.ue(ue).receiver(index).is_outrun() {
            self.go_on_up(now, index, port);
        }
        self.arm_uplink_discard(index, port);
    }

    /// Sets the timer for the next end of an RLC timer of what a bearer sends up, unless an earlier one is set.
    pub(super) fn arm_uplink(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        let drb = &mut self.drbs[index];
        let Some(at) = port.ue(drb.id.ue).next_timer(now, index) else { return };
        if let Some(at) = drb.arm_uplink(at) {
            self.set_timer(at, index, Timer::UplinkRlc);
        }
    }

    /// Sets the timer for the discardTimer of what waits at the UE, as in the downlink.
    pub(super) fn arm_uplink_discard(&mut self, index: DrbIndex, port: &mut impl Port<P>) {
        let ends = |drb: &Drb<P>| port.ue(drb.id.ue).discards_at(index);
        if let Some(at) = self.drbs[index].arm_discard(Direction::Uplink, ends) {
            self.set_timer(at, index, Timer::Discard(Direction::Uplink));
        }
    }
}
