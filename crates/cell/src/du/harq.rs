//! HARQ: transport blocks under way, retransmissions, and HARQ processes.

use tidemark_core::Key;

use crate::index::HarqProcess;
use crate::multiplexing::Content;
use crate::output::UeId;
use tidemark_radio::slots::Slot;

/// A transport block.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) ue: UeId,
    pub(crate) process: HarqProcess,
    /// MCS of its first transmission; `None` on a rate channel.
    pub(crate) mcs: Option<u8>,
    /// Size; without meaning on a rate channel.
    pub(crate) bytes: u32,
    pub(crate) prbs: u32,
    pub(crate) symbols: u32,
    /// Sum of the linear SNRs of its failed transmissions: chase combining adds their energy, where redundancy versions
    /// would gain more at high code rates.
    pub(crate) energy: f64,
    pub(crate) transmissions: u32,
    pub(crate) content: Content,
}

/// A transport block that waits for its retransmission.
#[derive(Debug)]
pub(crate) struct Retransmission {
    /// The slot from which on it can be sent.
    pub(crate) slot: Slot,
    pub(crate) block: Block,
}

/// Acknowledgement of a transport block.
#[derive(Debug)]
pub(crate) struct Feedback {
    /// The slot of the acknowledgement.
    pub(crate) slot: Slot,
    pub(crate) ue: UeId,
    pub(crate) process: HarqProcess,
    /// True for a first transmission: link adaptation learns from those.
    pub(crate) first: bool,
    /// The block, if it failed.
    pub(crate) failed: Option<Block>,
}

/// HARQ processes of a UE in each direction (TS 38.214 5.1 and 6.1).
const PROCESSES: usize = 16;

/// The HARQ processes of one UE in one direction. Each takes a new block when the gNB has handled the outcome of the last one.
/// If a round trip has more slots than there are processes, some slots stay without a block.
///
/// A configured grant and a grant beside it in the same slot share a process, where the second would replace the first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Processes {
    /// Blocks of each that may still be retransmitted.
    blocks: [u8; PROCESSES],
    /// The slot from which on each can take a block.
    free_from: [Slot; PROCESSES],
    /// The one that was taken last, and in which slot.
    latest: usize,
    slot: Option<Slot>,
}

impl Processes {
    /// True if a new block can be sent in a slot.
    pub(crate) fn has_free(&self, slot: Slot) -> bool {
        self.slot == Some(slot) || self.free(slot).is_some()
    }
    /// A new block is sent in a slot, in which [`has_free`](Self::has_free) is true; its process.
    pub(crate) fn take(&mut self, slot: Slot) -> HarqProcess {
        // The second block of a slot shares the first one's process.
        if self.slot != Some(slot) {
            self.latest = self.free(slot).unwrap_or(self.latest);
            self.slot = Some(slot);
        }
        self.blocks[self.latest] += 1;
        HarqProcess::at(self.latest)
    }
    /// A block was acknowledged or given up; the gNB can use its process from a slot on.
    pub(crate) fn give_back(&mut self, process: HarqProcess, from: Slot) {
        let process = process.position();
        self.blocks[process] -= 1;
        self.free_from[process] = from;
    }
    /// Finds a process that is free in this slot: in turn, so that the first that is looked at is most often free.
    fn free(&self, slot: Slot) -> Option<usize> {
        let mut numbers = (self.latest + 1..=self.latest + PROCESSES).map(|number| number % PROCESSES);
        numbers.find(|number| self.blocks[*number] == 0 && self.free_from[*number] <= slot)
    }
}

/// Lists for later blocks, so that a running cell allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Pool(Vec<Content>);

impl Pool {
    pub(crate) fn take(&mut self) -> Content {
        self.0.pop().unwrap_or_default()
    }
    pub(crate) fn give_back(&mut self, mut content: Content) {
        content.clear();
        self.0.push(content);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_processes_are_under_way_and_blocks_of_a_slot_share_one() {
        let mut processes = Processes::default();
        let taken: Vec<_> = (0..16).map(Slot).map(|slot| [processes.take(slot), processes.take(slot)]).collect();
        assert!(taken.iter().all(|[first, second]| first == second));
        assert!(taken.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(
            processes.has_free(Slot(15)) && !processes.has_free(Slot(16)),
            "another block of the last slot could go"
        );
        processes.give_back(taken[3][0], Slot(20));
        assert!(!processes.has_free(Slot(20)), "its other block is under way");
        processes.give_back(taken[3][1], Slot(21));
        assert!(!processes.has_free(Slot(20)) && processes.has_free(Slot(21)));
        assert_eq!(processes.take(Slot(21)), taken[3][0]);
        assert!(!processes.has_free(Slot(22)));
    }
}
