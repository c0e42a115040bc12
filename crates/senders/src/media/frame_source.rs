//! The source of a stream's frames: the model of an encoder, or a real one.

use tidemark_core::{BitRate, Instant};

use super::MAX_PAYLOAD;
use super::encoder::{EncodedFrame, Encoder};

/// Frames at their times, whose sizes follow a rate. A source that works elsewhere has no time for its next frame: whoever drives the
/// sender then calls it when a frame has come.
pub trait FrameSource {
    /// Asks for another rate of media, headers left out.
    fn set_rate(&mut self, now: Instant, rate: BitRate);
    /// The next frame's time; `None` after the end, or where nobody can say it.
    fn next_frame(&self) -> Option<Instant>;
    /// The next frame that is there.
    fn poll_frame(&mut self, now: Instant) -> Option<EncodedFrame>;
    /// Bytes of media in each of the packets in which `frame`, the one polled last, leaves, [`MAX_PAYLOAD`] at the most. Without a format
    /// of its own all are of one size: the last one would else be tiny.
    fn payloads(&self, frame: &EncodedFrame) -> impl Iterator<Item = u32> + use<Self> {
        let size = frame.size.0 as u32;
        let packets = size.div_ceil(MAX_PAYLOAD);
        let mut remaining = size;
        (0..packets).map(move |index| {
            let len = remaining.div_ceil(packets - index);
            remaining -= len;
            len
        })
    }
    /// The next frame is a key frame, because frames before it were discarded.
    fn request_key(&mut self);
}

impl FrameSource for Encoder {
    fn set_rate(&mut self, now: Instant, rate: BitRate) {
        self.set_rate(now, rate);
    }
    fn next_frame(&self) -> Option<Instant> {
        self.next_frame()
    }
    fn poll_frame(&mut self, now: Instant) -> Option<EncodedFrame> {
        self.poll_frame(now)
    }
    fn request_key(&mut self) {
        self.request_key();
    }
}
