//! Bearers with something to send, and the next slot that they need.

use tidemark_core::{Inspect, Instant};
use tidemark_radio::slots::Slot;

use crate::du::Drb;
use crate::du::carrier::Carrier;
use crate::du::queues::Queues;
use crate::du::timers::Timers;
use crate::index::{DrbIndex, UeDrbs};
use crate::output::UeId;

/// Bearers for which a downlink slot has something to do. Without any there is no slot.
#[derive(Default)]
pub(super) struct Active {
    /// Bearers in order.
    drbs: Vec<DrbIndex>,
    /// UEs to which something was sent in the slot that is being run.
    served: Vec<UeId>,
    /// Next slot to be decided on.
    next: Option<Slot>,
    /// First downlink slot that has not been decided on.
    soonest: Slot,
    /// First slot that has not been decided on.
    open: Slot,
}

impl Active {
    /// Bearers in order.
    pub(super) fn drbs(&self) -> &[DrbIndex] {
        &self.drbs
    }

    /// Next slot to be decided on, if its time has come.
    pub(super) fn due(&self, now: Instant, carrier: &Carrier) -> Option<Slot> {
        self.next.filter(|slot| carrier.decided_at(*slot) <= now)
    }

    /// Time of the next decision; `FAR` if there is nothing to decide on.
    pub(super) fn next_deadline(&self, carrier: &Carrier) -> Instant {
        self.next.map_or(Instant::FAR, |slot| carrier.decided_at(slot))
    }

    /// Adds a bearer that has something to send at `now`.
    pub(super) fn add(&mut self, now: Instant, drb: DrbIndex, carrier: &Carrier, timers: &mut Timers) {
        // A bearer is listed once, however many packets came.
        if let Err(position) = self.drbs.binary_search(&drb) {
            self.drbs.insert(position, drb);
        }
        // No slot is sooner: most packets come to a cell that is busy already.
        if self.next.is_some_and(|next| next <= self.soonest) {
            return;
        }
        // A slot is decided on once, `lead` slots before it begins.
        let earliest = carrier.first_undecided(now).max(self.open);
        let slot = carrier.pattern.next_downlink(earliest);
        self.next = Some(self.next.map_or(slot, |next| next.min(slot)));
        timers.wake(carrier.decided_at(slot));
    }

    /// Notes that something is sent to a UE in the slot that is being run.
    pub(super) fn serve(&mut self, ue: UeId) {
        self.served.push(ue);
    }

    /// Ends a slot: forgets bearers that have nothing to do any more, and finds the slot in which others have.
    pub(super) fn end_slot<P: Inspect>(&mut self, slot: Slot, carrier: &Carrier, queues: &Queues<P>) {
        let Queues { ues, drbs, .. } = queues;
        let (pattern, earliest) = (&carrier.pattern, slot + 1);
        self.open = earliest;
        let retransmission = |drb: &Drb<P>| ues[drb.id.ue].retransmissions.front().map(|block| block.slot);
        let is_active = |index: &DrbIndex| {
            let drb = &drbs[*index];
            drb.bearer.has_data() || retransmission(drb).is_some()
        };
        // Only a UE that was sent something can have run out of it.
        for served in self.served.drain(..) {
            for index in ues[served].drbs().iter().filter(|index| !is_active(index)) {
                if let Ok(position) = self.drbs.binary_search(&index) {
                    self.drbs.remove(position);
                }
            }
        }
        let mut active = self.drbs.iter().map(|index| &drbs[*index]);
        self.soonest = pattern.next_downlink(earliest);
        // New data may go in any slot; without it only the slots of retransmissions matter.
        self.next = if active.any(|drb| drb.bearer.has_data()) {
            Some(self.soonest)
        } else {
            // Retransmissions alone are left, whose slots are known: those before pass unlooked at.
            self.drbs.retain(is_active);
            let waiting = self.drbs.iter().filter_map(|index| retransmission(&drbs[*index])).min();
            waiting.map(|slot| pattern.next_downlink(slot.max(earliest)))
        };
    }

    /// Drops the bearers of a UE that leaves.
    pub(super) fn forget(&mut self, drbs: UeDrbs) {
        self.drbs.retain(|drb| !drbs.contains(*drb));
    }
}
