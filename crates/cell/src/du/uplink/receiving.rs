//! The gNB's end of the uplink: received blocks, and packets towards the core.

use tidemark_core::{Inspect, Instant};
use tidemark_wire::mac::Direction;

use super::delay::ReportedQueue;
use crate::air::Air;
use crate::du::carrier::Carrier;
use crate::du::queues::Queues;
use crate::du::{Port, recommendations};
use crate::event::Event;
use crate::index::{DrbIndex, UeDrbs};
use crate::output::{DropReason, Output};
use crate::rlc::{Released, Status};
use crate::ue_stack::block::UplinkBlock;

/// Receivers of the uplink's bearers, whose RLC entities are stored with the UEs.
pub(super) struct Receiving<P> {
    /// RLC's status reports to the UEs, by bearer.
    statuses: Air<(DrbIndex, Status)>,
    /// List for what leaves a bearer.
    released: Vec<Released<P>>,
}

impl<P: Inspect> Receiving<P> {
    pub(super) fn new() -> Self {
        Self { statuses: Air::default(), released: Vec::new() }
    }

    /// Time at which the next status report comes to its UE; `FAR` if there is none.
    pub(super) fn next_deadline(&self) -> Instant {
        self.statuses.next_deadline()
    }

    /// Next status report that has come to a UE, with its bearer.
    pub(super) fn poll_status(&mut self, now: Instant) -> Option<(DrbIndex, Status)> {
        self.statuses.poll(now).map(|(_, status)| status)
    }

    /// Takes in a block that was decoded, or that HARQ has given up. Of a lost one RLC deals with the data, while the buffer status report
    /// is gone.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        decoded: bool,
        block: &UplinkBlock,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        let id = block.ue;
        for (part, segments) in block.content.parts() {
            let receiver = port.ue(id).receiver(part.drb);
            // Of a lost block RLC learns nothing but that HARQ has given up.
            match decoded {
                true => receiver.receive(now, segments),
                false => receiver.lose(now, segments),
            }
            self.settle(now, part.drb, DropReason::Radio, carrier, queues, port);
        }
        let from = carrier.pattern.at_or_after(now) + carrier.grant_delay();
        let Queues { ues, drbs, .. } = queues;
        let ue = &mut ues[id];
        // The gNB can grant the process anew no earlier than it can answer the block's report.
        ue.uplink.processes.give_back(block.process, from);
        // A lost report is not repeated: a UE that still has data sends a request.
        if !decoded {
            ue.count_lost_block_up();
            ue.uplink.estimate.lose(&block.report);
            return;
        }
        ue.uplink.estimate.receive(&block.report, from);
        // A group's report counts for each of its bearers; control counts with the first.
        let mut control = block.control_bytes;
        for (position, group) in ue.groups.iter().enumerate() {
            let own = block.content.parts.iter().filter(|part| group.drbs.contains(&part.drb));
            let carried = own.map(|part| part.bytes).sum::<u32>() + std::mem::take(&mut control);
            for index in &group.drbs {
                // Only a bearer whose law works in the uplink needs to know its queue.
                if let Some(queue) = &mut drbs[*index].reported {
                    queue.receive(now, carried, ue.uplink.estimate.of_group(position));
                }
            }
        }
    }

    /// Delivers the packets of a bearer that the gNB has in order, and sends RLC's report to the UE. Lost packets get this reason.
    pub(super) fn settle(
        &mut self,
        now: Instant,
        index: DrbIndex,
        reason: DropReason,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        let (bearer, released) = (queues.drbs[index].id, &mut self.released);
        let status = port.ue(bearer.ue).receiver(index).settle(now, |sdu| released.push(sdu));
        for Released { packet, sn: qfi, delay } in released.drain(..) {
            // It was given up: the SDUs behind it wait no longer (t-Reordering, TS 38.323 5.2.2.2).
            let Some(delay) = delay else {
                let direction = Direction::Uplink;
                port.events().emit(now, bearer, || Event::Dropped { packet: &packet, direction, reason });
                port.output(Output::Dropped { at: now, ue: bearer.ue, packet, reason });
                continue;
            };
            recommendations::count_uplink(now, index, packet.size, queues);
            let waiting = queues.drbs[index].reported.as_ref().map(ReportedQueue::state);
            port.uplink(now, bearer, qfi as u8, packet, delay, waiting);
        }
        // With the next downlink slot, as recommendations go.
        if let Some(status) = status {
            let at = carrier.control_decoded_at(now);
            self.statuses.send(at, (index, status));
            queues.timers.wake(at);
        }
        queues.arm_uplink(now, index, port);
    }

    /// Drops the reports to bearers that leave.
    pub(super) fn forget(&mut self, drbs: UeDrbs) {
        self.statuses.forget(|(drb, _)| drbs.contains(*drb));
    }
}
