//! Restarts of the SNs: after a handover, or if the SNs of a sender show one.

use super::ProfileTable;

/// A jump of the SN by at most this many counts as SDUs that PDCP never sent. A longer one needs [`NEW_RUN`] SDUs in
/// sequence to be believed, and then restarts the table (re-establishment, handover).
pub(super) const MAX_GAP: i64 = 1_024;
/// Consecutive SNs after which they count as new numbers: more than a thread announces that was late with a batch.
pub(super) const NEW_RUN: u8 = 8;

impl ProfileTable {
    /// Forgets all SDUs; the next may have any SN.
    pub(crate) fn clear(&mut self) {
        self.restart(0);
        (self.started, self.is_reported, self.mismatched) = (false, false, 0);
    }

    /// Takes in an SN far from the others. True once so many go on from one another, with nothing of the old ones in between, that they
    /// are the sender's new numbers: as RFC 3550 A.1 has it, but stale SNs come in a row, too.
    pub(super) fn is_new_run(&mut self, sn: u32) -> bool {
        let goes_on = self.strays > 0 && self.sn_length.distance(self.stray, sn) == 1;
        self.strays = if goes_on { self.strays + 1 } else { 1 };
        self.stray = sn;
        self.strays >= NEW_RUN
    }

    /// Counts begin a whole round up, so that SNs behind the first have one, too. Nothing is left that has a count of before.
    pub(super) fn restart(&mut self, sn: u32) {
        self.next = u64::from(self.sn_length.modulus()) + u64::from(sn);
        (self.head, self.delivered, self.oldest) = (self.next, self.next, self.next);
        (self.standing, self.packets) = (0, 0);
        self.beyond.clear();
        self.ingress.clear();
        self.transmitted.clear();
        self.started = true;
        self.strays = 0;
    }
}
