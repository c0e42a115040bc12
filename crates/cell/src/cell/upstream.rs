//! The parts around a cell's DU: its UEs, the CU-UP behind F1-U, the core behind that, and the observers.

use tidemark_core::{Duration, Inspect, Instant, Packet};
use tidemark_marker::{DeliveryStatus, RlcQueue, Verdict};
use tidemark_wire::mac::Direction;

use crate::cu_up::CuUp;
use crate::du::{Drb, Port, Surroundings};
use crate::event::{BearerId, Event};
use crate::f1u::F1u;
use crate::handover::HandoverMarker;
use crate::index::DrbIndex;
use crate::output::{DelaySplit, DropReason, Output};

/// Parts of a cell that its DU works for: CU-UP, F1-U, the UEs' stacks, events and outputs.
pub(super) struct Upstream<'a, P> {
    pub(super) cu: &'a mut CuUp,
    pub(super) f1u: &'a mut F1u<P>,
    pub(super) around: &'a mut Surroundings<P>,
}

impl<P: Inspect> Upstream<'_, P> {
    /// Brings a report to the CU.
    pub(super) fn deliver_report(&mut self, now: Instant, bearer: BearerId, status: DeliveryStatus) {
        self.cu.report(now, bearer, &status);
        self.around.events.emit(now, bearer, || Event::Reported { status, estimate: self.cu.estimate(now, bearer) });
    }
}

impl<P: Inspect> Port<P> for Upstream<'_, P> {
    #[inline]
    fn decides_at_dequeue(&self, bearer: BearerId) -> bool {
        self.cu.decides_at_dequeue(bearer)
    }

    fn dequeue(
        &mut self,
        now: Instant,
        bearer: BearerId,
        (sn, packet): (u32, &Packet<P>),
        sojourn: Duration,
        queue: RlcQueue,
    ) -> Verdict {
        let Self { cu, around: Surroundings { events, .. }, .. } = self;
        let came = packet.ecn;
        events.emit(now, bearer, || Event::Dequeued { packet, sn, sojourn, backlog: queue.backlog });
        let outcome = cu.dequeue(now, bearer, (sn, packet), sojourn, queue);
        let signals = outcome.is_some_and(|outcome| outcome.verdict != Verdict::Pass);
        // What a decision was made of is gathered only where somebody listens.
        if events.want_decision(signals)
            && let Some(outcome) = outcome
        {
            let decision = cu.decision(now, bearer, outcome);
            let decided = || Event::Decided { packet, came, queue, decision };
            events.emit_decision(now, bearer, signals, decided);
        }
        let verdict = outcome.map_or(Verdict::Pass, |outcome| outcome.verdict);
        // Its packet is the RLC queue's, which hands it out itself; here only who listens is told.
        if verdict == Verdict::Drop {
            let (direction, reason) = (Direction::Downlink, DropReason::Law);
            events.emit(now, bearer, || Event::Dropped { packet, direction, reason });
        }
        verdict
    }

    fn discard(&mut self, now: Instant, bearer: BearerId, sn: u32) {
        self.cu.discard(now, bearer, sn);
    }

    fn report(&mut self, now: Instant, (drb, bearer): (DrbIndex, BearerId), status: DeliveryStatus) {
        // CU and DU are one machine: the report is there at once.
        if self.f1u.delay().is_zero() {
            self.deliver_report(now, bearer, status);
        } else {
            self.f1u.send_up(now, drb, status);
        }
    }

    fn uplink(
        &mut self,
        now: Instant,
        bearer: BearerId,
        qfi: u8,
        mut packet: Packet<P>,
        delay: DelaySplit,
        waiting: Option<RlcQueue>,
    ) {
        // Without a report of the UE's queue no law can tell how long the packet waited.
        match waiting.map_or(Verdict::Pass, |waiting| self.cu.decide_up(now, bearer, &packet, waiting)) {
            Verdict::Pass => {}
            Verdict::Mark => packet.ecn = packet.ecn.marked(),
            Verdict::Drop => {
                let (direction, reason) = (Direction::Uplink, DropReason::Law);
                self.around.events.emit(now, bearer, || Event::Dropped { packet: &packet, direction, reason });
                self.around.outputs.push_back(Output::Dropped { at: now, ue: bearer.ue, packet, reason });
                return;
            }
        }
        self.around.events.emit(now, bearer, || Event::UplinkDelivered { packet: &packet, qfi, delay });
        self.cu.uplink(now, bearer.ue, &mut packet);
        self.around.events.emit(now, bearer, || Event::UplinkForwarded { packet: &packet });
        self.around.outputs.push_back(Output::Uplink { at: now, ue: bearer.ue, qfi, packet, delay });
    }

    fn handed_over(&mut self, now: Instant, drb: &Drb<P>, marker: HandoverMarker) {
        let anew = marker == HandoverMarker::StartsAnew;
        self.cu.hand_over(now, drb.id(), anew, drb.queued());
        let events = &mut self.around.events;
        // The list of what was forwarded is long, and only a listener reads it.
        if !anew && events.has_listener() {
            events.emit(now, drb.id(), || Event::HandedOver);
            for (sn, packet) in drb.queued_packets() {
                events.emit(now, drb.id(), || Event::Forwarded { packet, sn });
            }
        }
    }

    #[inline]
    fn surroundings(&mut self) -> &mut Surroundings<P> {
        self.around
    }
}
