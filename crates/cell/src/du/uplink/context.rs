//! One UE's uplink in the gNB.

use std::collections::VecDeque;

use tidemark_radio::slots::Slot;

use super::estimate::BufferEstimate;
use crate::du::harq::Processes;
use crate::ue_stack::block::UplinkBlock;

/// Uplink of one UE as the gNB keeps it.
#[derive(Debug, Default)]
pub(crate) struct UplinkContext {
    pub(crate) estimate: BufferEstimate,
    /// Blocks that failed, and the slots from which on they can be retransmitted.
    pub(crate) retransmissions: VecDeque<(Slot, Box<UplinkBlock>)>,
    /// HARQ processes of all blocks that are under way.
    pub(crate) processes: Processes,
}
