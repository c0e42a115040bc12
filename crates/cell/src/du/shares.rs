//! Turns: the UE that has had the least service goes first.
//!
//! A UE that had nothing to send counts as if it had had as much service as the UE with the least of those that waited meanwhile (the start
//! tags of start-time fair queueing, Goyal et al. 1996), minus a bounded credit, the part of its turn that it may still take. At most one
//! slot is held against a UE. So service that it had while others could not use more does not silence it when they can.
//!
//! UEs with equal service take turns. When all waiting data is served, no UE is owed anything, and the first UE is drawn. The same holds
//! after a slot in which no UE was left out. Otherwise packets that come as regularly as slots would give a UE the same position in
//! every batch.

use tidemark_core::{Key, Stream};

use crate::output::UeId;

/// Service that each UE of a cell has had, in any unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    /// Service of a whole slot.
    slot: u64,
    /// Bound on the service that a UE may be behind the least.
    credit: u64,
    /// Service of each UE, or the value that counts as its service.
    had: Vec<u64>,
    /// The least service of any UE that waited.
    least: u64,
    /// UE that goes first of equals, before those behind it: the one after that which was served last.
    first: UeId,
    /// Who goes first is drawn in the next round.
    is_open: bool,
}

impl Shares {
    /// Turns of slots with this service each. A UE may be at most `credit` behind the least.
    pub(crate) fn new(slot: u64, credit: u64) -> Self {
        Self { slot, credit, ..Self::default() }
    }
    /// Begins a round among `ues`. If the first UE is open, it is drawn.
    pub(crate) fn begin(&mut self, ues: usize, ue: impl Fn(usize) -> UeId, draws: &mut Stream) {
        if std::mem::take(&mut self.is_open) && ues > 1 {
            self.first = ue((draws.uniform() * ues as f64) as usize);
        }
    }
    /// Key that UEs are sorted by, before their numbers.
    pub(crate) fn turn(&self, ue: UeId) -> (u64, bool) {
        (self.had(ue), ue < self.first)
    }
    /// Service that counts as what a UE has had.
    pub(crate) fn had(&self, ue: UeId) -> u64 {
        let (least, most) = (self.least.saturating_sub(self.credit), self.least + self.slot);
        self.had.get(ue.position()).map_or(least, |had| (*had).clamp(least, most))
    }
    /// Raises the least that any UE counts as having had to `least`, that of the UEs that wait.
    pub(crate) fn lift(&mut self, least: u64) {
        self.least = self.least.max(least);
    }
    /// Counts this much service for a UE.
    pub(crate) fn serve(&mut self, ue: UeId, amount: u64) {
        let index = ue.position();
        if self.had.len() <= index {
            self.had.resize(index + 1, 0);
        }
        self.had[index] = self.had(ue) + amount;
        self.first = UeId(ue.0 + 1);
    }
    /// Ends a round in which all waiting data was served: no UE is owed anything.
    pub(crate) fn settle(&mut self) {
        self.had.clear();
        self.least = 0;
        self.open();
    }
    /// Ends a round in which no UE was left out.
    pub(crate) fn open(&mut self) {
        self.is_open = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARRIER: u32 = 275;

    /// Turns without credit, as the uplink has them.
    fn uplink() -> Shares {
        Shares::new(CARRIER.into(), 0)
    }

    /// Slots in which each UE uses at most this many resource blocks; what each had.
    fn run(shares: &mut Shares, limits: &[u32], slots: u32) -> Vec<u32> {
        let mut had = vec![0; limits.len()];
        for _ in 0..slots {
            let mut ues: Vec<_> = (0..).map(UeId).take(limits.len()).filter(|ue| limits[ue.position()] > 0).collect();
            ues.sort_by_key(|ue| (shares.turn(*ue), *ue));
            shares.lift(shares.turn(ues[0]).0);
            let mut free = CARRIER;
            for ue in ues {
                let prbs = limits[ue.position()].min(free);
                free -= prbs;
                if prbs > 0 {
                    shares.serve(ue, prbs.into());
                    had[ue.position()] += prbs;
                }
            }
        }
        had
    }

    #[test]
    fn all_have_as_much_and_who_can_use_little_has_all_that_it_can_use() {
        for limit in [CARRIER, 160, 100] {
            let had = run(&mut uplink(), &[limit; 3], 300);
            assert!(had.iter().all(|had| had.abs_diff(100 * CARRIER) < CARRIER), "{limit}: {had:?}");
        }
        assert_eq!(run(&mut uplink(), &[8, CARRIER], 100), [800, 100 * (CARRIER - 8)]);
    }

    #[test]
    fn who_was_silent_goes_first_and_has_nothing_to_make_up_for() {
        let mut shares = uplink();
        run(&mut shares, &[CARRIER, CARRIER, 0], 100);
        assert_eq!(run(&mut shares, &[CARRIER; 3], 1), [0, 0, CARRIER]);
        assert!(run(&mut shares, &[CARRIER; 3], 300).iter().all(|had| had.abs_diff(100 * CARRIER) <= CARRIER));
    }

    #[test]
    fn who_was_silent_for_a_moment_has_what_it_did_not_take() {
        let mut shares = Shares::new(CARRIER.into(), CARRIER.into());
        run(&mut shares, &[CARRIER; 3], 30);
        let mut had = run(&mut shares, &[CARRIER, CARRIER, 0], 3);
        had.iter_mut().zip(run(&mut shares, &[CARRIER; 3], 6)).for_each(|(had, more)| *had += more);
        assert_eq!(had, [3 * CARRIER; 3]);
    }

    #[test]
    fn who_was_silent_for_long_has_a_slot_and_no_more() {
        let mut shares = Shares::new(CARRIER.into(), CARRIER.into());
        run(&mut shares, &[CARRIER, CARRIER, 0], 100);
        let had = run(&mut shares, &[CARRIER; 3], 31);
        assert!(had[2].abs_diff(11 * CARRIER) <= CARRIER && had[0].abs_diff(had[1]) <= CARRIER, "{had:?}");
    }

    #[test]
    fn what_others_could_not_use_is_held_against_nobody_for_long() {
        let mut shares = uplink();
        run(&mut shares, &[2, CARRIER, 0], 1_000);
        let had = run(&mut shares, &[0, CARRIER, CARRIER], 100);
        assert!(had[1] >= 49 * CARRIER, "{had:?}");
    }

    #[test]
    fn once_all_is_served_each_is_as_likely_to_go_first() {
        let (mut shares, mut draws) = (uplink(), Stream::new(1, 0, "turn"));
        let (ues, mut first) = ([3, 5, 9].map(UeId), [0; 10]);
        for _ in 0..3_000 {
            shares.begin(ues.len(), |position| ues[position], &mut draws);
            let mut order = ues;
            order.sort_by_key(|ue| (shares.turn(*ue), *ue));
            shares.lift(shares.turn(order[0]).0);
            order.iter().for_each(|ue| shares.serve(*ue, (10 + ue.0).into()));
            shares.settle();
            first[order[0].position()] += 1;
        }
        // Four standard deviations are 103.
        assert!(ues.iter().all(|ue| (897..1_103).contains(&first[ue.position()])), "{first:?}");
    }
}
