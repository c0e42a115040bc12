//! The UEs of a CU-UP, each in a place of its own that one thread at a time may enter.
//!
//! A gNB serialises what it does for a UE, but moves UEs between threads or serves them on a pool. So nothing here belongs
//! to a thread: a call enters its UE's place by one atomic exchange, which also tells whether the UE is still the one
//! that the caller means. Nobody ever waits; who comes second is told so.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tidemark_marker::path::{FlowKey, Ue};

use crate::status::Status;
use crate::types::UeId;

/// The UEs of a CU-UP, or of one of its threads.
pub struct Instance {
    pub(crate) key: FlowKey,
    pub(crate) seed: u64,
    places: Box<[Place]>,
    /// The first of the places that no UE is in. Set-up and release wait for each other here; packets never come by.
    free: Mutex<u32>,
}

/// Behind the last free place.
const NOWHERE: u32 = u32::MAX;

/// A UE's place. Aligned, so that UEs of different threads share no cache line.
#[repr(align(64))]
struct Place {
    /// The generation, twice; plus one while somebody is inside.
    state: AtomicU64,
    /// The next free place, while this one is free; whoever holds the lock of the first one may look.
    next_free: AtomicU32,
    ue: UnsafeCell<Option<Ue>>,
}

// As docs/embedding.md has it.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Place>() == 1024);

// SAFETY: a place's UE is only reached through `Inside`, of which there is one at a time; `Ue` may move between threads.
unsafe impl Sync for Instance {}

/// Somebody is inside a place, and leaves it when this goes.
pub(crate) struct Inside<'a> {
    place: &'a Place,
    /// What the place's state becomes.
    next: u64,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.place.state.store(self.next, Ordering::Release);
    }
}

impl Inside<'_> {
    fn place(&mut self) -> &mut Option<Ue> {
        // SAFETY: whoever has an `Inside` of a place is the only one (see `Place::enter`).
        unsafe { &mut *self.place.ue.get() }
    }

    /// The UE that is here.
    #[inline]
    pub(crate) fn ue(&mut self) -> Result<&mut Ue, Status> {
        self.place().as_mut().ok_or(Status::NoUe)
    }
}

impl Place {
    #[inline]
    fn enter(&self, generation: u32) -> Result<Inside<'_>, Status> {
        let idle = u64::from(generation) << 1;
        match self.state.compare_exchange(idle, idle | 1, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(Inside { place: self, next: idle }),
            Err(found) if found == idle | 1 => Err(Status::Busy),
            Err(_) => Err(Status::NoUe),
        }
    }
}

impl Instance {
    /// Room for `capacity` UEs.
    pub(crate) fn new(capacity: u32, secret: &[u8; 16], seed: u64) -> Self {
        let next = |index| if index < capacity { index } else { NOWHERE };
        let place = |index| Place {
            state: AtomicU64::new(1 << 1),
            next_free: AtomicU32::new(next(index + 1)),
            ue: UnsafeCell::new(None),
        };
        Self { key: FlowKey::new(secret), seed, places: (0..capacity).map(place).collect(), free: Mutex::new(next(0)) }
    }

    /// Gives a new UE a place.
    pub(crate) fn add(&self) -> Result<UeId, Status> {
        let mut free = self.free();
        let index = *free;
        let place = self.places.get(index as usize).ok_or(Status::Full)?;
        let generation = (place.state.load(Ordering::Relaxed) >> 1) as u32;
        // Busy only if somebody made up a handle that was not given out yet.
        *place.enter(generation)?.place() = Some(Ue::new(self.key));
        *free = place.next_free.load(Ordering::Relaxed);
        Ok(UeId { bits: u64::from(generation) << 32 | u64::from(index) })
    }

    /// Lets a UE go. Its handle means nobody from then on.
    pub(crate) fn remove(&self, id: UeId) -> Result<(), Status> {
        let mut inside = self.enter(id)?;
        let ue = inside.place().take().ok_or(Status::NoUe)?;
        // No generation is zero, so that no UE has a handle of zeros.
        let generation = ((inside.next >> 1) as u32).wrapping_add(1).max(1);
        inside.next = u64::from(generation) << 1;
        drop(inside);
        let mut free = self.free();
        self.places[id.index() as usize].next_free.store(*free, Ordering::Relaxed);
        *free = id.index();
        drop(free);
        drop(ue);
        Ok(())
    }

    /// Enters the place of a UE.
    #[inline]
    pub(crate) fn enter(&self, id: UeId) -> Result<Inside<'_>, Status> {
        let place = self.places.get(id.index() as usize).ok_or(Status::NoUe)?;
        place.enter((id.bits >> 32) as u32)
    }

    /// Asks for the memory of a UE's place, without entering it.
    #[inline]
    pub(crate) fn warm(&self, id: UeId) -> Result<(), Status> {
        let place = self.places.get(id.index() as usize).ok_or(Status::NoUe)?;
        let begin = std::ptr::from_ref(place).cast::<u8>();
        for line in (0..size_of::<Place>()).step_by(size_of::<[u64; 8]>()) {
            prefetch(begin.wrapping_add(line));
        }
        Ok(())
    }

    /// Bytes that an instance of this capacity takes before any DRB is set up.
    #[cfg(test)]
    const fn bytes(capacity: usize) -> usize {
        size_of::<Self>() + capacity * size_of::<Place>()
    }

    fn free(&self) -> MutexGuard<'_, u32> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins to fetch a cache line. This reads nothing, as far as the program can tell.
#[inline]
fn prefetch(line: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect but on the cache, at any address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(line.cast(), _MM_HINT_T0);
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{line}]", line = in(reg) line, options(nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = line;
}

impl UeId {
    const fn index(self) -> u32 {
        self.bits as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(capacity: u32) -> Instance {
        Instance::new(capacity, &[1; 16], 1)
    }

    #[test]
    fn a_handle_means_nobody_once_its_ue_is_gone() {
        let instance = instance(1);
        let first = instance.add().unwrap();
        assert_eq!(instance.add(), Err(Status::Full));
        instance.remove(first).unwrap();
        assert_eq!(instance.remove(first), Err(Status::NoUe));
        let second = instance.add().unwrap();
        assert!(instance.enter(first).is_err_and(|status| status == Status::NoUe));
        assert!(instance.enter(second).unwrap().ue().is_ok());
    }

    #[test]
    fn made_up_handles_lead_nowhere() {
        let instance = instance(2);
        let real = instance.add().unwrap();
        for bits in [0, u64::MAX, real.bits + 1, real.bits + 2, real.bits ^ 1 << 63, real.bits + (1 << 32)] {
            let refused = instance.enter(UeId { bits }).and_then(|mut inside| inside.ue().map(drop));
            assert_eq!(refused, Err(Status::NoUe), "{bits:x}");
        }
    }

    #[test]
    fn places_that_were_left_are_given_again_and_no_others() {
        let instance = instance(3);
        let ues: Vec<_> = (0..3).map(|_| instance.add().unwrap()).collect();
        assert_eq!(instance.add(), Err(Status::Full));
        instance.remove(ues[2]).unwrap();
        instance.remove(ues[0]).unwrap();
        let again: Vec<_> = (0..2).map(|_| instance.add().unwrap().index()).collect();
        assert_eq!(again, [ues[0].index(), ues[2].index()]);
        assert_eq!(instance.add(), Err(Status::Full));
        assert!(instance.enter(ues[1]).is_ok());
    }

    #[test]
    fn who_comes_second_does_not_wait() {
        let instance = instance(2);
        let (one, other) = (instance.add().unwrap(), instance.add().unwrap());
        let inside = instance.enter(one).unwrap();
        assert!(instance.enter(one).is_err_and(|status| status == Status::Busy));
        assert_eq!(instance.remove(one), Err(Status::Busy));
        assert!(instance.enter(other).is_ok());
        drop(inside);
        assert!(instance.enter(one).is_ok());
    }

    #[test]
    fn an_idle_ue_takes_less_than_a_kib() {
        let bytes = Instance::bytes(4_096) / 4_096;
        println!("an idle UE through C: {bytes} bytes");
        assert!(bytes <= 1_024, "{bytes}");
    }
}
