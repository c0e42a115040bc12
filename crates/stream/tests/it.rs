//! Streams to a peer in memory, over a path in virtual time or the loopback interface.

#[path = "it/feedback.rs"]
mod feedback;
#[path = "it/loopback.rs"]
mod loopback;
#[path = "it/path.rs"]
mod path;
#[path = "it/peer.rs"]
mod peer;
#[path = "it/rates.rs"]
mod rates;
#[path = "it/rtcp.rs"]
mod rtcp;
#[path = "it/safety.rs"]
mod safety;
