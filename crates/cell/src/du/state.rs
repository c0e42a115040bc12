//! State of a DU as others read it.

use tidemark_core::{Bytes, FlowId, Inspect, Instant};
use tidemark_radio::slots::SYMBOLS_PER_SLOT;

use super::{Drb, Du, Ue};
use crate::config::CellConfig;
use crate::index::DrbIndex;
use crate::output::{CellStats, DropReason, UeId, UeStats};

impl<P: Inspect> Du<P> {
    /// Configuration of the cell.
    pub(crate) fn config(&self) -> &CellConfig {
        &self.config
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

    /// State and counters of a UE, but for marks; `None` if there is no such UE.
    pub(crate) fn ue_stats(&self, now: Instant, id: UeId) -> Option<UeStats> {
        let mut stats = self.ue(id)?.stats();
        for queue in self.drbs_of(id).map(|drb| drb.queue_state(now)) {
            stats.queue.backlog += queue.backlog;
            stats.queue.packets += queue.packets;
            stats.queue.head_of_line = stats.queue.head_of_line.max(queue.head_of_line);
        }
        Some(stats)
    }
    /// Bearers of a UE, the default one first; none if there is no such UE.
    pub(crate) fn drbs_of(&self, id: UeId) -> impl Iterator<Item = &Drb<P>> + '_ {
        let drbs = self.ue(id).into_iter().flat_map(|ue| ue.drbs().iter());
        drbs.map(|drb| self.drb(drb))
    }

    /// Number of timers that are set to discard something.
    #[cfg(test)]
    pub(crate) fn discards(&self) -> usize {
        self.timers.discards()
    }
}
