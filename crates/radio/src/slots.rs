//! Slots and the TDD pattern (TS 38.211 4.3, TS 38.213 11.1).

use std::ops::Add;

use tidemark_core::{Duration, Instant};

/// Symbols of a slot with normal cyclic prefix.
pub const SYMBOLS_PER_SLOT: u32 = 14;

/// True if a TDD pattern may be this many slots long. It is one or two periods of at least 0.5 ms each, and its length divides 20 ms, so
/// that it starts anew with every second frame (TS 38.213 11.1).
pub fn may_be_period(slot: Duration, slots: u64) -> bool {
    let frames = Duration::from_millis(20).as_nanos();
    let length = slot.as_nanos().saturating_mul(slots);
    length >= Duration::from_micros(500).as_nanos() && frames.is_multiple_of(length)
}

/// Slot, counted from time zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u64);

impl Slot {
    /// The slot this many slots earlier, or the first slot.
    pub fn saturating_sub(self, slots: u64) -> Self {
        Self(self.0.saturating_sub(slots))
    }
    /// Slots from `earlier` to this one; zero if `earlier` is in fact later.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<u64> for Slot {
    type Output = Self;
    fn add(self, slots: u64) -> Self {
        Self(self.0 + slots)
    }
}

/// The sequence of downlink, special and uplink slots, repeated without end.
#[derive(Clone, Debug)]
pub struct SlotPattern {
    slot: Duration,
    /// Downlink symbols of each slot of the period.
    downlink_symbols: Vec<u32>,
    /// Slots from each slot of the period to the next with downlink and to the next uplink one, itself included, and back to the
    /// last with downlink before it.
    to_downlink: Vec<u64>,
    to_uplink: Vec<u64>,
    from_downlink: Vec<u64>,
    /// Downlink symbols and uplink slots of the period before each of its slots, and at last of the whole period.
    symbols_before: Vec<u64>,
    uplink_before: Vec<u64>,
}

impl SlotPattern {
    /// Reads a text of `D`, `S` and `U`, one letter a slot; a special slot has `special_symbols` downlink symbols.
    ///
    /// `None` for another letter, or if one direction has no slot.
    pub fn parse(text: &str, special_symbols: u32, slot: Duration) -> Option<Self> {
        let downlink_symbols = text
            .chars()
            .map(|letter| match letter {
                'D' => Some(SYMBOLS_PER_SLOT),
                'S' => Some(special_symbols),
                'U' => Some(0),
                _ => None,
            })
            .collect::<Option<Vec<_>>>()?;
        let uplink: Vec<_> = text.chars().map(|letter| letter == 'U').collect();
        let both = downlink_symbols.iter().any(|symbols| *symbols > 0) && uplink.contains(&true);
        both.then(|| Self::new(slot, downlink_symbols, &uplink))
    }

    /// Paired spectrum: every slot is downlink on one carrier and uplink on the other.
    pub fn paired(slot: Duration) -> Self {
        Self::new(slot, vec![SYMBOLS_PER_SLOT], &[true])
    }

    /// Builds a pattern of two lists of one length, in which a slot of each direction occurs.
    fn new(slot: Duration, downlink_symbols: Vec<u32>, uplink: &[bool]) -> Self {
        let period = downlink_symbols.len();
        let steps = |found: &dyn Fn(usize, usize) -> bool| -> Vec<u64> {
            (0..period).map(|slot| (0..=period).find(|step| found(slot, *step)).unwrap_or(0) as u64).collect()
        };
        let sums = |of: &dyn Fn(usize) -> u64| -> Vec<u64> { (0..=period).map(|end| (0..end).map(of).sum()).collect() };
        Self {
            symbols_before: sums(&|slot| downlink_symbols[slot].into()),
            uplink_before: sums(&|slot| uplink[slot].into()),
            to_downlink: steps(&|from, step| downlink_symbols[(from + step) % period] > 0),
            to_uplink: steps(&|from, step| uplink[(from + step) % period]),
            from_downlink: steps(&|from, step| step > 0 && downlink_symbols[(from + period - step) % period] > 0),
            slot,
            downlink_symbols,
        }
    }

    /// Length of the period in slots.
    pub fn period(&self) -> u64 {
        self.downlink_symbols.len() as u64
    }
    /// Length of a slot.
    pub fn slot(&self) -> Duration {
        self.slot
    }
    /// Start of a slot.
    pub fn start(&self, slot: Slot) -> Instant {
        Instant::ZERO + self.slot * slot.0
    }
    /// The first slot that starts at `now` or later.
    pub fn at_or_after(&self, now: Instant) -> Slot {
        Slot(now.as_nanos().div_ceil(self.slot.as_nanos()))
    }
    /// Downlink symbols of a slot; zero in an uplink slot.
    pub fn downlink_symbols(&self, slot: Slot) -> u32 {
        self.downlink_symbols[self.position(slot)]
    }
    /// Downlink symbols of each slot of the period.
    pub fn downlink_symbols_of_period(&self) -> impl Iterator<Item = u32> + '_ {
        self.downlink_symbols.iter().copied()
    }
    /// Position of a slot in its period.
    fn position(&self, slot: Slot) -> usize {
        (slot.0 % self.period()) as usize
    }
    /// Downlink symbols of all slots from `first` to before `end`.
    pub fn downlink_symbols_between(&self, first: Slot, end: Slot) -> u64 {
        self.before(end, &self.symbols_before).saturating_sub(self.before(first, &self.symbols_before))
    }
    /// Slots from `first` to before `end` that are uplink as a whole.
    pub fn uplink_slots_between(&self, first: Slot, end: Slot) -> u64 {
        self.before(end, &self.uplink_before).saturating_sub(self.before(first, &self.uplink_before))
    }
    fn before(&self, slot: Slot, of_period: &[u64]) -> u64 {
        slot.0 / self.period() * of_period[self.downlink_symbols.len()] + of_period[self.position(slot)]
    }
    /// The first slot from `slot` on that carries downlink.
    pub fn next_downlink(&self, slot: Slot) -> Slot {
        slot + self.to_downlink[self.position(slot)]
    }
    /// The last slot before `slot` that carries downlink, or `slot` itself if there is none.
    pub fn previous_downlink(&self, slot: Slot) -> Slot {
        slot.0.checked_sub(self.from_downlink[self.position(slot)]).map_or(slot, Slot)
    }
    /// Time since the previous slot with downlink, as a share of the longest such time.
    pub fn wait_for_downlink(&self, slot: Slot) -> f64 {
        self.from_downlink[self.position(slot)] as f64 / self.longest_from_downlink() as f64
    }
    /// Longest time from the start of a slot with downlink to the start of the next one.
    pub fn longest_wait(&self) -> Duration {
        self.slot * self.longest_from_downlink()
    }
    fn longest_from_downlink(&self) -> u64 {
        self.from_downlink.iter().max().map_or(1, |longest| *longest)
    }
    /// The first slot from `slot` on that is uplink as a whole.
    pub fn next_uplink(&self, slot: Slot) -> Slot {
        slot + self.to_uplink[self.position(slot)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern() -> SlotPattern {
        SlotPattern::parse("DDDDDDDSUU", 6, Duration::from_micros(500)).unwrap()
    }

    #[test]
    fn slots_of_each_kind_are_found_across_the_period() {
        let pattern = pattern();
        assert_eq!(pattern.next_uplink(Slot(0)), Slot(8));
        assert_eq!(pattern.next_uplink(Slot(10)), Slot(18));
        assert_eq!(pattern.next_downlink(Slot(8)), Slot(10));
        assert_eq!(pattern.at_or_after(Instant::from_nanos(1)), Slot(1));
        assert_eq!(pattern.at_or_after(Instant::from_millis(1)), Slot(2));
    }

    #[test]
    fn the_special_slot_has_its_symbols_and_the_slot_before_is_found() {
        let pattern = pattern();
        assert_eq!(pattern.downlink_symbols(Slot(7)), 6);
        assert_eq!(pattern.previous_downlink(Slot(10)), Slot(7));
        assert_eq!(pattern.previous_downlink(Slot(8)), Slot(7));
        assert_eq!(pattern.previous_downlink(Slot(0)), Slot(0));
        assert_eq!(pattern.longest_wait(), Duration::from_micros(1_500));
    }

    #[test]
    fn sums_over_slots_are_those_of_the_slots() {
        for pattern in [pattern(), SlotPattern::paired(Duration::from_millis(1))] {
            for (first, end) in [(0, 0), (0, 10), (3, 9), (7, 8), (9, 47), (20, 31), (5, 3)] {
                let symbols: u64 = (first..end).map(|slot| u64::from(pattern.downlink_symbols(Slot(slot)))).sum();
                let uplink = (first..end).map(Slot).filter(|slot| pattern.next_uplink(*slot) == *slot).count() as u64;
                let (first, end) = (Slot(first), Slot(end));
                assert_eq!(pattern.downlink_symbols_between(first, end), symbols, "{first:?} to {end:?}");
                assert_eq!(pattern.uplink_slots_between(first, end), uplink, "{first:?} to {end:?}");
            }
        }
    }

    #[test]
    fn in_paired_spectrum_every_slot_is_both() {
        let pattern = SlotPattern::paired(Duration::from_millis(1));
        assert_eq!(
            (pattern.next_uplink(Slot(5)), pattern.next_downlink(Slot(5)), pattern.previous_downlink(Slot(5))),
            (Slot(5), Slot(5), Slot(4))
        );
        assert_eq!(pattern.downlink_symbols(Slot(3)), 14);
        assert_eq!(pattern.longest_wait(), Duration::from_millis(1));
    }

    #[test]
    fn a_pattern_without_uplink_or_with_other_letters_is_refused() {
        for wrong in ["", "DDD", "UUU", "DXU"] {
            assert!(SlotPattern::parse(wrong, 6, Duration::from_micros(500)).is_none(), "{wrong}");
        }
    }
}
