//! Entries by index. An entry can move to another slab and keep its index.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

use crate::FlowId;

/// Index of an entry in a slab.
pub trait Key: Copy {
    /// Index of the slot at this position.
    fn at(position: usize) -> Self;
    /// Position of this index's slot.
    fn position(self) -> usize;
}

impl Key for usize {
    fn at(position: usize) -> Self {
        position
    }
    #[inline]
    fn position(self) -> usize {
        self
    }
}

impl Key for FlowId {
    fn at(position: usize) -> Self {
        Self(position as u32)
    }
    #[inline]
    fn position(self) -> usize {
        self.0 as usize
    }
}

/// Slab of entries that are numbered across a whole network. Each index has a slot, which is vacant while its entry is in another slab.
#[derive(Clone, Debug)]
pub struct Slab<K, T> {
    slots: Vec<Option<Box<T>>>,
    key: PhantomData<K>,
}

impl<K, T> Default for Slab<K, T> {
    fn default() -> Self {
        Self { slots: Vec::new(), key: PhantomData }
    }
}

impl<K: Key, T> Slab<K, T> {
    /// A slab without entries.
    pub fn new() -> Self {
        Self::default()
    }
    /// The index after the highest that was ever used.
    pub fn next(&self) -> K {
        K::at(self.slots.len())
    }
    /// Puts an entry into its slot and replaces the one there.
    pub fn insert(&mut self, key: K, value: Box<T>) {
        let slot = key.position();
        // Keys are given in order, but places are taken when an entry comes.
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || None);
        }
        self.slots[slot] = Some(value);
    }
    /// Takes an entry out of its slot; `None` where it is vacant.
    pub fn take(&mut self, key: K) -> Option<Box<T>> {
        self.slots.get_mut(key.position())?.take()
    }
    /// The entry of an index; `None` where its slot is vacant.
    #[inline]
    pub fn get(&self, key: K) -> Option<&T> {
        self.slots.get(key.position())?.as_deref()
    }
    /// The entry of an index, mutable; `None` where its slot is vacant.
    #[inline]
    pub fn get_mut(&mut self, key: K) -> Option<&mut T> {
        self.slots.get_mut(key.position())?.as_deref_mut()
    }
    /// The entries, in the order of their indices.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(Option::as_deref)
    }
    /// The entries, mutable, in the order of their indices.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().filter_map(Option::as_deref_mut)
    }
    /// The indices that have entries, in ascending order.
    pub fn keys(&self) -> impl Iterator<Item = K> {
        self.entries().map(|(key, _)| key)
    }
    /// The entries with their indices.
    pub fn entries(&self) -> impl Iterator<Item = (K, &T)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(position, slot)| Some((K::at(position), slot.as_deref()?)))
    }
    /// The entries, mutable, with their indices.
    pub fn entries_mut(&mut self) -> impl Iterator<Item = (K, &mut T)> {
        let slots = self.slots.iter_mut().enumerate();
        slots.filter_map(|(position, slot)| Some((K::at(position), slot.as_deref_mut()?)))
    }
    /// Moves the entry of an index, if there is one, to another slab.
    pub fn hand(&mut self, to: &mut Self, key: K) {
        if let Some(value) = self.take(key) {
            to.insert(key, value);
        }
    }
}

/// Numbers the entries from 0.
impl<K: Key, T> FromIterator<T> for Slab<K, T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self { slots: values.into_iter().map(|value| Some(Box::new(value))).collect(), key: PhantomData }
    }
}

/// Panics if the slot is vacant: callers may only use indices of entries in this slab.
impl<K: Key, T> Index<K> for Slab<K, T> {
    type Output = T;
    #[inline]
    fn index(&self, key: K) -> &T {
        match &self.slots[key.position()] {
            Some(value) => value,
            None => unreachable!("index {} is elsewhere", key.position()),
        }
    }
}
impl<K: Key, T> IndexMut<K> for Slab<K, T> {
    #[inline]
    fn index_mut(&mut self, key: K) -> &mut T {
        match &mut self.slots[key.position()] {
            Some(value) => value,
            None => unreachable!("index {} is elsewhere", key.position()),
        }
    }
}
