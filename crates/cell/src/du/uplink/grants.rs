//! Grants of an uplink slot: the UEs that ask, and the grants that they get.

use std::collections::BTreeMap;

use tidemark_core::{Inspect, Stream};
use tidemark_radio::slots::Slot;

use crate::du::Port;
use crate::du::carrier::Carrier;
use crate::du::queues::Queues;
use crate::du::scheduler::UplinkOrder;
use crate::du::shares::Shares;
use crate::output::UeId;
use crate::ue_stack::block::Allocation;
use crate::ue_stack::buffer_status::Groups;

/// Resource blocks of the widest carrier (TS 38.101-1 5.3.2).
const WIDEST: u64 = 275;

/// Grant of a UE in the slot that is being run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grant {
    pub(super) ue: UeId,
    /// Bytes that wait by the gNB's estimate, of what it may grant.
    waiting: Groups,
    wanted: u64,
    pub(super) allocation: Allocation,
}

/// Rounds of grants before the rest. Each goes by what UEs have had in it: what is due counts for nothing among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Round {
    /// Logical channel groups that are owed a guaranteed rate.
    Owed,
    /// Logical channel groups of this priority level.
    Level(u8),
    All,
}

/// Grants of the slot that is being run, and what UEs have had before.
pub(super) struct Grants {
    asked: Vec<Grant>,
    /// Grants that UEs have had, by round.
    shares: BTreeMap<Round, Shares>,
    draws: Stream,
}

impl Grants {
    pub(super) fn new(draws: Stream) -> Self {
        Self { asked: Vec::new(), shares: BTreeMap::new(), draws }
    }

    /// Gives the grants of the slot, in their order, of those that got resource blocks.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Grant> + '_ {
        self.asked.drain(..).filter(|grant| grant.allocation.prbs > 0)
    }

    /// Starts the grant of a UE in this slot, if something waits: a HARQ process has to be free for it.
    pub(super) fn ask<P: Inspect>(
        &mut self,
        slot: Slot,
        id: UeId,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        let ue = &mut queues.ues[id];
        // A block needs a process until it is decoded or given up: without one nothing can be sent.
        if !ue.uplink.processes.has_free(slot) {
            return;
        }
        let mut waiting = *ue.uplink.estimate.in_slot(slot, carrier.config.uplink.first_grant.0);
        let now = carrier.pattern.start(slot);
        let stack = port.ue(id);
        for (group, waiting) in waiting.iter_mut().enumerate().take(ue.groups.len()) {
            // Nothing is granted above the maximum rate.
            if !stack.may_send(now, group) {
                *waiting = 0;
            }
        }
        // A UE without anything to grant is left out, so that it takes no part in the draw and the order of a round.
        if waiting.iter().any(|waiting| *waiting > 0) {
            self.asked.push(Grant { ue: id, waiting, wanted: 0, allocation: Allocation::default() });
        }
    }

    /// Shares free resource blocks: guaranteed rates first, then all, in the order that the scheduler has for the uplink.
    pub(super) fn share<P: Inspect>(
        &mut self,
        slot: Slot,
        mut free: u32,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        // A round begins turns and may draw who goes first: not where there is nothing to share.
        if free == 0 || self.asked.is_empty() {
            return;
        }
        // A guaranteed rate comes first under every scheduler (decision 15).
        if queues.has_gbr {
            free = self.grant_round((slot, free), Round::Owed, carrier, queues, port);
        }
        // Without levels there is one round for all.
        if carrier.config.scheduler.uplink_order() == UplinkOrder::Turns {
            self.grant_round((slot, free), Round::All, carrier, queues, port);
            return;
        }
        // Strictly: a level is served once all above it have what they asked for.
        let mut done = None;
        while let Some(level) = self.next_level(done, queues) {
            free = self.grant_round((slot, free), Round::Level(level), carrier, queues, port);
            done = Some(level);
        }
    }

    /// The most important priority level behind `done` of which something waits.
    fn next_level<P: Inspect>(&self, done: Option<u8>, queues: &Queues<P>) -> Option<u8> {
        let levels = self.asked.iter().flat_map(|grant| {
            let groups = queues.ues[grant.ue].groups.iter().zip(grant.waiting);
            groups.filter(|(_, waiting)| *waiting > 0).map(|(group, _)| group.priority)
        });
        levels.filter(|level| done.is_none_or(|done| *level > done)).min()
    }

    /// Grants a round, first to the UE that has had the least in it; returns the resource blocks that are left.
    fn grant_round<P: Inspect>(
        &mut self,
        (slot, mut free): (Slot, u32),
        round: Round,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) -> u32 {
        let (now, all) = (carrier.pattern.start(slot), free);
        let Self { asked, shares, draws } = self;
        let shares = shares.entry(round).or_insert_with(|| Shares::new(WIDEST, 0));
        shares.begin(asked.len(), |position| asked[position].ue, draws);
        asked.sort_unstable_by_key(|grant| (shares.turn(grant.ue), grant.ue));
        for grant in asked {
            // The slot is full: those that are left have had more already.
            if free == 0 {
                break;
            }
            // What a round has granted counts as asked for no more: the next round must not grant it twice.
            let mut more = 0;
            let groups = &queues.ues[grant.ue].groups;
            for (position, (waiting, group)) in grant.waiting.iter_mut().zip(groups).enumerate() {
                // A guarantee is covered as far as it is owed, a level if it is the group's own.
                let is_covered = match round {
                    Round::Owed => port.ue(grant.ue).is_owed(now, position),
                    Round::Level(level) => group.priority == level,
                    Round::All => true,
                };
                // What this round doesn't cover waits for a later one.
                if is_covered {
                    more += std::mem::take(waiting);
                }
            }
            // A UE without a part in this round has no turn in it to lose.
            if more == 0 {
                continue;
            }
            grant.wanted += more;
            // A UE has one block a slot: it is sized anew, for this round and those before.
            let before = grant.allocation.prbs;
            grant.allocation = allocate(slot, grant.ue, (grant.wanted, before + free), carrier, queues);
            // The first to be granted something has had the least: a UE that was silent starts from there, with nothing to make up for.
            if free == all {
                shares.lift(shares.turn(grant.ue).0);
            }
            shares.serve(grant.ue, u64::from(grant.allocation.prbs - before));
            free -= grant.allocation.prbs - before;
        }
        // Nobody wants more, so that nobody is owed anything.
        if free > 0 {
            shares.settle();
        }
        free
    }
}

/// Resource blocks for `wanted` bytes of a UE, out of `limit`, by what the gNB knew when it granted them.
pub(super) fn allocate<P: Inspect>(
    slot: Slot,
    id: UeId,
    (wanted, limit): (u64, u32),
    carrier: &Carrier,
    queues: &mut Queues<P>,
) -> Allocation {
    queues.ues[id].allocate_up(&carrier.uplink, carrier.granted_at(slot), wanted, limit)
}
