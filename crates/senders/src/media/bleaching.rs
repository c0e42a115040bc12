//! Detection of a path that clears the ECN field.

use tidemark_core::Ecn;

/// Packets that were sent as ECT and arrived as Not-ECT, one after the other, after which the path is held to clear the field.
const ENOUGH_TO_TELL: u32 = 64;

/// Judgement of the path by what arrives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bleaching {
    /// Packets that arrived as Not-ECT since one arrived as something else.
    cleared: u32,
    found: bool,
}

impl Bleaching {
    /// Takes the field of a packet that arrived; `sent_as_ect` says that it was ECT and that the report would tell.
    #[inline]
    pub(super) fn on_arrival(&mut self, ecn: Ecn, sent_as_ect: bool) {
        self.cleared = if sent_as_ect && ecn == Ecn::NotEct { self.cleared.saturating_add(1) } else { 0 };
        self.found |= self.cleared >= ENOUGH_TO_TELL;
    }

    /// True once the path is held to clear the field.
    #[inline]
    pub(super) fn is_found(&self) -> bool {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mark_is_proof_that_the_field_survives() {
        let mut bleaching = Bleaching::default();
        for packet in 0..200 {
            bleaching.on_arrival(if packet % 64 == 63 { Ecn::Ce } else { Ecn::NotEct }, true);
        }
        assert!(!bleaching.is_found());
        for _ in 0..64 {
            bleaching.on_arrival(Ecn::NotEct, true);
        }
        assert!(bleaching.is_found());
    }
}
