//! Frames in packets, waiting to be sent.

use std::collections::VecDeque;

use tidemark_core::{Duration, Instant};

use super::encoder::EncodedFrame;
use crate::payload::FramePart;

/// Packets of the queue; more are discarded with it.
const MAX_PACKETS: usize = 1 << 14;

/// Parts of frames in order; true with the last of a frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    parts: VecDeque<(FramePart, bool)>,
}

impl Queue {
    /// Adds a frame in packets with these numbers of bytes of media.
    pub(super) fn add(&mut self, frame: &EncodedFrame, payloads: impl Iterator<Item = u32>) {
        let size = frame.size.0 as u32;
        let mut remaining = size;
        for len in payloads {
            remaining = remaining.saturating_sub(len);
            let part = FramePart { number: frame.number, size, len, captured: frame.captured };
            self.parts.push_back((part, remaining == 0));
        }
    }

    /// Time for which the oldest data has waited.
    pub(super) fn delay(&self, now: Instant) -> Duration {
        self.parts.front().map_or(Duration::ZERO, |(part, _)| now.since(part.captured))
    }

    /// True with more packets than are kept.
    pub(super) fn is_overfull(&self) -> bool {
        self.parts.len() > MAX_PACKETS
    }

    /// True without a packet.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Next packet, which stays.
    #[inline]
    pub(super) fn front(&self) -> Option<&FramePart> {
        self.parts.front().map(|(part, _)| part)
    }

    /// Takes the next packet; true with it for the last of its frame.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(FramePart, bool)> {
        self.parts.pop_front()
    }

    /// Discards everything, and gives the number of frames of which the end was discarded.
    pub(super) fn discard(&mut self) -> u64 {
        let ends = self.parts.iter().filter(|(_, is_last)| *is_last).count();
        self.parts.clear();
        ends as u64
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{BitRate, Bytes, Stream};

    use super::super::encoder::{Encoder, VideoConfig};
    use super::super::frame_source::FrameSource as _;
    use super::*;

    #[test]
    fn a_frame_becomes_packets_of_one_size() {
        let mut queue = Queue::default();
        let video = VideoConfig::default();
        let encoder = Encoder::new(&video, BitRate::from_mbps(1), Stream::new(1, 0, "encoder"));
        let frame = EncodedFrame { number: 1, size: Bytes(2500), captured: Instant::from_millis(5) };
        queue.add(&frame, encoder.payloads(&frame));
        assert_eq!(queue.delay(Instant::from_millis(7)), Duration::from_millis(2));
        let parts: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(part, is_last)| (part.len, is_last)).collect();
        assert_eq!(parts, [(834, false), (833, false), (833, true)]);
    }

    #[test]
    fn what_is_discarded_counts_by_frames() {
        let mut queue = Queue::default();
        for number in 1..=2 {
            queue.add(&EncodedFrame { number, size: Bytes(2400), captured: Instant::ZERO }, [1200; 2].into_iter());
        }
        queue.pop();
        assert_eq!(queue.discard(), 2);
        assert!(queue.is_empty());
    }
}
