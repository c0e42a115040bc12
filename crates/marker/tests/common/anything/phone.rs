//! State of a UE that the test tracks besides the marker.

use std::collections::BTreeMap;

use tidemark_marker::path::UeHandle;
use tidemark_marker::{Counters, Marking, SnLength};

use super::connection::Connection;
use super::marks::Marks;

pub const DRBS: usize = 6;
const QFIS: usize = 64;

/// Events and verdicts of a DRB, counted beside it.
#[derive(Clone, Copy, Default)]
pub struct Bearer {
    pub sn_length: SnLength,
    pub next_sn: u32,
    pub pass: u64,
    pub mark: u64,
    pub drop: u64,
    pub pdus: u64,
    pub reports: u64,
    pub discards: u64,
    /// Verdicts where packets leave the caller's own queue, of packets that were never seen before.
    pub left_marked: u64,
    pub left_dropped: u64,
}

/// A UE, its DRBs, and what was counted of them.
pub struct Phone {
    pub handle: Option<UeHandle>,
    pub stale: Option<UeHandle>,
    pub bearers: [Option<Bearer>; DRBS],
    pub carrier: [Option<usize>; QFIS],
    pub marking: [Marking; QFIS],
    pub downlink: u64,
    pub uplink: u64,
    pub unparsed: u64,
    pub unknown_qfi: u64,
    pub unknown_drb: u64,
    pub marks: Marks,
    /// Counters of marks of DRBs that were removed.
    pub removed: Counters,
    pub connections: BTreeMap<Vec<u8>, Connection>,
}

impl Phone {
    pub fn new(handle: Option<UeHandle>, stale: Option<UeHandle>) -> Self {
        Self {
            handle,
            stale,
            bearers: [None; DRBS],
            carrier: [None; QFIS],
            marking: [Marking::Downlink; QFIS],
            downlink: 0,
            uplink: 0,
            unparsed: 0,
            unknown_qfi: 0,
            unknown_drb: 0,
            marks: Marks::default(),
            removed: Counters::default(),
            connections: BTreeMap::new(),
        }
    }
    pub fn bearer(&mut self, drb: u8) -> Option<&mut Option<Bearer>> {
        self.bearers.get_mut(usize::from(drb.wrapping_sub(1)))
    }
    /// Counts a call that names a DRB.
    pub fn count(&mut self, drb: u8, add: impl Fn(&mut Bearer)) {
        match self.bearer(drb).and_then(Option::as_mut) {
            Some(bearer) => add(bearer),
            None => self.unknown_drb += 1,
        }
    }
    pub fn map(&mut self, qfi: u8, index: usize) {
        if let Some(carrier) = self.carrier.get_mut(usize::from(qfi)) {
            *carrier = Some(index);
        }
    }
}
