//! Move of a UE from one cell to another.

use tidemark_core::{Inspect, Instant};

use super::Cell;
use crate::cu_up::UeContext;
use crate::du;
use crate::handover::HandoverExecution;
use crate::output::UeId;

/// A UE between two cells, with its state from the old cell.
pub struct Leaving<P> {
    context: Box<UeContext>,
    radio: du::Leaving<P>,
}

impl<P: Inspect> Cell<P> {
    /// Moves the UE to another cell of the same kind, which this object then represents. The cell's `handover` configuration gives the
    /// interruption and the state that moves with the UE.
    pub fn hand_over(&mut self, now: Instant, id: UeId) {
        let Some(leaving) = self.take_ue(now, id) else { return };
        let execution = self.du.carrier().config().handover.clone();
        self.place_ue(now, id, leaving, &execution);
    }

    /// Removes the UE with all packets of its bearers, including those on F1-U.
    pub(crate) fn take_ue(&mut self, now: Instant, id: UeId) -> Option<Leaving<P>> {
        let (du, mut upstream) = self.split();
        let mut radio = du.take_ue(now, id, &mut upstream)?;
        let context = self.cu.take_ue(id)?;
        for pdu in self.f1u.take(radio.drbs()) {
            radio.push(pdu.drb, (pdu.sn, pdu.at, pdu.packet));
        }
        Some(Leaving { context, radio })
    }

    /// Places the UE. After the interruption it is sent the forwarded packets.
    pub(crate) fn place_ue(&mut self, now: Instant, id: UeId, leaving: Leaving<P>, config: &HandoverExecution) {
        self.cu.put_ue(id, leaving.context);
        let (du, mut upstream) = self.split();
        du.place_ue(now, id, leaving.radio, config, &mut upstream);
    }
}
