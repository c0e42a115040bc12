//! The UEs of one thread.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::path::ue::Ue;

/// Handle of a UE in a [`Shard`], valid until the UE is removed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct UeHandle {
    index: u32,
    generation: u32,
}

/// The UEs of one thread. It shares nothing with other shards, so that no call takes a lock.
pub struct Shard {
    // The UEs lie here and not behind pointers, so that what every packet reads fills few pages; generations are apart,
    // so that none of it is read for them.
    ues: Vec<Option<Ue>>,
    generations: Vec<u32>,
    free: Vec<u32>,
}

/// The index, below `shards`, of the shard for the UE with this number. It is the same in every call, and the shares are even for any
/// numbering.
///
/// # Panics
/// If there are no shards.
pub fn shard_of(ue: u64, shards: usize) -> usize {
    // Multiplied by 2^64 over the golden ratio, numbers in steps of any power of two spread too, which a remainder puts into one shard.
    let spread = ue.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((u128::from(spread) * shards as u128) >> 64) as usize
}

impl Shard {
    /// Room for `capacity` UEs.
    pub fn new(capacity: u32) -> Self {
        let mut ues = Vec::new();
        ues.resize_with(capacity as usize, || None);
        // The lowest index is taken first, so that few UEs lie together.
        Self { ues, generations: alloc::vec![0; capacity as usize], free: (0..capacity).rev().collect() }
    }

    /// Adds a UE.
    ///
    /// # Errors
    /// The UE, if every slot is taken.
    pub fn add(&mut self, ue: Box<Ue>) -> Result<UeHandle, Box<Ue>> {
        let Some(index) = self.free.pop() else { return Err(ue) };
        self.ues[index as usize] = Some(*ue);
        Ok(UeHandle { index, generation: self.generations[index as usize] })
    }

    /// Removes a UE, to release it or to move it to another shard. Its handle is invalid from then on.
    pub fn remove(&mut self, handle: UeHandle) -> Option<Box<Ue>> {
        let generation = self.generations.get_mut(handle.index as usize)?;
        // The slot may have another UE by now.
        if *generation != handle.generation {
            return None;
        }
        let ue = self.ues[handle.index as usize].take()?;
        *generation = generation.wrapping_add(1);
        self.free.push(handle.index);
        Some(Box::new(ue))
    }

    /// Prefetches the memory that the next packet of a UE's QoS flow needs. A caller with several packets calls this for each of
    /// them first. Their waits for memory, which are most of a packet's cost with thousands of UEs, then overlap.
    #[inline]
    pub fn warm(&self, handle: UeHandle, qfi: u8) {
        if let Some(ue) = self.ues.get(handle.index as usize).and_then(Option::as_ref) {
            ue.warm(qfi);
        }
    }

    /// The UE of a handle; `None` after it was removed.
    #[inline]
    pub fn ue(&mut self, handle: UeHandle) -> Option<&mut Ue> {
        let index = handle.index as usize;
        if *self.generations.get(index)? == handle.generation { self.ues[index].as_mut() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::FlowKey;

    #[test]
    fn a_handle_is_void_once_its_ue_is_gone() {
        let key = FlowKey::new(&[0; 16]);
        let mut shard = Shard::new(2);
        let first = shard.add(Box::new(Ue::new(key))).ok().unwrap();
        shard.add(Box::new(Ue::new(key))).ok().unwrap();
        assert!(shard.add(Box::new(Ue::new(key))).is_err());
        assert!(shard.remove(first).is_some());
        assert!(shard.ue(first).is_none() && shard.remove(first).is_none());
        let again = shard.add(Box::new(Ue::new(key))).ok().unwrap();
        assert!(shard.ue(again).is_some() && shard.ue(first).is_none());
    }

    #[test]
    fn a_shard_may_move_to_the_thread_that_serves_it() {
        fn may_move<T: Send>(_: T) {}
        may_move(Shard::new(1));
    }

    #[test]
    fn ues_spread_evenly_over_shards_however_they_are_numbered() {
        for stride in [1, 2, 1_000, 1 << 32] {
            let mut load = [0u32; 4];
            for ue in 0..4_096 {
                load[shard_of(ue * stride, 4)] += 1;
            }
            assert!(load.iter().all(|count| (850..1_200).contains(count)), "{stride}: {load:?}");
        }
    }

    #[test]
    fn an_idle_ue_takes_less_than_a_kib() {
        let bytes = size_of::<Option<Ue>>() + size_of::<u32>() * 2;
        std::println!("an idle UE: {bytes} bytes");
        assert!(bytes <= 1024, "{bytes}");
    }
}
