//! Cost of a law's marks in a session: radio resources that stayed empty.
//!
//! Only a second session shows how much a longer queue would have filled, and at what delay: an unmarked sender behaves differently.
//! `tidemark test` runs one with throughput first.

use tidemark_cell::UeStats;
use tidemark_emu::Progress;
use tidemark_record::Counters;

/// Downlink resources in intervals in which a law marked or dropped a packet, after the warm-up.
#[derive(Debug, Default)]
pub(super) struct Price {
    /// True if a law acted in the current interval.
    is_marked: bool,
    available: u64,
    used: u64,
}

impl Price {
    /// Notes that a law marked or dropped a packet.
    pub(super) fn marked(&mut self) {
        self.is_marked = true;
    }

    /// Ends an interval that began with these counters.
    pub(super) fn sample(&mut self, began: &Counters, now: &Progress<'_>, counts: bool) {
        let of = |ues: &[UeStats]| ues.iter().map(|ue| ue.resources).sum::<u64>();
        self.add(now.resources - began.resources, of(now.ues) - of(&began.ues), counts);
    }

    fn add(&mut self, available: u64, used: u64, counts: bool) {
        if std::mem::take(&mut self.is_marked) && counts {
            self.available += available;
            self.used += used;
        }
    }

    /// Share of the radio that was empty; `None` where no law acted.
    pub(super) fn empty(&self) -> Option<f64> {
        (self.available > 0).then(|| 1.0 - self.used as f64 / self.available as f64)
    }

    /// Sentence about the empty share.
    pub(super) fn sentence(&self) -> Option<String> {
        let percent = self.empty()? * 100.0;
        Some(format!(
            "marks: {percent:.0} % of the downlink's resource blocks were empty while the law marked; only a second session shows what a longer queue fills: `tidemark test` runs one with throughput first"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_without_marks_and_the_warm_up_cost_nothing() {
        let mut price = Price::default();
        price.add(1_000, 0, true);
        assert_eq!(price.sentence(), None);
        price.marked();
        price.add(1_000, 0, false);
        price.marked();
        price.add(1_000, 720, true);
        price.add(1_000, 100, true);
        assert_eq!(price.empty(), Some(0.28));
        let said = price.sentence().unwrap();
        assert!(said.starts_with("marks: 28 % of the downlink's resource blocks"), "{said}");
        assert!(said.contains("only a second session shows what a longer queue fills"), "{said}");
    }
}
