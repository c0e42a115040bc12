//! HARQ: transport blocks on their way, and those that are sent again.

use tidemark_core::Instant;

use crate::rlc::Segment;

/// A transport block.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) ue: u32,
    /// The bearer that it carries.
    pub(crate) drb: u32,
    /// MCS of its first transmission; `None` on a rate channel.
    pub(crate) mcs: Option<u8>,
    /// Its size; without meaning on a rate channel.
    pub(crate) bytes: u32,
    pub(crate) prbs: u32,
    pub(crate) symbols: u32,
    /// Sum of the linear SNRs of its failed transmissions: chase combining adds their energy, where redundancy versions
    /// would gain more at high code rates.
    pub(crate) energy: f64,
    pub(crate) transmissions: u32,
    pub(crate) segments: Vec<Segment>,
}

/// A transport block that waits for its retransmission.
#[derive(Debug)]
pub(crate) struct Again {
    /// The slot from which on it can be sent.
    pub(crate) slot: u64,
    pub(crate) block: Block,
}

/// What the acknowledgement of a transport block says.
#[derive(Debug)]
pub(crate) struct Feedback {
    pub(crate) at: Instant,
    /// The slot of the acknowledgement.
    pub(crate) slot: u64,
    pub(crate) ue: u32,
    /// True for a first transmission: link adaptation learns from those.
    pub(crate) first: bool,
    /// The block, if it failed.
    pub(crate) failed: Option<Block>,
}

/// Segment lists for later blocks, so that a running cell allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Pool(Vec<Vec<Segment>>);

impl Pool {
    pub(crate) fn take(&mut self) -> Vec<Segment> {
        self.0.pop().unwrap_or_default()
    }
    pub(crate) fn give_back(&mut self, mut segments: Vec<Segment>) {
        segments.clear();
        self.0.push(segments);
    }
}
