//! The flows of a DRB: a table of fixed size that keeps the flows in use through any flood.
//!
//! Eight flows share a set. A new flow takes a free slot, or that of the flow that was silent longest. Short flows are evicted first, then
//! long ones, and last those whose sender received marks in acknowledgements. Flows in use are not evicted: a long flow is in use for a
//! second after a packet, one with marks in acknowledgements for two minutes. If all are in use, the new flow is not remembered. It is
//! then marked by its own ECN field and the properties of the packet alone. A connection that its server has closed stays only while
//! its last acknowledgements may come.

use alloc::boxed::Box;
use core::hint::black_box;
use core::ptr::from_ref;

use tidemark_core::{Duration, FlowId, Instant};
use tidemark_wire::ip::FiveTuple;

use crate::flow::{Flow, Retention};
use crate::relocation::Record;

const WAYS: usize = 8;
/// A flow is in use if it was seen within this time.
pub(crate) const IN_USE: Duration = Duration::from_secs(1);

/// Time without a packet for which a flow with marks in acknowledgements stays. After it none of its segments is under way (maximum segment
/// lifetime, RFC 9293 3.4.2).
const SIGNALLED_LIFETIME: Duration = Duration::from_secs(120);

pub(crate) struct FlowTable {
    sets: Box<[Set]>,
}

/// Slots that a flow may take. The ids lie in one cache line, so that a look-up reads only that line and the flow. A
/// flow is most likely in its own slot, which is known before the ids are read.
#[derive(Clone)]
#[repr(C, align(64))]
struct Set {
    ids: [Option<FlowId>; WAYS],
    evicted: u64,
    refused: u64,
    /// Marks of evicted flows that no acknowledgement had carried.
    marks_let_go: u64,
    flows: [Flow; WAYS],
    /// Five-tuples of TCP connections. Only a move to another CU-UP needs them, because its secret, and so its ids, differ.
    tuples: [Option<FiveTuple>; WAYS],
}

/// A flow that is kept elsewhere from now on.
#[derive(Clone, Copy)]
pub(crate) struct Released {
    flow: Flow,
    tuple: Option<FiveTuple>,
}

impl FlowTable {
    /// Room for `capacity` flows, a power of two.
    pub(crate) fn new(capacity: u32) -> Self {
        let sets = (capacity as usize / WAYS).max(1);
        let empty = Set {
            ids: [None; WAYS],
            flows: [Flow::new(Instant::ZERO); WAYS],
            tuples: [None; WAYS],
            evicted: 0,
            refused: 0,
            marks_let_go: 0,
        };
        Self { sets: alloc::vec![empty; sets].into_boxed_slice() }
    }

    /// Reads where the table is.
    #[inline]
    pub(crate) fn warm(&self) {
        black_box(self.sets.len());
    }

    #[inline]
    pub(crate) fn get(&mut self, id: FlowId) -> Option<&mut Flow> {
        let (index, own) = self.slot(id);
        let set = &mut self.sets[index];
        let way = set.find(id, own)?;
        Some(&mut set.flows[way])
    }

    /// True for a flow whose handshake was seen.
    pub(crate) fn knows_opening(&self, id: FlowId) -> bool {
        let (index, own) = self.slot(id);
        let set = &self.sets[index];
        set.find(id, own).is_some_and(|way| set.flows[way].is_opened())
    }

    /// Gives up a flow whose handshake was seen, to another table.
    pub(crate) fn release(&mut self, id: FlowId) -> Option<Released> {
        let (index, own) = self.slot(id);
        let set = &mut self.sets[index];
        let way = set.find(id, own).filter(|way| set.flows[*way].is_opened())?;
        set.ids[way] = None;
        Some(Released { flow: set.flows[way], tuple: set.tuples[way] })
    }

    /// Keeps a flow that another table released, if there is room; otherwise its marks are let go.
    pub(crate) fn adopt(&mut self, now: Instant, id: FlowId, released: Released) {
        match self.admit(now, id) {
            Some(flow) => {
                *flow = released.flow;
                self.name(id, released.tuple);
            }
            None => self.count_let_go(&released.flow),
        }
    }

    /// Notes the five-tuple of a flow that is remembered.
    pub(crate) fn name(&mut self, id: FlowId, tuple: Option<FiveTuple>) {
        let (index, own) = self.slot(id);
        let set = &mut self.sets[index];
        if let Some(way) = set.find(id, own) {
            set.tuples[way] = tuple;
        }
    }

    /// Exports the connections whose handshake was seen, for another CU-UP.
    pub(crate) fn export(&self) -> impl Iterator<Item = Record> {
        let slots = self.sets.iter().flat_map(|set| set.ids.iter().zip(&set.flows).zip(&set.tuples));
        slots.filter_map(|((id, flow), tuple)| {
            let tuple = tuple.as_ref().filter(|_| id.is_some() && flow.is_opened())?;
            Some(flow.export(tuple))
        })
    }

    /// Keeps a connection from another CU-UP, if there is room or a weaker flow to evict.
    pub(crate) fn import(&mut self, id: FlowId, flow: Flow, tuple: FiveTuple) {
        let (index, own) = self.slot(id);
        self.sets[index].take_over(id, own, Released { flow, tuple: Some(tuple) });
    }

    /// Counts the marks of a connection that found no room here: no acknowledgement will carry them.
    pub(crate) fn count_let_go(&mut self, flow: &Flow) {
        self.sets[0].marks_let_go += u64::from(flow.feedback.pending());
    }

    /// True if the flow is remembered or could be.
    pub(crate) fn has_room(&self, now: Instant, id: FlowId) -> bool {
        let (index, own) = self.slot(id);
        let set = &self.sets[index];
        set.find(id, own).or_else(|| set.vacant(own)).or_else(|| set.weakest(now)).is_some()
    }

    /// The flow, remembered from now on if there is room.
    pub(crate) fn admit(&mut self, now: Instant, id: FlowId) -> Option<&mut Flow> {
        let (index, own) = self.slot(id);
        let set = &mut self.sets[index];
        // A known flow goes on with its state, however full its set is.
        if let Some(way) = set.find(id, own) {
            return Some(&mut set.flows[way]);
        }
        // A free way first: nobody has to leave for the new flow.
        let way = match set.vacant(own) {
            Some(way) => way,
            None => {
                // Every flow of the set is in use: the new one is not remembered, since a flood of new flows must not end old ones.
                let Some(way) = set.weakest(now) else {
                    set.refused += 1;
                    return None;
                };
                set.evicted += 1;
                set.marks_let_go += u64::from(set.flows[way].feedback.pending());
                way
            }
        };
        set.ids[way] = Some(id);
        (set.flows[way], set.tuples[way]) = (Flow::new(now), None);
        Some(&mut set.flows[way])
    }

    /// Keeps the flows of another table too, if there is room or a weaker flow to evict.
    pub(crate) fn take_over(&mut self, other: &Self) {
        for retention in [Retention::Signalled, Retention::Lasting, Retention::None] {
            let slots = other.sets.iter().flat_map(|set| set.ids.iter().zip(&set.flows).zip(&set.tuples));
            let kept =
                slots.filter_map(|((id, flow), tuple)| id.map(|id| (id, Released { flow: *flow, tuple: *tuple })));
            for (id, released) in kept.filter(|(_, released)| released.flow.retention() == retention) {
                let (index, own) = self.slot(id);
                self.sets[index].take_over(id, own, released);
            }
        }
    }

    /// Moves the flows and counters to a table of another capacity.
    pub(crate) fn resize(&mut self, capacity: u32) {
        let mut resized = Self::new(capacity);
        if resized.sets.len() != self.sets.len() {
            resized.take_over(self);
            resized.sets[0].evicted += self.evicted();
            resized.sets[0].refused += self.refused();
            resized.sets[0].marks_let_go += self.marks_let_go();
            *self = resized;
        }
    }

    /// Flows that were evicted by others.
    pub(crate) fn evicted(&self) -> u64 {
        self.sets.iter().map(|set| set.evicted).sum()
    }

    /// Flows that found no slot.
    pub(crate) fn refused(&self) -> u64 {
        self.sets.iter().map(|set| set.refused).sum()
    }

    /// Marks of evicted flows that no acknowledgement had carried.
    pub(crate) fn marks_let_go(&self) -> u64 {
        self.sets.iter().map(|set| set.marks_let_go).sum()
    }

    /// Marks of remembered flows that no acknowledgement has carried yet.
    pub(crate) fn pending_marks(&self) -> u64 {
        let slots = self.sets.iter().flat_map(|set| set.ids.iter().zip(&set.flows));
        slots.filter(|(id, _)| id.is_some()).map(|(_, flow)| u64::from(flow.feedback.pending())).sum()
    }

    /// Addresses of the lines that a look-up of a flow reads: ids of its set, and its own slot.
    pub(crate) fn addresses(&self, id: FlowId) -> [*const u8; 3] {
        let (index, own) = self.slot(id);
        let set = &self.sets[index];
        let flow: *const u8 = from_ref(&set.flows[own]).cast();
        [from_ref(set).cast(), flow, flow.wrapping_add(size_of::<Flow>() / 2)]
    }

    /// Set that a flow belongs to, and its own slot in it.
    fn slot(&self, id: FlowId) -> (usize, usize) {
        // Fibonacci hashing: ids are small numbers in a simulator and keyed hashes in a gNB.
        let spread = (id.0.wrapping_mul(0x9E37_79B9) >> 16) as usize;
        (spread & (self.sets.len() - 1), (spread >> 12) % WAYS)
    }
}

impl Set {
    /// Way of the flow in its set.
    #[inline]
    fn find(&self, id: FlowId, own: usize) -> Option<usize> {
        if self.ids[own] == Some(id) {
            return Some(own);
        }
        self.ids.iter().position(|known| *known == Some(id))
    }

    /// A free slot, best the flow's own.
    fn vacant(&self, own: usize) -> Option<usize> {
        if self.ids[own].is_none() { Some(own) } else { self.ids.iter().position(Option::is_none) }
    }

    /// Keeps a flow of another table.
    fn take_over(&mut self, id: FlowId, own: usize, released: Released) {
        let Released { flow, tuple } = released;
        let way = match self.find(id, own) {
            // Both tables know the flow: the one that saw its opening knows more.
            Some(way) if self.flows[way].is_opened() => {
                self.marks_let_go += u64::from(flow.feedback.pending());
                return;
            }
            Some(way) => Some(way),
            None => self.vacant(own),
        };
        let weakest = || (0..WAYS).min_by_key(|way| (self.flows[*way].retention(), self.flows[*way].last_seen));
        // A flow that would be kept for less time than all that are there has no claim on their room.
        let Some(way) = way.or_else(|| weakest().filter(|way| self.flows[*way].retention() < flow.retention())) else {
            self.refused += 1;
            self.marks_let_go += u64::from(flow.feedback.pending());
            return;
        };
        self.evicted += u64::from(self.ids[way].is_some_and(|known| known != id));
        // A connection's own marks still waited for room: they are lost with its entry, and counted.
        if self.ids[way].is_some() {
            self.marks_let_go += u64::from(self.flows[way].feedback.pending());
        }
        (self.ids[way], self.flows[way], self.tuples[way]) = (Some(id), flow, tuple);
    }

    /// The flow to evict first; `None` if all are in use.
    fn weakest(&self, now: Instant) -> Option<usize> {
        let may_go = |flow: &Flow| {
            let stays = match flow.retention() {
                Retention::None => return true,
                Retention::Lasting => IN_USE,
                Retention::Signalled => SIGNALLED_LIFETIME,
            };
            // Last seen far in the future: the clock stepped back, and the flow has not been seen since.
            now.since(flow.last_seen).max(flow.last_seen.since(now)) >= stays
        };
        (0..WAYS)
            .filter(|way| may_go(&self.flows[*way]))
            .min_by_key(|way| (self.flows[*way].retention(), self.flows[*way].last_seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::LASTING;
    use crate::shortcircuit::tests::{passed, segment};
    use crate::verdict::Class;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn a_flow_in_use_is_not_evicted_by_a_flood() {
        let mut table = FlowTable::new(64);
        let in_use: alloc::vec::Vec<_> = (0..4).map(FlowId).collect();
        for packet in 0..u64::from(LASTING) {
            for id in &in_use {
                table.admit(ms(packet), *id).unwrap().downlink(ms(packet), Some(Class::L4s), 1_500);
            }
        }
        for packet in 0..1_000_000u32 {
            let now = ms(10 + u64::from(packet) / 100);
            if let Some(flow) = table.admit(now, FlowId(1_000 + packet)) {
                flow.downlink(now, Some(Class::Classic), 60);
            }
            if packet % 50_000 == 0 {
                for id in &in_use {
                    let flow = table.get(*id).expect("a flow in use is still known");
                    assert_eq!(flow.class, Some(Class::L4s));
                    flow.downlink(now, None, 1_500);
                }
            }
        }
        assert_eq!(table.sets.len() * WAYS, 64);
        assert!(table.evicted() > 900_000);
    }

    #[test]
    fn where_every_slot_is_in_use_a_new_flow_is_refused_and_counted() {
        let mut table = FlowTable::new(8);
        for id in 0..8 {
            for _ in 0..LASTING {
                table.admit(ms(0), FlowId(id)).unwrap().downlink(ms(0), Some(Class::Classic), 100);
            }
        }
        assert!(table.admit(ms(1), FlowId(9)).is_none());
        assert_eq!(table.refused(), 1);
        assert!(table.admit(ms(1_500), FlowId(9)).is_some());
    }

    #[test]
    fn the_addresses_of_a_flow_are_where_a_look_up_finds_it() {
        for (capacity, id) in [8, 64].into_iter().flat_map(|capacity| (0..100).map(move |id| (capacity, FlowId(id)))) {
            // Alone in its table a flow has its own slot.
            let mut table = FlowTable::new(capacity);
            let found = from_ref(table.admit(ms(0), id).unwrap()).addr();
            let set = table.sets.iter().find(|set| set.ids.contains(&Some(id))).unwrap();
            let expected = [from_ref(&set.ids).addr(), found, found + 64];
            assert_eq!(table.addresses(id).map(<*const u8>::addr), expected);
        }
    }

    /// A connection that the UE opened, with AccECN agreed on.
    fn open(table: &mut FlowTable, now: Instant, id: FlowId) {
        let flow = table.admit(now, id).unwrap();
        flow.feedback.uplink(&segment(0b111, true, None, 0, 0), &mut 0);
        flow.feedback.downlink(&segment(0b010, true, Some(1), 0, 0), &mut 0);
    }

    /// Marks the next kilobyte, which is and acknowledged; gives the ACE field that leaves.
    fn signal(flow: &mut Flow, seq: u32) -> u8 {
        let data = segment(0, false, Some(1), seq, 1_000);
        flow.feedback.downlink(&data, &mut 0);
        assert!(flow.feedback.mark(&data));
        passed(&mut flow.feedback, &segment(5, false, Some(seq + 1_000), 1, 0)).flags.ace()
    }

    #[test]
    fn a_step_of_the_clock_makes_no_flow_in_use_give_way() {
        let mut table = FlowTable::new(8);
        for id in 0..8 {
            open(&mut table, ms(1_000), FlowId(id));
            signal(table.get(FlowId(id)).unwrap(), 1_000);
        }
        let kept = |table: &mut FlowTable| (0..8).filter(|id| table.get(FlowId(*id)).is_some()).count();
        assert!(!table.has_room(ms(999), FlowId(100)) && table.has_room(ms(999), FlowId(7)));
        assert!(table.admit(ms(999), FlowId(100)).is_none());
        assert_eq!(kept(&mut table), 8);
        // From so far ahead none of them will be heard of again.
        for id in 0..8 {
            table.get(FlowId(id)).unwrap().uplink(ms(300_000));
        }
        assert!(table.admit(ms(1_000), FlowId(100)).is_some());
    }

    #[test]
    fn a_flow_whose_sender_received_marks_by_acknowledgements_goes_last() {
        let mut table = FlowTable::new(8);
        let signalled = FlowId(1_000);
        open(&mut table, ms(0), signalled);
        assert_eq!(signal(table.get(signalled).unwrap(), 1), 6);
        // It is silent for two minutes, in which flows that last come and go.
        for round in 0..60 {
            for id in 0..16 {
                let now = ms(1_900 + 2_000 * u64::from(round));
                let Some(flow) = table.admit(now, FlowId(16 * round + id)) else { continue };
                (0..LASTING).for_each(|_| flow.downlink(now, Some(Class::L4s), 1_500));
            }
        }
        assert!(table.evicted() > 100);
        assert_eq!(
            signal(table.get(signalled).expect("it is kept"), 1_001),
            7,
            "its counter goes on from where it was"
        );
        // Its server says that it is over.
        let mut fin = segment(0, false, Some(1), 2_001, 0);
        fin.flags.fin = true;
        table.get(signalled).unwrap().feedback.downlink(&fin, &mut 0);
        table.admit(ms(120_000), FlowId(5_000)).unwrap();
        assert!(table.get(signalled).is_none(), "nothing is lost with it");
    }

    #[test]
    fn a_table_of_another_size_has_the_same_flows() {
        let mut table = FlowTable::new(64);
        for id in 0..40 {
            let flow = table.admit(ms(0), FlowId(id)).unwrap();
            (0..LASTING).for_each(|_| flow.downlink(ms(0), Some(Class::L4s), 1_500));
        }
        open(&mut table, ms(0), FlowId(1_000));
        signal(table.get(FlowId(1_000)).unwrap(), 1);
        let evicted = table.evicted();
        for (capacity, room) in [(128, 41), (8, 8)] {
            table.resize(capacity);
            assert_eq!(table.sets.len() * WAYS, capacity as usize);
            assert_eq!((0..=1_000).filter(|id| table.get(FlowId(*id)).is_some()).count(), room);
        }
        assert_eq!(signal(table.get(FlowId(1_000)).expect("the last to go"), 1_001), 7);
        assert!(table.evicted() + table.refused() > evicted);
    }

    /// A connection with this many marks that no acknowledgement has carried, to be kept by another table.
    fn released(id: FlowId, at: Instant, marks: u32) -> Released {
        let mut table = FlowTable::new(8);
        open(&mut table, at, id);
        table.get(id).unwrap().handshake(at, segment(0b111, true, None, 0, 0).flags, false);
        for mark in 0..marks {
            assert!(table.get(id).unwrap().feedback.mark(&segment(0, false, Some(1), 1_000 * mark + 1, 1_000)));
        }
        table.release(id).unwrap()
    }

    /// Counters of the table: flows that gave way, that found no room, and marks let go.
    fn counters(table: &FlowTable) -> [u64; 3] {
        [table.evicted(), table.refused(), table.marks_let_go()]
    }

    #[test]
    fn marks_that_no_acknowledgement_carried_are_counted_with_their_flow() {
        let mut table = FlowTable::new(8);
        for id in 0..8 {
            table.adopt(ms(id), FlowId(id as u32), released(FlowId(id as u32), ms(id), id as u32 + 1));
        }
        assert_eq!((table.pending_marks(), counters(&table)), (36, [0, 0, 0]));
        // The one that was silent longest gives way, and its mark with it.
        assert!(table.admit(ms(300_000), FlowId(100)).is_some());
        assert_eq!((table.pending_marks(), counters(&table)), (35, [1, 0, 1]));
        assert!(table.release(FlowId(5)).is_some());
        assert_eq!(table.pending_marks(), 29);
    }

    #[test]
    fn a_flow_that_both_tables_know_stays_as_the_one_that_saw_its_opening_has_it() {
        let id = FlowId(1);
        let mut table = FlowTable::new(8);
        // Known here by its packets alone: what comes knows more.
        table.admit(ms(0), id).unwrap().downlink(ms(0), Some(Class::Classic), 100);
        let own = table.slot(id).1;
        table.sets[0].take_over(id, own, released(id, ms(0), 3));
        assert_eq!((table.pending_marks(), counters(&table)), (3, [0, 0, 0]));
        // Its opening was seen here: the marks that come with the other are let go.
        table.sets[0].take_over(id, own, released(id, ms(0), 5));
        assert_eq!((table.pending_marks(), counters(&table)), (3, [0, 0, 5]));
    }

    #[test]
    fn a_flow_of_another_table_takes_the_slot_of_one_that_is_worth_less() {
        let (mut table, mut signalled) = (FlowTable::new(8), FlowTable::new(8));
        // Seven that last and one that does not, with a mark of its own.
        for id in 0..7 {
            for _ in 0..LASTING {
                table.admit(ms(1), FlowId(id)).unwrap().downlink(ms(1), Some(Class::L4s), 1_500);
            }
        }
        table.adopt(ms(2), FlowId(7), released(FlowId(7), ms(2), 2));
        let mut released_by = |id: FlowId, marks: u32| {
            open(&mut signalled, ms(0), id);
            signalled.get(id).unwrap().handshake(ms(0), segment(0b111, true, None, 0, 0).flags, false);
            signal(signalled.get(id).unwrap(), 1);
            for mark in 0..marks {
                assert!(signalled.get(id).unwrap().feedback.mark(&segment(
                    0,
                    false,
                    Some(1),
                    9_001 + 1_000 * mark,
                    1_000
                )));
            }
            signalled.release(id).unwrap()
        };
        let first = released_by(FlowId(50), 1);
        assert_eq!(first.flow.retention(), Retention::Signalled);
        let own = table.slot(FlowId(50)).1;
        table.sets[0].take_over(FlowId(50), own, first);
        assert!(table.get(FlowId(7)).is_none() && table.get(FlowId(50)).is_some());
        assert_eq!((table.pending_marks(), counters(&table)), (1, [1, 0, 2]));
        // Once all are worth as much, there is no room.
        for id in 51..58 {
            table.sets[0].take_over(FlowId(id), 0, released_by(FlowId(id), 0));
        }
        assert_eq!(counters(&table), [8, 0, 2]);
        table.sets[0].take_over(FlowId(60), 0, released_by(FlowId(60), 4));
        assert_eq!((table.pending_marks(), counters(&table)), (1, [8, 1, 6]));
    }

    #[test]
    fn counters_move_with_the_flows_to_a_table_of_another_size() {
        let mut table = FlowTable::new(16);
        for id in 0..40 {
            let id = FlowId(id);
            table.adopt(ms(0), id, released(id, ms(0), 2));
            for _ in 0..LASTING {
                if let Some(flow) = table.admit(ms(0), id) {
                    flow.downlink(ms(0), Some(Class::L4s), 1_500);
                }
            }
        }
        // One of a full set gives way, and one takes its slot with as many marks.
        let id = FlowId(1_000);
        table.admit(ms(300_000), id).unwrap();
        table.release(id);
        let (own, index) = (table.slot(id).1, table.slot(id).0);
        table.sets[index].take_over(id, own, released(id, ms(300_000), 2));
        let (before, pending) = (counters(&table), table.pending_marks());
        assert_eq!(pending, 32);
        assert!(before.iter().all(|count| *count > 0), "{before:?}");
        table.resize(16);
        assert_eq!((counters(&table), table.pending_marks()), (before, pending));
        // Twice as many sets have room for all.
        table.resize(64);
        assert_eq!((counters(&table), table.pending_marks()), (before, pending));
        // Eight of sixteen find none.
        table.resize(8);
        assert_eq!(table.pending_marks(), 16);
        assert_eq!(counters(&table), [before[0], before[1] + 8, before[2] + 16]);
    }

    #[test]
    fn ids_in_a_row_are_spread_over_all_sets_and_their_slots() {
        let table = FlowTable::new(64);
        let mut found = [0u32; 64];
        for id in 0..6_400 {
            let (set, own) = table.slot(FlowId(id));
            found[set * WAYS + own] += 1;
        }
        assert!(found.iter().all(|count| (50..200).contains(count)), "{found:?}");
    }
}
