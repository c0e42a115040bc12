//! UEs and bearers of a cell, by their numbers.

use std::ops::{Index, IndexMut};

/// Slab of the UEs, or the bearers, of a network: a slot for each number; those of UEs that other cells serve are vacant.
pub(crate) struct Slab<T>(Vec<Option<Box<T>>>);

impl<T> Slab<T> {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }
    /// The number after the highest that was ever used.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
    pub(crate) fn insert(&mut self, number: u32, value: Box<T>) {
        let slot = number as usize;
        if self.0.len() <= slot {
            self.0.resize_with(slot + 1, || None);
        }
        self.0[slot] = Some(value);
    }
    pub(crate) fn take(&mut self, number: u32) -> Option<Box<T>> {
        self.0.get_mut(number as usize)?.take()
    }
    pub(crate) fn get(&self, slot: usize) -> Option<&T> {
        self.0.get(slot)?.as_deref()
    }
    pub(crate) fn get_mut(&mut self, slot: usize) -> Option<&mut T> {
        self.0.get_mut(slot)?.as_deref_mut()
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(Option::as_deref)
    }
}

/// Panics for a slot that is empty: what is under way in a cell belongs to UEs that are there, and leaves with them.
impl<T> Index<usize> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, slot: usize) -> &T {
        match &self.0[slot] {
            Some(value) => value,
            None => unreachable!("number {slot} has left the cell"),
        }
    }
}
impl<T> IndexMut<usize> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, slot: usize) -> &mut T {
        match &mut self.0[slot] {
            Some(value) => value,
            None => unreachable!("number {slot} has left the cell"),
        }
    }
}
