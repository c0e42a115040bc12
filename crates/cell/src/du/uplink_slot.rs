//! The uplink slots of a cell: who asks, and who is granted what.

use tidemark_core::{Duration, Inspect, Instant};

use super::scheduler::UplinkOrder;
use super::shares::Shares;
use super::uplink::earlier;
use super::{Du, Port};
use crate::output::UeId;
use crate::ue_stack::block::Allocation;
use crate::ue_stack::buffer_status::Groups;
use tidemark_radio::slots::Slot;

/// Resource blocks of the widest carrier (TS 38.101-1 5.3.2).
const WIDEST: u64 = 275;

/// A UE that has something to send or to be granted, and the first slot in which it can.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(crate) ue: UeId,
    pub(crate) slot: Option<Slot>,
}

impl Turn {
    fn has_come(self, slot: Slot) -> bool {
        self.slot.is_some_and(|turn| turn <= slot)
    }
}

/// Grant of a UE in the slot that is being run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grant {
    ue: UeId,
    /// Bytes that wait by the gNB's estimate, of what it may grant.
    waiting: Groups,
    wanted: u64,
    allocation: Allocation,
}

/// Rounds of grants before the rest. Each goes by what UEs have had in it: what is due counts for nothing among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Round {
    /// Logical channel groups that are owed a guaranteed rate.
    Owed,
    /// Logical channel groups of this priority level.
    Level(u8),
    All,
}

impl<P: Inspect> Du<P> {
    /// Finds the next slot in which a UE has something to do.
    pub(super) fn wake_uplink(&mut self, now: Instant, id: UeId, port: &mut impl Port<P>) {
        // The slot that begins now may have been run already.
        let slot = self.next_turn(id, self.pattern.at_or_after(now).max(self.open_uplink), port);
        let turn = Turn { ue: id, slot };
        // In the order of UEs, so that a slot does not depend on who woke first.
        match self.turns.binary_search_by_key(&id, |turn| turn.ue) {
            Ok(position) => self.turns[position] = turn,
            Err(position) => self.turns.insert(position, turn),
        }
        self.next_uplink = earlier(self.next_uplink, slot);
        if let Some(slot) = slot {
            self.wake(self.pattern.start(slot));
        }
    }

    /// The first uplink slot from `earliest` on in which a UE retransmits, requests, uses a configured grant or can be granted
    /// something.
    fn next_turn(&mut self, id: UeId, earliest: Slot, port: &mut impl Port<P>) -> Option<Slot> {
        let first = port.ue(id).most_important();
        let (config, pattern) = (&self.config.uplink, &self.pattern);
        let ue = &mut self.ues[id];
        // In a handover or without coverage a UE sends nothing.
        let earliest = ue.silent_at(pattern.start(earliest)).map_or(earliest, |until| pattern.at_or_after(until));
        // UEs have their occasions by turns, in uplink slots.
        let occasion = |period: Duration| {
            let slots = (period.as_nanos() / pattern.slot().as_nanos()).max(1);
            let phase = pattern.start(pattern.next_uplink(Slot(u64::from(id.0) % slots))).since(Instant::ZERO);
            let since = pattern.start(earliest).since(Instant::ZERO + phase);
            let at = Instant::ZERO + phase + period * since.as_nanos().div_ceil(period.as_nanos());
            pattern.next_uplink(pattern.at_or_after(at))
        };
        // A planned slot that is still ahead stays: its occasion may have been in a downlink slot before `earliest`, and would be missed.
        let planned =
            |plan: Option<Slot>, period| plan.filter(|slot| *slot >= earliest).unwrap_or_else(|| occasion(period));
        let must_request = first.is_some_and(|group| ue.uplink.estimate.must_request(group));
        ue.request_in = must_request.then(|| planned(ue.request_in, config.sr_period));
        // A UE without data skips its configured grant.
        let configured = config.configured_grant.as_ref().filter(|_| first.is_some());
        ue.configured_in = configured.map(|grant| planned(ue.configured_in, grant.period));
        let granted = ue.uplink.estimate.next_grant(earliest);
        let retransmission = ue.uplink.retransmissions.iter().map(|(slot, _)| (*slot).max(earliest)).min();
        // A slot from which on something can be sent need not be an uplink slot.
        let sends = earlier(granted, retransmission).map(|slot| pattern.next_uplink(slot));
        earlier(earlier(ue.request_in, ue.configured_in), sends)
    }

    /// One uplink slot: retransmissions, configured grants, then what reports and requests ask for.
    pub(super) fn run_uplink_slot(&mut self, slot: Slot, port: &mut impl Port<P>) {
        let now = self.pattern.start(slot);
        let mut free = self.config.prbs;
        let mut grants = std::mem::take(&mut self.grants);
        for position in 0..self.turns.len() {
            let Turn { ue: id, .. } = self.turns[position];
            if !self.turns[position].has_come(slot) || self.ues[id].is_silent(now) {
                continue;
            }
            // Retransmissions before new blocks, since delivery in order waits for them; then configured grants, whose resource blocks
            // were given away long before this slot.
            free -= self.retransmit_up(slot, id, free, port);
            free -= self.use_configured_grant(slot, id, free, port);
            grants.extend(self.asked(slot, id, port));
        }
        if free > 0 && !grants.is_empty() {
            self.share(slot, free, &mut grants, port);
        }
        for Grant { ue, allocation, .. } in grants.drain(..).filter(|grant| grant.allocation.prbs > 0) {
            self.send_up(slot, ue, allocation, port);
        }
        self.grants = grants;
        // Requests last: a block in this slot has a report, and its UE need not ask.
        for position in 0..self.turns.len() {
            let Turn { ue: id, .. } = self.turns[position];
            if self.turns[position].has_come(slot) && !self.ues[id].is_silent(now) {
                self.request(slot, id, port);
            }
        }
        self.open_uplink = slot + 1;
        let mut turns = std::mem::take(&mut self.turns);
        turns.retain_mut(|turn| {
            // Whoever was not served is looked at in the next slot; who has nothing to do leaves the list until it is woken.
            if turn.has_come(slot) {
                turn.slot = self.next_turn(turn.ue, slot + 1, port);
            }
            turn.slot.is_some()
        });
        self.next_uplink = turns.iter().filter_map(|turn| turn.slot).min();
        self.turns = turns;
    }

    /// Blocks of a UE that failed and whose slot has come; returns the resource blocks.
    fn retransmit_up(&mut self, slot: Slot, id: UeId, free: u32, port: &mut impl Port<P>) -> u32 {
        let mut taken = 0;
        loop {
            let waiting = &mut self.ues[id].uplink.retransmissions;
            // A block keeps its size and MCS, so that it needs as many resource blocks as at first.
            let fits = waiting.front().is_some_and(|(from, block)| *from <= slot && block.prbs <= free - taken);
            let Some((_, block)) = fits.then(|| waiting.pop_front()).flatten() else { return taken };
            taken += block.prbs;
            self.transmit_up(slot, block, port);
        }
    }

    fn use_configured_grant(&mut self, slot: Slot, id: UeId, free: u32, port: &mut impl Port<P>) -> u32 {
        let Some(grant) = &self.config.uplink.configured_grant else { return 0 };
        let ue = &self.ues[id];
        // The occasion is lost where nothing is free for it: a configured grant can't be put off.
        if ue.configured_in != Some(slot) || free == 0 || !ue.uplink.processes.has_free(slot) {
            return 0;
        }
        let allocation = self.allocate(slot, id, grant.size.0, free);
        self.send_up(slot, id, allocation, port);
        allocation.prbs
    }

    /// A UE sends its request, if it still has to: a block in the same slot has a report.
    fn request(&mut self, slot: Slot, id: UeId, port: &mut impl Port<P>) {
        if self.ues[id].request_in != Some(slot) {
            return;
        }
        // Discarded, or sent in this slot: nothing is left to ask for.
        let Some(group) = port.ue(id).most_important() else { return };
        let granted_from = slot + 1 + self.grant_delay();
        let estimate = &mut self.ues[id].uplink.estimate;
        if estimate.must_request(group) {
            estimate.request(granted_from);
        }
    }

    /// Slots from a request or report at the gNB to the first that it can grant because of it.
    pub(super) fn grant_delay(&self) -> u64 {
        self.lead + self.config.uplink.grant_delay
    }

    /// Starts the grant of a UE in this slot, if something waits: a HARQ process has to be free for it.
    fn asked(&mut self, slot: Slot, id: UeId, port: &mut impl Port<P>) -> Option<Grant> {
        let ue = &mut self.ues[id];
        if !ue.uplink.processes.has_free(slot) {
            return None;
        }
        let mut waiting = *ue.uplink.estimate.in_slot(slot, self.config.uplink.first_grant.0);
        let now = self.pattern.start(slot);
        let stack = port.ue(id);
        for (group, waiting) in waiting.iter_mut().enumerate().take(ue.groups.len()) {
            // Nothing is granted above the maximum rate.
            if !stack.may_send(now, group) {
                *waiting = 0;
            }
        }
        // A UE without anything to grant is left out, so that it takes no part in the draw and the order of a round.
        let asks = waiting.iter().any(|waiting| *waiting > 0);
        asks.then(|| Grant { ue: id, waiting, wanted: 0, allocation: Allocation::default() })
    }

    /// Shares free resource blocks: guaranteed rates first, then all, in the order that the scheduler has for the uplink.
    fn share(&mut self, slot: Slot, mut free: u32, grants: &mut [Grant], port: &mut impl Port<P>) {
        // A guaranteed rate comes first under every scheduler (decision 15).
        if self.has_gbr {
            free = self.grant_round(slot, free, grants, Round::Owed, port);
        }
        if self.config.scheduler.uplink_order() == UplinkOrder::Turns {
            self.grant_round(slot, free, grants, Round::All, port);
            return;
        }
        // Strictly: a level is served once all above it have what they asked for.
        let mut done = None;
        loop {
            let groups = grants.iter().flat_map(|grant| {
                let groups = self.ues[grant.ue].groups.iter().zip(grant.waiting);
                groups.filter(|(_, waiting)| *waiting > 0).map(|(group, _)| group.priority)
            });
            let Some(level) = groups.filter(|level| done.is_none_or(|done| *level > done)).min() else { return };
            free = self.grant_round(slot, free, grants, Round::Level(level), port);
            done = Some(level);
        }
    }

    /// Grants what a round covers, first to who has had the least in it; returns the resource blocks that are left.
    fn grant_round(
        &mut self,
        slot: Slot,
        mut free: u32,
        grants: &mut [Grant],
        round: Round,
        port: &mut impl Port<P>,
    ) -> u32 {
        let (now, all) = (self.pattern.start(slot), free);
        let turns = self.uplink_shares.entry(round).or_insert_with(|| Shares::new(WIDEST, 0));
        let mut shares = std::mem::take(turns);
        shares.begin(grants.len(), |position| grants[position].ue, &mut self.uplink_draws);
        grants.sort_unstable_by_key(|grant| (shares.turn(grant.ue), grant.ue));
        for grant in grants {
            if free == 0 {
                break;
            }
            // What a round has granted counts as asked for no more: the next round must not grant it twice.
            let mut more = 0;
            let groups = &self.ues[grant.ue].groups;
            for (position, (waiting, group)) in grant.waiting.iter_mut().zip(groups).enumerate() {
                let is_covered = match round {
                    Round::Owed => port.ue(grant.ue).is_owed(now, position),
                    Round::Level(level) => group.priority == level,
                    Round::All => true,
                };
                if is_covered {
                    more += std::mem::take(waiting);
                }
            }
            if more > 0 {
                grant.wanted += more;
                // A UE has one block a slot: it is sized anew, for this round and those before.
                let before = grant.allocation.prbs;
                grant.allocation = self.allocate(slot, grant.ue, grant.wanted, before + free);
                // The first to be granted something has had the least: a UE that was silent starts from there, with nothing to make up for.
                if free == all {
                    shares.lift(shares.turn(grant.ue).0);
                }
                shares.serve(grant.ue, u64::from(grant.allocation.prbs - before));
                free -= grant.allocation.prbs - before;
            }
        }
        // Nobody wants more, so that nobody is owed anything.
        if free > 0 {
            shares.settle();
        }
        self.uplink_shares.insert(round, shares);
        free
    }

    /// Resource blocks for so many bytes of a UE, out of `limit`, by what the gNB knew when it granted them.
    fn allocate(&mut self, slot: Slot, id: UeId, wanted: u64, limit: u32) -> Allocation {
        let known = self.pattern.start(slot.saturating_sub(self.grant_delay()));
        let ue = &mut self.ues[id];
        ue.allocate_up(&self.uplink_carrier, known, wanted, limit)
    }
}
