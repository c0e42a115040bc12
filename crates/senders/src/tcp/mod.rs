//! TCP: handshake with ECN negotiation, SACK and RACK loss recovery, retransmission timer, pacing, delayed
//! acknowledgements, and congestion feedback as in RFC 3168 or RFC 9768.
//!
//! Data flows one way, from [`Sender`] to [`Receiver`]. Sequence numbers are 64-bit offsets: the SYN has
//! offset 0, data begins at 1. Segments are never resegmented: a retransmission has the boundaries of the original.
//! A connection is not closed: when the application has no more data, both ends fall silent.

mod buffer;
mod delivery;
mod ecn;
mod handshake;
mod pacing;
mod probe;
mod prr;
mod rack;
mod ranges;
mod receiver;
mod recovery;
mod repeated;
mod rtt;
mod scoreboard;
mod sender;
mod timers;
mod window;

pub use receiver::Receiver;
pub use repeated::{MakeReceiver, MakeSender, RepeatedReceiver, RepeatedSender};
pub use sender::Sender;
