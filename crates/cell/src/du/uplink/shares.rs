//! The order of grants: who has had the least of the carrier goes first.
//!
//! A UE that was silent counts as if it had had as much as the least of those that asked meanwhile, so that it goes before them but
//! has nothing to make up for (the start tags of start-time fair queueing, Goyal et al. 1996). No more than a slot of the widest
//! carrier is held against a UE, so that what it had while others could not use more does not silence it when they can.
//!
//! Once all is granted that was asked for, nobody is owed anything, and who goes first of equals is drawn, as in the downlink.

use tidemark_core::Stream;

use crate::index::Key;
use crate::output::UeId;

/// Resource blocks of the widest carrier (TS 38.101-1 5.3.2).
const WIDEST: u64 = 275;

/// Resource blocks that each UE of a cell has had.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    /// Resource blocks that each has had, or counts as having had.
    had: Vec<u64>,
    /// The least that any counts as having had.
    least: u64,
    /// UE that goes first of equals, before those behind it: the one that was granted something last.
    first: UeId,
    /// All that was asked for was granted.
    is_open: bool,
}

impl Shares {
    /// A round of grants begins among `ues`, of which one is drawn where it is open who goes first.
    pub(crate) fn begin(&mut self, ues: usize, ue: impl Fn(usize) -> UeId, draws: &mut Stream) {
        if std::mem::take(&mut self.is_open) {
            self.had.clear();
            self.least = 0;
            if ues > 1 {
                self.first = ue((draws.uniform() * ues as f64) as usize);
            }
        }
    }
    /// Key that UEs are sorted by.
    pub(crate) fn rank(&self, ue: UeId) -> (u64, bool, UeId) {
        (self.had(ue), ue < self.first, ue)
    }
    fn had(&self, ue: UeId) -> u64 {
        self.had.get(ue.position()).map_or(self.least, |had| (*had).clamp(self.least, self.least + WIDEST))
    }
    /// Raises the least that any UE counts as having had to what this one has, the least of those that a round covers.
    pub(crate) fn lift(&mut self, ue: UeId) {
        self.least = self.had(ue);
    }
    /// A UE is granted so many resource blocks.
    pub(crate) fn grant(&mut self, ue: UeId, prbs: u32) {
        let index = ue.position();
        if self.had.len() <= index {
            self.had.resize(index + 1, 0);
        }
        self.had[index] = self.had(ue) + u64::from(prbs);
        self.first = ue;
    }
    /// A round ends in which all was granted that was asked for.
    pub(crate) fn open(&mut self) {
        self.is_open = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARRIER: u32 = WIDEST as u32;

    /// Slots in which each UE uses at most so many resource blocks; what each had.
    fn run(shares: &mut Shares, limits: &[u32], slots: u32) -> Vec<u32> {
        let mut had = vec![0; limits.len()];
        for _ in 0..slots {
            let mut ues: Vec<_> = (0..).map(UeId).take(limits.len()).filter(|ue| limits[ue.position()] > 0).collect();
            ues.sort_by_key(|ue| shares.rank(*ue));
            shares.lift(ues[0]);
            let mut free = CARRIER;
            for ue in ues {
                let prbs = limits[ue.position()].min(free);
                free -= prbs;
                if prbs > 0 {
                    shares.grant(ue, prbs);
                    had[ue.position()] += prbs;
                }
            }
        }
        had
    }

    #[test]
    fn all_have_as_much_and_who_can_use_little_has_all_that_it_can_use() {
        for limit in [CARRIER, 160, 100] {
            let had = run(&mut Shares::default(), &[limit; 3], 300);
            assert!(had.iter().all(|had| had.abs_diff(100 * CARRIER) < CARRIER), "{limit}: {had:?}");
        }
        assert_eq!(run(&mut Shares::default(), &[8, CARRIER], 100), [800, 100 * (CARRIER - 8)]);
    }

    #[test]
    fn who_was_silent_goes_first_and_has_nothing_to_make_up_for() {
        let mut shares = Shares::default();
        run(&mut shares, &[CARRIER, CARRIER, 0], 100);
        assert_eq!(run(&mut shares, &[CARRIER; 3], 1), [0, 0, CARRIER]);
        assert!(run(&mut shares, &[CARRIER; 3], 300).iter().all(|had| had.abs_diff(100 * CARRIER) <= CARRIER));
    }

    #[test]
    fn what_others_could_not_use_is_held_against_nobody_for_long() {
        let mut shares = Shares::default();
        run(&mut shares, &[2, CARRIER, 0], 1_000);
        let had = run(&mut shares, &[0, CARRIER, CARRIER], 100);
        assert!(had[1] >= 49 * CARRIER, "{had:?}");
    }

    #[test]
    fn once_all_is_granted_each_is_as_likely_to_go_first() {
        let (mut shares, mut draws) = (Shares::default(), Stream::new(1, 0, "turn"));
        let (ues, mut first) = ([3, 5, 9].map(UeId), [0; 10]);
        for _ in 0..3_000 {
            shares.begin(ues.len(), |position| ues[position], &mut draws);
            let mut order = ues;
            order.sort_by_key(|ue| shares.rank(*ue));
            shares.lift(order[0]);
            order.iter().for_each(|ue| shares.grant(*ue, 10 + ue.0));
            shares.open();
            first[order[0].position()] += 1;
        }
        // Four standard deviations are 103.
        assert!(ues.iter().all(|ue| (897..1_103).contains(&first[ue.position()])), "{first:?}");
    }
}
