//! UDP without a congestion controller: what the application writes leaves at once. Background traffic, and a test of
//! what happens to other flows if a sender does not answer congestion.

use tidemark_core::{Bounded, Bytes, ConfigError, Ecn, FlowId, Instant, Packet, Range, bounds};

use crate::control::{CongestionControl, Properties, Transport};
use crate::endpoint::{Endpoint, Stats};
use crate::payload::{Datagram, Payload};
use crate::source::Source;

/// ECN codepoint of the packets of a sender that does not answer marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Codepoint {
    /// Not-ECT, the correct one for such a sender.
    #[default]
    NotEct,
    /// ECT(0).
    Ect0,
    /// ECT(1), although RFC 9331 4 forbids it.
    Ect1,
}

impl Codepoint {
    fn ecn(self) -> Ecn {
        match self {
            Self::NotEct => Ecn::NotEct,
            Self::Ect0 => Ecn::Ect0,
            Self::Ect1 => Ecn::Ect1,
        }
    }
}

/// Largest bulk transfer.
const MAX_AT_ONCE: Bytes = Bytes(100_000_000);

/// UDP's configuration.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<UdpConfig>))]
pub struct UdpConfig {
    /// Largest payload of a datagram. Default 1200 B.
    pub datagram: Bytes,
    /// Codepoint of its packets. Default: Not-ECT.
    pub codepoint: Codepoint,
}

impl Default for UdpConfig {
    fn default() -> Self {
        Self { datagram: Bytes(1200), codepoint: Codepoint::default() }
    }
}

bounds! { UdpConfig {
    datagram: Range::between(Bytes(16), Bytes(9_000)),
    ..codepoint
} }

impl CongestionControl for UdpConfig {
    fn properties(&self) -> &'static Properties {
        &Properties { title: "UDP without a controller", follows: "", answers: "nothing", recommended: false }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()
    }
    fn transport(&self) -> Transport<'_> {
        Transport::Udp {
            codepoint: self.codepoint.ecn(),
            ends: Box::new(|flow, source| {
                let client = Receiver::new();
                (Box::new(Sender::new(self, flow, source)), Box::new(client))
            }),
        }
    }
    fn check_bulk(&self, size: Option<Bytes>) -> Result<(), ConfigError> {
        // All of a transfer leaves at once, and waits somewhere.
        if size.is_none_or(|size| size > MAX_AT_ONCE) {
            return Err(ConfigError::new(
                "app",
                "udp sends at once what there is: use app = \"constant\", or a `size` of at most 100 MB",
            ));
        }
        Ok(())
    }
}

/// The sending end.
pub struct Sender {
    flow: FlowId,
    datagram: u64,
    ecn: Ecn,
    source: Box<dyn Source + Send>,
    taken: Bytes,
    seq: u64,
    release: Instant,
    stats: Stats,
}

impl Sender {
    /// A sender that begins when its source does.
    pub fn new(config: &UdpConfig, flow: FlowId, source: Box<dyn Source + Send>) -> Self {
        let release = source.start();
        Self {
            flow,
            datagram: config.datagram.0,
            ecn: config.codepoint.ecn(),
            source,
            taken: Bytes::ZERO,
            seq: 0,
            release,
            stats: Stats::default(),
        }
    }
}

impl Endpoint for Sender {
    fn handle_packet(&mut self, _now: Instant, packet: Packet<&Payload>) {
        self.stats.packets_received += 1;
        self.stats.bytes_received += packet.size;
    }
    fn handle_timeout(&mut self, _now: Instant) {}
    fn next_deadline(&self) -> Option<Instant> {
        (self.release != Instant::FAR).then_some(self.release)
    }
    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<Payload>> {
        let len = self.source.available(now, self.taken).0.min(self.datagram);
        // Nobody acknowledges: only the application's next data is worth waking for.
        if len == 0 {
            self.release = self.source.next_deadline(now).unwrap_or(Instant::FAR);
            return None;
        }
        self.taken += Bytes(len);
        let datagram = Datagram { seq: self.seq, len: len as u32 };
        self.seq += 1;
        let packet =
            Packet { flow: self.flow, size: datagram.wire_size(), ecn: self.ecn, payload: Payload::Datagram(datagram) };
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += packet.size;
        Some(packet)
    }
    fn stats(&self) -> Stats {
        self.stats
    }
}

/// The receiving end, which only counts.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    stats: Stats,
}

impl Receiver {
    /// A receiver that has received nothing.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Endpoint for Receiver {
    fn handle_packet(&mut self, _now: Instant, packet: Packet<&Payload>) {
        self.stats.packets_received += 1;
        self.stats.bytes_received += packet.size;
        self.stats.marks_received += u64::from(packet.ecn == Ecn::Ce);
        if let Payload::Datagram(datagram) = packet.payload {
            self.stats.delivered += Bytes(u64::from(datagram.len));
        }
    }
    fn handle_timeout(&mut self, _now: Instant) {}
    fn next_deadline(&self) -> Option<Instant> {
        None
    }
    fn poll_transmit(&mut self, _now: Instant) -> Option<Packet<Payload>> {
        None
    }
    fn stats(&self) -> Stats {
        self.stats
    }
}
