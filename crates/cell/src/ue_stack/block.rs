//! Uplink transport blocks.

use super::buffer_status::Report;
use super::control::Control;
use crate::index::HarqProcess;
use crate::multiplexing::Content;
use crate::output::UeId;

/// Resource blocks of a UE in a slot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Allocation {
    pub(crate) mcs: u8,
    pub(crate) prbs: u32,
    pub(crate) bytes: u32,
}

/// Transport block of a UE.
#[derive(Debug, Default)]
pub(crate) struct UplinkBlock {
    pub(crate) ue: UeId,
    pub(crate) process: HarqProcess,
    pub(crate) mcs: u8,
    pub(crate) prbs: u32,
    pub(crate) bytes: u32,
    /// Sum of the linear SNRs of its transmissions, as in the downlink.
    pub(crate) energy: f64,
    pub(crate) transmissions: u32,
    pub(crate) content: Content,
    /// Messages that end in it, and the bytes of those and of one that does not end.
    pub(crate) control: Vec<Control>,
    pub(crate) control_bytes: u32,
    pub(crate) report: Report,
}

impl UplinkBlock {
    /// Begins another block in the slot of one that has arrived: its lists keep their room, so that a running cell allocates nothing.
    pub(crate) fn begin(&mut self, ue: UeId, process: HarqProcess, allocation: Allocation) {
        (self.ue, self.process) = (ue, process);
        (self.mcs, self.prbs, self.bytes) = (allocation.mcs, allocation.prbs, allocation.bytes);
        (self.energy, self.transmissions, self.control_bytes) = (0.0, 0, 0);
        self.content.clear();
        self.control.clear();
    }
}
