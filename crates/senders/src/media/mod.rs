//! Real-time media: an encoder with an adjustable rate, RTP with a report on every packet, and the controllers that
//! answer these reports with a rate.

mod al4s;
mod anbr;
mod assembly;
mod bleaching;
mod elapsed;
mod encoder;
mod fixed;
mod frame_source;
mod freeze;
mod gcc;
mod history;
mod l4s_cc;
mod prague;
mod prober;
mod queue;
mod receiver;
mod round_trip;
mod scream;
mod sdn_l4s;
mod sdn_l4s_tcp;
mod sdn_rule;
mod sender;
mod stream_hint;
mod wakes;

use tidemark_core::{BitRate, Bounded, Bytes, ConfigError, Duration, Ecn, Instant, Range, bounds};

pub use al4s::{Al4s, Al4sConfig, Al4sGrowth, Al4sHint, Al4sHintConfig, MarkingScheme};
pub use anbr::{Anbr, AnbrConfig, AnbrPrague, AnbrRule};
pub(crate) use assembly::Assembly;
pub use encoder::{EncodedFrame, Encoder, FrameBudget, VideoConfig, XrConfig};
pub use fixed::{Fixed, FixedConfig};
pub use frame_source::FrameSource;
pub use gcc::{Gcc, GccConfig, GccLosses};
pub use l4s_cc::{L4sCc, L4sCcConfig};
pub use prague::{PragueVideo, PragueVideoConfig};
pub use receiver::Receiver;
pub use scream::{
    Scream, Scream2021, Scream2021Config, ScreamConfig, ScreamHint, ScreamHintConfig, ScreamV1, ScreamV1Config,
};
pub use sdn_l4s::{SdnL4s, SdnL4sConfig};
pub use sender::Sender;

/// Largest number of bytes of media in a packet.
pub const MAX_PAYLOAD: u32 = 1200;

/// Fate of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketResult {
    /// Number.
    pub seq: u64,
    /// Size of the IP packet.
    pub size: Bytes,
    /// Time of sending.
    pub sent_at: Instant,
    /// Time of arrival, as exact as in the report; `None` if the packet is considered lost.
    pub received_at: Option<Instant>,
    /// ECN field on arrival.
    pub ecn: Ecn,
    /// The probe that it was part of.
    pub probe: Option<u32>,
}

/// A cluster of packets that a controller wants sent at a rate of its own, to find out whether the path carries it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Probe {
    /// Number.
    pub id: u32,
    /// The rate of its packets.
    pub rate: BitRate,
    /// Least number of bytes in its packets.
    pub size: Bytes,
    /// Least number of packets.
    pub packets: u32,
}

/// A report, as a controller reads it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Feedback<'a> {
    /// Time of arrival.
    pub now: Instant,
    /// Packets whose fate it reports for the first time, in the order in which they were sent.
    pub results: &'a [PacketResult],
    /// Round-trip time of the packet among them that was sent last, without the receiver's delay.
    pub rtt: Option<Duration>,
    /// IP bytes sent and not yet reported.
    pub in_flight: Bytes,
    /// Packets sent so far.
    pub sent: u64,
    /// Packets sent whose fate is unknown and may still be reported.
    pub outstanding: u64,
}

impl Feedback<'_> {
    /// Bytes that arrived, and those among them that arrived with CE.
    pub fn delivered(&self) -> (Bytes, Bytes) {
        let arrived = self.results.iter().filter(|result| result.received_at.is_some());
        arrived.fold((Bytes::ZERO, Bytes::ZERO), |(all, marked), result| {
            (all + result.size, if result.ecn == Ecn::Ce { marked + result.size } else { marked })
        })
    }
    /// Packets that arrived, those among them with CE, and those considered lost.
    pub fn counts(&self) -> (u32, u32, u32) {
        self.results.iter().fold((0, 0, 0), |(arrived, marked, lost), result| match result.received_at {
            Some(_) => (arrived + 1, marked + u32::from(result.ecn == Ecn::Ce), lost),
            None => (arrived, marked, lost + 1),
        })
    }
}

/// Form in which reports are carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportFormat {
    /// RFC 8888: arrival times to 1/1024 s, and ECN.
    Ccfb,
    /// Transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01): to 250 us, no ECN.
    TransportWide,
}

/// Times at which a receiver reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReportPolicy {
    /// Form of the reports.
    pub format: ReportFormat,
    /// Longest time from the first unreported packet to the report.
    pub interval: Duration,
    /// Number of packets after which a report leaves.
    pub packets: u32,
    /// True if a report leaves after the last packet of a frame.
    pub on_marker: bool,
}

impl ReportPolicy {
    /// Once a frame, in reports of RFC 8888; after `interval` where the frame's last packet is lost.
    const fn each_frame(interval: Duration) -> Self {
        Self { format: ReportFormat::Ccfb, interval, packets: u32::MAX, on_marker: true }
    }
}

/// One controller of a media stream. Rates are those of IP packets.
pub trait MediaController {
    /// Times and form of the reports that the controller wants from the receiver.
    fn report_policy(&self) -> ReportPolicy;
    /// A report arrived.
    fn on_feedback(&mut self, feedback: &Feedback<'_>);
    /// The access network recommends a rate: to this end, or to the receiver, which passed it on in a report.
    fn on_recommendation(&mut self, _now: Instant, _rate: BitRate) {}
    /// The encoder made a frame of this many bytes; the oldest data in the sender's queue has waited for `queued`.
    fn on_frame(&mut self, _now: Instant, _size: Bytes, _queued: Duration) {}
    /// A packet left.
    fn on_sent(&mut self, _now: Instant, _size: Bytes) {}
    /// The next probe to send, of a controller that probes; called after frames and reports.
    fn take_probe(&mut self) -> Option<Probe> {
        None
    }
    /// Answers a second without a report although packets are under way.
    fn on_silence(&mut self, now: Instant);
    /// The rate asked of the encoder.
    fn target_rate(&self) -> BitRate;
    /// The rate at which packets leave.
    fn pacing_rate(&self) -> BitRate;
    /// Interval at which the sender wakes up and sends packets; `None` if each packet has a time of its own.
    fn wake_interval(&self) -> Option<Duration> {
        None
    }
    /// Bytes that may be in flight, for a controller that limits them.
    fn window(&self) -> Option<Bytes> {
        None
    }
    /// The codepoint of its packets.
    fn ecn(&self) -> Ecn;
    /// The estimated share of marked packets, of a controller that keeps one.
    fn alpha(&self) -> Option<f64> {
        None
    }
}

/// Bounds of pacing as a multiple of the target rate: at less than one, more would come than leaves.
const PACING: Range<f64> = Range::between(1.0, 10.0).unit("times the target rate");

/// Pacing where a paper gives none: with frames that deviate by a tenth of their mean, most leave within their interval, and the
/// network gets no bursts that a controller would mistake for congestion.
const PACED: f64 = 1.1;

/// Rates between which a media controller moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<RateLimits>))]
pub struct RateLimits {
    /// Lowest target rate. Default 2 Mbit/s.
    pub min: BitRate,
    /// Target rate at the start. Default 2 Mbit/s.
    pub initial: BitRate,
    /// Highest target rate. Default 70 Mbit/s.
    pub max: BitRate,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self { min: BitRate::from_mbps(2), initial: BitRate::from_mbps(2), max: BitRate::from_mbps(70) }
    }
}

bounds! { RateLimits {
    min: Range::above(BitRate::ZERO),
    ..initial, max
} }

impl RateLimits {
    /// Checks that the limits are in order.
    ///
    /// # Errors
    /// The field that cannot be used, with what would be right.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check().map_err(|error| error.within("rates"))
    }
    fn check(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        let Self { min, initial, max } = self;
        if min > initial || initial > max {
            let right = format!("must lie between min, {min}, and max, {max}");
            return Err(ConfigError::new("initial", right).found(initial));
        }
        Ok(())
    }
    /// Least rate that a controller can leave; `None` where all limits are one.
    fn floor(&self) -> Option<BitRate> {
        (self.min < self.max).then_some(self.min)
    }
    fn clamp(&self, bits_per_sec: f64) -> f64 {
        bits_per_sec.clamp(self.min.as_bps() as f64, self.max.as_bps() as f64)
    }
}
