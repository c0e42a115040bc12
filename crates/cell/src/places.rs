//! UEs and bearers of a cell, by their numbers.

use std::ops::{Index, IndexMut};

/// A place for each UE, or each bearer, of the network; those of UEs that other cells serve are empty.
pub(crate) struct Places<T>(Vec<Option<Box<T>>>);

impl<T> Places<T> {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }
    /// The number after the highest that was ever used.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
    pub(crate) fn put(&mut self, number: u32, value: Box<T>) {
        let place = number as usize;
        if self.0.len() <= place {
            self.0.resize_with(place + 1, || None);
        }
        self.0[place] = Some(value);
    }
    pub(crate) fn take(&mut self, number: u32) -> Option<Box<T>> {
        self.0.get_mut(number as usize)?.take()
    }
    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        self.0.get(place)?.as_deref()
    }
    pub(crate) fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        self.0.get_mut(place)?.as_deref_mut()
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(Option::as_deref)
    }
}

/// What is under way in a cell belongs to UEs that are there: nothing of one stays behind when it leaves.
impl<T> Index<usize> for Places<T> {
    type Output = T;
    fn index(&self, place: usize) -> &T {
        match &self.0[place] {
            Some(value) => value,
            None => unreachable!("number {place} has left the cell"),
        }
    }
}
impl<T> IndexMut<usize> for Places<T> {
    fn index_mut(&mut self, place: usize) -> &mut T {
        match &mut self.0[place] {
            Some(value) => value,
            None => unreachable!("number {place} has left the cell"),
        }
    }
}
