//! Puts frames together at the receiver.

use std::collections::VecDeque;

use tidemark_core::{Bytes, Instant};

use crate::endpoint::FrameArrival;
use crate::payload::FramePart;

/// Frames that may be incomplete at the same time; the oldest is given up.
const MAX_FRAMES: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Frame {
    number: u64,
    missing: u32,
}

/// Frames under way, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assembly {
    frames: VecDeque<Frame>,
    arrived: VecDeque<FrameArrival>,
    /// Frames that arrived whole, and the number of frames that have been begun.
    whole: u64,
    newest: u64,
}

impl Assembly {
    /// A part of a frame arrives, never twice.
    pub(crate) fn on_part(&mut self, now: Instant, part: &FramePart) {
        let index = match self.frames.binary_search_by_key(&part.number, |frame| frame.number) {
            Ok(index) => index,
            Err(index) => {
                if part.number < self.newest.saturating_sub(MAX_FRAMES as u64) {
                    return;
                }
                self.frames.insert(index, Frame { number: part.number, missing: part.size });
                index
            }
        };
        self.newest = self.newest.max(part.number);
        self.frames[index].missing = self.frames[index].missing.saturating_sub(part.len);
        if self.frames[index].missing == 0 {
            self.frames.remove(index);
            self.whole += 1;
            let delay = now.since(part.captured);
            self.arrived.push_back(FrameArrival {
                number: part.number,
                size: Bytes(u64::from(part.size)),
                captured: part.captured,
                delay,
            });
        }
        if self.frames.len() > MAX_FRAMES {
            self.frames.pop_front();
        }
        if self.arrived.len() > MAX_FRAMES {
            self.arrived.pop_front();
        }
    }

    pub(crate) fn take(&mut self) -> Option<FrameArrival> {
        self.arrived.pop_front()
    }

    /// Frames that arrived whole.
    pub(crate) fn whole(&self) -> u64 {
        self.whole
    }

    /// Frames that did not although later ones have begun.
    pub(crate) fn broken(&self) -> u64 {
        let under_way = u64::from(self.frames.back().is_some_and(|frame| frame.number == self.newest));
        self.newest - self.whole.min(self.newest) - under_way
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Duration;

    use super::*;

    fn part(number: u64, size: u32, len: u32) -> FramePart {
        FramePart { number, size, len, captured: Instant::from_millis(number * 10) }
    }

    #[test]
    fn a_frame_is_whole_with_its_last_part_in_any_order() {
        let mut assembly = Assembly::default();
        assembly.on_part(Instant::from_millis(30), &part(2, 2000, 1000));
        assembly.on_part(Instant::from_millis(31), &part(1, 1500, 1000));
        assert_eq!(assembly.take(), None);
        assembly.on_part(Instant::from_millis(35), &part(2, 2000, 1000));
        let arrival = assembly.take().unwrap();
        assert_eq!((arrival.number, arrival.size, arrival.delay), (2, Bytes(2000), Duration::from_millis(15)));
        assert_eq!((assembly.whole(), assembly.broken()), (1, 1));
        assembly.on_part(Instant::from_millis(36), &part(1, 1500, 500));
        assert_eq!((assembly.whole(), assembly.broken()), (2, 0));
    }

    #[test]
    fn what_never_completes_is_forgotten() {
        let mut assembly = Assembly::default();
        for number in 1..100_000 {
            assembly.on_part(Instant::ZERO, &part(number, 1000, 10));
        }
        assert!(assembly.frames.len() <= MAX_FRAMES);
        assert_eq!((assembly.whole(), assembly.broken()), (0, 99_998));
    }
}
