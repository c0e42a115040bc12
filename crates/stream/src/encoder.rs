//! The encoder of a moving picture or a video, in its own thread: a frame takes 5 to 22 ms, for which no packet may wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use openh264::OpenH264API;
use openh264::encoder::{
    BitRate as Bits, Complexity, Encoder, EncoderConfig, FrameRate, IntraFramePeriod, Profile, RateControlMode,
    UsageType,
};
use openh264::formats::YUVSource as _;
use openh264_sys2::{ENCODER_OPTION_BITRATE, ENCODER_OPTION_MAX_BITRATE, SBitrateInfo, SPATIAL_LAYER_0};
use rtc::rtp::codec::h264::H264Payloader;
use rtc::rtp::packetizer::Payloader as _;
use tidemark_core::{BitRate, Instant as Time};
use tidemark_senders::media::{EncodedFrame, FrameSource, MAX_PAYLOAD};

use crate::media::{Media, Waiting};
use crate::picture::{Pattern, Picture, Scene};
use crate::references::References;
use crate::strip::Strip;
use crate::video_file::{VideoFile, VideoReader};
use crate::wake::Wake;

/// Most frames that wait for the sender; with more, the encoder skips one.
const MAX_WAITING: usize = 8;
/// Rates, in bits per pixel of the full picture, below which the picture has half its width and height, and below which it also has half
/// its frame rate: 420 kbit/s and 140 kbit/s for 640x360 at 30 frames a second.
const HALF_SIZE: f64 = 0.06;
const HALF_RATE: f64 = 0.02;
/// A change back needs a rate higher by this factor.
const HYSTERESIS: f64 = 1.3;
/// Relative change of the rate above which the encoder is told.
const STEP: f64 = 0.02;

/// Largest size and frame rate of the picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Width in pixels, a multiple of 64.
    pub width: usize,
    /// Height in pixels, a multiple of 36.
    pub height: usize,
    /// Frames a second.
    pub frame_rate: u32,
}

impl Size {
    /// Size and frame rate for which `rate` is enough, given the present ones.
    fn at(self, rate: f64, present: Option<Self>) -> Self {
        let pixels = (self.width * self.height) as f64 * f64::from(self.frame_rate);
        let is_below = |bound: f64, is_now: bool| rate < pixels * bound * if is_now { HYSTERESIS } else { 1.0 };
        let (was_small, was_slow) =
            present.map_or((false, false), |now| (now.width < self.width, now.frame_rate < self.frame_rate));
        let (size, of_rate) =
            (1 + usize::from(is_below(HALF_SIZE, was_small)), 1 + u32::from(is_below(HALF_RATE, was_slow)));
        Self { width: self.width / size, height: self.height / size, frame_rate: self.frame_rate / of_rate }
    }
}

/// Requests of the sender, shared by both threads.
#[derive(Debug, Default)]
struct Wishes {
    /// Rate in bits per second; 0 until the viewer has connected.
    rate: AtomicU64,
    pause: AtomicBool,
    key: AtomicBool,
    flash: AtomicBool,
    end: AtomicBool,
}

/// An encoded frame.
struct Encoded {
    number: u64,
    drawn: Instant,
    payloads: Vec<Bytes>,
}

/// The frames of an encoder. Dropping it ends the thread.
pub struct Pictures {
    wishes: Arc<Wishes>,
    frames: Receiver<Encoded>,
    waiting: Waiting<Bytes>,
    thread: Option<JoinHandle<()>>,
}

impl Pictures {
    /// Starts an encoder of a moving picture, which wakes the thread that sends its frames and keeps pictures as references.
    ///
    /// # Errors
    /// The encoder can't be made.
    pub fn moving(size: Size, wake: Wake, references: Option<Arc<References>>) -> Result<Self, openh264::Error> {
        Self::start(size, Box::new(Pattern::default()), wake, references)
    }

    /// Starts an encoder of a video, scaled to the picture and cut to its shape, as [`moving`](Self::moving) does.
    ///
    /// # Errors
    /// The encoder can't be made.
    pub fn of_file(
        size: Size,
        file: VideoFile,
        wake: Wake,
        references: Option<Arc<References>>,
    ) -> Result<Self, openh264::Error> {
        Self::start(size, Box::new(VideoReader::new(file)), wake, references)
    }

    fn start(
        size: Size,
        scene: Box<dyn Scene>,
        wake: Wake,
        references: Option<Arc<References>>,
    ) -> Result<Self, openh264::Error> {
        let wishes = Arc::new(Wishes::default());
        let (to, frames) = sync_channel(MAX_WAITING);
        // Fail before a thread is started if an encoder can't be made at all.
        encoder(size, 1_000_000)?;
        let thread = Some(thread::spawn({
            let wishes = Arc::clone(&wishes);
            move || {
                let payloader = H264Payloader::default();
                Studio { size, scene, wishes, to, wake, references, number: 0, payloader }.run();
            }
        }));
        Ok(Self { wishes, frames, waiting: Waiting::default(), thread })
    }
}

impl Drop for Pictures {
    fn drop(&mut self) {
        self.wishes.end.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The panic message is on the terminal.
            let _ = thread.join();
        }
    }
}

impl FrameSource for Pictures {
    fn set_rate(&mut self, _: Time, rate: BitRate) {
        let was = self.wishes.rate.swap(rate.as_bps().max(1), Relaxed);
        if let Some(thread) = self.thread.as_ref().filter(|_| was == 0) {
            thread.thread().unpark();
        }
    }
    fn next_frame(&self) -> Option<Time> {
        None
    }
    fn poll_frame(&mut self, now: Time) -> Option<EncodedFrame> {
        if self.wishes.pause.load(Relaxed) {
            return None;
        }
        let Encoded { number, drawn, payloads } = self.frames.try_recv().ok()?;
        let size = payloads.iter().map(|payload| payload.len() as u64).sum();
        self.waiting.add(number, payloads.into());
        let age = tidemark_core::Duration::from_nanos(drawn.elapsed().as_nanos() as u64);
        Some(EncodedFrame { number, size: tidemark_core::Bytes(size), captured: now.before(age) })
    }
    fn payloads(&self, _: &EncodedFrame) -> impl Iterator<Item = u32> + use<> {
        self.waiting.last().map(|payload| payload.len() as u32).collect::<Vec<_>>().into_iter()
    }
    fn request_key(&mut self) {
        self.waiting.clear();
        self.refresh();
    }
}

impl Media for Pictures {
    fn payload(&mut self, frame: u64) -> Option<Bytes> {
        self.waiting.next(frame)
    }
    fn refresh(&mut self) {
        self.wishes.key.store(true, Relaxed);
    }
    fn flash(&mut self) {
        self.wishes.flash.store(true, Relaxed);
    }
    fn pause(&mut self) {
        self.wishes.pause.store(true, Relaxed);
    }
}

/// The thread's side.
struct Studio {
    size: Size,
    scene: Box<dyn Scene>,
    wishes: Arc<Wishes>,
    to: SyncSender<Encoded>,
    wake: Wake,
    references: Option<Arc<References>>,
    number: u64,
    payloader: H264Payloader,
}

impl Studio {
    fn run(mut self) {
        let mut present: Option<(Size, u64, Encoder, Picture)> = None;
        let mut next = Instant::now();
        while !self.wishes.end.load(Relaxed) {
            let rate = self.wishes.rate.load(Relaxed);
            if rate == 0 || self.wishes.pause.load(Relaxed) {
                thread::park();
                next = Instant::now();
                continue;
            }
            let size = self.size.at(rate as f64, present.as_ref().map(|(size, ..)| *size));
            if present.as_ref().is_none_or(|(was, ..)| *was != size) {
                let Ok(encoder) = encoder(size, rate) else { return };
                present = Some((size, rate, encoder, Picture::new(size.width, size.height)));
            }
            let Some((_, told, encoder, picture)) = &mut present else { return };
            if rate.abs_diff(*told) as f64 > STEP * *told as f64 {
                *told = rate;
                set_rate(encoder, rate);
            }
            if self.wishes.key.swap(false, Relaxed) {
                encoder.force_intra_frame();
            }
            if self.wishes.flash.swap(false, Relaxed) {
                picture.flash();
            }
            if !self.frame(encoder, picture) {
                return;
            }
            let interval = Duration::from_secs(1) / size.frame_rate;
            // Missed frames are not made up for.
            next = (next + interval).max(Instant::now());
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }

    /// Draws, encodes and hands over a frame; false once nobody takes it.
    fn frame(&mut self, encoder: &mut Encoder, picture: &mut Picture) -> bool {
        self.number += 1;
        let drawn = Instant::now();
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() / 100;
        picture.draw(&mut *self.scene, Strip { frame: self.number as u32, time: time as u32 });
        if let Some(references) = &self.references {
            let (width, height) = picture.dimensions();
            references.keep(self.number as u32, picture.y(), width, height);
        }
        // A frame that can't be encoded is left out, like one that the encoder skips to keep its rate.
        let Ok(stream) = encoder.encode(picture) else { return true };
        let payloads = self.payloader.payload(MAX_PAYLOAD as usize, &stream.to_vec().into()).unwrap_or_default();
        if payloads.is_empty() {
            return true;
        }
        match self.to.try_send(Encoded { number: self.number, drawn, payloads }) {
            Ok(()) => self.wake.wake(),
            // Later frames refer to the frame that is left out.
            Err(TrySendError::Full(_)) => self.wishes.key.store(true, Relaxed),
            Err(TrySendError::Disconnected(_)) => return false,
        }
        true
    }
}

fn encoder(size: Size, rate: u64) -> Result<Encoder, openh264::Error> {
    let config = EncoderConfig::new()
        .profile(Profile::Baseline)
        .usage_type(UsageType::CameraVideoRealTime)
        .complexity(Complexity::Low)
        .rate_control_mode(RateControlMode::Bitrate)
        // The encoder keeps the rate only with this.
        .skip_frames(true)
        .scene_change_detect(false)
        .background_detection(false)
        .adaptive_quantization(false)
        // Key frames only come on request.
        .intra_frame_period(IntraFramePeriod::from_num_frames(0))
        .max_frame_rate(FrameRate::from_hz(size.frame_rate as f32))
        .bitrate(Bits::from_bps(u32::try_from(rate).unwrap_or(u32::MAX)))
        .num_threads(1);
    let mut encoder = Encoder::with_api_config(OpenH264API::from_source(), config)?;
    // The encoder knows its size and takes a rate only after its first picture.
    encoder.encode(&Picture::new(size.width, size.height))?;
    set_rate(&mut encoder, rate);
    encoder.force_intra_frame();
    Ok(encoder)
}

/// Tells the encoder a new rate; if it refuses, the old rate stays.
#[allow(unsafe_code)]
fn set_rate(encoder: &mut Encoder, rate: u64) {
    let mut info = SBitrateInfo { iLayer: SPATIAL_LAYER_0, iBitrate: i32::try_from(rate).unwrap_or(i32::MAX) };
    for option in [ENCODER_OPTION_MAX_BITRATE, ENCODER_OPTION_BITRATE] {
        // SAFETY: both options take a pointer to SBitrateInfo, which lives through the call (codec_app_def.h), and the encoder has been
        // initialised by its first picture.
        unsafe { encoder.raw_api().set_option(option, (&raw mut info).cast()) };
    }
}

#[cfg(test)]
mod tests {
    use openh264::decoder::Decoder;
    use openh264::formats::YUVSource as _;

    use super::*;

    const SIZE: Size = Size { width: 640, height: 360, frame_rate: 30 };

    #[test]
    fn the_encoder_follows_its_rate_and_the_strip_survives_it() {
        let mut encoder = encoder(SIZE, 400_000).unwrap();
        let (mut picture, mut pattern) = (Picture::new(SIZE.width, SIZE.height), Pattern::default());
        let mut decoder = Decoder::new().unwrap();
        for (rate, first) in [(400_000, 1_u32), (2_000_000, 91)] {
            set_rate(&mut encoder, rate);
            let (mut bits, mut read) = (0, 0);
            for frame in first..first + 90 {
                picture.draw(&mut pattern, Strip { frame, time: frame * 333 });
                let stream = encoder.encode(&picture).unwrap().to_vec();
                // The rate is reached after a second.
                bits += if frame >= first + 30 { 8 * stream.len() } else { 0 };
                let Ok(Some(shown)) = decoder.decode(&stream) else { continue };
                let strip = Strip::read(shown.y(), shown.strides().0, SIZE.width, SIZE.height);
                assert_eq!(strip, Some(Strip { frame, time: frame * 333 }), "at {rate}");
                read += 1;
            }
            let measured = bits as f64 / 2.0;
            assert!(read > 30 && (0.5..1.3).contains(&(measured / rate as f64)), "{measured} for {rate}, {read} read");
        }
    }

    #[test]
    fn a_low_rate_has_a_small_picture_and_few_frames() {
        let sizes = [1_000_000.0, 500_000.0, 400_000.0, 500_000.0, 100_000.0, 170_000.0, 200_000.0, 600_000.0];
        let mut present = None;
        let chosen = sizes.map(|rate| {
            let size = SIZE.at(rate, present);
            present = Some(size);
            (size.width, size.frame_rate)
        });
        let (whole, small, slow) = ((640, 30), (320, 30), (320, 15));
        assert_eq!(chosen, [whole, whole, small, small, slow, slow, small, whole]);
    }

    #[test]
    fn frames_come_once_a_rate_is_asked_for_and_the_thread_ends() {
        let mut pictures = Pictures::moving(SIZE, Wake::new().unwrap(), None).unwrap();
        thread::sleep(Duration::from_millis(100));
        assert!(pictures.poll_frame(Time::from_millis(100)).is_none(), "nobody watches");
        pictures.set_rate(Time::from_millis(100), BitRate::from_mbps(1));
        let deadline = Instant::now() + Duration::from_secs(20);
        let frame = loop {
            if let Some(frame) = pictures.poll_frame(Time::from_millis(500)) {
                break frame;
            }
            assert!(Instant::now() < deadline);
            thread::sleep(Duration::from_millis(5));
        };
        let lengths: Vec<u32> = pictures.payloads(&frame).collect();
        assert_eq!(lengths.iter().map(|length| u64::from(*length)).sum::<u64>(), frame.size.0);
        assert!(lengths.iter().all(|length| *length <= MAX_PAYLOAD) && frame.captured < Time::from_millis(500));
        for length in lengths {
            assert_eq!(pictures.payload(frame.number).unwrap().len(), length as usize);
        }
    }
}
