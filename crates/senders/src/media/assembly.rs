//! Puts frames together at the receiver.

use std::collections::VecDeque;

use tidemark_core::{Bytes, Duration, Instant};

use super::freeze::Freezes;
use crate::endpoint::{FrameArrival, Stats};
use crate::payload::FramePart;

/// Frames that may be incomplete at the same time; the oldest is given up.
const MAX_FRAMES: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Frame {
    number: u64,
    missing: u32,
}

/// Frames under way, in the order of their numbers.
#[derive(Clone, Debug)]
pub(crate) struct Assembly {
    frames: VecDeque<Frame>,
    arrived: VecDeque<FrameArrival>,
    /// Frames that arrived whole, and the number of frames that have been begun.
    whole: u64,
    newest: u64,
    /// The least time that a packet was under way.
    propagation: Duration,
    freezes: Freezes,
}

impl Default for Assembly {
    fn default() -> Self {
        Self {
            frames: VecDeque::new(),
            arrived: VecDeque::new(),
            whole: 0,
            newest: 0,
            propagation: Duration::MAX,
            freezes: Freezes::default(),
        }
    }
}

impl Assembly {
    /// A part of a frame, sent at `sent_at`, arrives, never twice.
    pub(crate) fn on_part(&mut self, now: Instant, sent_at: Instant, part: &FramePart) {
        self.propagation = self.propagation.min(now.since(sent_at));
        let index = match self.frames.binary_search_by_key(&part.number, |frame| frame.number) {
            Ok(index) => index,
            Err(index) => {
                // Its frame was given up: the part would begin it anew.
                if part.number < self.newest.saturating_sub(MAX_FRAMES as u64) {
                    return;
                }
                self.frames.insert(index, Frame { number: part.number, missing: part.size });
                index
            }
        };
        self.newest = self.newest.max(part.number);
        self.frames[index].missing = self.frames[index].missing.saturating_sub(part.len);
        // The last missing part makes the frame whole, in whatever order they came.
        if self.frames[index].missing == 0 {
            self.frames.remove(index);
            self.whole += 1;
            let frozen = self.freezes.on_frame(now, part.number);
            self.arrived.push_back(FrameArrival {
                number: part.number,
                size: Bytes(u64::from(part.size)),
                captured: part.captured,
                delay: now.since(part.captured),
                sender_queue: sent_at.since(part.captured),
                network_queue: now.since(sent_at) - self.propagation,
                propagation: self.propagation,
                frozen,
            });
        }
        // A frame that lost a packet would wait for ever.
        if self.frames.len() > MAX_FRAMES {
            self.frames.pop_front();
        }
        // Nobody asks for them.
        if self.arrived.len() > MAX_FRAMES {
            self.arrived.pop_front();
        }
    }

    pub(crate) fn take(&mut self) -> Option<FrameArrival> {
        self.arrived.pop_front()
    }

    /// `stats` with what has become of the frames.
    pub(crate) fn stats(&self, stats: Stats) -> Stats {
        Stats {
            frames_received: self.whole,
            frames_lost: self.broken(),
            freezes: self.freezes.freezes,
            frozen: self.freezes.frozen,
            ..stats
        }
    }

    /// Frames that did not arrive whole although later ones have begun.
    fn broken(&self) -> u64 {
        let under_way = u64::from(self.frames.back().is_some_and(|frame| frame.number == self.newest));
        self.newest - self.whole.min(self.newest) - under_way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(number: u64, size: u32, len: u32) -> FramePart {
        FramePart { number, size, len, captured: Instant::from_millis(number * 10) }
    }

    #[test]
    fn a_frame_is_whole_with_its_last_part_in_any_order() {
        let mut assembly = Assembly::default();
        assembly.on_part(Instant::from_millis(30), Instant::from_millis(25), &part(2, 2000, 1000));
        assembly.on_part(Instant::from_millis(31), Instant::from_millis(29), &part(1, 1500, 1000));
        assert_eq!(assembly.take(), None);
        assembly.on_part(Instant::from_millis(35), Instant::from_millis(27), &part(2, 2000, 1000));
        let arrival = assembly.take().unwrap();
        assert_eq!((arrival.number, arrival.size, arrival.delay), (2, Bytes(2000), Duration::from_millis(15)));
        // Captured at 20 ms, sent at 27 ms, 8 ms under way of which the fastest packet took 2 ms.
        let parts = [arrival.sender_queue, arrival.network_queue, arrival.propagation];
        assert_eq!(parts, [7, 6, 2].map(Duration::from_millis));
        assert_eq!((assembly.whole, assembly.broken()), (1, 1));
        assembly.on_part(Instant::from_millis(36), Instant::from_millis(28), &part(1, 1500, 500));
        assert_eq!((assembly.whole, assembly.broken()), (2, 0));
    }

    #[test]
    fn what_never_completes_is_forgotten() {
        let mut assembly = Assembly::default();
        for number in 1..100_000 {
            assembly.on_part(Instant::ZERO, Instant::ZERO, &part(number, 1000, 10));
        }
        assert!(assembly.frames.len() <= MAX_FRAMES);
        assert_eq!((assembly.whole, assembly.broken()), (0, 99_998));
    }
}
