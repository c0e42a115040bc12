//! Segments under way, to count acknowledged bytes in segments.

use crate::relocation::{SegmentsRecord, Wrong, check};

/// Runs that are told apart. A flight of more is counted too low, never too high.
const RUNS: usize = 4;

/// Sequence numbers sent on a connection, in runs of segments of one size.
///
/// All segments of a run have the same size, but the last may be shorter, at the end of a write. Bytes acknowledged within a run are then a
/// whole number of segments, rounded up. A segment is remembered until it is acknowledged, and no longer. If there are more runs than can be
/// kept, the newest run takes the further segments and has the size of its largest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segments {
    end: u32,
    /// First sequence number of each run, the newest first.
    starts: [u32; RUNS],
    sizes: [u16; RUNS],
    /// Size of the segment that goes on with the newest run; zero once a shorter one ended it.
    next: u16,
    /// Size of the connection's first segment; zero before it.
    first: u16,
}

impl Segments {
    /// A connection that has sent nothing. Its first sequence number will be `start`.
    pub(super) fn new(start: u32) -> Self {
        // Bytes that never passed here are counted too low, never too high.
        Self { end: start, starts: [start; RUNS], sizes: [u16::MAX; RUNS], next: 0, first: 0 }
    }

    /// State for another CU-UP.
    pub(super) fn export(&self) -> SegmentsRecord {
        SegmentsRecord {
            end: self.end.into(),
            starts: self.starts.map(Into::into),
            sizes: self.sizes.map(Into::into),
            next: self.next.into(),
            first: self.first.into(),
        }
    }

    /// State from another CU-UP.
    pub(super) fn import(record: &SegmentsRecord) -> Result<Self, Wrong> {
        let sizes = record.sizes.map(|size| size.get());
        check(!sizes.contains(&0), "sizes", "must be above 0")?;
        let next = record.next.get();
        // Another size would make what is still to come a part of a run that it does not fit.
        check(next == 0 || next == sizes[0], "next", "must be 0 or the first of `sizes`")?;
        let starts = record.starts.map(|start| start.get());
        Ok(Self { end: record.end.get(), starts, sizes, next, first: record.first.get() })
    }

    /// End of what was sent.
    #[inline]
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    /// Size of the last full segment.
    #[inline]
    pub(super) fn size(&self) -> u32 {
        self.sizes[0].into()
    }

    /// Size of the connection's first segment.
    pub(super) fn first(&self) -> u32 {
        self.first.into()
    }

    /// A segment passes, with everything below `acknowledged` acknowledged. A segment that was sent before changes nothing.
    #[inline]
    pub(super) fn send(&mut self, seq: u32, payload: u32, acknowledged: u32) {
        let end = seq.wrapping_add(payload);
        if end.wrapping_sub(self.end).cast_signed() > 0 {
            // Most segments have the size of the last: only another one begins a run.
            if payload != u32::from(self.next) {
                self.break_run(payload, acknowledged);
            }
            self.end = end;
        }
    }

    /// Takes in a segment of another size than the last.
    #[cold]
    fn break_run(&mut self, payload: u32, acknowledged: u32) {
        let size = u16::try_from(payload).unwrap_or(u16::MAX);
        // The first feedback is recognised by it (RFC 9768 3.2.2.4).
        if self.first == 0 {
            self.first = size;
        }
        // A short segment ends a burst: a run for each would fill the runs with ends of bursts.
        if size < self.next {
            self.next = 0;
            return;
        }
        // The oldest run ends where the next begins.
        let is_room = acknowledged.wrapping_sub(self.starts[RUNS - 2]).cast_signed() >= 0;
        if is_room {
            self.starts.copy_within(..RUNS - 1, 1);
            self.sizes.copy_within(..RUNS - 1, 1);
            (self.starts[0], self.sizes[0], self.next) = (self.end, size, size);
        } else {
            // The next of this size tries again for a run of its own.
            (self.sizes[0], self.next) = (self.sizes[0].max(size), 0);
        }
    }

    /// Segments between two sequence numbers at which segments end.
    pub(super) fn between(&self, from: u32, to: u32) -> u32 {
        // What was acknowledged may have been sent elsewhere.
        if to.wrapping_sub(from).cast_signed() <= 0 {
            return 0;
        }
        // Distances from the latest of all: a run may have begun more than half of the sequence numbers ago.
        let latest = if to.wrapping_sub(self.end).cast_signed() > 0 { to } else { self.end };
        let behind = |seq: u32| latest.wrapping_sub(seq);
        let (from, mut to, mut segments) = (behind(from), behind(to), 0);
        for (index, (start, size)) in self.starts.iter().zip(&self.sizes).enumerate() {
            // Older than the oldest run there is nothing unacknowledged.
            let holds_from = behind(*start) >= from || index == RUNS - 1;
            let begin = if holds_from { from } else { behind(*start) };
            // This run's part of the range.
            if begin > to {
                segments += (begin - to).div_ceil((*size).into());
                to = begin;
            }
            // The range begins in this run: older ones have no part of it.
            if holds_from {
                break;
            }
        }
        segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use tidemark_core::Stream;

    /// Sends segments of these sizes, of which nothing is acknowledged; gives their ends, after the start.
    fn sent(sizes: &[u32]) -> (Segments, Vec<u32>) {
        // The sequence numbers wrap under way.
        let mut ends = alloc::vec![u32::MAX - 2_000];
        let mut segments = Segments::new(ends[0]);
        for size in sizes {
            let seq = segments.end();
            segments.send(seq, *size, ends[0]);
            ends.push(segments.end());
        }
        (segments, ends)
    }

    #[test]
    fn few_sizes_are_counted_without_error() {
        for sizes in [
            &[1_448; 9][..],
            &[1_448, 300, 300, 300, 300],
            &[1_448, 1_448, 500, 1_448, 1_448, 500, 9_000],
            &[1, 65_535],
        ] {
            let (segments, ends) = sent(sizes);
            for from in 0..ends.len() {
                for to in from..ends.len() {
                    assert_eq!(segments.between(ends[from], ends[to]), (to - from) as u32, "{sizes:?}: {from} to {to}");
                }
            }
        }
    }

    #[test]
    fn many_sizes_are_never_counted_too_high() {
        for run in 0..200 {
            let mut chance = Stream::new(run, 0, "segments");
            let mut draw = |limit: f64| (chance.uniform() * limit) as u32;
            let mut segments = Segments::new(draw(f64::from(u32::MAX)));
            let mut ends = alloc::vec![segments.end()];
            let (mut acknowledged, mut counted) = (0, 0);
            for _ in 0..2_000 {
                let size = [1_448, 1_448, 1_448, 1 + draw(9_000.0)][draw(4.0) as usize];
                // Now and then one that was lost before it passed here, or one that comes again.
                let seq = segments.end().wrapping_sub(if draw(20.0) == 0 { 100 } else { 0 });
                segments.send(seq, size, ends[acknowledged]);
                if segments.end() != ends[ends.len() - 1] {
                    ends.push(segments.end());
                }
                if draw(3.0) == 0 {
                    let to = (acknowledged + draw(12.0) as usize).min(ends.len() - 1);
                    let count = segments.between(ends[acknowledged], ends[to]);
                    assert!(count <= (to - acknowledged) as u32, "run {run}: {count} of {}", to - acknowledged);
                    assert_eq!(count == 0, to == acknowledged);
                    counted += count;
                    acknowledged = to;
                }
            }
            assert!(counted > acknowledged as u32 / 2, "run {run}: {counted} of {acknowledged}");
        }
    }

    #[test]
    fn a_segment_without_data_ahead_of_all_others_begins_no_run() {
        // What a keepalive, a reset or somebody else's acknowledgement with any sequence number looks like.
        for before in [&[][..], &[1_448], &[1_448, 300]] {
            let (mut segments, ends) = sent(before);
            let start = ends[0];
            segments.send(segments.end().wrapping_add(1_000), 0, start);
            segments.send(segments.end(), 1_448, start);
            let count = segments.between(start, segments.end());
            assert!((1..=before.len() as u32 + 2).contains(&count), "{before:?}: {count}");
        }
    }

    #[test]
    fn acknowledgements_between_the_segments_end_no_run() {
        let sizes = [1_448, 1_448, 500, 1_448, 1_448, 500, 9_000];
        let start = u32::MAX - 2_000;
        let mut segments = Segments::new(start);
        for size in sizes {
            segments.send(segments.end(), size, start);
            // The server acknowledges what it received meanwhile, or sends its last segment again.
            segments.send(segments.end(), 0, start);
            segments.send(segments.end().wrapping_sub(size), size, start);
        }
        assert_eq!(segments.between(start, segments.end()), sizes.len() as u32);
    }

    #[test]
    fn what_passed_elsewhere_counts_as_the_newest_run_does() {
        for (sizes, beyond, expected) in [(&[1_448; 3][..], 1_448, 4), (&[1_448, 300, 300], 600, 5)] {
            let (segments, ends) = sent(sizes);
            assert_eq!(segments.between(ends[0], segments.end().wrapping_add(beyond)), expected, "{sizes:?}");
        }
    }

    #[test]
    fn nothing_is_under_way_once_more_was_acknowledged_than_passed() {
        let (segments, ends) = sent(&[1_448, 300, 1_448]);
        let last = ends[3];
        for ahead in [0, 1, 5_000] {
            assert_eq!(segments.between(last.wrapping_add(ahead), segments.end()), 0);
        }
    }

    #[test]
    fn a_run_of_gigabytes_is_counted_to_its_end() {
        // Of one size from its first segment on, which more than half of the sequence numbers lie behind.
        let (mut segments, ends) = sent(&[1_448]);
        let mut acknowledged = ends[1];
        while segments.end().wrapping_sub(ends[0]) < u32::MAX - 10 * 65_160 {
            for _ in 0..45 {
                segments.send(segments.end(), 1_448, acknowledged);
            }
            assert_eq!(segments.between(acknowledged, segments.end()), 45);
            acknowledged = segments.end();
        }
        // Around all of the sequence numbers it is counted too low for once, but never as nothing.
        for _ in 0..20 {
            for _ in 0..45 {
                segments.send(segments.end(), 1_448, acknowledged);
            }
            let count = segments.between(acknowledged, segments.end());
            assert!((1..=45).contains(&count), "{count}");
            acknowledged = segments.end();
        }
    }
}
