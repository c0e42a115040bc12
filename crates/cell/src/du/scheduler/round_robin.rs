//! Round robin: each in turn, and a turn is as much as a whole slot carries, in however many slots it comes.
//!
//! Who gets what another left of a slot, or a special slot, has had a part of its turn and goes on with the rest; who had a whole
//! slot when less was left of its turn has so much less of its next one (deficit round robin, Shreedhar and Varghese 1995, with a
//! deficit in place of a limit, since a slot is not cut). If such a slot took a whole turn, who follows a UE with little to send would
//! get rests only; if it took none, it would fall to the same UE every time wherever the pattern of slots and the number of
//! UEs have a common factor.
//!
//! Once all that waited is sent, nobody is owed anything, and whose turn it is next is drawn. If it went on from where it was, packets
//! that come as regularly as slots would give the same UE the same position in every batch.

use tidemark_core::{Duration, Stream};

use super::rule::{Candidate, Discipline, Rule, UplinkOrder};
use crate::index::{DrbIndex, Key};

/// Configuration of round robin, which has nothing to set.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundRobinConfig {}

impl Discipline for RoundRobinConfig {
    type Rule = Self;
    const UPLINK: UplinkOrder = UplinkOrder::Turns;

    fn rule(&self, _slot: Duration) -> Self {
        Self {}
    }
}

impl Rule for RoundRobinConfig {
    /// Candidates come in the order of turns.
    fn choose(&mut self, mut candidates: impl Iterator<Item = Candidate>) -> Option<Candidate> {
        candidates.next()
    }
}

/// Turns of the bearers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    /// Bearer that has the turn, or from which on the next is looked for.
    next: DrbIndex,
    /// Rest of the turn that has begun, in whole slots.
    left: f64,
    /// Service of each bearer beyond its turns, in whole slots.
    debts: Vec<f64>,
    /// All that waited was sent.
    is_open: bool,
}

impl Turns {
    /// Bearers, which are in order, from the one whose turn it is on.
    pub(super) fn order<'a>(
        &mut self,
        drbs: &'a [DrbIndex],
        draws: &mut Stream,
    ) -> impl Iterator<Item = DrbIndex> + use<'a> {
        if std::mem::take(&mut self.is_open) && drbs.len() > 1 {
            (self.next, self.left) = (drbs[(draws.uniform() * drbs.len() as f64) as usize], 0.0);
        }
        let (before, after) = drbs.split_at(drbs.partition_point(|drb| *drb < self.next));
        after.iter().chain(before).copied()
    }
    /// A bearer was sent something in this share of a whole slot. Where nothing fits, no turn begins.
    pub(super) fn served(&mut self, drb: DrbIndex, share: f64) {
        if share == 0.0 {
            return;
        }
        let index = drb.position();
        if self.debts.len() <= index {
            self.debts.resize(index + 1, 0.0);
        }
        if self.next != drb || self.left == 0.0 {
            self.left = 1.0 - std::mem::take(&mut self.debts[index]);
        }
        self.left -= share;
        self.next = drb;
        if self.left <= 0.0 {
            self.debts[index] = -std::mem::take(&mut self.left);
            self.next.0 += 1;
        }
    }
    /// A slot has room left for everybody.
    pub(super) fn open(&mut self) {
        self.is_open = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws() -> Stream {
        Stream::new(1, 0, "turn")
    }
    /// Lists the bearers that go first in slots of these shares of a whole one, each of which takes all of its slot.
    fn first(turns: &mut Turns, drbs: &[u32], slots: &[f64]) -> Vec<u32> {
        let drbs: Vec<_> = drbs.iter().copied().map(DrbIndex).collect();
        let slot = |share: &f64| {
            let drb = turns.order(&drbs, &mut draws()).next()?;
            turns.served(drb, *share);
            Some(drb.0)
        };
        slots.iter().filter_map(slot).collect()
    }

    #[test]
    fn everyone_has_their_turn_whoever_comes_and_goes() {
        let mut turns = Turns::default();
        assert_eq!(first(&mut turns, &[0, 3, 4], &[1.0; 4]), [0, 3, 4, 0]);
        // After UE 0 it is the next one that is there.
        assert_eq!(first(&mut turns, &[0, 2, 4], &[1.0]), [2]);
        assert_eq!(turns.order(&[], &mut draws()).next(), None);
    }

    #[test]
    fn who_had_a_part_of_a_slot_goes_on_with_its_turn_in_the_next() {
        let mut turns = Turns::default();
        // 0 sends what it has, 1 has the rest of the slot.
        turns.served(DrbIndex(0), 0.3);
        turns.served(DrbIndex(1), 0.7);
        assert_eq!(turns.order(&[1, 2, 3].map(DrbIndex), &mut draws()).next(), Some(DrbIndex(1)));
        turns.served(DrbIndex(1), 1.0);
        assert_eq!(turns.order(&[1, 2, 3].map(DrbIndex), &mut draws()).next(), Some(DrbIndex(2)));
        turns.served(DrbIndex(2), 1.0);
        turns.served(DrbIndex(3), 1.0);
        // Of its next turn 1 has had 0.7.
        turns.served(DrbIndex(1), 0.2);
        assert_eq!(turns.order(&[1, 2, 3].map(DrbIndex), &mut draws()).next(), Some(DrbIndex(1)));
        turns.served(DrbIndex(1), 0.2);
        assert_eq!(turns.order(&[1, 2, 3].map(DrbIndex), &mut draws()).next(), Some(DrbIndex(2)));
    }

    #[test]
    fn a_slot_in_which_nothing_fits_takes_no_turn() {
        let mut turns = Turns::default();
        assert_eq!(first(&mut turns, &[0, 1], &[1.0, 0.0, 1.0, 0.0, 1.0]), [0, 1, 1, 0, 0]);
    }

    #[test]
    fn whatever_slots_there_are_each_has_as_much() {
        for pattern in [&[1.0, 1.0, 1.0, 0.3][..], &[1.0, 0.5], &[1.0, 1.0, 0.9, 0.1], &[0.4], &[1.0]] {
            for ues in 2..=8 {
                let drbs: Vec<u32> = (0..ues).collect();
                let slots: Vec<f64> = pattern.iter().copied().cycle().take(997).collect();
                let mut had = vec![0.0; drbs.len()];
                let served = first(&mut Turns::default(), &drbs, &slots);
                served.iter().zip(&slots).for_each(|(drb, share)| had[*drb as usize] += share);
                let (min, max) =
                    (had.iter().copied().fold(f64::MAX, f64::min), had.iter().copied().fold(0.0, f64::max));
                // A turn, and what is left of one or had beyond it.
                assert!(max - min < 2.0, "{ues} UEs, {pattern:?}: {had:?}");
            }
        }
    }

    #[test]
    fn once_all_is_sent_each_is_as_likely_to_go_first() {
        let (mut turns, mut draws, drbs) = (Turns::default(), draws(), [3, 5, 9].map(DrbIndex));
        let mut first = [0; 10];
        for _ in 0..3_000 {
            let order: Vec<_> = turns.order(&drbs, &mut draws).collect();
            first[order[0].position()] += 1;
            order.iter().for_each(|drb| turns.served(*drb, 0.2));
            turns.open();
        }
        // Four standard deviations are 103.
        assert!(drbs.iter().all(|drb| (897..1_103).contains(&first[drb.position()])), "{first:?}");
    }
}
