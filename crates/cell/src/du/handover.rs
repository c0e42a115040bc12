//! A UE leaves a DU and comes to another.

use tidemark_core::{Inspect, Instant, Packet};
use tidemark_wire::mac::Direction;

use super::{Drb, Du, Port, Ue};
use crate::config::RlcMode;
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

impl<P> Leaving<P> {
    /// Bearers of the UE.
    pub(crate) fn drbs(&self) -> UeDrbs {
        self.ue.drbs()
    }

    /// Takes along an SDU that had not reached the DU, behind those that had: SN, time of arrival, packet.
    pub(crate) fn push(&mut self, drb: DrbIndex, sdu: (u32, Instant, Packet<P>)) {
        self.drbs[self.ue.drbs().position(drb)].downlink.push(sdu);
    }
}

impl<P: Inspect> Du<P> {
    /// Takes out a UE with its bearers: MAC and RLC are reset (TS 38.331 5.3.5.5), so that what is in the air of it is gone.
    pub(crate) fn take_ue(&mut self, now: Instant, id: UeId, port: &mut impl Port<P>) -> Option<Leaving<P>> {
        for index in self.ues.get(id)?.drbs().iter() {
            self.conclude_unacknowledged(now, index, port);
        }
        let mut ue = self.ues.take(id)?;
        ue.reset(&self.config);
        let own = ue.drbs();
        self.active.retain(|drb| !own.contains(*drb));
        self.retransmitting.retain(|other| *other != id);
        self.turns.retain(|turn| turn.ue != id);
        self.air.forget(id, own);
        self.timers.forget(own);
        let drbs = own.iter().filter_map(|index| self.drbs.take(index)).map(|mut drb| {
            let downlink = drb.reset();
            LeavingDrb { drb, downlink }
        });
        let drbs = drbs.collect();
        self.plan();
        Some(Leaving { ue, stack: port.surroundings().ues.take(id)?, drbs })
    }

    /// Delivers what UM's receiver has: after a handover UM sends only what was not begun (TS 38.323 5.1.2), and of what was begun
    /// the rest is lost.
    fn conclude_unacknowledged(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        let drb = &mut self.drbs[index];
        if drb.bearer.mode() == RlcMode::Um {
            drb.bearer.conclude();
            let ue = drb.id.ue;
            port.ue(ue).receiver(index).conclude();
            self.release_or_lose(now, index, DropReason::Handover, port);
            self.settle_up_or_lose(now, ue, index, DropReason::Handover, port);
        }
    }

    /// Serves a UE that comes: after the interruption it is sent what is forwarded.
    pub(crate) fn place_ue(
        &mut self,
        now: Instant,
        id: UeId,
        leaving: Leaving<P>,
        config: &HandoverExecution,
        port: &mut impl Port<P>,
    ) {
        let Leaving { mut ue, mut stack, drbs } = leaving;
        let sends = stack.re_establish();
        port.surroundings().ues.insert(id, stack);
        ue.silence(now + config.interruption);
        for (index, LeavingDrb { mut drb, downlink }) in ue.drbs().iter().zip(drbs) {
            for (sn, arrived, packet) in downlink {
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
            self.place_drb(now, index, drb, port);
        }
        self.stats.handovers += 1;
        self.ues.insert(id, ue);
        if sends {
            self.wake_uplink(now, id, port);
        }
    }

    fn place_drb(&mut self, now: Instant, index: DrbIndex, drb: Box<Drb<P>>, port: &mut impl Port<P>) {
        self.has_gbr |= drb.qos.is_gbr();
        let has_data = drb.bearer.has_data();
        self.drbs.insert(index, drb);
        self.arm_uplink(now, index, port);
        self.arm_uplink_discard(index, port);
        self.arm_pacer(now, index);
        if has_data {
            self.activate(now, index);
        }
    }
}
