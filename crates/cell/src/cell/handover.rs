//! A UE leaves a cell and comes to another.

use tidemark_core::{Inspect, Instant, Packet};
use tidemark_wire::mac::Direction;

use super::Cell;
use crate::cu_up::UeContext;
use crate::du::{Drb, Ue};
use crate::event::Event;
use crate::handover::{HandoverData, HandoverExecution, HandoverMarker};
use crate::output::{DropReason, Output, UeId};
use crate::ue_stack::UeStack;

/// A UE between two cells, with what its old cell held of it.
pub(crate) struct Leaving<P> {
    ue: Box<Ue>,
    context: Box<UeContext>,
    drbs: Vec<LeavingDrb<P>>,
    stack: Box<UeStack<P>>,
}

struct LeavingDrb<P> {
    drb: Box<Drb<P>>,
    /// SDUs that have not left PDCP in order: SN, time of arrival, packet.
    downlink: Vec<(u32, Instant, Packet<P>)>,
}

impl<P: Inspect> Cell<P> {
    /// The UE moves to another cell of the same kind, which this one goes on to stand for: `handover` of the cell's configuration
    /// says for how long the UE is silent and what goes with it.
    pub fn hand_over(&mut self, now: Instant, id: UeId) {
        let Some(leaving) = self.take_ue(now, id) else { return };
        let execution = self.du.config().handover.clone();
        self.place_ue(now, id, leaving, &execution);
    }

    /// The UE leaves with what its bearers hold, on F1-U as well.
    pub(crate) fn take_ue(&mut self, now: Instant, id: UeId) -> Option<Leaving<P>> {
        let (du, mut upstream) = self.split();
        let (ue, drbs) = du.take_ue(now, id, &mut upstream)?;
        let (context, stack) = (self.cu.take_ue(id)?, self.ues.take(id)?);
        let drbs = drbs.into_iter().map(|mut drb| {
            let downlink = drb.reset();
            LeavingDrb { drb, downlink }
        });
        let mut drbs: Vec<_> = drbs.collect();
        for pdu in self.f1u.take(ue.drbs()) {
            drbs[ue.drbs().position(pdu.drb)].downlink.push((pdu.sn, pdu.at, pdu.packet));
        }
        Some(Leaving { ue, context, drbs, stack })
    }

    /// The UE comes: after the interruption it is sent what is forwarded.
    pub(crate) fn place_ue(&mut self, now: Instant, id: UeId, leaving: Leaving<P>, config: &HandoverExecution) {
        let Leaving { mut ue, context, drbs, mut stack } = leaving;
        self.cu.put_ue(id, context);
        let sends = stack.re_establish();
        self.ues.insert(id, stack);
        ue.silence(now + config.interruption);
        for (index, LeavingDrb { mut drb, downlink }) in ue.drbs().iter().zip(drbs) {
            for (sn, arrived, packet) in downlink {
                match config.data {
                    HandoverData::Forwarded => drb.forward(now, sn, arrived, packet),
                    HandoverData::Lost => {
                        ue.count_dropped(DropReason::Handover);
                        drb.count_dropped();
                        let (direction, reason) = (Direction::Downlink, DropReason::Handover);
                        self.events.emit(now, drb.id(), || Event::Dropped { packet: &packet, direction, reason });
                        self.outputs.push_back(Output::Dropped { at: now, ue: id, packet, reason });
                    }
                }
            }
            let anew = config.marker == HandoverMarker::StartsAnew;
            self.cu.hand_over(now, drb.id(), anew, drb.queued());
            if !anew && self.events.has_listener() {
                self.events.emit(now, drb.id(), || Event::HandedOver);
                for (sn, packet) in drb.queued_packets() {
                    self.events.emit(now, drb.id(), || Event::Forwarded { packet, sn });
                }
            }
            let (du, mut upstream) = self.split();
            du.place_drb(now, index, drb, &mut upstream);
        }
        let (du, mut upstream) = self.split();
        du.place_ue(now, id, ue, sends, &mut upstream);
    }
}
