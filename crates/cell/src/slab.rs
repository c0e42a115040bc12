//! UEs and bearers of a cell, by their indices.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use crate::index::Key;

/// Slab of the UEs, or the bearers, of a network: a slot for each index; those of UEs that other cells serve are vacant.
pub(crate) struct Slab<K, T> {
    slots: Vec<Option<Box<T>>>,
    key: PhantomData<K>,
}

impl<K: Key, T> Slab<K, T> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), key: PhantomData }
    }
    /// The index after the highest that was ever used.
    pub(crate) fn next(&self) -> K {
        K::at(self.slots.len())
    }
    pub(crate) fn insert(&mut self, key: K, value: Box<T>) {
        let slot = key.position();
        // Keys are given in order, but places are taken when a UE comes.
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || None);
        }
        self.slots[slot] = Some(value);
    }
    pub(crate) fn take(&mut self, key: K) -> Option<Box<T>> {
        self.slots.get_mut(key.position())?.take()
    }
    pub(crate) fn get(&self, key: K) -> Option<&T> {
        self.slots.get(key.position())?.as_deref()
    }
    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut T> {
        self.slots.get_mut(key.position())?.as_deref_mut()
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(Option::as_deref)
    }
}

/// Panics for a slot that is empty: what is under way in a cell belongs to UEs that are there, and leaves with them.
impl<K: Key, T> Index<K> for Slab<K, T> {
    type Output = T;
    #[inline]
    fn index(&self, key: K) -> &T {
        match &self.slots[key.position()] {
            Some(value) => value,
            None => unreachable!("index {} has left the cell", key.position()),
        }
    }
}
impl<K: Key, T> IndexMut<K> for Slab<K, T> {
    #[inline]
    fn index_mut(&mut self, key: K) -> &mut T {
        match &mut self.slots[key.position()] {
            Some(value) => value,
            None => unreachable!("index {} has left the cell", key.position()),
        }
    }
}
