//! What passes the CU-UP: packets on their way to the RLC queue and to the core, and reports of the DU.

use tidemark_core::{Inspect, Instant, Packet};
use tidemark_marker::{DeliveryStatus, Verdict};
use tidemark_wire::mac::Direction;

use crate::cell::Cell;
use crate::event::Event;
use crate::output::{DropReason, Output, UeId};
use crate::timers::Timer;

impl<P: Inspect> Cell<P> {
    /// A downlink packet reaches the CU: SDAP finds its bearer, the law decides, PDCP numbers it, F1-U carries it to the RLC
    /// queue.
    pub fn handle_downlink(&mut self, now: Instant, id: UeId, packet: Packet<P>) {
        let Some(mapped) = self.cu.map(id, &packet) else { return };
        self.admit(now, id, mapped.drb, packet);
    }

    /// The same for a packet whose QoS flow the UPF has named (N3's PDU session container). A QoS flow that no bearer was set up
    /// for goes to the default one. With `reflective` (RQI, TS 38.415 5.5.3.4) what answers it comes up in the same QoS flow.
    pub fn handle_qos_flow(&mut self, now: Instant, id: UeId, (qfi, reflective): (u8, bool), packet: Packet<P>) {
        let Some(mapped) = self.cu.map_qos_flow(id, (qfi, reflective), packet.flow) else { return };
        self.admit(now, id, mapped.drb, packet);
    }

    fn admit(&mut self, now: Instant, id: UeId, index: u32, mut packet: Packet<P>) {
        let (f1u, drb) = (&self.config.f1u, &mut self.drbs[index as usize]);
        let (bearer, came) = (drb.id, packet.ecn);
        let queue = f1u.rlc_in_sight.then(|| drb.bearer.queue_state(now));
        self.events.emit(now, bearer, || Event::Arrived { packet: &packet });
        let decision = self.cu.downlink(now, bearer, &mut packet, queue);
        if self.events.has_listener()
            && !self.cu.decides_at_dequeue(bearer)
            && let Some(decision) = self.cu.decision(now, bearer)
        {
            let queue = drb.bearer.queue_state(now);
            self.events.emit(now, bearer, || Event::Decided { packet: &packet, came, queue, decision });
        }
        if decision.is_short_circuited {
            self.events.emit(now, bearer, || Event::ShortCircuited { packet: &packet });
            self.outputs.push_back(Output::ShortCircuited { at: now, ue: id, flow: packet.flow });
        }
        let dropped = match decision.verdict {
            Verdict::Drop => Some(DropReason::Law),
            // The CU knows the DU's limit and does not number what would not fit.
            _ => drb.bearer.is_full(packet.size).then_some(DropReason::QueueFull),
        };
        if let Some(reason) = dropped {
            let (direction, ue) = (Direction::Downlink, &mut self.ues[id.0 as usize]);
            self.events.emit(now, bearer, || Event::Dropped { packet: &packet, direction, reason });
            drb.stats.dropped += 1;
            match reason {
                DropReason::Law => ue.stats.dropped_by_law += 1,
                _ => ue.stats.dropped_by_queue += 1,
            }
            self.outputs.push_back(Output::Dropped { at: now, ue: id, packet, reason });
            return;
        }
        let sn = self.cu.number(now, bearer, packet.size);
        // Where each slot reports, asking for a report would tell nothing new.
        let poll = !f1u.report_period.is_zero() && self.cu.wants_report(now, bearer) && drb.schedule_report();
        self.events.emit(now, bearer, || Event::Numbered { packet: &packet, sn, poll });
        let delay = f1u.delay;
        if poll {
            self.set_timer(now + delay, index, Timer::Report);
        }
        if delay.is_zero() {
            self.drbs[index as usize].bearer.push(now, now, sn, packet);
            self.activate(now, index);
        } else {
            let at = now + delay;
            self.f1_down.push_back((at, index, sn, packet));
            self.wake(at);
        }
    }

    /// A packet leaves the CU towards the core: the marker that keeps its connection writes the feedback.
    pub(crate) fn handle_from_ue(&mut self, now: Instant, index: u32, packet: &mut Packet<P>) {
        let bearer = self.drbs[index as usize].id;
        self.cu.uplink(now, bearer, packet);
        self.events.emit(now, bearer, || Event::UplinkForwarded { packet });
    }

    /// A report reaches the CU.
    pub(crate) fn receive_report(&mut self, now: Instant, index: u32, status: &DeliveryStatus) {
        let bearer = self.drbs[index as usize].id;
        self.cu.report(now, bearer, status);
        self.events.emit(now, bearer, || Event::Reported { status: *status, estimate: self.cu.estimate(now, bearer) });
    }
}
