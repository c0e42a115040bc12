//! Messages from a UE's RLC and MAC to the gNB, which wait next to the bearers' data.

use std::collections::VecDeque;

use tidemark_wire::mac::Direction;

use crate::index::DrbIndex;
use crate::rlc::{Status, mac_subheader};

/// Message of a UE's RLC or MAC to the gNB.
#[derive(Debug)]
pub(crate) enum Control {
    /// Status report of a downlink bearer.
    Status { drb: DrbIndex, status: Status },
    /// Bit rate query for a bearer.
    Query { drb: DrbIndex, direction: Direction },
}

impl Control {
    /// Octets with MAC's subheader; a query has 3.
    fn octets(&self) -> u32 {
        match self {
            Self::Status { status, .. } => status.octets + mac_subheader(status.octets),
            Self::Query { .. } => 3,
        }
    }
}

/// Messages that wait at one UE.
#[derive(Debug, Default)]
pub(crate) struct ControlQueue {
    /// Status reports, then queries, each with its bytes that have not been sent.
    statuses: VecDeque<(Control, u32)>,
    queries: VecDeque<(Control, u32)>,
    /// Bytes of both.
    octets: u64,
}

impl ControlQueue {
    /// Adds a message.
    pub(super) fn push(&mut self, control: Control) {
        let queue = match control {
            Control::Status { .. } => &mut self.statuses,
            Control::Query { .. } => &mut self.queries,
        };
        let octets = control.octets();
        self.octets += u64::from(octets);
        queue.push_back((control, octets));
    }
    /// Bytes that wait.
    pub(super) fn octets(&self) -> u64 {
        self.octets
    }
    /// Bearers whose status reports wait.
    pub(super) fn reporting(&self) -> impl Iterator<Item = DrbIndex> + '_ {
        self.statuses.iter().filter_map(|(control, _)| match control {
            Control::Status { drb, .. } => Some(*drb),
            Control::Query { .. } => None,
        })
    }
    /// Puts status reports into a block, before data (TS 38.322 5.2.3.1); gives the bytes.
    pub(super) fn fill_statuses(&mut self, room: u32, carried: &mut Vec<Control>) -> u32 {
        let used = fill(&mut self.statuses, room, carried);
        self.octets -= u64::from(used);
        used
    }
    /// Puts queries into a block, behind data (TS 38.321 5.4.3.1.3); gives the bytes.
    pub(super) fn fill_queries(&mut self, room: u32, carried: &mut Vec<Control>) -> u32 {
        let used = fill(&mut self.queries, room, carried);
        self.octets -= u64::from(used);
        used
    }
}

/// Takes from a queue what fits into `room`; a message goes with the block that carries its end. Gives the bytes.
fn fill(queue: &mut VecDeque<(Control, u32)>, room: u32, carried: &mut Vec<Control>) -> u32 {
    let mut used = 0;
    while let Some((_, left)) = queue.front_mut() {
        let taken = (*left).min(room - used);
        used += taken;
        *left -= taken;
        // The block is full: the remainder goes in the next.
        if *left > 0 {
            break;
        }
        carried.extend(queue.pop_front().map(|(control, _)| control));
    }
    used
}
