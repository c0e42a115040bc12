//! Indices of UEs, bearers and HARQ processes. Each has a type of its own, so that they cannot be confused.

use tidemark_core::Key;

use crate::output::UeId;

impl Key for UeId {
    fn at(position: usize) -> Self {
        Self(position as u32)
    }
    #[inline]
    fn position(self) -> usize {
        self.0 as usize
    }
}

/// Index of a bearer, unique among all UEs of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DrbIndex(pub u32);

impl Key for DrbIndex {
    fn at(position: usize) -> Self {
        Self(position as u32)
    }
    #[inline]
    fn position(self) -> usize {
        self.0 as usize
    }
}

/// Logical channel of a UE's default bearer: those below are for signalling.
const MIN_LCID: u8 = 4;

/// HARQ process of a UE in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HarqProcess(u8);

impl Key for HarqProcess {
    fn at(position: usize) -> Self {
        Self(position as u8)
    }
    #[inline]
    fn position(self) -> usize {
        self.0.into()
    }
}

/// Bearers of one UE. Their indices are side by side, the default bearer's first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UeDrbs {
    first: DrbIndex,
    count: u32,
}

impl UeDrbs {
    /// Range of this many bearers, with indices from `first` on.
    pub(crate) fn new(first: DrbIndex, count: usize) -> Self {
        Self { first, count: count as u32 }
    }
    /// Index of the default bearer.
    pub(crate) fn default_drb(self) -> DrbIndex {
        self.first
    }
    /// Index behind the last bearer's.
    pub(crate) fn end(self) -> DrbIndex {
        DrbIndex(self.first.0 + self.count)
    }
    /// Indices of all, the default bearer's first.
    pub(crate) fn iter(self) -> impl Iterator<Item = DrbIndex> {
        (self.first.0..self.end().0).map(DrbIndex)
    }
    pub(crate) fn contains(self, drb: DrbIndex) -> bool {
        (self.first..self.end()).contains(&drb)
    }
    /// Position of a bearer among these, 0 for the default one.
    pub(crate) fn position(self, drb: DrbIndex) -> usize {
        (drb.0 - self.first.0) as usize
    }
    /// DRB identity of a bearer, from 1.
    pub(crate) fn identity(self, drb: DrbIndex) -> u8 {
        self.position(drb) as u8 + 1
    }
    /// Bearer with a DRB identity.
    pub(crate) fn with_identity(self, identity: u8) -> Option<DrbIndex> {
        self.iter().nth(usize::from(identity).checked_sub(1)?)
    }
    /// Logical channel of a bearer.
    pub(crate) fn lcid(self, drb: DrbIndex) -> u8 {
        MIN_LCID + self.position(drb) as u8
    }
    /// Bearer of a logical channel. Those for signalling count as the default bearer's.
    pub(crate) fn with_lcid(self, lcid: u8) -> Option<DrbIndex> {
        self.iter().nth(lcid.saturating_sub(MIN_LCID).into())
    }
}
