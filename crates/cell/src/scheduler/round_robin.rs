//! Round robin: the next UE after the one that was chosen last.
//!
//! A special slot is extra and takes no turn. If it did, whoever it fell to would get it again and again wherever the
//! number of UEs and that of downlink slots have a common factor, and little else.

use super::Candidate;

/// Remembers whose turn it was.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundRobin {
    next: u32,
}

impl RoundRobin {
    pub(super) fn choose(&mut self, candidates: &[Candidate], whole_slot: bool) -> Option<usize> {
        let position = candidates.iter().position(|candidate| candidate.ue >= self.next).unwrap_or(0);
        let chosen = candidates.get(position)?;
        if whole_slot {
            self.next = chosen.ue + 1;
        }
        Some(position)
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Duration;

    use super::*;
    use crate::ue::Offer;

    fn candidates(ues: &[u32]) -> Vec<Candidate> {
        ues.iter()
            .map(|ue| Candidate { ue: *ue, capacity: 1.0, head_of_line: Duration::ZERO, offer: Offer::Mcs(0) })
            .collect()
    }

    #[test]
    fn everyone_has_their_turn_whoever_comes_and_goes() {
        let mut scheduler = RoundRobin::default();
        let all = candidates(&[0, 3, 4]);
        let turns: Vec<_> = (0..4).filter_map(|_| scheduler.choose(&all, true)).collect();
        assert_eq!(turns, [0, 1, 2, 0]);
        // After UE 0 it is the next one that is there.
        assert_eq!(scheduler.choose(&candidates(&[0, 2, 4]), true), Some(1));
        assert_eq!(scheduler.choose(&[], true), None);
    }

    #[test]
    fn a_special_slot_takes_no_turn() {
        let mut scheduler = RoundRobin::default();
        let all = candidates(&[0, 1]);
        assert_eq!(scheduler.choose(&all, true), Some(0));
        assert_eq!(scheduler.choose(&all, false), Some(1));
        assert_eq!(scheduler.choose(&all, true), Some(1));
    }
}
