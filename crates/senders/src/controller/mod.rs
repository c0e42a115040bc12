//! Congestion controllers: they compute a window and a rate from what was acknowledged, marked and lost.
//!
//! To add one follow `docs/guide/adding-a-controller.md`: a copy of `templates/controller.rs` here (`reno.rs` is the smallest
//! of the real ones), its line in `declared.rs`, and its law in `tests/laws`. A controller for
//! video is a [`MediaController`](crate::media::MediaController) instead, in a file of `media`.

mod bbr;
mod classic_ecn;
mod cubic;
mod hystart;
mod oracle;
mod prague;
mod reno;
mod window;

use tidemark_core::{BitRate, Bytes, Duration, Instant};

pub use bbr::{BbrV1, BbrV1Config, BbrV2Config, BbrV3Config, BoundedBbr};
pub use cubic::{Cubic, CubicConfig, SlowStartExit};
pub use oracle::{Oracle, OracleConfig};
pub use prague::{Prague, PragueConfig, PragueHint, PragueHintConfig};
pub use reno::{Reno, RenoConfig};

use crate::config::{EcnMode, TcpConfig};
use crate::payload::TcpSegment;

/// The fixed sizes of a connection, in bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sizes {
    /// Payload of a full segment.
    pub mss: f64,
    /// The IP packet that carries it.
    pub packet: f64,
    /// Initial window, payload.
    pub initial_window: f64,
}

impl Sizes {
    /// The sizes that follow from a transport's configuration.
    pub fn of(tcp: &TcpConfig) -> Self {
        let mss = tcp.mss.as_f64();
        let full = TcpSegment { payload: tcp.mss.0 as u32, ..TcpSegment::default() };
        let initial_window = f64::from(tcp.initial_window) * mss;
        Self { mss, packet: full.wire_size().as_f64(), initial_window }
    }
}

/// An acknowledgement with news.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Ack {
    /// Time of arrival.
    pub now: Instant,
    /// Payload that it newly reports as delivered, cumulatively or selectively.
    pub acked: Bytes,
    /// Segments that it newly reports as delivered.
    pub acked_packets: u32,
    /// Acknowledged payload that arrived with CE; only AccECN tells.
    pub marked: Bytes,
    /// Packets newly reported with CE, control packets included; only AccECN tells.
    pub marked_packets: u32,
    /// Payload that is considered lost because of it.
    pub lost: Bytes,
    /// Round-trip time of the newly delivered segment that was sent last; `None` if it is ambiguous.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Duration,
    /// Least round-trip time of the connection.
    pub min_rtt: Duration,
    /// Payload in flight before it.
    pub prior_in_flight: Bytes,
    /// Payload in flight after it, without losses.
    pub in_flight: Bytes,
    /// All payload delivered so far.
    pub delivered: Bytes,
    /// Payload that had been delivered when the newest segment was sent: the newly delivered segment that was sent
    /// last. A round that began at `delivered = x` has ended when this reaches `x`.
    pub prior_delivered: Bytes,
    /// Delivery rate over that segment's flight, where it is known.
    pub rate: Option<RateSample>,
    /// True if the window, not the application or the receiver, limited the sender during the last round.
    pub window_limited: bool,
    /// True while the transport reduces its flight after a loss or an ECN echo: windows must not grow.
    pub recovering: bool,
    /// True while losses are being repaired, after a fast retransmission or a timeout.
    pub repairing: bool,
}

/// A segment that is considered lost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LostSegment {
    /// Time at which the loss was detected.
    pub now: Instant,
    /// Payload of the segment.
    pub size: Bytes,
    /// Payload in flight when it was sent, itself included.
    pub in_flight: Bytes,
    /// Payload considered lost since it was sent, itself included.
    pub lost: Bytes,
    /// True if the application had too little to send when the segment was sent.
    pub app_limited: bool,
    /// All payload delivered so far.
    pub delivered: Bytes,
}

/// A delivery rate (draft-ietf-ccwg-bbr-06 4.1): what was delivered over the flight of one segment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateSample {
    /// Payload delivered.
    pub delivered: Bytes,
    /// Time over which it was delivered.
    pub interval: Duration,
    /// True if the application had too little to send, so that the network may carry more.
    pub app_limited: bool,
    /// Payload in flight when the segment was sent, itself included.
    pub in_flight: Bytes,
    /// Payload considered lost since the segment was sent.
    pub lost: Bytes,
    /// Payload reported with CE since the segment was sent; only AccECN tells.
    pub marked: Bytes,
}

/// Reason for a window to shrink, reported at most once for each window of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// A segment was lost.
    Loss,
    /// The receiver echoed congestion (RFC 3168).
    Ecn,
}

/// A reason to shrink the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Congestion {
    /// Time at which the sender learned of it.
    pub now: Instant,
    /// Signal that showed the congestion.
    pub signal: Signal,
    /// Payload in flight before the loss was accounted for.
    pub in_flight: Bytes,
    /// All payload delivered so far.
    pub delivered: Bytes,
}

/// Form in which a controller wants congestion marks reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnResponse {
    /// A [`Congestion`], like a loss, once for each window of data. Packets are ECT(0).
    Classic,
    /// Counts in each [`Ack`] (RFC 9331 4.3). Packets are ECT(1).
    Scalable,
}

/// One congestion controller of a window-based transport.
///
/// The transport owns loss recovery: it retransmits, reduces its flight in proportion (RFC 9937) down to
/// [`window`](Self::window) after a congestion signal, and says in [`Ack::recovering`] while it does so.
pub trait Controller {
    /// The handshake is over. `ecn` is what was negotiated, `rtt` the handshake's round trip if it was measured.
    fn on_established(&mut self, now: Instant, ecn: EcnMode, rtt: Option<Duration>);
    /// Takes in an acknowledgement with news.
    fn on_ack(&mut self, ack: &Ack);
    /// Handles a segment that is considered lost; called for each one, before [`on_ack`](Self::on_ack).
    fn on_lost(&mut self, _lost: &LostSegment) {}
    /// Congestion, for the first time in this window of data.
    fn on_congestion(&mut self, congestion: &Congestion);
    /// The retransmission timer expired, for the first time since data was acknowledged.
    fn on_timeout(&mut self, congestion: &Congestion);
    /// The last reduction followed a loss or a timeout that turned out to be spurious.
    fn on_spurious(&mut self, now: Instant);
    /// Data is sent again after nothing had been sent for `idle`, and nothing is in flight. `rto` is the
    /// present retransmission timeout.
    fn on_idle(&mut self, now: Instant, idle: Duration, rto: Duration);
    /// The access network recommends a rate of IP packets (TS 38.321 5.18.10), without knowledge of the rest of the
    /// path.
    fn on_recommendation(&mut self, _now: Instant, _rate: BitRate) {}
    /// Payload that may be in flight.
    fn window(&self) -> Bytes;
    /// Rate at which IP packets may leave; `None` lets the acknowledgements clock them out.
    fn pacing_rate(&self) -> Option<BitRate> {
        None
    }
    /// Bytes that may leave back to back when paced at `rate`, the present one.
    fn burst(&self, _rate: BitRate) -> Bytes {
        Bytes::ZERO
    }
    /// Form in which congestion marks are to be reported.
    fn ecn_response(&self) -> EcnResponse {
        EcnResponse::Classic
    }
    /// True if the controller limits its flight during loss recovery itself.
    fn owns_recovery(&self) -> bool {
        false
    }
    /// The estimated share of marked packets, of a controller that keeps one.
    fn alpha(&self) -> Option<f64> {
        None
    }
}
