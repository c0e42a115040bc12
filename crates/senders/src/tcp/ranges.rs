//! A set of byte ranges: what a receiver holds out of order, what a sender knows to have arrived.

/// Disjoint ranges `start..end`, sorted, never touching each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    ranges: Vec<(u64, u64)>,
}

impl Ranges {
    /// Adds `start..end` and calls `new` with each part that was not in the set before.
    pub(super) fn insert(&mut self, start: u64, end: u64, mut new: impl FnMut(u64, u64)) {
        // An empty range would touch its neighbours and join them.
        if start >= end {
            return;
        }
        let first = self.ranges.partition_point(|range| range.1 < start);
        let mut last = first;
        let mut covered = start;
        let mut merged = (start, end);
        // It joins every range that it touches, and tells the gaps between them.
        while let Some(&(from, to)) = self.ranges.get(last).filter(|range| range.0 <= end) {
            if from > covered {
                new(covered, from);
            }
            covered = covered.max(to);
            merged = (merged.0.min(from), merged.1.max(to));
            last += 1;
        }
        // Behind the last range that it touches the rest is new.
        if covered < end {
            new(covered, end);
        }
        // It touches no other range.
        if first == last {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..last);
        }
    }

    /// Forgets everything below `limit`.
    pub(super) fn remove_below(&mut self, limit: u64) {
        // Most acknowledgements lie below all ranges.
        if self.ranges.first().is_some_and(|range| range.0 < limit) {
            self.drain_below(limit);
        }
    }

    #[cold]
    fn drain_below(&mut self, limit: u64) {
        let covered = self.ranges.partition_point(|range| range.1 <= limit);
        self.ranges.drain(..covered);
        // A range that was begun below is cut and not forgotten.
        if let Some(first) = self.ranges.first_mut() {
            first.0 = first.0.max(limit);
        }
    }

    /// The range that holds `point`.
    pub(super) fn containing(&self, point: u64) -> Option<(u64, u64)> {
        let index = self.ranges.partition_point(|range| range.1 <= point);
        self.ranges.get(index).copied().filter(|range| range.0 <= point)
    }

    /// Takes the lowest range out if it begins at or below `point`, and returns its end.
    pub(super) fn take_from(&mut self, point: u64) -> Option<u64> {
        let (start, end) = *self.ranges.first()?;
        // There is still a hole before it.
        if start > point {
            return None;
        }
        self.ranges.remove(0);
        Some(end)
    }

    /// The number of ranges.
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// True if nothing is in the set.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares with a set of single numbers.
        #[test]
        fn the_set_is_that_of_its_members(inserts in prop::collection::vec((0u64..60, 0u64..12), 1..40), limit in 0u64..70) {
            let mut ranges = Ranges::default();
            let mut members = BTreeSet::new();
            for (start, length) in inserts {
                let mut new = BTreeSet::new();
                ranges.insert(start, start + length, |from, to| assert!((from..to).all(|point| new.insert(point))));
                let expected: BTreeSet<u64> = (start..start + length).filter(|point| members.insert(*point)).collect();
                prop_assert_eq!(new, expected);
                prop_assert!(ranges.ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
            }
            ranges.remove_below(limit);
            for point in 0..80 {
                let inside = members.contains(&point) && point >= limit;
                prop_assert_eq!(ranges.containing(point).is_some(), inside, "{}", point);
            }
        }
    }
}
