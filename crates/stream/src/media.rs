//! Frames on their way to a viewer, with the bytes that the sender's queue does not see.

use std::collections::VecDeque;

use bytes::Bytes;
use tidemark_core::{BitRate, Instant};
use tidemark_senders::media::{EncodedFrame, Encoder, FrameSource};

/// Most frames whose packets are stored; the oldest are forgotten. The sender discards frames older than 200 ms.
const MAX_FRAMES: usize = 256;

/// A source of frames and their bytes.
pub trait Media: FrameSource {
    /// Takes the payload of the next packet of this frame, in the RTP format of H.264 (RFC 6184). Packets of earlier frames are dropped,
    /// because the sender has discarded them.
    fn payload(&mut self, frame: u64) -> Option<Bytes>;
    /// Asks for a key frame, because the viewer can't decode.
    fn refresh(&mut self);
    /// Makes the picture white for a moment, so that a viewer can measure the delay from a click to the picture.
    fn flash(&mut self) {}
    /// Stops the frames, so that everything sent can be reported to the last packet.
    fn pause(&mut self);
}

/// Packets of waiting frames, by frame number.
#[derive(Clone, Debug)]
pub(crate) struct Waiting<T>(VecDeque<(u64, VecDeque<T>)>);

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Waiting<T> {
    pub(crate) fn add(&mut self, frame: u64, packets: VecDeque<T>) {
        self.0.push_back((frame, packets));
        if self.0.len() > MAX_FRAMES {
            self.0.pop_front();
        }
    }

    /// Takes the next packet of a frame, and drops packets of earlier frames.
    pub(crate) fn next(&mut self, frame: u64) -> Option<T> {
        while self.0.front().is_some_and(|(number, packets)| *number < frame || packets.is_empty()) {
            self.0.pop_front();
        }
        self.0.front_mut().filter(|(number, _)| *number == frame)?.1.pop_front()
    }

    /// Number of packets of the newest frame.
    pub(crate) fn last(&self) -> impl Iterator<Item = &T> {
        self.0.back().into_iter().flat_map(|(_, packets)| packets)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Frames of an encoder model (TR 38.838). Their bytes are the frame's number and zeros, which no decoder accepts.
#[derive(Clone, Debug)]
pub struct Generated {
    encoder: Encoder,
    lengths: Waiting<u32>,
    is_paused: bool,
}

impl Generated {
    /// Takes the frames of `encoder`.
    pub fn new(encoder: Encoder) -> Self {
        Self { encoder, lengths: Waiting::default(), is_paused: false }
    }
}

/// NAL header of a slice in a reference picture (H.264 7.4.1).
const SLICE: u8 = 0x41;

impl FrameSource for Generated {
    fn set_rate(&mut self, now: Instant, rate: BitRate) {
        self.encoder.set_rate(now, rate);
    }
    fn next_frame(&self) -> Option<Instant> {
        self.encoder.next_frame().filter(|_| !self.is_paused)
    }
    fn poll_frame(&mut self, now: Instant) -> Option<EncodedFrame> {
        let frame = self.encoder.poll_frame(now).filter(|_| !self.is_paused)?;
        self.lengths.add(frame.number, self.encoder.payloads(&frame).collect());
        Some(frame)
    }
    fn request_key(&mut self) {
        self.lengths.clear();
        self.encoder.request_key();
    }
}

impl Media for Generated {
    fn payload(&mut self, frame: u64) -> Option<Bytes> {
        let mut payload = vec![0; self.lengths.next(frame)? as usize];
        let head: Vec<u8> = std::iter::once(SLICE).chain(frame.to_be_bytes()).collect();
        payload.iter_mut().zip(head).for_each(|(byte, of_head)| *byte = of_head);
        Some(payload.into())
    }
    fn refresh(&mut self) {
        self.encoder.request_key();
    }
    fn pause(&mut self) {
        self.is_paused = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_was_discarded_gives_no_payload() {
        let mut waiting = Waiting::default();
        for frame in 1..=3 {
            waiting.add(frame, [10 * frame, 10 * frame + 1].into());
        }
        assert_eq!(waiting.last().collect::<Vec<_>>(), [&30, &31]);
        assert_eq!(waiting.next(1), Some(10));
        // The rest of the first frame and the second one were discarded.
        assert_eq!([waiting.next(3), waiting.next(3), waiting.next(3)], [Some(30), Some(31), None]);
        assert!(waiting.next(1).is_none());
    }
}
