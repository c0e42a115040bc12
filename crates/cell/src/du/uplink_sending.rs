//! The UE's side of the uplink: what waits in its bearers, and what it puts into a block (TS 38.321 5.4.3.1).

use tidemark_core::{Inspect, Instant, Packet};
use tidemark_wire::mac::Direction;

use super::timers::Timer;
use super::uplink::belief::{Groups, MOST_GROUPS};
use super::uplink::block::{Control, UplinkBlock};
use super::uplink::radio::Allocation;
use super::{Drb, Du, Port, Ue};
use crate::event::Event;
use crate::output::{DropReason, Output, UeId};
use crate::qos::Mapped;
use crate::rlc::{Open, Status};
use tidemark_radio::slots::SYMBOLS_PER_SLOT;

impl<P: Inspect> Drb<P> {
    /// Bytes of what waits at the UE that its prioritised bit rate covers.
    fn due_up(&mut self, now: Instant) -> u32 {
        let waits = self.uplink.has_data() && self.uplink_qos.may_send(now);
        if waits { self.uplink_qos.prioritised_bytes(now).min(self.uplink.backlog()) } else { 0 }
    }
}

impl<P: Inspect> Du<P> {
    /// Takes a packet of the IP stack of a UE, which SDAP has put into a QoS flow and on a bearer.
    pub(crate) fn handle_uplink(
        &mut self,
        now: Instant,
        id: UeId,
        Mapped { qfi, drb }: Mapped,
        packet: Packet<P>,
        port: &mut impl Port<P>,
    ) {
        let Drb { id: bearer_id, uplink: bearer, .. } = &mut self.drbs[drb as usize];
        port.events().emit(now, *bearer_id, || Event::UplinkArrived { packet: &packet, qfi });
        if bearer.is_full(packet.size) {
            self.lose_up(now, drb, &packet, DropReason::QueueFull, port);
            port.output(Output::Dropped { at: now, ue: id, packet, reason: DropReason::QueueFull });
            return;
        }
        // Behind others it changes nothing of when the UE asks and is granted.
        let is_first = !bearer.has_data();
        // Nobody asks for SNs of the way up; in their place stands the QFI, as in SDAP's header.
        bearer.push(now, now, u32::from(qfi), packet);
        self.arm_discard(drb, Direction::Uplink);
        if is_first {
            self.wake_uplink(now, id.0);
        }
    }

    /// RLC or MAC of a UE has something to say.
    pub(super) fn send_control(&mut self, now: Instant, id: u32, control: Control) {
        self.ues[id as usize].uplink.push(control);
        self.wake_uplink(now, id);
    }

    /// The logical channel group of the most important that a UE has to send. A status report counts with its bearer; a
    /// query is worth no request where anything else is known (TS 38.321 5.18.10).
    pub(super) fn first_uplink_group(&self, id: u32) -> Option<usize> {
        let Ue { groups, uplink, .. } = &self.ues[id as usize];
        let has_data = |drb: &u32| self.drbs[*drb as usize].uplink.has_data();
        let data = groups.iter().position(|group| group.drbs.iter().any(has_data));
        if data == Some(0) || uplink.control_bytes() == 0 {
            return data;
        }
        let status = uplink.reporting().filter_map(|drb| groups.iter().position(|group| group.drbs.contains(&drb)));
        Some(status.chain(data).min().unwrap_or(MOST_GROUPS - 1))
    }

    /// A UE fills the block that it was granted and sends it.
    pub(super) fn send_up(&mut self, slot: u64, id: u32, allocation: Allocation, port: &mut impl Port<P>) {
        let (now, due) = (self.pattern.start(slot), self.pattern.start(slot + 1));
        let mut block = self.spare_blocks.pop().unwrap_or_default();
        let before = self.waiting_up(id);
        let format = self.config.uplink.bsr.of_groups(before.iter().filter(|waiting| **waiting > 0).count());
        let ue = &mut self.ues[id as usize];
        ue.uplink.belief.grant(u64::from(allocation.bytes));
        ue.uplink.blocks += 1;
        block.begin(id, ue.uplink.processes.take(slot), allocation);
        ue.uplink_last = now;
        let mut room = allocation.bytes.saturating_sub(format.octets);
        room -= ue.uplink.fill_statuses(room, &mut block);
        let drbs = &mut self.drbs;
        if self.has_gbr {
            for drb in ue.groups.iter().flat_map(|group| &group.drbs) {
                if drbs[*drb as usize].uplink_qos.is_owed(now) {
                    room -= fill(&mut drbs[*drb as usize], *drb, (now, due), room, &mut block);
                }
            }
        }
        // Who is more important leaves to those behind it what they are due of their prioritised bit rates.
        let mut behind: u32 = ue.drbs.clone().map(|drb| drbs[drb as usize].due_up(now)).sum();
        for group in &ue.groups {
            // Equals go first by turns.
            let count = group.drbs.len();
            for index in (0..count).map(|step| group.drbs[(ue.uplink.blocks + step) % count]) {
                let drb = &mut drbs[index as usize];
                let own = drb.due_up(now);
                behind -= own;
                let most = room.saturating_sub(behind).max(own.min(room));
                room -= fill(drb, index, (now, due), most, &mut block);
            }
        }
        ue.uplink.fill_queries(room, &mut block);
        let waiting = self.waiting_up(id).map(|waiting| format.reported(waiting));
        block.report = self.ues[id as usize].uplink.belief.write(waiting);
        for place in 0..block.bearers.len() {
            self.arm_uplink(now, block.bearers[place].0);
        }
        self.transmit_up(slot, block, port);
    }

    /// What waits at a UE, by logical channel group. Control counts as the most important.
    fn waiting_up(&self, id: u32) -> Groups {
        let ue = &self.ues[id as usize];
        let mut waiting = Groups::default();
        waiting[0] = ue.uplink.control_bytes();
        for (waiting, group) in waiting.iter_mut().zip(&ue.groups) {
            *waiting += group.drbs.iter().map(|drb| u64::from(self.drbs[*drb as usize].uplink.backlog())).sum::<u64>();
        }
        waiting
    }

    /// The UE's PDCP throws away what has waited for too long.
    pub(super) fn discard_up(&mut self, now: Instant, index: u32, port: &mut impl Port<P>) {
        let Drb { ue, id, uplink, .. } = &mut self.drbs[index as usize];
        let ue = UeId(*ue);
        uplink.discard(now, |_, packet| {
            let (direction, reason) = (Direction::Uplink, DropReason::Discarded);
            port.events().emit(now, *id, || Event::Dropped { packet: &packet, direction, reason });
            port.output(Output::Dropped { at: now, ue, packet, reason });
        });
    }

    /// A block is sent, for the first time or again.
    pub(super) fn transmit_up(&mut self, slot: u64, mut block: Box<UplinkBlock>, port: &mut impl Port<P>) {
        let (now, id) = (self.pattern.start(slot), block.ue);
        let ue = &mut self.ues[id as usize];
        let decoded = ue.uplink_radio.transmit(&self.uplink_carrier, &mut ue.channel, now, &mut block);
        port.events().emit(now, self.drbs[ue.drbs.start as usize].id, || {
            let UplinkBlock { transmissions: transmission, mcs, bytes, prbs, .. } = *block;
            Event::Block { direction: Direction::Uplink, transmission, mcs: Some(mcs), bytes, prbs, decoded }
        });
        let taken = u64::from(block.prbs * SYMBOLS_PER_SLOT);
        self.stats.uplink_resources += taken;
        if decoded || block.transmissions >= self.config.harq_transmissions {
            let at = self.pattern.start(slot + 1);
            self.air.uplink.push_back((at, decoded, block));
            self.wake(at);
        } else {
            // The gNB decodes it, grants a retransmission, and the UE gets ready for it.
            let again = self.pattern.next_uplink(slot + 1 + self.grant_delay());
            self.ues[id as usize].uplink.again.push_back((again, block));
        }
    }

    /// A status report of the gNB reaches the UE.
    pub(super) fn status_arrives_down(&mut self, now: Instant, index: u32, status: &Status, port: &mut impl Port<P>) {
        self.drbs[index as usize].uplink.handle_status(status);
        self.go_on_up(now, index, port);
    }

    /// A timer of RLC or PDCP of what a bearer sends up may have ended.
    pub(super) fn handle_uplink_timer(&mut self, now: Instant, index: u32, port: &mut impl Port<P>) {
        let drb = &mut self.drbs[index as usize];
        drb.uplink_armed = drb.uplink_armed.filter(|armed| *armed > now);
        self.go_on_up(now, index, port);
    }

    /// Hands on what came up of a bearer, and sees to it that its UE asks for what is still to be sent.
    pub(super) fn go_on_up(&mut self, now: Instant, index: u32, port: &mut impl Port<P>) {
        let id = self.drbs[index as usize].ue;
        self.settle_up(now, id, index, port);
        if self.drbs[index as usize].uplink.has_data() {
            self.wake_uplink(now, id);
        }
    }

    /// Sees to it that the next timer of what a bearer sends up is heard of.
    pub(super) fn arm_uplink(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        let Some(at) = drb.uplink.next_timer(now) else { return };
        if drb.uplink_armed.is_none_or(|armed| at < armed) {
            drb.uplink_armed = Some(at);
            self.set_timer(at, index, Timer::UplinkRlc);
        }
    }
}

/// Puts data of a bearer into a block; returns the bytes of it with their headers.
fn fill<P: Inspect>(
    drb: &mut Drb<P>,
    index: u32,
    (now, due): (Instant, Instant),
    room: u32,
    block: &mut UplinkBlock,
) -> u32 {
    if !drb.uplink.has_data() || !drb.uplink_qos.may_send(now) {
        return 0;
    }
    let before = block.segments.len();
    let filled = drb.uplink.fill(now, due, room, &mut block.segments, &mut Open);
    let own = block.segments.len() - before;
    if own == 0 {
        return 0;
    }
    drb.uplink_qos.sent(filled.carried);
    block.bearers.push((index, own, filled.used));
    filled.used
}
