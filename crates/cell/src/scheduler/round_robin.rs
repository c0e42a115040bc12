//! Round robin: the next bearer after the one that was chosen last.
//!
//! Bearers that are owed a guaranteed rate come first by turns of their own: what they have there is due to them and takes
//! no turn among all. If it did, the turn would go to whoever follows them each time, and never reach the others.
//!
//! A special slot is extra and takes no turn. If it did, whoever it fell to would get it again and again wherever the
//! number of UEs and that of downlink slots have a common factor, and little else.

use super::{Candidate, Pass};

/// Remembers whose turn it was.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundRobin {
    next: u32,
    /// The same among those that are owed a guaranteed rate.
    next_owed: u32,
}

impl RoundRobin {
    pub(super) fn choose(
        &mut self,
        drbs: &[u32],
        pass: Pass,
        candidate: impl FnMut(u32) -> Option<Candidate>,
    ) -> Option<Candidate> {
        let next = if pass.only_owed { &mut self.next_owed } else { &mut self.next };
        let (before, after) = drbs.split_at(drbs.partition_point(|drb| drb < next));
        let chosen = after.iter().chain(before).copied().find_map(candidate)?;
        if pass.whole_slot {
            *next = chosen.drb + 1;
        }
        Some(chosen)
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Duration;

    use super::*;
    use crate::ue::Offer;

    fn turn(scheduler: &mut RoundRobin, drbs: &[u32], whole_slot: bool) -> Option<u32> {
        choose(scheduler, drbs, Pass { only_owed: false, whole_slot })
    }
    fn choose(scheduler: &mut RoundRobin, drbs: &[u32], pass: Pass) -> Option<u32> {
        let candidate = |drb| {
            let head_of_line = Duration::ZERO;
            Some(Candidate { drb, capacity: 1.0, head_of_line, priority: 90, five_qi: 9, offer: Offer::Mcs(0) })
        };
        scheduler.choose(drbs, pass, candidate).map(|chosen| chosen.drb)
    }

    #[test]
    fn everyone_has_their_turn_whoever_comes_and_goes() {
        let mut scheduler = RoundRobin::default();
        let turns: Vec<_> = (0..4).filter_map(|_| turn(&mut scheduler, &[0, 3, 4], true)).collect();
        assert_eq!(turns, [0, 3, 4, 0]);
        // After UE 0 it is the next one that is there.
        assert_eq!(turn(&mut scheduler, &[0, 2, 4], true), Some(2));
        assert_eq!(turn(&mut scheduler, &[], true), None);
    }

    #[test]
    fn what_is_owed_takes_no_turn_and_goes_by_turns_itself() {
        let mut scheduler = RoundRobin::default();
        let owed = Pass { only_owed: true, whole_slot: true };
        // In each slot one of 1 and 2 is owed something, and then another one has what is left.
        let turns: Vec<_> =
            (0..6).map(|_| (choose(&mut scheduler, &[1, 2], owed), turn(&mut scheduler, &[3, 4, 5], true))).collect();
        assert_eq!(turns, [(1, 3), (2, 4), (1, 5), (2, 3), (1, 4), (2, 5)].map(|(a, b)| (Some(a), Some(b))));
    }

    #[test]
    fn a_special_slot_takes_no_turn() {
        let mut scheduler = RoundRobin::default();
        assert_eq!(turn(&mut scheduler, &[0, 1], true), Some(0));
        assert_eq!(turn(&mut scheduler, &[0, 1], false), Some(1));
        assert_eq!(turn(&mut scheduler, &[0, 1], true), Some(1));
    }
}
