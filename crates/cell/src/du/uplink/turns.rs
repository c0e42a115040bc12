//! Turns of the UEs in the uplink slots: the UEs with something to send or to be granted, and their slots.

use tidemark_core::{Duration, Inspect, Instant};
use tidemark_radio::slots::Slot;

use super::estimate::earlier;
use crate::du::Port;
use crate::du::carrier::Carrier;
use crate::du::queues::Queues;
use crate::output::UeId;

/// A UE that has something to send or to be granted, and the first slot in which it can.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) ue: UeId,
    slot: Option<Slot>,
}

impl Turn {
    /// True if the UE has something to do in a slot.
    pub(super) fn has_come(self, slot: Slot) -> bool {
        self.slot.is_some_and(|turn| turn <= slot)
    }
}

/// UEs for which an uplink slot has something to do. Without any there is no slot.
#[derive(Default)]
pub(super) struct Turns {
    /// UEs in order, so that a slot does not depend on who woke first.
    turns: Vec<Turn>,
    /// Next slot to be run, and the first that has not been run.
    next: Option<Slot>,
    open: Slot,
}

impl Turns {
    /// UEs in order.
    pub(super) fn all(&self) -> &[Turn] {
        &self.turns
    }

    /// Next slot, if it has begun.
    pub(super) fn due(&self, now: Instant, carrier: &Carrier) -> Option<Slot> {
        self.next.filter(|slot| carrier.pattern.start(*slot) <= now)
    }

    /// Start of the next slot; `FAR` if there is none.
    pub(super) fn next_deadline(&self, carrier: &Carrier) -> Instant {
        self.next.map_or(Instant::FAR, |slot| carrier.pattern.start(slot))
    }

    /// Finds the next slot in which a UE has something to do.
    pub(super) fn wake<P: Inspect>(
        &mut self,
        now: Instant,
        id: UeId,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        // The slot that begins now may have been run already.
        let earliest = carrier.pattern.at_or_after(now).max(self.open);
        let slot = next_turn(id, earliest, carrier, queues, port);
        let turn = Turn { ue: id, slot };
        match self.turns.binary_search_by_key(&id, |turn| turn.ue) {
            Ok(position) => self.turns[position] = turn,
            Err(position) => self.turns.insert(position, turn),
        }
        self.next = earlier(self.next, slot);
        // A turn without a slot waits for the UE to ask.
        if let Some(slot) = slot {
            queues.timers.wake(carrier.pattern.start(slot));
        }
    }

    /// Ends a slot. UEs that were not served come up again in the next slot; those with nothing to do leave the list until they are woken.
    pub(super) fn end_slot<P: Inspect>(
        &mut self,
        slot: Slot,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        self.open = slot + 1;
        self.turns.retain_mut(|turn| {
            // A turn that has not come stands.
            if turn.has_come(slot) {
                turn.slot = next_turn(turn.ue, slot + 1, carrier, queues, port);
            }
            turn.slot.is_some()
        });
        self.next = self.turns.iter().filter_map(|turn| turn.slot).min();
    }

    /// Drops a UE that leaves.
    pub(super) fn forget(&mut self, ue: UeId) {
        self.turns.retain(|turn| turn.ue != ue);
    }
}

/// The first uplink slot from `earliest` on in which a UE retransmits, requests, uses a configured grant or can be granted
/// something.
fn next_turn<P: Inspect>(
    id: UeId,
    earliest: Slot,
    carrier: &Carrier,
    queues: &mut Queues<P>,
    port: &mut impl Port<P>,
) -> Option<Slot> {
    let first = port.ue(id).most_important();
    let (config, pattern) = (&carrier.config.uplink, &carrier.pattern);
    let ue = &mut queues.ues[id];
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
