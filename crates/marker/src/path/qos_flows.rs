//! QoS flows of a UE that are not marked here: each by its QFI, with the share of its packets that the law would have marked.

use alloc::boxed::Box;

use tidemark_core::{Inspect, Instant, Packet, Probability};
use tidemark_wire::pdu_session::Congestion;

use crate::decision::Outcome;
use crate::drb::DrbMarker;
use crate::marking::Marking;
use crate::path::drbs::QFIS;
use crate::verdict::Class;

/// Congestion of a QoS flow's downlink, as an UL PDU SESSION INFORMATION has it for the UPF (TS 38.415 5.5.2.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CongestionReport {
    /// DL Congestion Information: the share that the law would have marked of the flow's L4S packets since the last report. Without any, and for
    /// a flow that is marked here, the share that it would mark now.
    pub downlink: Congestion,
    /// Downlink packets of the QoS flow so far that came while it was not marked here.
    pub packets: u64,
}

/// Marking of each QoS flow. A UE whose flows are all marked here, as most are, has no table.
#[derive(Default)]
pub(super) struct QosFlows(Option<Box<[QosFlow; QFIS]>>);

/// A QoS flow, and its packets since it is not marked here.
#[derive(Clone, Copy, Default)]
pub(super) struct QosFlow {
    marking: Marking,
    packets: u64,
    odds: Mean,
}

/// Mean of the odds of a mark.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl QosFlows {
    /// Marks the QoS flow with this QFI, which exists, so from now on.
    pub(super) fn set(&mut self, qfi: u8, marking: Marking) {
        if marking.is_here() && self.0.is_none() {
            return;
        }
        let flow = &mut self.0.get_or_insert_with(|| Box::new([QosFlow::default(); QFIS]))[usize::from(qfi)];
        // A request that is repeated ends no report, and odds of another time say nothing of this one.
        if flow.marking != marking {
            (flow.marking, flow.odds) = (marking, Mean::default());
        }
    }

    /// The QoS flow with this QFI, if it is not marked here.
    #[inline]
    pub(super) fn unmarked(&mut self, qfi: u8) -> Option<&mut QosFlow> {
        self.0.as_mut()?.get_mut(usize::from(qfi)).filter(|flow| !flow.marking.is_here())
    }

    /// Reports on the QoS flow with this QFI, which this marker's DRB carries.
    pub(super) fn report(&mut self, now: Instant, qfi: u8, marker: &mut DrbMarker) -> CongestionReport {
        let flow = self.unmarked(qfi);
        let packets = flow.as_ref().map_or(0, |flow| flow.packets);
        let share = flow.and_then(|flow| flow.odds.take()).unwrap_or_else(|| marker.congestion(now));
        CongestionReport { downlink: Congestion::from_probability(share), packets }
    }
}

impl QosFlow {
    /// Decides on a packet of the flow, which this marker's DRB carries.
    #[cold]
    pub(super) fn decide<P: Inspect>(
        &mut self,
        now: Instant,
        marker: &mut DrbMarker,
        packet: &Packet<P>,
    ) -> Option<Outcome> {
        self.packets += 1;
        let outcome = marker.decide_qos_flow(now, packet, None, self.marking)?;
        // Marking at the UPF is for L4S traffic alone (TS 23.501 5.37.3).
        if outcome.class == Class::L4s {
            self.odds.add(outcome.odds.mark);
        }
        Some(outcome)
    }
}

impl Mean {
    fn add(&mut self, odds: Probability) {
        // Nobody asks: what was long ago counts less and less.
        if self.count == u32::MAX {
            (self.sum, self.count) = (self.sum / 2.0, self.count / 2);
        }
        self.sum += odds.get();
        self.count += 1;
    }

    /// Gives the mean and begins anew; `None` of nothing.
    fn take(&mut self) -> Option<Probability> {
        let Self { sum, count } = core::mem::take(self);
        (count > 0).then(|| Probability::new(sum / f64::from(count)))
    }
}
