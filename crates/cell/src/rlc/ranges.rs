//! Bytes of an SDU that have arrived.

/// Bytes from the beginning, and pieces beyond a gap. Without a gap nothing is allocated.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    prefix: u32,
    /// Ranges beyond the prefix, in order, apart from each other.
    pieces: Vec<(u32, u32)>,
}

impl Ranges {
    /// Bytes from `from` to `to` arrived, some of them perhaps a second time.
    pub(super) fn add(&mut self, from: u32, to: u32) {
        // There is a gap before it: it is kept apart until the gap is filled.
        if from > self.prefix {
            let index = self.pieces.partition_point(|(_, end)| *end < from);
            let (mut from, mut to) = (from, to);
            // It joins every piece that it touches.
            while let Some((start, end)) = self.pieces.get(index).filter(|(start, _)| *start <= to).copied() {
                (from, to) = (from.min(start), to.max(end));
                self.pieces.remove(index);
            }
            self.pieces.insert(index, (from, to));
            return;
        }
        self.prefix = self.prefix.max(to);
        // The gap before these pieces is filled: they are of the prefix now.
        while let Some((_, end)) = self.pieces.first().filter(|(start, _)| *start <= self.prefix).copied() {
            self.prefix = self.prefix.max(end);
            self.pieces.remove(0);
        }
    }
    /// True if the first `size` bytes are there.
    pub(super) fn covers(&self, size: u32) -> bool {
        self.prefix >= size
    }
    /// True if something arrived behind a gap.
    pub(super) fn has_gap(&self) -> bool {
        !self.pieces.is_empty()
    }
    /// Gives the missing ranges of `size` bytes: from, to.
    pub(super) fn missing(&self, size: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let starts = std::iter::once(self.prefix).chain(self.pieces.iter().map(|(_, end)| *end));
        let ends = self.pieces.iter().map(|(start, _)| *start).chain(std::iter::once(size));
        starts.zip(ends).filter(|(start, end)| start < end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_missing_is_what_never_came(parts in prop::collection::vec((0u32..60, 1u32..20), 0..30)) {
            let (mut ranges, mut bytes) = (Ranges::default(), [false; 80]);
            for (from, len) in parts {
                ranges.add(from, from + len);
                bytes[from as usize..(from + len) as usize].fill(true);
            }
            let mut missing = [false; 80];
            ranges.missing(80).for_each(|(from, to)| missing[from as usize..to as usize].fill(true));
            prop_assert!(bytes.iter().zip(missing).all(|(came, missing)| *came != missing));
            prop_assert_eq!(ranges.covers(80), bytes.iter().all(|came| *came));
        }
    }
}
