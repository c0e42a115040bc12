//! SDUs queued beyond the last slot of the profile table: their sum, and the SNs among them without an SDU.

use alloc::vec::Vec;
use core::ops::Range;

/// Runs of SNs without SDU that are kept. PDCP discards in the order of age (TS 38.323 5.3), so that one outage is one run; more
/// come from holes and from packets that are discarded by their importance.
pub(crate) const MAX_RUNS: usize = 32;

pub(crate) struct Beyond {
    /// SDUs, and their bytes.
    count: u64,
    bytes: u64,
    /// SNs without SDU: skipped or discarded.
    absent: Runs,
}

impl Beyond {
    pub(crate) fn new() -> Self {
        Self { count: 0, bytes: 0, absent: Runs(Vec::with_capacity(MAX_RUNS)) }
    }

    /// Forgets everything; memory stays.
    pub(crate) fn clear(&mut self) {
        (self.count, self.bytes) = (0, 0);
        self.absent.0.clear();
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes in an SDU of this size at the end; zero for an SN without SDU.
    pub(crate) fn push(&mut self, count: u64, size: u16) {
        // One that finds no run is an SDU without bytes: the sum stays right, the shares become uneven.
        if size == 0 && self.absent.add(count) == Added::New {
            return;
        }
        self.count += 1;
        self.bytes += u64::from(size);
    }

    /// Even share of the first SDU, with this count, which moves up into the table; zero for an SN without SDU.
    pub(crate) fn take(&mut self, count: u64) -> u16 {
        self.absent.forget_before(count);
        if self.count == 0 || self.absent.has_first(count) { 0 } else { self.take_share() as u16 }
    }

    /// Takes an SDU out, and gives the bytes of its even share; `None` if there is none with this count.
    pub(crate) fn discard(&mut self, count: u64) -> Option<u64> {
        // With no run left for it, a discard is in the sums alone: an SN before the end takes its share, and the last of all has none.
        (self.absent.add(count) != Added::Known && self.count > 0).then(|| self.take_share())
    }

    /// First count from this one on that is not known to be without SDU.
    pub(crate) fn present_from(&self, count: u64) -> u64 {
        self.absent.0.iter().find(|run| run.contains(&count)).map_or(count, |run| run.end)
    }

    /// Share of one SDU: never more than the largest, since it is the mean rounded down.
    fn take_share(&mut self) -> u64 {
        let share = self.bytes / self.count;
        self.bytes -= share;
        self.count -= 1;
        share
    }
}

/// Runs of SNs, as PDCP's COUNT, in order and apart from each other.
struct Runs(Vec<Range<u64>>);

/// Outcome of adding an SN to the runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Added {
    New,
    Known,
    /// It was not added: there are as many runs as may be.
    NoRoom,
}

impl Runs {
    /// Forgets runs that end before this count.
    fn forget_before(&mut self, first: u64) {
        let passed = self.0.iter().take_while(|run| run.end <= first).count();
        self.0.drain(..passed);
    }

    /// True if the first run has this count.
    fn has_first(&self, count: u64) -> bool {
        self.0.first().is_some_and(|run| run.contains(&count))
    }

    fn add(&mut self, count: u64) -> Added {
        let has_room = self.0.len() < MAX_RUNS;
        let index = self.0.partition_point(|run| run.end < count);
        match self.0.get_mut(index) {
            // Named before: whoever asks must not take its share out twice.
            Some(run) if run.contains(&count) => return Added::Known,
            // Numbers come mostly in a row, so that a run grows at its end.
            Some(run) if run.end == count => {
                run.end += 1;
                self.join(index);
            }
            Some(run) if run.start == count + 1 => run.start = count,
            // It touches no run that is kept, and begins one of its own.
            _ if has_room => self.0.insert(index, count..count + 1),
            _ => return Added::NoRoom,
        }
        Added::New
    }

    /// Makes one of a run and the next where nothing lies between them.
    fn join(&mut self, index: usize) {
        if let [run, next, ..] = &mut self.0[index..]
            && run.end == next.start
        {
            run.end = next.end;
            self.0.remove(index + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_grow_at_both_ends_and_join() {
        let mut runs = Runs(Vec::new());
        let added = |runs: &mut Runs, count| match runs.add(count) {
            Added::New => "new",
            Added::Known => "known",
            Added::NoRoom => "no room",
        };
        for (count, expected, left) in [
            (5, "new", &[(5, 6)][..]),
            (4, "new", &[(4, 6)]),
            (5, "known", &[(4, 6)]),
            (6, "new", &[(4, 7)]),
            (8, "new", &[(4, 7), (8, 9)]),
            (1, "new", &[(1, 2), (4, 7), (8, 9)]),
            (7, "new", &[(1, 2), (4, 9)]),
            (8, "known", &[(1, 2), (4, 9)]),
            (3, "new", &[(1, 2), (3, 9)]),
            (2, "new", &[(1, 9)]),
        ] {
            let outcome = added(&mut runs, count);
            let kept: Vec<_> = runs.0.iter().map(|run| (run.start, run.end)).collect();
            assert_eq!((outcome, &kept[..]), (expected, left), "{count}");
        }
    }

    #[test]
    fn no_more_runs_are_kept_than_there_is_room_for() {
        let mut runs = Runs(Vec::new());
        for at in 0..MAX_RUNS as u64 {
            assert!(runs.add(10 * at) == Added::New);
        }
        assert!(runs.add(5) == Added::NoRoom);
        // At its ends a run takes more in.
        assert!(runs.add(11) == Added::New && runs.add(19) == Added::New);
        assert_eq!(runs.0.len(), MAX_RUNS);
        runs.forget_before(1);
        assert!(runs.add(1_000) == Added::New);
    }

    #[test]
    fn nothing_is_taken_out_of_nothing() {
        let mut beyond = Beyond::new();
        assert_eq!((beyond.discard(7), beyond.take(8)), (None, 0));
        (10..14).for_each(|count| beyond.push(count, 100));
        beyond.push(14, 0);
        beyond.clear();
        assert_eq!((beyond.bytes(), beyond.take(10), beyond.present_from(14)), (0, 0, 14));
        // What comes after is as the first was.
        beyond.push(14, 300);
        assert_eq!((beyond.discard(14), beyond.discard(14)), (Some(300), None));
    }
}
