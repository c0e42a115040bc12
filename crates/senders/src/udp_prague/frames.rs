//! Frames of UDP Prague's real-time mode: when they begin, what is left of the present one, and how many are in flight.

use std::collections::VecDeque;

use tidemark_core::{Duration, Instant};

use crate::payload::FramePart;

/// Smallest packet, and smallest remainder of a frame, in bytes.
const MIN_PACKET: u32 = 150;
/// Packets whose fate is remembered, for the count of frames in flight.
const MAX_PENDING: usize = 65_536;

/// A frame that is being sent or has been.
#[derive(Clone, Copy, Debug)]
struct Frame {
    pending: u32,
    sent_whole: bool,
    lost: bool,
    counted: bool,
}

/// Frames at a frame rate.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    interval: Duration,
    /// The next frame's time; its number follows from it.
    next: Instant,
    /// The frame that is being sent: its number, size, time, and what is left of it.
    current: Option<(u64, u32, Instant, u32)>,
    /// Frames from `first` on, and packets from `first_packet` on with the frame that each belongs to.
    frames: VecDeque<Frame>,
    first: u64,
    packets: VecDeque<Option<u64>>,
    first_packet: u64,
    in_flight: u64,
    skipped: u64,
}

impl Frames {
    /// Frames from `start` on.
    pub(super) fn new(interval: Duration, start: Instant) -> Self {
        Self {
            interval,
            next: start,
            current: None,
            frames: VecDeque::new(),
            first: 1,
            packets: VecDeque::new(),
            first_packet: 1,
            in_flight: 0,
            skipped: 0,
        }
    }

    /// Moves the first frame to the time at which the path is open.
    pub(super) fn open(&mut self, now: Instant) {
        self.next = self.next.max(now);
    }

    /// Time of the next frame.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// True while a frame is being sent.
    pub(super) fn is_begun(&self) -> bool {
        self.current.is_some()
    }

    /// Number of frames of which something is in flight.
    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Number of frames that have begun.
    pub(super) fn begun(&self) -> u64 {
        self.first + self.frames.len() as u64 - 1
    }

    /// Number of frames whose time passed unused.
    pub(super) fn skipped(&self) -> u64 {
        self.skipped
    }

    fn get(&mut self, number: u64) -> Option<&mut Frame> {
        self.frames.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// Begins the frame whose time has come, of `size` bytes.
    pub(super) fn begin(&mut self, now: Instant, size: u32) {
        // Frames whose time has passed are not made up for.
        let late = now.since(self.next).as_nanos() / self.interval.as_nanos().max(1);
        let captured = self.next + self.interval * late;
        self.skipped += late;
        self.next = captured + self.interval;
        let number = self.first + self.frames.len() as u64;
        self.frames.push_back(Frame { pending: 0, sent_whole: false, lost: false, counted: true });
        self.in_flight += 1;
        self.current = Some((number, size, captured, size));
    }

    /// Takes a part of at most `packet` bytes from the current frame.
    pub(super) fn take(&mut self, packet: u32) -> Option<FramePart> {
        let (number, size, captured, left) = self.current?;
        // No rest smaller than the smallest packet.
        let len = if left <= packet { left } else { packet.min(left.saturating_sub(MIN_PACKET).max(MIN_PACKET)) };
        let left = left - len;
        self.current = (left > 0).then_some((number, size, captured, left));
        // A frame is over when its last packet is settled, and not when it is sent.
        if let Some(frame) = self.get(number) {
            frame.pending += 1;
            frame.sent_whole = left == 0;
        }
        self.packets.push_back(Some(number));
        // What was never reported must not be remembered for ever.
        if self.packets.len() > MAX_PENDING {
            self.packets.pop_front();
            self.first_packet += 1;
        }
        Some(FramePart { number, size, len, captured })
    }

    /// A packet arrived or is held for lost.
    pub(super) fn settle(&mut self, seq: u64, lost: bool) {
        // It was settled, and forgotten with all before it.
        let Some(index) = seq.checked_sub(self.first_packet).and_then(|index| usize::try_from(index).ok()) else {
            return;
        };
        // A packet is settled once, whatever later reports say.
        let Some(number) = self.packets.get_mut(index).and_then(Option::take) else { return };
        if let Some(frame) = self.get(number) {
            frame.pending -= 1;
            frame.lost |= lost;
            let done = frame.lost || frame.sent_whole && frame.pending == 0;
            // The frame leaves the flight once: by its first loss or its last arrival.
            if done && std::mem::take(&mut frame.counted) {
                self.in_flight -= 1;
            }
        }
        // Numbers below are all settled.
        while self.packets.front().is_some_and(Option::is_none) {
            self.packets.pop_front();
            self.first_packet += 1;
        }
        // Frames are forgotten in their order.
        while self.frames.front().is_some_and(|frame| frame.sent_whole && frame.pending == 0) {
            self.frames.pop_front();
            self.first += 1;
        }
    }

    /// Takes an acknowledgement of packet `seq`, with `newly_lost` packets before it held for lost.
    pub(super) fn acknowledge(&mut self, seq: u64, newly_lost: u64) {
        self.settle(seq, false);
        for lost in seq.saturating_sub(newly_lost).max(self.first_packet)..seq {
            self.settle(lost, true);
        }
        // The receiver counts each number up to its highest as received or lost, so that a later
        // acknowledgement speaks for those that were themselves lost.
        while self.first_packet < seq && !self.packets.is_empty() {
            self.settle(self.first_packet, false);
        }
    }

    /// Holds every packet for lost.
    pub(super) fn lose_all(&mut self) {
        while !self.packets.is_empty() {
            self.settle(self.first_packet, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames() -> Frames {
        Frames::new(Duration::from_millis(10), Instant::from_millis(5))
    }

    #[test]
    fn a_frame_leaves_no_part_below_the_smallest_packet() {
        let mut frames = frames();
        frames.begin(Instant::from_millis(5), 1250);
        let parts: Vec<u32> = std::iter::from_fn(|| frames.take(1200)).map(|part| part.len).collect();
        assert_eq!(parts, [1100, 150]);
        assert!(!frames.is_begun());
    }

    #[test]
    fn a_frame_is_in_flight_until_all_of_it_has_arrived_or_a_part_is_lost() {
        let mut frames = frames();
        for frame in 0..2 {
            frames.begin(Instant::from_millis(5 + 10 * frame), 2000);
            while frames.take(1000).is_some() {}
        }
        assert_eq!((frames.begun(), frames.in_flight()), (2, 2));
        frames.acknowledge(1, 0);
        assert_eq!(frames.in_flight(), 2, "half of the first has arrived");
        frames.acknowledge(2, 0);
        assert_eq!(frames.in_flight(), 1);
        frames.acknowledge(4, 1);
        assert_eq!(frames.in_flight(), 0);
    }

    #[test]
    fn frames_whose_time_has_passed_are_skipped() {
        let mut frames = frames();
        frames.begin(Instant::from_millis(27), 100);
        assert_eq!((frames.skipped(), frames.next()), (2, Instant::from_millis(35)));
    }
}
