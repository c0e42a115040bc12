//! The parts around the DU of a split gNB: its UEs, F1-U up to the socket, and the observers.

use std::collections::VecDeque;

use tidemark_core::{Duration, Inspect, Instant, Packet};
use tidemark_marker::{DeliveryStatus, RlcQueue, Verdict};

use crate::du::{Drb, Port, Surroundings};
use crate::event::{BearerId, Event};
use crate::handover::HandoverMarker;
use crate::index::DrbIndex;
use crate::output::{DelaySplit, Output};

/// Everything of a split gNB's DU that is not RLC or MAC. The CU hears of reports and uplink packets alone.
pub(super) struct Upstream<'a, P> {
    pub(super) around: &'a mut Surroundings<P>,
    pub(super) reports: &'a mut VecDeque<(BearerId, DeliveryStatus)>,
}

impl<P: Inspect> Port<P> for Upstream<'_, P> {
    fn decides_at_dequeue(&self, _: BearerId) -> bool {
        false
    }

    fn dequeue(&mut self, _: Instant, _: BearerId, _: (u32, &Packet<P>), _: Duration, _: RlcQueue) -> Verdict {
        Verdict::Pass
    }

    /// No report names a discarded SDU: the next one that is transmitted says that it is past.
    fn discard(&mut self, _: Instant, _: BearerId, _: u32) {}

    fn report(&mut self, _: Instant, (_, bearer): (DrbIndex, BearerId), status: DeliveryStatus) {
        self.reports.push_back((bearer, status));
    }

    fn uplink(
        &mut self,
        now: Instant,
        bearer: BearerId,
        qfi: u8,
        packet: Packet<P>,
        delay: DelaySplit,
        _: Option<RlcQueue>,
    ) {
        self.around.events.emit(now, bearer, || Event::UplinkDelivered { packet: &packet, qfi, delay });
        self.output(Output::Uplink { at: now, ue: bearer.ue, qfi, packet, delay });
    }

    fn handed_over(&mut self, _: Instant, _: &Drb<P>, _: HandoverMarker) {}

    fn surroundings(&mut self) -> &mut Surroundings<P> {
        self.around
    }
}
