//! Sharing of a slot by resource block groups: the UE that ranks highest is given one and ranked again, until no group is left or no
//! UE needs more.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::rule::{Candidate, Rank, Rule};
use crate::du::shares::Shares;

/// Remainder of a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remaining {
    pub(crate) prbs: u32,
    /// Blocks that can still be sent.
    pub(crate) blocks: u32,
}

/// Resource blocks that a UE can use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    /// The fewest blocks that carry more than headers.
    pub(crate) least: u32,
    /// Blocks that all waiting data needs, or more than the carrier has.
    pub(crate) all: u32,
}

/// A UE that can be sent something in a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contender {
    pub(crate) candidate: Candidate,
    /// Weight of a resource block in turns.
    weight: u64,
    /// Resource blocks that it has been given.
    pub(crate) prbs: u32,
    /// Those that it needs in all, once it was asked.
    needed: Option<u32>,
}

impl Contender {
    /// A UE for which a resource block has this weight in turns.
    pub(crate) fn new(candidate: Candidate, weight: u64) -> Self {
        Self { candidate, weight, prbs: 0, needed: None }
    }
    /// Weight of a resource block in a slot, whose `capacity` is a share of that of the largest slots.
    pub(crate) fn weight(capacity: f64) -> u64 {
        (capacity * WHOLE) as u64
    }
}

/// Weight of a resource block in turns, where a slot carries the most.
const WHOLE: f64 = 65_536.0;

/// Position in the order of a slot: rank, then turns. The greatest is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    rank: Rank,
    turn: Reverse<Turn>,
}

/// Turn of a contender: by the service that its UE has had, then by whether it is behind the first of equals, then by position.
///
/// One number, as [`Rank`] is: service above bit 33, bit 32, position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn(u128);

impl Turn {
    const BEHIND: u128 = 1 << 32;

    fn new((had, is_behind): (u64, bool), position: usize) -> Self {
        Self(u128::from(had) << 33 | u128::from(is_behind) << 32 | position as u128)
    }
    /// Service that its UE has had.
    fn had(self) -> u64 {
        (self.0 >> 33) as u64
    }
    /// Position of its contender.
    fn position(self) -> usize {
        self.0 as u32 as usize
    }
    /// Turn of the same contender after more service. Whether it is behind stays as it was when the slot began.
    fn after(self, had: u64) -> Self {
        Self(u128::from(had) << 33 | self.0 & (Self::BEHIND | u128::from(u32::MAX)))
    }
}

/// Sharing of slots of one carrier.
#[derive(Clone, Debug)]
pub(super) struct Sharing {
    /// Resource blocks of a group.
    group: u32,
    /// Share of the carrier that a resource block is.
    prb: f64,
    /// Order of the slot, kept for its room.
    order: Vec<Entry>,
}

impl Sharing {
    pub(super) fn new(prbs: u32, group: u32) -> Self {
        Self { group, prb: 1.0 / f64::from(prbs), order: Vec::new() }
    }

    /// Weight of a whole slot in turns.
    pub(super) fn whole(prbs: u32) -> u64 {
        u64::from(prbs) * WHOLE as u64
    }

    /// Hands out what is left of a slot to contenders in the order of UEs. `need` says how many of this number of resource blocks a UE can
    /// use; `None` if it can use none.
    pub(super) fn hand_out(
        &mut self,
        (rule, turns): (&mut impl Rule, &mut Shares),
        contenders: &mut [Contender],
        remaining: &mut Remaining,
        mut need: impl FnMut(&Candidate, u32) -> Option<Need>,
    ) {
        let mut heap = self.in_order(rule, turns, contenders);
        // The least that anybody has had who waits for more than this slot has.
        let mut least_waiting = u64::MAX;
        while remaining.prbs > 0 {
            let is_alone = heap.len() == 1;
            // Everybody has all that was asked for.
            let Some(mut first) = heap.peek_mut() else { break };
            let turn = first.turn.0;
            let contender = &mut contenders[turn.position()];
            let (candidate, before) = (contender.candidate, contender.prbs);
            let mut least = 0;
            // A UE is asked when its first turn comes, since many never have one in a slot.
            if contender.needed.is_none() {
                // The slot has no block for another UE: those that have one share what is left.
                if before == 0 && remaining.blocks == 0 {
                    drop(first);
                    heap.retain(|entry| {
                        let has_block = contenders[entry.turn.0.position()].prbs > 0;
                        least_waiting = least_waiting.min(if has_block { u64::MAX } else { entry.turn.0.had() });
                        has_block
                    });
                    continue;
                }
                // Too little is left for it, which keeps its turn for the next slot.
                let Some(need) = need(&candidate, before + remaining.prbs) else {
                    least_waiting = least_waiting.min(turn.had());
                    PeekMut::pop(first);
                    continue;
                };
                (least, contender.needed) = (need.least.saturating_sub(before), Some(need.all));
            }
            let more = contender.needed.unwrap_or(0).saturating_sub(before);
            // Without a rival it would win every further group: it has them at once.
            let prbs = if is_alone { more } else { more.min(self.group.max(least)) }.min(remaining.prbs);
            remaining.blocks -= u32::from(before == 0 && prbs > 0);
            remaining.prbs -= prbs;
            contender.prbs += prbs;
            // Who got nothing keeps the turn.
            if prbs > 0 {
                turns.serve(candidate.ue, u64::from(prbs) * contender.weight);
            }
            // It has all that it needs, and leaves the order.
            if prbs == more {
                PeekMut::pop(first);
            } else {
                let rank = self.rank(rule, contender);
                *first = Entry { rank, turn: Reverse(turn.after(turns.had(candidate.ue))) };
            }
        }
        self.order = heap.into_vec();
        end(turns, contenders, self.order.iter().map(|entry| entry.turn.0.had()).fold(least_waiting, u64::min));
    }

    /// Contenders by rank, and among equals by turn.
    fn in_order(&mut self, rule: &mut impl Rule, turns: &Shares, contenders: &[Contender]) -> BinaryHeap<Entry> {
        // The memory of the slot before.
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let all = contenders.iter().enumerate();
        order.extend(all.map(|(position, contender)| Entry {
            rank: self.rank(rule, contender),
            turn: Reverse(Turn::new(turns.turn(contender.candidate.ue), position)),
        }));
        BinaryHeap::from(order)
    }

    /// Rank of a contender with what it has been given.
    fn rank(&self, rule: &mut impl Rule, contender: &Contender) -> Rank {
        rule.rank(&contender.candidate, f64::from(contender.prbs) * self.prb)
    }
}

/// Ends a slot for the turns. `least_waiting` is the least service that anybody has had who waits for more than the slot had; `u64::MAX` where nobody
/// waits.
fn end(turns: &mut Shares, contenders: &[Contender], least_waiting: u64) {
    // Nobody waits: nobody is owed a turn.
    if least_waiting == u64::MAX {
        turns.settle();
        return;
    }
    turns.lift(least_waiting);
    // Nobody was left out, so that the order of the slot owes nobody anything.
    if contenders.iter().all(|contender| contender.prbs > 0) {
        turns.open();
    }
}
