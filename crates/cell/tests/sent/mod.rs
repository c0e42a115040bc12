//! What the packets of these tests carry.

use tidemark_core::{Inspect, Instant, TcpView};

/// Number of a packet, time at which it was sent, and its TCP segment if it is one. All tests have this one type, because the cell is
/// compiled for each type of payload.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    pub number: u64,
    pub at: Instant,
    pub tcp: Option<TcpView>,
}

impl Inspect for Sent {
    fn tcp(&self) -> Option<TcpView> {
        self.tcp
    }
}
