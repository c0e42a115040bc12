//! What the CU does: SDAP finds a packet's bearer, the law decides, PDCP numbers it; and reports of the DU reach the marker.

use tidemark_core::{Inspect, Instant, Packet};
use tidemark_marker::{DeliveryStatus, Estimate, Verdict};
use tidemark_wire::mac::Direction;

use crate::cell::Cell;
use crate::event::Event;
use crate::output::{DropReason, Output, UeId};
use crate::timers::Timer;

impl<P: Inspect> Cell<P> {
    /// A downlink packet reaches the CU: SDAP finds its bearer, the law decides, PDCP numbers it, F1-U carries it to the RLC
    /// queue.
    pub fn handle_downlink(&mut self, now: Instant, id: UeId, packet: Packet<P>) {
        let Some(ue) = self.ues.get_mut(id.0 as usize) else { return };
        let index = ue.sdap.downlink(&packet).drb;
        self.admit(now, id, index, packet);
    }

    /// The same for a packet whose QoS flow the UPF has named (N3's PDU session container). A QoS flow that no bearer was set up
    /// for goes to the default one. With `reflective` (RQI, TS 38.415 5.5.3.4) what answers it comes up in the same QoS flow.
    pub fn handle_qos_flow(&mut self, now: Instant, id: UeId, (qfi, reflective): (u8, bool), packet: Packet<P>) {
        let Some(ue) = self.ues.get_mut(id.0 as usize) else { return };
        let index = ue.sdap.carrier(packet.flow, qfi, reflective).drb;
        self.admit(now, id, index, packet);
    }

    fn admit(&mut self, now: Instant, id: UeId, index: u32, mut packet: Packet<P>) {
        self.gather(now, id, index, &packet);
        let Some(ue) = self.ues.get_mut(id.0 as usize) else { return };
        let drb = &mut self.drbs[index as usize];
        let f1u = &self.config.f1u;
        let queue = f1u.rlc_in_sight.then(|| drb.bearer.queue_state(now));
        let came = packet.ecn;
        self.events.emit(now, drb.id, || Event::Arrived { packet: &packet });
        let estimate = if self.events.has_listener() { drb.marker.estimate(now) } else { Estimate::default() };
        let written_before = drb.marker.counters().short_circuited;
        let verdict = drb.marker.handle_downlink(now, &packet, queue);
        if verdict == Verdict::Mark {
            packet.ecn = packet.ecn.marked();
        }
        if !drb.marker.decides_on_leaving() {
            self.events.emit(now, drb.id, || {
                let (queue, odds) = (drb.bearer.queue_state(now), drb.marker.estimate(now).probability);
                Event::Decided { packet: &packet, came, estimate, queue, odds, verdict }
            });
        }
        if verdict != Verdict::Mark && drb.marker.counters().short_circuited > written_before {
            self.events.emit(now, drb.id, || Event::ShortCircuited { packet: &packet });
            self.outputs.push_back(Output::ShortCircuited { at: now, ue: id, flow: packet.flow });
        }
        let dropped = match verdict {
            Verdict::Drop => Some(DropReason::Law),
            // The CU knows the DU's limit and does not number what would not fit.
            _ => drb.bearer.is_full(packet.size).then_some(DropReason::QueueFull),
        };
        if let Some(reason) = dropped {
            let direction = Direction::Downlink;
            self.events.emit(now, drb.id, || Event::Dropped { packet: &packet, direction, reason });
            drb.stats.dropped += 1;
            match reason {
                DropReason::Law => ue.stats.dropped_by_law += 1,
                _ => ue.stats.dropped_by_queue += 1,
            }
            self.outputs.push_back(Output::Dropped { at: now, ue: id, packet, reason });
            return;
        }
        let sn = drb.number(now, &packet);
        // Where each slot reports, asking for a report would tell nothing new.
        let poll = !f1u.report_period.is_zero() && drb.marker.wants_report(now) && drb.schedule_report();
        self.events.emit(now, drb.id, || Event::Numbered { packet: &packet, sn, poll });
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

    /// What the CU knows of the packet's connection is kept by the bearer that shows to be its own.
    fn gather(&mut self, now: Instant, id: UeId, index: u32, packet: &Packet<P>) {
        let Some(ue) = self.ues.get(id.0 as usize) else { return };
        if ue.drbs.len() > 1 && self.drbs[index as usize].marker.claims(now, packet) {
            let mut drbs = ue.drbs.clone();
            if let Some(kept) = drbs.find_map(|other| self.drbs[other as usize].marker.release(packet)) {
                self.drbs[index as usize].marker.adopt(now, kept);
            }
        }
    }

    /// A packet leaves the CU towards the core: the marker of the bearer that keeps its connection writes the feedback.
    pub(crate) fn handle_from_ue(&mut self, now: Instant, id: u32, index: u32, packet: &mut Packet<P>) {
        let mut drbs = self.ues[id as usize].drbs.clone();
        let keeper = match drbs.len() {
            1 => index,
            _ => drbs.find(|drb| self.drbs[*drb as usize].marker.keeps(packet)).unwrap_or(index),
        };
        // It came by its own bearer's tunnel, whoever's marker looks at it.
        let came_by = self.drbs[index as usize].id;
        self.drbs[keeper as usize].marker.handle_uplink(now, packet);
        self.events.emit(now, came_by, || Event::UplinkForwarded { packet });
    }

    /// A report reaches the CU.
    pub(crate) fn receive_report(&mut self, now: Instant, index: u32, status: &DeliveryStatus) {
        let drb = &mut self.drbs[index as usize];
        drb.marker.handle_report(now, status);
        self.events.emit(now, drb.id, || Event::Reported { status: *status, estimate: drb.marker.estimate(now) });
    }
}
