//! Restarts of the SNs: after a handover, or if the SNs of a sender show one.

use super::ProfileTable;

/// A jump of the SN by at most this many counts as SDUs that PDCP never sent. A longer one needs [`NEW_RUN`] SDUs in
/// sequence to be believed, and then restarts the table (re-establishment, handover).
pub(super) const MAX_GAP: i64 = 1_024;
/// Consecutive SNs after which they count as new numbers. A thread that is late with a batch announces fewer.
pub(super) const NEW_RUN: u8 = 8;

impl ProfileTable {
    /// Forgets all SDUs; the next may have any SN.
    pub(crate) fn clear(&mut self) {
        self.restart(0);
        (self.started, self.is_reported, self.mismatched) = (false, false, 0);
    }

    /// Takes an SN far from the others. True after [`NEW_RUN`] of them in sequence without an old SN in between: they are the sender's new
    /// numbers. RFC 3550 A.1 is satisfied with two, but stale SNs can also come in a row.
    pub(super) fn is_new_run(&mut self, sn: u32) -> bool {
        let goes_on = self.strays > 0 && self.sn_length.distance(self.stray, sn) == 1;
        self.strays = if goes_on { self.strays + 1 } else { 1 };
        self.stray = sn;
        self.strays >= NEW_RUN
    }

    /// Starts the counts one whole range of SNs up, so that SNs before the first have a count too. No entry with an earlier count remains.
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
