//! The gNB's side of the uplink: what comes of a block, and what leaves towards the core.

use tidemark_core::{Inspect, Instant, Packet};
use tidemark_wire::mac::Direction;

use super::downlink::DECODED_AFTER;
use super::uplink::delay::ReportedQueue;
use super::{Du, Port};
use crate::event::Event;
use crate::index::DrbIndex;
use crate::output::{DropReason, Output, UeId};
use crate::rlc::Released;
use crate::ue_stack::block::UplinkBlock;
use crate::ue_stack::control::Control;

impl<P: Inspect> Du<P> {
    /// Takes in a block that was decoded, or that HARQ has given up. Of a lost one RLC deals with the data, while control elements and
    /// the buffer status report are gone.
    pub(super) fn handle_uplink_block(
        &mut self,
        now: Instant,
        decoded: bool,
        mut block: Box<UplinkBlock>,
        port: &mut impl Port<P>,
    ) {
        let id = block.ue;
        for (part, segments) in block.content.parts() {
            let receiver = port.ue(id).receiver(part.drb);
            match decoded {
                true => receiver.receive(now, segments),
                false => receiver.lose(now, segments),
            }
            self.settle_up(now, id, part.drb, port);
        }
        let from = self.pattern.at_or_after(now) + self.grant_delay();
        let ue = &mut self.ues[id];
        // The gNB can grant the process anew no earlier than it can answer the block's report.
        ue.uplink.processes.give_back(block.process, from);
        if decoded {
            ue.uplink.estimate.receive(&block.report, from);
            // A group's report counts for each of its bearers; control counts with the first.
            let mut control = block.control_bytes;
            for (position, group) in ue.groups.iter().enumerate() {
                let own = block.content.parts.iter().filter(|part| group.drbs.contains(&part.drb));
                let carried = own.map(|part| part.bytes).sum::<u32>() + std::mem::take(&mut control);
                for index in &group.drbs {
                    if let Some(queue) = &mut self.drbs[*index].reported {
                        queue.receive(now, carried, ue.uplink.estimate.of_group(position));
                    }
                }
            }
            for control in block.control.drain(..) {
                match control {
                    Control::Query { drb, direction } => self.recommend(now, drb, direction),
                    Control::Status { drb, status } => self.status_arrives(now, drb, &status, port),
                }
            }
        } else {
            // A lost report is not repeated: a UE that still has data sends a request.
            ue.count_lost_block_up();
            ue.uplink.estimate.lose(&block.report);
        }
        self.wake_uplink(now, id, port);
        self.spare_blocks.push(block);
    }

    /// Hands on what the gNB has in order of a bearer of a UE, and reports to the UE what RLC wants to say of it.
    pub(super) fn settle_up(&mut self, now: Instant, id: UeId, index: DrbIndex, port: &mut impl Port<P>) {
        self.settle_up_or_lose(now, id, index, DropReason::Radio, port);
    }

    /// Hands on what the gNB has in order; what is lost has this reason.
    pub(super) fn settle_up_or_lose(
        &mut self,
        now: Instant,
        id: UeId,
        index: DrbIndex,
        reason: DropReason,
        port: &mut impl Port<P>,
    ) {
        let mut released = std::mem::take(&mut self.released);
        let status = port.ue(id).receiver(index).settle(now, |sdu| released.push(sdu));
        for Released { packet, sn: qfi, delay } in released.drain(..) {
            // It was given up: the SDUs behind it wait no longer.
            let Some(delay) = delay else {
                self.lose_up(now, index, &packet, reason, port);
                port.output(Output::Dropped { at: now, ue: id, packet, reason });
                continue;
            };
            self.count_uplink(now, index, packet.size);
            let drb = &self.drbs[index];
            let waiting = drb.reported.as_ref().map(ReportedQueue::state);
            port.uplink(now, drb.id, qfi as u8, packet, delay, waiting);
        }
        self.released = released;
        if let Some(status) = status {
            // With the next downlink slot, in a robust part of a block, as recommendations go.
            let slot = self.pattern.next_downlink(self.first_undecided(now));
            let at = self.pattern.start(slot + DECODED_AFTER);
            self.air.send_status(at, index, status);
            self.wake(at);
        }
        self.arm_uplink(now, index, port);
    }

    /// Tells who listens that a packet of a UE is lost.
    fn lose_up(&self, now: Instant, index: DrbIndex, packet: &Packet<P>, reason: DropReason, port: &mut impl Port<P>) {
        let direction = Direction::Uplink;
        port.events().emit(now, self.drbs[index].id, || Event::Dropped { packet, direction, reason });
    }
}
