//! State of a DU as others read it, and UEs that leave it or come.

use tidemark_core::{Bytes, FlowId, Inspect, Instant};
use tidemark_radio::slots::SYMBOLS_PER_SLOT;

use super::{Drb, Du, Port, Ue};
use crate::config::{CellConfig, RlcMode};
use crate::index::DrbIndex;
use crate::output::{CellStats, DropReason, UeId};

/// UE with its bearers, outside of any DU.
pub(crate) type UeWithDrbs<P> = (Box<Ue>, Vec<Box<Drb<P>>>);

impl<P: Inspect> Du<P> {
    /// Configuration of the cell.
    pub(crate) fn config(&self) -> &CellConfig {
        &self.config
    }
    /// Seed that every random draw follows from.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }
    /// UE with this number, if the DU serves it.
    pub(crate) fn ue(&self, id: UeId) -> Option<&Ue> {
        self.ues.get(id)
    }
    /// UE with this number, to be changed.
    pub(crate) fn ue_mut(&mut self, id: UeId) -> Option<&mut Ue> {
        self.ues.get_mut(id)
    }
    /// Bearer with this index, which the DU serves.
    pub(crate) fn drb(&self, index: DrbIndex) -> &Drb<P> {
        &self.drbs[index]
    }
    /// Bearer with this index, to be changed.
    pub(crate) fn drb_mut(&mut self, index: DrbIndex) -> &mut Drb<P> {
        &mut self.drbs[index]
    }
    /// Counters of the cell.
    pub(crate) fn stats(&self) -> CellStats {
        self.stats
    }
    /// Resource blocks x symbols that the downlink slots between two instants have.
    pub(crate) fn resources_between(&self, from: Instant, to: Instant) -> u64 {
        let (first, end) = (self.pattern.at_or_after(from), self.pattern.at_or_after(to));
        self.pattern.downlink_symbols_between(first, end) * u64::from(self.config.prbs)
    }
    /// Resource blocks x symbols that the uplink slots between two instants have.
    pub(crate) fn uplink_resources_between(&self, from: Instant, to: Instant) -> u64 {
        let (first, end) = (self.pattern.at_or_after(from), self.pattern.at_or_after(to));
        self.pattern.uplink_slots_between(first, end) * u64::from(SYMBOLS_PER_SLOT * self.config.prbs)
    }
    /// IP bytes of a flow in the bearers of the downlink.
    pub(crate) fn held(&self, flow: FlowId) -> Bytes {
        self.drbs.iter().map(|drb| drb.bearer.held(flow)).sum()
    }
    /// Counts a downlink packet that the CU did not send on.
    pub(crate) fn count_dropped(&mut self, index: DrbIndex, reason: DropReason) {
        let drb = &mut self.drbs[index];
        drb.count_dropped();
        self.ues[drb.id.ue].count_dropped(reason);
    }

    /// Takes out a UE with its bearers: MAC and RLC are reset (TS 38.331 5.3.5.5), so that what is in the air of it is gone.
    pub(crate) fn take_ue(&mut self, now: Instant, id: UeId, port: &mut impl Port<P>) -> Option<UeWithDrbs<P>> {
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
        let drbs = own.iter().filter_map(|index| self.drbs.take(index)).collect();
        self.plan();
        Some((ue, drbs))
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

    /// Puts in a bearer of a UE that comes; [`place_ue`](Self::place_ue) follows after the last.
    pub(crate) fn place_drb(&mut self, now: Instant, index: DrbIndex, drb: Box<Drb<P>>, port: &mut impl Port<P>) {
        self.has_gbr |= drb.qos.is_gbr();
        let has_data = drb.bearer.has_data();
        self.drbs.insert(index, drb);
        self.arm_uplink(now, index, port);
        self.arm_uplink_discard(index, port);
        if has_data {
            self.activate(now, index);
        }
    }

    /// Puts in a UE whose bearers are there; `sends` says that it has something to send.
    pub(crate) fn place_ue(&mut self, now: Instant, id: UeId, ue: Box<Ue>, sends: bool, port: &mut impl Port<P>) {
        self.stats.handovers += 1;
        self.ues.insert(id, ue);
        if sends {
            self.wake_uplink(now, id, port);
        }
    }

    /// Number of timers that are set to discard something.
    #[cfg(test)]
    pub(crate) fn discards(&self) -> usize {
        self.timers.discards()
    }
}
