//! Indices of UEs and bearers. Each has a type of its own, so that one is not used for the other.

use crate::output::UeId;

/// Index of a slab's entries.
pub(crate) trait Key: Copy {
    /// Index of the slot at this position.
    fn at(position: usize) -> Self;
    /// Position of its slot.
    fn position(self) -> usize;
}

impl Key for UeId {
    fn at(position: usize) -> Self {
        Self(position as u32)
    }
    #[inline]
    fn position(self) -> usize {
        self.0 as usize
    }
}

impl Key for u32 {
    fn at(position: usize) -> Self {
        position as Self
    }
    #[inline]
    fn position(self) -> usize {
        self as usize
    }
}
