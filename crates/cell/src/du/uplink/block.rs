//! Transport blocks on their way up, and what a UE's own RLC and MAC put into them.

use std::collections::VecDeque;

use tidemark_wire::mac::Direction;

use super::belief::{Belief, Report};
use super::radio::Allocation;
use crate::du::harq::Processes;
use crate::rlc::{Segment, Status, mac_subheader};

/// What RLC and MAC of a UE have to say to the gNB themselves.
#[derive(Debug)]
pub(crate) enum Control {
    /// A status report of a bearer.
    Status { drb: u32, status: Status },
    /// A bit rate query for a bearer.
    Query { drb: u32, direction: Direction },
}

impl Control {
    /// With MAC's subheader; a query has 3 B.
    fn octets(&self) -> u32 {
        match self {
            Self::Status { status, .. } => status.octets + mac_subheader(status.octets),
            Self::Query { .. } => 3,
        }
    }
}

/// A transport block.
#[derive(Debug, Default)]
pub(crate) struct UplinkBlock {
    pub(crate) ue: u32,
    pub(crate) process: u8,
    pub(crate) mcs: u8,
    pub(crate) prbs: u32,
    pub(crate) bytes: u32,
    /// Sum of the linear SNRs of its transmissions, as in the downlink.
    pub(crate) energy: f64,
    pub(crate) transmissions: u32,
    /// Segments, those of one bearer side by side.
    pub(crate) segments: Vec<Segment>,
    /// Bearers, how many of the segments are theirs, and their bytes with headers.
    pub(crate) bearers: Vec<(u32, usize, u32)>,
    /// What ends in it of control, and the bytes of that and of what does not end.
    pub(crate) control: Vec<Control>,
    pub(crate) control_bytes: u32,
    pub(crate) report: Report,
}

impl UplinkBlock {
    /// Another block begins in the place of one that has arrived: its lists keep their room, so that a running cell allocates nothing.
    pub(crate) fn begin(&mut self, ue: u32, process: u8, allocation: Allocation) {
        (self.ue, self.process) = (ue, process);
        (self.mcs, self.prbs, self.bytes) = (allocation.mcs, allocation.prbs, allocation.bytes);
        (self.energy, self.transmissions, self.control_bytes) = (0.0, 0, 0);
        self.segments.clear();
        self.bearers.clear();
        self.control.clear();
    }
}

/// What stands at one UE beside its bearers, and what the gNB knows of it.
#[derive(Debug, Default)]
pub(crate) struct UplinkBuffer {
    /// Status reports in the order of their making, then queries, each with its bytes that have not been sent.
    statuses: VecDeque<(Control, u32)>,
    queries: VecDeque<(Control, u32)>,
    /// Bytes of both.
    control_bytes: u64,
    pub(crate) belief: Belief,
    /// Blocks that failed, and the slots from which on they can be sent again.
    pub(crate) again: VecDeque<(u64, Box<UplinkBlock>)>,
    /// HARQ processes of all blocks that are under way.
    pub(crate) processes: Processes,
    /// Blocks sent.
    pub(crate) blocks: usize,
}

impl UplinkBuffer {
    pub(crate) fn push(&mut self, control: Control) {
        let queue = match control {
            Control::Status { .. } => &mut self.statuses,
            Control::Query { .. } => &mut self.queries,
        };
        let octets = control.octets();
        self.control_bytes += u64::from(octets);
        queue.push_back((control, octets));
    }
    /// Bytes of control that wait.
    pub(crate) fn control_bytes(&self) -> u64 {
        self.control_bytes
    }
    /// Bearers whose status reports wait.
    pub(crate) fn reporting(&self) -> impl Iterator<Item = u32> + '_ {
        self.statuses.iter().filter_map(|(control, _)| match control {
            Control::Status { drb, .. } => Some(*drb),
            Control::Query { .. } => None,
        })
    }
    /// Status reports go before data (TS 38.322 5.2.3.1).
    pub(crate) fn fill_statuses(&mut self, room: u32, block: &mut UplinkBlock) -> u32 {
        let used = fill(&mut self.statuses, room, block);
        self.control_bytes -= u64::from(used);
        used
    }
    /// Queries go behind data (TS 38.321 5.4.3.1.3).
    pub(crate) fn fill_queries(&mut self, room: u32, block: &mut UplinkBlock) {
        self.control_bytes -= u64::from(fill(&mut self.queries, room, block));
    }
}

/// Puts into a block what fits into `room`; an item goes with the block that carries its end. Returns the bytes.
fn fill(queue: &mut VecDeque<(Control, u32)>, room: u32, block: &mut UplinkBlock) -> u32 {
    let mut used = 0;
    while let Some((_, left)) = queue.front_mut() {
        let taken = (*left).min(room - used);
        used += taken;
        *left -= taken;
        if *left > 0 {
            break;
        }
        block.control.extend(queue.pop_front().map(|(control, _)| control));
    }
    block.control_bytes += used;
    used
}
