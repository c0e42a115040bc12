//! Marks that are left to acknowledgements.

use tidemark_marker::path::{DrbId, Ue};

use super::phone::{DRBS, Phone};

/// Marks of a UE that were left to acknowledgements, and what became of them. Every one is in one of the other four.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Marks {
    pub decided: u64,
    pub let_go: u64,
    pub pending: u64,
    /// Read by the sender in the ACE field of an acknowledgement.
    pub told: u64,
    /// Echoed to a sender with classic ECN until it answers.
    pub echoed: u64,
}

impl Marks {
    /// Marks of all DRBs as the marker has them, with those of DRBs that were removed.
    pub fn of(ue: &Ue, phone: &Phone) -> Self {
        let mut marks = phone.marks;
        (marks.decided, marks.let_go, marks.pending) = (phone.removed.short_circuited, phone.removed.marks_let_go, 0);
        for drb in (1..=DRBS as u8).map(DrbId) {
            let Some(counters) = ue.drb_counters(drb) else { continue };
            marks.decided += counters.short_circuited;
            marks.let_go += counters.marks_let_go;
            marks.pending += ue.pending_marks(drb).expect("the DRB has counters");
        }
        marks
    }

    pub fn are_all_accounted_for(&self) -> bool {
        self.decided == self.told + self.echoed + self.let_go + self.pending
    }
}
