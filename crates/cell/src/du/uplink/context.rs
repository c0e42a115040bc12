//! One UE's uplink as the gNB keeps it.

use std::collections::VecDeque;

use super::belief::Belief;
use crate::du::harq::Processes;
use crate::ue_stack::block::UplinkBlock;

/// Uplink of one UE as the gNB keeps it.
#[derive(Debug, Default)]
pub(crate) struct UplinkContext {
    pub(crate) belief: Belief,
    /// Blocks that failed, and the slots from which on they can be sent again.
    pub(crate) again: VecDeque<(u64, Box<UplinkBlock>)>,
    /// HARQ processes of all blocks that are under way.
    pub(crate) processes: Processes,
}
