//! Move of a UE from one DU to another.

use tidemark_core::{Inspect, Instant, Packet};
use tidemark_wire::mac::Direction;

use super::carrier::Carrier;
use super::queues::Queues;
use super::{Drb, Port, Ue};
use crate::event::Event;
use crate::handover::{HandoverData, HandoverExecution};
use crate::index::{DrbIndex, UeDrbs};
use crate::output::{DropReason, Output, UeId};
use crate::ue_stack::UeStack;

/// A UE between two DUs, with its bearers.
pub(crate) struct Leaving<P> {
    ue: Box<Ue>,
    stack: Box<UeStack<P>>,
    drbs: Vec<LeavingDrb<P>>,
}

struct LeavingDrb<P> {
    drb: Box<Drb<P>>,
    /// SDUs that have not left PDCP in order: SN, time of arrival, packet.
    downlink: Vec<(u32, Instant, Packet<P>)>,
}

impl<P: Inspect> Leaving<P> {
    /// Takes a UE and its bearers out of the queues of a DU: MAC and RLC are reset (TS 38.331 5.3.5.5), and its timers are gone.
    pub(super) fn take(id: UeId, carrier: &Carrier, queues: &mut Queues<P>, port: &mut impl Port<P>) -> Option<Self> {
        let mut ue = queues.ues.take(id)?;
        ue.reset(&carrier.config);
        queues.timers.forget(ue.drbs());
        let drbs = ue.drbs().iter().filter_map(|index| queues.drbs.take(index)).map(|mut drb| {
            let downlink = drb.reset();
            LeavingDrb { drb, downlink }
        });
        let drbs = drbs.collect();
        Some(Self { ue, stack: port.surroundings().ues.take(id)?, drbs })
    }

    /// Bearers of the UE.
    pub(crate) fn drbs(&self) -> UeDrbs {
        self.ue.drbs()
    }

    /// Adds an SDU that had not reached the DU, after those that had: SN, time of arrival, packet.
    pub(crate) fn push(&mut self, drb: DrbIndex, sdu: (u32, Instant, Packet<P>)) {
        self.drbs[self.ue.drbs().position(drb)].downlink.push(sdu);
    }

    /// Puts the UE and its bearers into the queues of another DU, with what is forwarded; true if the UE has something to send.
    pub(super) fn place(
        self,
        now: Instant,
        id: UeId,
        config: &HandoverExecution,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) -> bool {
        let Self { mut ue, mut stack, drbs } = self;
        let sends = stack.re_establish();
        port.surroundings().ues.insert(id, stack);
        ue.silence(now + config.interruption);
        for (index, LeavingDrb { mut drb, downlink }) in ue.drbs().iter().zip(drbs) {
            for (sn, arrived, packet) in downlink {
                // A gNB may forward what waits (TS 38.300 9.2.3.2.3), or it is lost with the old cell's queue.
                match config.data {
                    HandoverData::Forwarded => drb.forward(now, sn, arrived, packet),
                    HandoverData::Lost => {
                        ue.count_dropped(DropReason::Handover);
                        drb.count_dropped();
                        let (direction, reason) = (Direction::Downlink, DropReason::Handover);
                        port.events().emit(now, drb.id, || Event::Dropped { packet: &packet, direction, reason });
                        port.output(Output::Dropped { at: now, ue: id, packet, reason });
                    }
                }
            }
            port.handed_over(now, &drb, config.marker);
            queues.has_gbr |= drb.qos.is_gbr();
            queues.drbs.insert(index, drb);
        }
        queues.stats.handovers += 1;
        queues.ues.insert(id, ue);
        sends
    }
}
