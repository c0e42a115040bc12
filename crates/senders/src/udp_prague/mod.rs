//! UDP Prague: a rate- and window-based Prague for applications over UDP, bulk or real time, as the public
//! implementation has it (L4STeam/udp_prague e8e3435), whose times are microseconds and whose quantities are
//! integers; here they are floats.
//!
//! Its increase is not exponential: from 100 kbit/s it climbs by a packet for each virtual round trip, and
//! after some rounds without marks by a millisecond of its own rate, unless [`UdpPragueGrowth::Packet`] is chosen.

mod control;
mod frames;
mod receiver;
mod reports;
mod sender;

pub use control::{Control, Counters, Limits};
pub use receiver::Receiver;
pub use sender::Sender;

use tidemark_core::{BitRate, Bounded, Bytes, ConfigError, Duration, Ecn, Range, bounds};

use crate::control::{CongestionControl, Properties, Transport};

/// UDP Prague's configuration.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<UdpPragueConfig>))]
pub struct UdpPragueConfig {
    /// Largest UDP payload. Default 1400 B.
    pub max_packet: Bytes,
    /// Rate at the start and after a timeout. Default 100 kbit/s.
    pub initial_rate: BitRate,
    /// Lowest rate. Default 100 kbit/s.
    pub min_rate: BitRate,
    /// Highest rate. Default 100 Gbit/s.
    pub max_rate: BitRate,
    /// Real-time mode: whole frames at a frame rate. Default: bulk.
    pub frames: Option<FrameConfig>,
    /// Interval at which the receiver reports, as in the RFC 8888 mode of the public implementation (25 ms there). A lost report counts as
    /// the loss of all packets that it reported. The window is computed for a round trip without the wait for the report, as in that
    /// implementation, so that over short paths the window limits a flow, not the rate. Default: the receiver acknowledges each packet,
    /// with cumulative counters.
    pub report_interval: Option<Duration>,
    /// Increase of the window in a round without marks. Default: `queue`, as the public implementation has it since January 2025.
    pub growth: UdpPragueGrowth,
}

/// Increase of UDP Prague's window in a round without marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum UdpPragueGrowth {
    /// A packet, and after some rounds without marks a millisecond of the rate.
    #[default]
    Queue,
    /// A packet, however long no marks come: Eq. 3.7 of the thesis "L4S and ANBR".
    Packet,
}

/// UDP Prague's real-time mode.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<FrameConfig>))]
pub struct FrameConfig {
    /// Frames a second. Default 60.
    pub rate: u32,
    /// Time over which a frame is sent, at most the time between two frames. The media rate is the controller's rate times this share of
    /// the time. Default 10 ms.
    pub budget: Duration,
}

impl Default for FrameConfig {
    fn default() -> Self {
        Self { rate: 60, budget: Duration::from_millis(10) }
    }
}

impl Default for UdpPragueConfig {
    fn default() -> Self {
        Self {
            max_packet: Bytes(1400),
            initial_rate: BitRate::from_kbps(100),
            min_rate: BitRate::from_kbps(100),
            max_rate: BitRate::from_mbps(100_000),
            frames: None,
            report_interval: None,
            growth: UdpPragueGrowth::default(),
        }
    }
}

bounds! { UdpPragueConfig {
    max_packet: Range::between(Bytes(150), Bytes(9_000)),
    min_rate: Range::above(BitRate::ZERO),
    report_interval: Range::between(Duration::from_millis(1), Duration::from_millis(500)),
    ..initial_rate, max_rate, frames, growth
} }

bounds! { FrameConfig {
    rate: Range::between(1u32, 255).unit("frames a second"),
    budget: Range::at_least(Duration::from_micros(100)),
} }

impl CongestionControl for UdpPragueConfig {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "Prague over UDP, bulk or in frames",
            follows: "L4STeam/udp_prague",
            answers: "marks in proportion, losses by half",
            recommended: false,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        let Self { min_rate, initial_rate, max_rate, .. } = self;
        if min_rate > initial_rate || initial_rate > max_rate {
            let right = format!("must lie between min_rate, {min_rate}, and max_rate, {max_rate}");
            return Err(ConfigError::new("initial_rate", right).found(initial_rate));
        }
        let frames = self.frames.as_ref();
        frames.map_or(Ok(()), |frames| frames.check_bounds().map_err(|error| error.within("frames")))
    }
    fn transport(&self) -> Transport<'_> {
        Transport::Udp {
            codepoint: Ecn::Ect1,
            ends: Box::new(|flow, source| {
                let client = Receiver::new(self, flow, source.start());
                (Box::new(Sender::new(self, flow, source)), Box::new(client))
            }),
        }
    }
    fn min_rate(&self) -> Option<BitRate> {
        (self.min_rate < self.max_rate).then_some(self.min_rate)
    }
}
