//! The source of a stream's frames: the model of an encoder, or a real one.

use tidemark_core::{BitRate, Instant};

use super::MAX_PAYLOAD;
use super::encoder::{EncodedFrame, Encoder};

/// Frames whose sizes follow a rate. A source outside of this program can't tell the time of its next frame: the driver
/// then calls the sender when a frame has come.
pub trait FrameSource {
    /// Asks for another rate of media, headers left out.
    fn set_rate(&mut self, now: Instant, rate: BitRate);
    /// The next frame's time; `None` after the end, or if the time is not known.
    fn next_frame(&self) -> Option<Instant>;
    /// The next frame, if one is there.
    fn poll_frame(&mut self, now: Instant) -> Option<EncodedFrame>;
    /// Bytes of media in each packet of `frame`, the frame polled last; at most [`MAX_PAYLOAD`]. By default all packets
    /// have the same size, since otherwise the last one could be tiny.
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
    /// Makes the next frame a key frame, because frames before it were discarded.
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
