//! QoS flows of a UE that are not marked here, by QFI.

use alloc::boxed::Box;

use crate::path::drbs::QFIS;
use crate::qos_flow::{Marking, QosFlow};

/// Table of a UE's QoS flows. A UE whose flows are all marked here, the usual case, has none.
#[derive(Default)]
pub(super) struct QosFlows(Option<Box<[QosFlow; QFIS]>>);

impl QosFlows {
    /// Sets the marking of the QoS flow with this QFI, which must exist.
    pub(super) fn set(&mut self, qfi: u8, marking: Marking) {
        if marking != Marking::Downlink || self.0.is_some() {
            let flows = self.0.get_or_insert_with(|| Box::new([QosFlow::default(); QFIS]));
            flows[usize::from(qfi)].set_marking(marking);
        }
    }

    /// The QoS flow with this QFI, if it is not marked here.
    #[inline]
    pub(super) fn unmarked(&mut self, qfi: u8) -> Option<&mut QosFlow> {
        match &mut self.0 {
            None => None,
            Some(flows) => unmarked(flows, qfi),
        }
    }
}

// Few UEs have a table, and the packets of all others pass it by.
#[cold]
#[inline(never)]
fn unmarked(flows: &mut [QosFlow; QFIS], qfi: u8) -> Option<&mut QosFlow> {
    flows.get_mut(usize::from(qfi)).filter(|flow| flow.marking() != Marking::Downlink)
}
