//! State and counters of a cell, for callers.

use tidemark_core::{FlowId, Inspect, Instant, Packet};
use tidemark_wire::mac::Direction;

use super::Cell;
use crate::output::{CellStats, DrbStats, Output, UeId, UeStats};

impl<P: Inspect> Cell<P> {
    /// State and counters of a UE; `None` if there is no such UE.
    pub fn ue(&self, now: Instant, id: UeId) -> Option<UeStats> {
        let mut stats = self.du.queues().ue_stats(now, id)?;
        for drb in self.du.queues().drbs_of(id) {
            stats.marked += self.cu.marked(drb.id());
            stats.uplink_marked += self.cu.uplink_marked(drb.id());
        }
        stats.forgotten_flows = self.cu.sdap(id)?.evicted() + self.around.ues.get(id)?.sdap().evicted();
        Some(stats)
    }

    /// Counters of a UE's bearers, the default one first; none if there is no such UE.
    pub fn bearers(&self, ue: UeId) -> impl Iterator<Item = DrbStats> + '_ {
        self.du.queues().drbs_of(ue).map(|drb| DrbStats {
            marked: self.cu.marked(drb.id()),
            uplink_marked: self.cu.uplink_marked(drb.id()),
            ..drb.stats()
        })
    }

    /// The bearer that carries a flow from its UE: the DRB identity, from 1; `None` if there is no such UE.
    pub fn carries_up(&self, id: UeId, flow: FlowId) -> Option<u8> {
        Some(self.around.ues.get(id)?.carries(flow))
    }

    /// The logical channel that carries a flow to its UE, or from it.
    pub fn logical_channel(&self, id: UeId, flow: FlowId, direction: Direction) -> Option<u8> {
        let drb = match direction {
            Direction::Downlink => self.cu.sdap(id)?.carries(flow),
            Direction::Uplink => self.around.ues.get(id)?.sdap().carries(flow),
        };
        Some(self.du.queues().ue(id)?.drbs().lcid(drb))
    }

    /// Counters of the cell as a whole.
    pub fn stats(&self) -> CellStats {
        self.du.queues().stats()
    }

    /// Resource blocks x symbols that the downlink slots between two instants have.
    pub fn resources_between(&self, from: Instant, to: Instant) -> u64 {
        self.du.carrier().resources_between(from, to)
    }

    /// Resource blocks x symbols that the uplink slots between two instants have.
    pub fn uplink_resources_between(&self, from: Instant, to: Instant) -> u64 {
        self.du.carrier().uplink_resources_between(from, to)
    }

    /// Packets inside the cell, including outputs that have not been taken yet.
    pub fn packets(&self) -> impl Iterator<Item = &Packet<P>> {
        let outputs = self.around.outputs.iter().filter_map(Output::packet);
        let uplink = self.around.ues.iter().flat_map(|ue| ue.packets());
        self.du.queues().packets().chain(uplink).chain(self.f1u.packets()).chain(outputs)
    }
}
