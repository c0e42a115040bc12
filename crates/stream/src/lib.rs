//! Video over WebRTC to a real browser, with the controllers of `tidemark-senders`.
//!
//! A [`Session`] is one viewer's stream. It is sans-IO like the rest of the project: datagrams are values and time is an argument. The
//! WebRTC stack (`rtc`) handles ICE, DTLS, SRTP and RTCP. The sender of `tidemark-senders` decides which packet leaves when, and reads the
//! browser's reports. [`Media`] gives the frames, from the encoder of a moving picture or a video ([`Pictures`]) or from a model ([`Generated`]). A
//! [`Server`] serves a page, handles WHEP, and has a thread for each viewer.
#![warn(missing_docs, unnameable_types, unreachable_pub)]

mod encoder;
mod feedback;
mod lateness;
mod live_cell;
mod media;
mod negotiation;
mod page;
mod picture;
mod record;
mod references;
mod server;
mod session;
mod ssim;
mod strip;
mod tap;
mod video_file;
mod viewer;
mod wake;

pub use encoder::{Pictures, Size};
pub use live_cell::LiveCell;
pub use media::{Generated, Media};
pub use negotiation::{Feedback, MAX_OFFER, Refused};
pub use references::References;
pub use server::{Frames, Server, Settings, names};
pub use session::{Choice, Datagram, Session, State, Status};
pub use strip::{CELLS, Strip};
pub use video_file::{UnusableVideo, VideoFile};
pub use wake::Wake;
