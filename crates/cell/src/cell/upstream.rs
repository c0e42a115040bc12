//! The sides of a cell's DU: its UEs, a CU-UP behind F1-U, the core behind that, and who listens.

use std::collections::VecDeque;

use tidemark_core::{Duration, Inspect, Instant, Packet};
use tidemark_marker::{DeliveryStatus, RlcQueue, Verdict};
use tidemark_wire::mac::Direction;

use crate::cu_up::CuUp;
use crate::du::Port;
use crate::event::{BearerId, Event, Events};
use crate::f1u::F1u;
use crate::index::DrbIndex;
use crate::output::{DelaySplit, DropReason, Output, UeId};
use crate::slab::Slab;
use crate::ue_stack::UeStack;

/// Parts of a cell that its DU works for: CU-UP, F1-U, the UEs' stacks, events and outputs.
pub(super) struct Upstream<'a, P> {
    pub(super) cu: &'a mut CuUp,
    pub(super) f1u: &'a mut F1u<P>,
    pub(super) ues: &'a mut Slab<UeId, UeStack<P>>,
    pub(super) events: &'a mut Events<P>,
    pub(super) outputs: &'a mut VecDeque<Output<P>>,
}

impl<P: Inspect> Upstream<'_, P> {
    /// Brings a report to the CU.
    pub(super) fn deliver_report(&mut self, now: Instant, bearer: BearerId, status: DeliveryStatus) {
        self.cu.report(now, bearer, &status);
        self.events.emit(now, bearer, || Event::Reported { status, estimate: self.cu.estimate(now, bearer) });
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
        let Self { cu, events, .. } = self;
        let came = packet.ecn;
        events.emit(now, bearer, || Event::Dequeued { packet, sn, sojourn, backlog: queue.backlog });
        let outcome = cu.dequeue(now, bearer, (sn, packet), sojourn, queue);
        let signals = outcome.is_some_and(|outcome| outcome.verdict != Verdict::Pass);
        if events.want_decision(signals)
            && let Some(outcome) = outcome
        {
            let decision = cu.decision(now, bearer, outcome);
            let decided = || Event::Decided { packet, came, queue, decision };
            events.emit_decision(now, bearer, signals, decided);
        }
        let verdict = outcome.map_or(Verdict::Pass, |outcome| outcome.verdict);
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
        match waiting.map_or(Verdict::Pass, |waiting| self.cu.decide_up(now, bearer, &packet, waiting)) {
            Verdict::Pass => {}
            Verdict::Mark => packet.ecn = packet.ecn.marked(),
            Verdict::Drop => {
                let (direction, reason) = (Direction::Uplink, DropReason::Law);
                self.events.emit(now, bearer, || Event::Dropped { packet: &packet, direction, reason });
                self.outputs.push_back(Output::Dropped { at: now, ue: bearer.ue, packet, reason });
                return;
            }
        }
        self.events.emit(now, bearer, || Event::UplinkDelivered { packet: &packet, qfi, delay });
        self.cu.uplink(now, bearer.ue, &mut packet);
        self.events.emit(now, bearer, || Event::UplinkForwarded { packet: &packet });
        self.outputs.push_back(Output::Uplink { at: now, ue: bearer.ue, qfi, packet, delay });
    }

    #[inline]
    fn ue(&mut self, id: UeId) -> &mut UeStack<P> {
        &mut self.ues[id]
    }

    #[inline]
    fn events(&mut self) -> &mut Events<P> {
        self.events
    }

    #[inline]
    fn output(&mut self, output: Output<P>) {
        self.outputs.push_back(output);
    }
}
