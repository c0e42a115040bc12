//! Marks and drops of a CU's laws, for an observer.

use tidemark_cell::BearerId;
use tidemark_core::{Bytes, Ecn, FlowId, Instant};
use tidemark_marker::Decision;
use tidemark_wire::ip::FiveTuple;

/// Mark of a CU's law, or a drop by it.
#[derive(Clone, Copy, Debug)]
pub struct CuSignal {
    /// Time of the decision.
    pub at: Instant,
    /// Bearer of the packet.
    pub bearer: BearerId,
    /// Flow of the packet.
    pub flow: FlowId,
    /// Five-tuple of the packet; `None` where it has no readable header.
    pub tuple: Option<FiveTuple>,
    /// Number of the packet among those for UEs that came from the core, from 1.
    pub number: u64,
    /// Length of the IP packet.
    pub size: Bytes,
    /// ECN field before the decision.
    pub came: Ecn,
    /// Law, estimate, odds, draw and verdict.
    pub decision: Decision,
}

/// Listener to the signals of a CU, on the CU's thread: it must not wait for anything.
pub type CuObserver = Box<dyn FnMut(&CuSignal) + Send>;
