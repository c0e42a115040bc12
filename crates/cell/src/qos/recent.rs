//! Recent flows and the bearers that carried them.

use tidemark_core::FlowId;

use super::rules::Mapped;

/// Flows that are remembered: groups, and flows in each.
const GROUPS: usize = 64;
const IN_GROUP: usize = 4;

/// Recent flows and their mappings. A flow belongs to one group, in which the flow unused for the longest time is evicted.
#[derive(Debug)]
pub(super) struct Recent {
    groups: Vec<[Option<(FlowId, Mapped)>; IN_GROUP]>,
    evicted: u64,
}

impl Default for Recent {
    fn default() -> Self {
        Self { groups: vec![[None; IN_GROUP]; GROUPS], evicted: 0 }
    }
}

impl Recent {
    /// Notes the mapping of a flow.
    pub(super) fn put(&mut self, flow: FlowId, mapped: Mapped) {
        let group = &mut self.groups[Self::group(flow)];
        let known = group.iter().position(|entry| entry.is_some_and(|(known, _)| known == flow));
        let position = known.unwrap_or(IN_GROUP - 1);
        self.evicted += u64::from(known.is_none() && group[position].is_some());
        // The first was used last.
        group[position] = Some((flow, mapped));
        group[..=position].rotate_right(1);
    }
    /// Mapping of a flow, unless it was evicted.
    pub(super) fn get(&self, flow: FlowId) -> Option<Mapped> {
        let mut entries = self.groups[Self::group(flow)].iter().flatten();
        entries.find(|(known, _)| *known == flow).map(|(_, mapped)| *mapped)
    }
    /// Flows that were forgotten for others.
    pub(super) fn evicted(&self) -> u64 {
        self.evicted
    }
    /// Index by Fibonacci hashing, which spreads numbers that follow one another evenly.
    fn group(flow: FlowId) -> usize {
        (flow.0.wrapping_mul(0x9E37_79B9) >> (u32::BITS - GROUPS.ilog2())) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::DrbIndex;

    #[test]
    fn as_many_flows_as_there_is_room_for_are_remembered_where_they_follow_one_another() {
        let mut recent = Recent::default();
        let mapped = Mapped { qfi: 2, drb: DrbIndex(11), reflective: true, marked: true };
        (0..200).for_each(|flow| recent.put(FlowId(flow), mapped));
        assert!((0..200).all(|flow| recent.get(FlowId(flow)) == Some(mapped)));
        assert_eq!(recent.evicted, 0);
    }
}
