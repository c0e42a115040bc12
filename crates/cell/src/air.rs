//! The air between DU and UEs: what was planned for it, and what has not been decoded, acknowledged or received yet.

use std::collections::VecDeque;

use tidemark_core::Instant;
use tidemark_radio::slots::{Slot, SlotPattern};

use crate::du::harq::{Block, Feedback};
use crate::index::{DrbIndex, UeDrbs};
use crate::multiplexing::Content;
use crate::output::UeId;
use crate::rlc::Status;
use crate::ue_stack::block::UplinkBlock;

/// Blocks, acknowledgements and reports under way on the air of a cell. Each kind takes a constant time, so that each is a queue.
#[derive(Default)]
pub(crate) struct Air {
    /// Downlink blocks of slots that were decided on and have not begun, by slot.
    planned: VecDeque<(Slot, Block)>,
    /// Content of downlink blocks that a UE will have decoded.
    decoded: VecDeque<(Instant, UeId, Content)>,
    /// HARQ acknowledgements of downlink blocks.
    feedback: VecDeque<Feedback>,
    /// Uplink blocks that the gNB will have decoded, or not.
    uplink: VecDeque<(Instant, bool, Box<UplinkBlock>)>,
    /// RLC's status reports to the UEs, by bearer.
    statuses: VecDeque<(Instant, DrbIndex, Status)>,
}

impl Air {
    /// Plans a downlink block for a slot that was decided on.
    pub(crate) fn plan(&mut self, slot: Slot, block: Block) {
        self.planned.push_back((slot, block));
    }

    /// Sends the content of a downlink block to a UE, which has decoded it at `at`.
    pub(crate) fn send_content(&mut self, at: Instant, ue: UeId, content: Content) {
        self.decoded.push_back((at, ue, content));
    }

    /// Sends a HARQ acknowledgement.
    pub(crate) fn send_feedback(&mut self, feedback: Feedback) {
        self.feedback.push_back(feedback);
    }

    /// Sends an uplink block, of which the gNB knows at `at` whether it is decoded.
    pub(crate) fn send_up(&mut self, at: Instant, decoded: bool, block: Box<UplinkBlock>) {
        self.uplink.push_back((at, decoded, block));
    }

    /// Sends a status report to a bearer's UE, where it arrives at `at`.
    pub(crate) fn send_status(&mut self, at: Instant, drb: DrbIndex, status: Status) {
        self.statuses.push_back((at, drb, status));
    }

    /// Next downlink block whose slot has begun, with its slot.
    pub(crate) fn poll_planned(&mut self, now: Instant, pattern: &SlotPattern) -> Option<(Slot, Block)> {
        pop_if(&mut self.planned, |(slot, _)| pattern.start(*slot) <= now)
    }

    /// Next content that a UE has decoded.
    pub(crate) fn poll_decoded(&mut self, now: Instant) -> Option<Content> {
        pop_if(&mut self.decoded, |(at, ..)| *at <= now).map(|(.., content)| content)
    }

    /// Next HARQ acknowledgement that has come.
    pub(crate) fn poll_feedback(&mut self, now: Instant) -> Option<Feedback> {
        pop_if(&mut self.feedback, |feedback| feedback.at <= now)
    }

    /// Next uplink block that has come, with its time and whether it is decoded.
    pub(crate) fn poll_uplink(&mut self, now: Instant) -> Option<(Instant, bool, Box<UplinkBlock>)> {
        pop_if(&mut self.uplink, |(at, ..)| *at <= now)
    }

    /// Next status report that has come to a UE, with its bearer.
    pub(crate) fn poll_status(&mut self, now: Instant) -> Option<(DrbIndex, Status)> {
        pop_if(&mut self.statuses, |(at, ..)| *at <= now).map(|(_, drb, status)| (drb, status))
    }

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
    pub(crate) fn forget(&mut self, ue: UeId, drbs: UeDrbs) {
        self.planned.retain(|(_, block)| block.ue != ue);
        self.decoded.retain(|(_, other, _)| *other != ue);
        self.feedback.retain(|feedback| feedback.ue != ue);
        self.uplink.retain(|(.., block)| block.ue != ue);
        self.statuses.retain(|(_, drb, _)| !drbs.contains(*drb));
    }
}

/// Takes what is first in a queue if it is due.
fn pop_if<T>(queue: &mut VecDeque<T>, is_due: impl FnOnce(&T) -> bool) -> Option<T> {
    if queue.front().is_some_and(is_due) { queue.pop_front() } else { None }
}
