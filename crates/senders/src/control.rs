//! Congestion controls, which scenarios and other crates choose by their configuration.
//!
//! [`SenderConfig`](crate::SenderConfig) lists those of this crate. A crate that adds one implements [`Controller`] (or
//! [`MediaController`]), implements [`CongestionControl`] for its configuration, and passes the configuration to
//! [`connect`](crate::connect):
//!
//! ```
//! use tidemark_core::{Bytes, Duration, FlowId, Instant};
//! use tidemark_senders::controller::{Ack, Congestion, Controller, Sizes};
//! use tidemark_senders::{AppConfig, CongestionControl, ConfigError, EcnMode, OverTcp, Properties, TcpConfig, Transport, connect};
//!
//! /// A window that never changes.
//! struct Steady(Bytes);
//!
//! impl Controller for Steady {
//!     fn on_established(&mut self, _now: Instant, _ecn: EcnMode, _rtt: Option<Duration>) {}
//!     fn on_ack(&mut self, _ack: &Ack) {}
//!     fn on_congestion(&mut self, _congestion: &Congestion) {}
//!     fn on_timeout(&mut self, _congestion: &Congestion) {}
//!     fn on_spurious(&mut self, _now: Instant) {}
//!     fn on_idle(&mut self, _now: Instant, _idle: Duration, _rto: Duration) {}
//!     fn window(&self) -> Bytes {
//!         self.0
//!     }
//! }
//!
//! /// The window in segments, and the transport below it.
//! struct SteadyConfig {
//!     segments: u32,
//!     tcp: TcpConfig,
//! }
//!
//! impl CongestionControl for SteadyConfig {
//!     fn properties(&self) -> &'static Properties {
//!         &Properties { title: "A steady window", follows: "", answers: "nothing", recommended: false }
//!     }
//!     fn validate(&self) -> Result<(), ConfigError> {
//!         self.tcp.validate()
//!     }
//!     fn transport(&self) -> Transport<'_> {
//!         let segments = f64::from(self.segments);
//!         let controller = move |sizes: Sizes, _flow, _seed| Box::new(Steady(Bytes((segments * sizes.mss) as u64))) as _;
//!         Transport::Tcp(OverTcp { config: &self.tcp, usual_ecn: EcnMode::Off, controller: Box::new(controller) })
//!     }
//! }
//!
//! let steady = SteadyConfig { segments: 20, tcp: TcpConfig::default() };
//! let (mut server, mut client) = connect(&steady, &AppConfig::default(), FlowId(0), 1)?;
//! let mut now = Instant::ZERO;
//! for _ in 0..20 {
//!     client.handle_timeout(now);
//!     while let Some(packet) = client.poll_transmit(now) {
//!         server.handle_packet(now, packet.as_ref());
//!     }
//!     while let Some(packet) = server.poll_transmit(now) {
//!         client.handle_packet(now, packet.as_ref());
//!     }
//!     now += Duration::from_millis(10);
//! }
//! assert_eq!(server.stats().window, Some(Bytes(20 * 1448)));
//! assert!(client.stats().delivered > Bytes(100_000));
//! # Ok::<(), ConfigError>(())
//! ```

use tidemark_core::{BitRate, Bytes, ConfigError, Ecn, FlowId};

use crate::config::{EcnMode, TcpConfig};
use crate::controller::{Controller, EcnResponse, Sizes};
use crate::endpoint::Ends;
use crate::media::MediaController;
use crate::source::Source;

/// Facts about a congestion control that do not depend on its configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Properties {
    /// Name in text, such as "BBR version 1".
    pub title: &'static str,
    /// Document or code that it follows, with the version; empty if there is none.
    pub follows: &'static str,
    /// Events that the rate depends on.
    pub answers: &'static str,
    /// True if the access network's rate recommendations (ANBR, TS 38.321 5.18.10) influence the rate.
    pub recommended: bool,
}

/// Maker of a TCP connection's controller, from the connection's sizes, its flow, and the run's seed. Flow and seed name the random
/// streams of controllers that draw numbers.
pub type MakeController = Box<dyn Fn(Sizes, FlowId, u64) -> Box<dyn Controller + Send> + Send>;

/// Maker of a media stream's controller.
pub type MakeMediaController<'a> = Box<dyn FnOnce() -> Box<dyn MediaController + Send> + 'a>;

/// Maker of both ends of a flow that carries an application's stream of bytes.
pub type MakeEnds<'a> = Box<dyn FnOnce(FlowId, Box<dyn Source + Send>) -> Ends + 'a>;

/// A controller over TCP.
pub struct OverTcp<'a> {
    /// Configuration of the transport.
    pub config: &'a TcpConfig,
    /// Feedback that the server negotiates unless `config` says otherwise.
    pub usual_ecn: EcnMode,
    /// Maker of each connection's controller.
    pub controller: MakeController,
}

impl OverTcp<'_> {
    /// Feedback that the server is willing to negotiate.
    pub fn ecn(&self) -> EcnMode {
        self.config.ecn.unwrap_or(self.usual_ecn)
    }

    /// Feedback that the client asks for.
    pub fn client_ecn(&self) -> EcnMode {
        self.config.client_ecn.unwrap_or(self.ecn())
    }

    /// ECN field of the data's packets where the client agrees.
    fn codepoint(&self) -> Ecn {
        let response = || (self.controller)(Sizes::of(self.config), FlowId(0), 0).ecn_response();
        match self.ecn() {
            EcnMode::Off => Ecn::NotEct,
            EcnMode::Accecn if response() == EcnResponse::Scalable => Ecn::Ect1,
            EcnMode::Classic | EcnMode::Accecn => Ecn::Ect0,
        }
    }
}

/// Transport that carries the data, with the makers of its ends.
pub enum Transport<'a> {
    /// TCP, for any application but video. The controller answers with a window, and with a pacing rate if it paces.
    Tcp(OverTcp<'a>),
    /// RTP with a report on every packet, for video. The controller answers with a rate for the encoder.
    Rtp(MakeMediaController<'a>),
    /// A transport of the congestion control's own, over UDP, for a stream of bytes.
    Udp {
        /// ECN field of the data's packets.
        codepoint: Ecn,
        /// Maker of its ends.
        ends: MakeEnds<'a>,
    },
}

/// A congestion control with its transport, as a configuration describes them.
pub trait CongestionControl {
    /// Facts that do not depend on the configuration.
    fn properties(&self) -> &'static Properties;

    /// Checks the fields, those of the transport included.
    ///
    /// # Errors
    /// The first field that cannot be used, with what would be right.
    fn validate(&self) -> Result<(), ConfigError>;

    /// Transport that carries the data.
    fn transport(&self) -> Transport<'_>;

    /// Checks that the transport can carry a bulk transfer of this size; `None` is a transfer without end.
    ///
    /// # Errors
    /// What would be right.
    fn check_bulk(&self, _size: Option<Bytes>) -> Result<(), ConfigError> {
        Ok(())
    }

    /// Minimum rate that the control rises above on a sound path while it has data to send; `None` if it has no such
    /// minimum, or if minimum and maximum are equal.
    fn min_rate(&self) -> Option<BitRate> {
        None
    }

    /// ECN field of data packets on a path that does not change it.
    fn codepoint(&self) -> Ecn {
        match self.transport() {
            Transport::Tcp(tcp) => tcp.codepoint(),
            Transport::Rtp(controller) => controller().ecn(),
            Transport::Udp { codepoint, .. } => codepoint,
        }
    }
}
