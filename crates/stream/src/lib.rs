//! Video over WebRTC to a real browser, by the controllers of `tidemark-senders`.
//!
//! A [`Session`] is one viewer's stream, sans-IO as everything in the project: datagrams come in and go out as values, time is an argument.
//! WebRTC's stack (`rtc`) has ICE, DTLS, SRTP and RTCP; the sender of `tidemark-senders` decides which packet leaves when, and reads the
//! browser's reports. [`Media`] gives the frames: the encoder of a moving picture ([`Pictures`]), or a model of one ([`Generated`]). A
//! [`Server`] has a page, WHEP's exchange, and a thread for each viewer.
#![warn(missing_docs, unnameable_types, unreachable_pub)]

mod encoder;
mod feedback;
mod http;
mod media;
mod negotiation;
mod picture;
mod record;
mod server;
mod session;
mod strip;
mod tap;
mod viewer;
mod wake;

pub use encoder::{Pictures, Size};
pub use media::{Generated, Media};
pub use negotiation::{Feedback, MAX_OFFER, Refused};
pub use server::{CONTROLLERS, Frames, Server, Settings};
pub use session::{Choice, Datagram, Session, State, Status};
pub use strip::{CELLS, Strip};
pub use wake::Wake;
