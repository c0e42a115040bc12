//! A model of a video encoder: the sizes of its frames follow a target rate with a delay and a random deviation.

use std::collections::VecDeque;

use tidemark_core::{BitRate, Bounded, Bytes, ConfigError, Duration, Instant, Range, Stream, bounds};

use crate::app::check_times;

/// Rate changes that may be on their way to the encoder.
const MAX_PENDING: usize = 1024;

const FRAME_RATE: Range<u32> = Range::between(1, 240).unit("frames a second");
const DELAY_BUDGET: Range<Duration> = Range::between(Duration::from_millis(1), Duration::from_secs(10));
const SATISFIED_AT: Range<f64> = Range::between(0.0, 1.0);

/// Delay budget of a flow's frames.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FrameBudget {
    /// Longest delay of a frame that is in time, without the time on the wire.
    pub delay: Duration,
    /// Share of the frames that have to be in time.
    pub share: f64,
    /// Frames a second.
    pub frame_rate: u32,
}

/// A video.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<VideoConfig>))]
pub struct VideoConfig {
    /// Begin of the stream, from the start of the run. Default 0 s.
    pub start: Duration,
    /// End, from the start of the run. Default: never.
    pub stop: Option<Duration>,
    /// Frames a second. Default 60.
    pub frame_rate: u32,
    /// Time that the encoder takes to follow a new rate. Default 50 ms, three frames.
    pub rate_delay: Duration,
    /// Standard deviation of frame sizes, as a share of the mean; sizes are cut at half and one and a half
    /// times the mean. Default 0.1 (TR 38.838 has 10.5 % for XR).
    pub size_deviation: f64,
    /// Frames from one key frame to the next. Default: only the first, as with intra refresh.
    pub key_interval: Option<u32>,
    /// Size of a key frame, as a multiple of the mean. The other frames are smaller, so that the mean stays. Default 3.
    pub key_size: f64,
    /// Standard deviation of the time at which a frame reaches the sender, around its nominal time. It is cut at two deviations on both
    /// sides. Default 0 s; 2 ms for the XR traffic of TR 38.838.
    pub jitter: Duration,
    /// Age of the oldest waiting data at which the sender drops everything that waits. Default 200 ms.
    pub discard_after: Duration,
    /// Longest time between the receiver's reports. Default: as the controller asks.
    pub report_interval: Option<Duration>,
    /// Delay budget of a frame, from its capture to the arrival of its last packet, without the time on the wire. Default 15 ms, as for
    /// cloud gaming in TR 38.838; 150 ms is the budget of a conversation (5QI 2).
    pub delay_budget: Duration,
    /// Share of the frames that have to meet `delay_budget` for a user to be satisfied. Default 0.99, the baseline of TR 38.838.
    pub satisfied_at: f64,
}

impl Default for VideoConfig {
    fn default() -> Self {
        Self {
            start: Duration::ZERO,
            stop: None,
            frame_rate: 60,
            rate_delay: Duration::from_millis(50),
            size_deviation: 0.1,
            key_interval: None,
            key_size: 3.0,
            jitter: Duration::ZERO,
            discard_after: Duration::from_millis(200),
            report_interval: None,
            delay_budget: Duration::from_millis(15),
            satisfied_at: 0.99,
        }
    }
}

bounds! { VideoConfig {
    frame_rate: FRAME_RATE,
    rate_delay: Range::at_most(Duration::from_secs(2)),
    size_deviation: Range::between(0.0, 0.5),
    key_size: Range::between(1.0, 50.0).unit("frames"),
    report_interval: Range::between(Duration::from_millis(1), Duration::from_secs(1)),
    delay_budget: DELAY_BUDGET,
    satisfied_at: SATISFIED_AT,
    ..start, stop, key_interval, jitter, discard_after
} }

impl VideoConfig {
    /// XR after TR 38.838: 60 frames a second, sizes with a standard deviation of 10.5 % of the mean, and jitter of
    /// 2 ms around each frame's own time. Its usual controller is a fixed rate of 30 Mbit/s.
    pub fn xr() -> Self {
        Self {
            size_deviation: 0.105,
            jitter: Duration::from_millis(2),
            delay_budget: Duration::from_millis(10),
            ..Self::default()
        }
    }

    /// Budget of its frames.
    pub(crate) fn frame_budget(&self) -> FrameBudget {
        FrameBudget { delay: self.delay_budget, share: self.satisfied_at, frame_rate: self.frame_rate }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        check_times(self.start, self.stop)?;
        self.check_bounds()?;
        if let Some(interval) = self.key_interval.filter(|interval| f64::from(*interval) <= self.key_size) {
            let right = format!("must be above key_size, {} frames", self.key_size);
            return Err(ConfigError::new("key_interval", right).found(interval));
        }
        let between_frames = Duration::from_nanos(1_000_000_000 / u64::from(self.frame_rate));
        if self.jitter * 4 > between_frames {
            let right = "must be at most a quarter of the time between frames, so that they keep their order";
            return Err(ConfigError::new("jitter", format!("{right}: {}", between_frames / 4)).found(self.jitter));
        }
        Ok(())
    }
}

/// XR after TR 38.838: 60 frames a second, whose sizes deviate by 10.5 % of the mean, cut at half and one and a half
/// means, and which come with jitter of 2 ms around each frame's own time, cut at 4 ms. The rate is the
/// controller's: 30 Mbit/s of a fixed one is the technical report's AR and VR.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<XrConfig>))]
pub struct XrConfig {
    /// Begin of the stream, from the start of the run. Default 0 s.
    pub start: Duration,
    /// End, from the start of the run. Default: never.
    pub stop: Option<Duration>,
    /// Frames a second. Default 60.
    pub frame_rate: u32,
    /// Delay budget of a frame, from its capture to the arrival of its last packet, without the time on the wire. Default 10 ms, with which
    /// studies after TR 38.838 evaluate AR and VR.
    pub delay_budget: Duration,
    /// Share of the frames that have to meet `delay_budget` for a user to be satisfied. Default 0.99, the baseline of TR 38.838.
    pub satisfied_at: f64,
}

impl Default for XrConfig {
    fn default() -> Self {
        let VideoConfig { start, stop, frame_rate, delay_budget, satisfied_at, .. } = VideoConfig::xr();
        Self { start, stop, frame_rate, delay_budget, satisfied_at }
    }
}

bounds! { XrConfig {
    frame_rate: FRAME_RATE,
    delay_budget: DELAY_BUDGET,
    satisfied_at: SATISFIED_AT,
    ..start, stop
} }

impl XrConfig {
    /// Configuration of the equivalent video.
    pub fn video(&self) -> VideoConfig {
        let Self { start, stop, frame_rate, delay_budget, satisfied_at } = *self;
        VideoConfig { start, stop, frame_rate, delay_budget, satisfied_at, ..VideoConfig::xr() }
    }
}

/// A frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EncodedFrame {
    /// Number, from 1.
    pub number: u64,
    /// Size in bytes.
    pub size: Bytes,
    /// Time of capture.
    pub captured: Instant,
}

/// The encoder.
#[derive(Clone, Debug)]
pub struct Encoder {
    config: VideoConfig,
    stream: Stream,
    interval: Duration,
    number: u64,
    since_key: u32,
    /// Draws the time from the earliest possible time to the next frame.
    late: Duration,
    /// The rate in effect, and those that will be.
    rate: BitRate,
    pending: VecDeque<(Instant, BitRate)>,
}

impl Encoder {
    /// An encoder at an initial rate.
    pub fn new(config: &VideoConfig, rate: BitRate, stream: Stream) -> Self {
        Self {
            interval: Duration::from_nanos(1_000_000_000 / u64::from(config.frame_rate.max(1))),
            config: config.clone(),
            stream,
            number: 0,
            since_key: 0,
            late: config.jitter * 2,
            rate,
            pending: VecDeque::new(),
        }
    }

    /// Asks for another rate.
    pub fn set_rate(&mut self, now: Instant, rate: BitRate) {
        let last = self.pending.back().map_or(self.rate, |(_, rate)| *rate);
        if rate != last && self.pending.len() < MAX_PENDING {
            self.pending.push_back((now + self.config.rate_delay, rate));
        }
    }

    /// The next frame's time; `None` after the end.
    pub fn next_frame(&self) -> Option<Instant> {
        let at = Instant::ZERO + self.config.start + self.interval * self.number + self.late;
        let stop = self.config.stop.map_or(Instant::FAR, |stop| Instant::ZERO + stop);
        (at < stop).then_some(at)
    }

    /// The frame whose time has come.
    pub fn poll_frame(&mut self, now: Instant) -> Option<EncodedFrame> {
        let captured = self.next_frame().filter(|at| *at <= now)?;
        while let Some((_, rate)) = self.pending.front().filter(|(at, _)| *at <= captured) {
            self.rate = *rate;
            self.pending.pop_front();
        }
        self.number += 1;
        self.late = self.draw_jitter();
        let mean = self.rate.as_bytes_per_sec() / f64::from(self.config.frame_rate);
        let size = mean * self.shape() * self.deviation();
        Some(EncodedFrame { number: self.number, size: Bytes((size as u64).max(1)), captured })
    }

    /// Mean size of this frame by its kind, in mean frames.
    fn shape(&mut self) -> f64 {
        let Some(interval) = self.config.key_interval else { return 1.0 };
        let is_key = self.since_key == 0;
        self.since_key = (self.since_key + 1) % interval;
        let others = (f64::from(interval) - self.config.key_size) / f64::from(interval - 1);
        if is_key { self.config.key_size } else { others }
    }

    /// Times lie around each frame's own: early frames wait less than twice the deviation, late ones more.
    fn draw_jitter(&mut self) -> Duration {
        // Nothing is drawn where nothing varies: the stream's other draws stay as they are.
        if self.config.jitter.is_zero() {
            return Duration::ZERO;
        }
        loop {
            let draw = self.stream.normal();
            // Drawn again beyond two deviations: no frame is so early or late.
            if (-2.0..=2.0).contains(&draw) {
                return self.config.jitter.mul_f64(2.0 + draw);
            }
        }
    }

    fn deviation(&mut self) -> f64 {
        // Nothing is drawn where nothing varies: the stream's other draws stay as they are.
        if self.config.size_deviation <= 0.0 {
            return 1.0;
        }
        loop {
            let draw = 1.0 + self.config.size_deviation * self.stream.normal();
            // Drawn again beyond a half: no frame is so small or large.
            if (0.5..=1.5).contains(&draw) {
                return draw;
            }
        }
    }

    /// Makes the next frame a key frame, because frames before it were discarded.
    pub fn request_key(&mut self) {
        self.since_key = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(config: &VideoConfig, seconds: u64) -> Vec<EncodedFrame> {
        let mut encoder = Encoder::new(config, BitRate::from_mbps(12), Stream::new(1, 0, "encoder"));
        let end = Instant::ZERO + Duration::from_secs(seconds);
        std::iter::from_fn(|| encoder.poll_frame(end)).take_while(|frame| frame.captured < end).collect()
    }

    #[test]
    fn the_mean_is_the_rate_and_the_deviation_the_one_asked_for() {
        for key_interval in [None, Some(30)] {
            let frames = encode(&VideoConfig { key_interval, ..VideoConfig::default() }, 300);
            assert_eq!(frames.len(), 18_001);
            let sizes: Vec<f64> = frames.iter().map(|frame| frame.size.as_f64()).collect();
            let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
            assert!((mean / 25_000.0 - 1.0).abs() < 0.01, "{mean}");
            if key_interval.is_none() {
                let variance = sizes.iter().map(|size| (size - mean) * (size - mean)).sum::<f64>() / sizes.len() as f64;
                assert!((variance.sqrt() / mean - 0.1).abs() < 0.005, "{variance}");
            } else {
                assert!(sizes[30] > 2.0 * mean && sizes[31] < mean * 1.4);
            }
        }
    }

    /// TR 38.838 5.1.1: the deviations are deviations, not variances, and jitter does not add up over frames.
    #[test]
    fn xr_has_its_statistics() {
        let frames = encode(&VideoConfig::xr(), 600);
        let count = frames.len() as f64;
        let mean = frames.iter().map(|frame| frame.size.as_f64()).sum::<f64>() / count;
        let variance =
            frames.iter().map(|frame| (frame.size.as_f64() - mean) * (frame.size.as_f64() - mean)).sum::<f64>() / count;
        assert!((mean / 25_000.0 - 1.0).abs() < 0.005 && (variance.sqrt() / mean - 0.105).abs() < 0.003);
        assert!(frames.iter().all(|frame| (0.5 * 25e3..=1.5 * 25e3).contains(&frame.size.as_f64())));
        let offsets: Vec<f64> = frames
            .iter()
            .map(|frame| frame.captured.as_nanos() as f64 * 1e-6 - (frame.number - 1) as f64 * 16.666_666 - 4.0)
            .collect();
        let offset = offsets.iter().sum::<f64>() / count;
        let jitter = (offsets.iter().map(|o| (o - offset) * (o - offset)).sum::<f64>() / count).sqrt();
        assert!(offsets.iter().all(|offset| offset.abs() <= 4.001));
        // A normal cut at two deviations has 0.8796 of its deviation.
        assert!(offset.abs() < 0.05 && (jitter / (2.0 * 0.8796) - 1.0).abs() < 0.02, "{offset} {jitter}");
    }

    #[test]
    fn a_new_rate_takes_its_time() {
        let config = VideoConfig { size_deviation: 0.0, ..VideoConfig::default() };
        let mut encoder = Encoder::new(&config, BitRate::from_mbps(12), Stream::new(1, 0, "encoder"));
        encoder.set_rate(Instant::ZERO, BitRate::from_mbps(24));
        let sizes: Vec<u64> =
            std::iter::from_fn(|| encoder.poll_frame(Instant::from_millis(70))).map(|frame| frame.size.0).collect();
        assert_eq!(
            sizes,
            [25_000, 25_000, 25_000, 25_000, 50_000],
            "frames at 0, 16.7, 33.3, 50.0 (just before) and 66.7 ms"
        );
    }
}
