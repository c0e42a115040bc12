//! The air between DU and UEs: what was planned for it, and what has not been decoded, acknowledged or received yet.

use std::collections::VecDeque;
use std::ops::Range;

use tidemark_core::Instant;
use tidemark_radio::slots::SlotPattern;

use crate::du::harq::{Block, Feedback};
use crate::rlc::{Segment, Status};
use crate::ue_stack::block::UplinkBlock;

/// Everything under way on the air of a cell. Each kind takes a constant time, so that each is a queue.
#[derive(Default)]
pub(crate) struct Air {
    /// Downlink blocks of slots that were decided on and have not begun, by slot.
    pub(crate) planned: VecDeque<(u64, Block)>,
    /// Segments of downlink blocks that the UE will have decoded, by bearer.
    pub(crate) decoded: VecDeque<(Instant, u32, Vec<Segment>)>,
    /// HARQ acknowledgements of downlink blocks.
    pub(crate) feedback: VecDeque<Feedback>,
    /// Uplink blocks that the gNB will have decoded, or not.
    pub(crate) uplink: VecDeque<(Instant, bool, Box<UplinkBlock>)>,
    /// RLC's status reports to the UEs, by bearer.
    pub(crate) statuses: VecDeque<(Instant, u32, Status)>,
}

impl Air {
    /// Next time at which something begins or arrives; `FAR` if nothing is under way.
    pub(crate) fn next_deadline(&self, pattern: &SlotPattern) -> Instant {
        let fronts = [
            self.planned.front().map(|(slot, _)| pattern.start(*slot)),
            self.decoded.front().map(|(at, ..)| *at),
            self.feedback.front().map(|feedback| feedback.at),
            self.uplink.front().map(|(at, ..)| *at),
            self.statuses.front().map(|(at, ..)| *at),
        ];
        fronts.into_iter().fold(Instant::FAR, |first, at| first.min(at.unwrap_or(Instant::FAR)))
    }

    /// Drops everything of a UE and of its bearers, which leave the cell.
    pub(crate) fn forget(&mut self, ue: u32, drbs: &Range<u32>) {
        self.planned.retain(|(_, block)| block.ue != ue);
        self.decoded.retain(|(_, drb, _)| !drbs.contains(drb));
        self.feedback.retain(|feedback| feedback.ue != ue);
        self.uplink.retain(|(.., block)| block.ue != ue);
        self.statuses.retain(|(_, drb, _)| !drbs.contains(drb));
    }
}
