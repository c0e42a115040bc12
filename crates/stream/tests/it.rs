//! Streams to a peer in memory, over a path in virtual time.

#[path = "it/feedback.rs"]
mod feedback;
#[path = "it/path.rs"]
mod path;
#[path = "it/peer.rs"]
mod peer;
#[path = "it/rates.rs"]
mod rates;
#[path = "it/safety.rs"]
mod safety;
