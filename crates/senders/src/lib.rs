//! Congestion controllers, transports and applications, sans-IO.
//!
//! A flow is a pair of [`Endpoint`]s: the sender with its application, and the receiver. Neither knows a
//! clock, a socket or a network; the driver (virtual time in the simulator, real time in the live cell)
//! carries packets between them and calls them when their deadlines pass:
//!
//! ```
//! use tidemark_core::{Duration, FlowId, Instant};
//! use tidemark_senders::{AppConfig, Endpoint, SenderConfig, connect};
//!
//! let (mut server, mut client) = connect(&SenderConfig::default(), &AppConfig::default(), FlowId(0), 1)?;
//! let mut now = Instant::ZERO;
//! for _ in 0..100 {
//!     // A path without delay or loss: whatever one end sends, the other one gets.
//!     while let Some(packet) = client.poll_transmit(now) {
//!         server.handle_packet(now, packet.as_ref());
//!     }
//!     while let Some(packet) = server.poll_transmit(now) {
//!         client.handle_packet(now, packet.as_ref());
//!     }
//!     now += Duration::from_millis(1);
//!     for end in [&mut server, &mut client] {
//!         if end.next_deadline().is_some_and(|deadline| deadline <= now) {
//!             end.handle_timeout(now);
//!         }
//!     }
//! }
//! assert!(client.stats().delivered.0 > 0);
//! # Ok::<(), tidemark_senders::ConfigError>(())
//! ```
//!
//! There are three separate layers: an *application* owns the data ([`app`]), a *transport* owns sequence numbers,
//! retransmission and feedback ([`tcp`]), a *controller* learns what was acknowledged, marked and lost and answers with
//! a window and a pacing rate ([`controller`]).
#![warn(missing_docs, unnameable_types, unreachable_pub)]

pub mod app;
pub mod config;
mod connect;
pub mod control;
pub mod controller;
mod custom;
mod declared;
pub mod endpoint;
mod hint;
pub mod media;
mod pacer;
pub mod payload;
mod source;
pub mod tcp;
pub mod udp;
pub mod udp_prague;

pub use app::AppConfig;
pub use config::{EcnMode, TcpConfig};
pub use connect::connect;
pub use control::{CongestionControl, OverTcp, Properties, Transport};
pub use custom::CustomControl;
pub use declared::SenderConfig;
pub use endpoint::{Completion, Endpoint, Ends, FrameArrival, Stats};
pub use hint::HintConfig;
pub use payload::Payload;
pub use tidemark_core::ConfigError;
