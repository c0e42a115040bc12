//! A slab of the UEs of a CU-UP. Each slot is used by one thread at a time.
//!
//! A gNB serialises its calls for a UE, but moves UEs between threads or serves them from a pool. So nothing here belongs
//! to a thread. A call locks its UE's slot by one atomic exchange, which also compares the handle's generation with that of
//! the slot. No call ever waits: the second of two calls for a UE returns BUSY.

use std::cell::UnsafeCell;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tidemark_marker::Counters;
use tidemark_marker::path::{FlowKey, Ue};

use crate::status::Status;
use crate::totals::{Ledger, Totals};
use crate::types::UeId;

/// The UEs of a CU-UP, or of one of its threads.
pub struct Instance {
    pub(crate) key: FlowKey,
    pub(crate) seed: u64,
    slots: Box<[Slot]>,
    /// Calls that were refused with BUSY.
    busy: AtomicU64,
    /// Head of the list of free slots. Set-up and release wait for each other here; the packet path never takes this lock.
    free: Mutex<u32>,
}

/// End of the list of free slots.
const NO_SLOT: u32 = u32::MAX;

/// A UE's slot. Aligned, so that UEs of different threads share no cache line.
#[repr(align(64))]
struct Slot {
    /// Twice the generation, plus one while the slot is in use.
    state: AtomicU64,
    /// The next free slot, while this one is free; read and written under the lock of the list's head.
    next_free: AtomicU32,
    /// Period in which the ledger was brought up to date.
    shown_in: AtomicU32,
    /// Part of this slot in the totals; set up with the first DRB, and kept for UEs that have the slot later.
    ledger: OnceLock<Box<Ledger>>,
    ue: UnsafeCell<Option<Ue>>,
}

/// Bits of the nanoseconds that a ledger's period lasts, 1.1 s: seldom enough to cost nothing.
const SHOWN_EVERY: u32 = 30;

// As docs/guide/embedding.md has it.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Slot>() == 1024);

// SAFETY: a slot's UE is only reached through a `SlotGuard`, of which there is one at a time; `Ue` may move between threads.
unsafe impl Sync for Instance {}

/// Exclusive use of a slot, which ends when the guard is dropped.
pub(crate) struct SlotGuard<'a> {
    slot: &'a Slot,
    /// State of the slot afterwards.
    next: u64,
}

impl Drop for SlotGuard<'_> {
    fn drop(&mut self) {
        self.slot.state.store(self.next, Ordering::Release);
    }
}

impl SlotGuard<'_> {
    fn slot(&mut self) -> &mut Option<Ue> {
        // SAFETY: a slot has at most one guard at a time (see `Slot::lock`).
        unsafe { &mut *self.slot.ue.get() }
    }

    /// The UE in this slot.
    ///
    /// # Errors
    /// `NoUe` for a free slot.
    #[inline]
    pub(crate) fn ue(&mut self) -> Result<&mut Ue, Status> {
        self.slot().as_mut().ok_or(Status::NoUe)
    }

    /// Shows the UE's counters in the instance's totals, unless that was done in this period of the host's clock.
    #[inline]
    pub(crate) fn show_in(&mut self, now_ns: u64) {
        let period = (now_ns >> SHOWN_EVERY) as u32;
        if self.slot.shown_in.load(Ordering::Relaxed) != period {
            self.slot.shown_in.store(period, Ordering::Relaxed);
            self.show();
        }
    }

    /// Shows the UE's counters in the instance's totals.
    #[cold]
    #[inline(never)]
    pub(crate) fn show(&mut self) {
        if let Some(ledger) = self.slot.ledger.get() {
            // SAFETY: the slot is this guard's.
            unsafe { ledger.show(self.slot().as_ref()) };
        }
    }

    /// Gives the slot a ledger, by which it counts in the totals.
    pub(crate) fn open_ledger(&mut self) {
        self.slot.ledger.get_or_init(|| Box::new(Ledger::new()));
        self.show();
    }

    /// Keeps the counters of a DRB that was removed in the totals.
    pub(crate) fn keep_drb(&mut self, counters: &Counters) {
        if let Some(ledger) = self.slot.ledger.get() {
            // SAFETY: the slot is this guard's.
            unsafe { ledger.keep_drb(counters) };
        }
        self.show();
    }
}

impl Slot {
    /// Begins to fetch all of the slot, locked or not.
    #[inline]
    fn prefetch(&self) {
        let begin = std::ptr::from_ref(self).cast::<u8>();
        for line in (0..size_of::<Self>()).step_by(size_of::<[u64; 8]>()) {
            prefetch(begin.wrapping_add(line));
        }
    }

    #[inline]
    fn lock(&self, generation: u32) -> Result<SlotGuard<'_>, Status> {
        let idle = u64::from(generation) << 1;
        match self.state.compare_exchange(idle, idle | 1, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(SlotGuard { slot: self, next: idle }),
            Err(found) if found == idle | 1 => Err(Status::Busy),
            Err(_) => Err(Status::NoUe),
        }
    }
}

impl Instance {
    /// Makes a slab with `capacity` slots.
    pub(crate) fn new(capacity: u32, secret: &[u8; 16], seed: u64) -> Self {
        let next = |index| if index < capacity { index } else { NO_SLOT };
        // Drawn, so that a handle of another instance, or of a process before this one, is refused. Secret and seed may be those of
        // another instance; nothing but the handles depends on the draw.
        let generation = (RandomState::new().hash_one(capacity) as u32).max(1);
        let slot = |index| Slot {
            state: AtomicU64::new(u64::from(generation) << 1),
            next_free: AtomicU32::new(next(index + 1)),
            shown_in: AtomicU32::new(u32::MAX),
            ledger: OnceLock::new(),
            ue: UnsafeCell::new(None),
        };
        let slots = (0..capacity).map(slot).collect();
        Self { key: FlowKey::new(secret), seed, slots, busy: AtomicU64::new(0), free: Mutex::new(next(0)) }
    }

    /// Sums over all slots, and over all UEs that were in them.
    pub(crate) fn totals(&self) -> Totals {
        let mut sum = Totals::default();
        for ledger in self.slots.iter().filter_map(|slot| slot.ledger.get()) {
            ledger.add_to(&mut sum);
        }
        sum.busy = self.busy.load(Ordering::Relaxed);
        sum
    }

    /// Adds a UE in a free slot.
    ///
    /// # Errors
    /// `Full` where no slot is free.
    pub(crate) fn add(&self) -> Result<UeId, Status> {
        let mut free = self.free();
        let index = *free;
        let slot = self.slots.get(index as usize).ok_or(Status::Full)?;
        let generation = (slot.state.load(Ordering::Relaxed) >> 1) as u32;
        // Busy only if a caller made up a handle that was not given out yet.
        *slot.lock(generation)?.slot() = Some(Ue::new(self.key));
        *free = slot.next_free.load(Ordering::Relaxed);
        Ok(UeId { bits: u64::from(generation) << 32 | u64::from(index) })
    }

    /// Removes a UE. Its handle is of an old generation from then on.
    ///
    /// # Errors
    /// `NoUe` for a handle without UE, `Busy` while a call for the UE is under way.
    pub(crate) fn remove(&self, id: UeId) -> Result<(), Status> {
        let mut guard = self.lock(id)?;
        let ue = guard.slot().take().ok_or(Status::NoUe)?;
        if let Some(ledger) = guard.slot.ledger.get() {
            // SAFETY: the slot is the guard's.
            unsafe { ledger.keep(&ue) };
            guard.show();
        }
        // No generation is zero, so that no UE has a handle of zeros.
        let generation = ((guard.next >> 1) as u32).wrapping_add(1).max(1);
        guard.next = u64::from(generation) << 1;
        drop(guard);
        let mut free = self.free();
        self.slots[id.index() as usize].next_free.store(*free, Ordering::Relaxed);
        *free = id.index();
        drop(free);
        drop(ue);
        Ok(())
    }

    /// Locks the slot of a UE.
    ///
    /// # Errors
    /// `NoUe` for a handle without UE, `Busy` while another call for the UE is under way.
    #[inline]
    pub(crate) fn lock(&self, id: UeId) -> Result<SlotGuard<'_>, Status> {
        let slot = self.slots.get(id.index() as usize).ok_or(Status::NoUe)?;
        // Nothing that follows an atomic exchange is read before it is done: so the other lines of the slot come while it waits for its own.
        slot.prefetch();
        let locked = slot.lock((id.bits >> 32) as u32);
        if let Err(Status::Busy) = locked {
            self.busy.fetch_add(1, Ordering::Relaxed);
        }
        locked
    }

    /// Calls `body` with a UE whose slot is in the cache, so that it prefetches what lies behind the slot. Does nothing while another call
    /// for the UE is under way; the call that follows then returns that status.
    #[inline]
    pub(crate) fn peek(&self, id: UeId, body: impl FnOnce(&Ue)) {
        let Some(slot) = self.slots.get(id.index() as usize) else { return };
        if let Ok(mut guard) = slot.lock((id.bits >> 32) as u32)
            && let Ok(ue) = guard.ue()
        {
            body(ue);
        }
    }

    /// Prefetches the memory of a UE's slot, without locking it.
    ///
    /// # Errors
    /// `NoUe` for a handle beyond the slab.
    #[inline]
    pub(crate) fn warm(&self, id: UeId) -> Result<(), Status> {
        self.slots.get(id.index() as usize).ok_or(Status::NoUe)?.prefetch();
        Ok(())
    }

    /// Bytes that an instance of this capacity takes before any DRB is set up.
    #[cfg(test)]
    const fn bytes(capacity: usize) -> usize {
        size_of::<Self>() + capacity * size_of::<Slot>()
    }

    fn free(&self) -> MutexGuard<'_, u32> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins to fetch a cache line. This reads nothing, as far as the program can tell.
#[inline]
pub(crate) fn prefetch(line: *const u8) {
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
    fn a_handle_of_one_instance_is_no_handle_of_another() {
        let instance = || Instance::new(4, &[7; 16], 1);
        let (one, other) = (instance(), instance());
        let (id, same_slot) = (one.add().unwrap(), other.add().unwrap());
        assert_eq!(id.index(), same_slot.index());
        assert!(other.lock(id).is_err() && one.lock(same_slot).is_err());
        assert!(one.lock(id).is_ok());
    }

    #[test]
    fn a_handle_is_refused_once_its_ue_was_removed() {
        let instance = instance(1);
        let first = instance.add().unwrap();
        assert_eq!(instance.add(), Err(Status::Full));
        instance.remove(first).unwrap();
        assert_eq!(instance.remove(first), Err(Status::NoUe));
        let second = instance.add().unwrap();
        assert!(instance.lock(first).is_err_and(|status| status == Status::NoUe));
        assert!(instance.lock(second).unwrap().ue().is_ok());
    }

    #[test]
    fn made_up_handles_are_refused() {
        let instance = instance(2);
        let real = instance.add().unwrap();
        for bits in [0, u64::MAX, real.bits + 1, real.bits + 2, real.bits ^ 1 << 63, real.bits ^ 1 << 32] {
            let refused = instance.lock(UeId { bits }).and_then(|mut guard| guard.ue().map(drop));
            assert_eq!(refused, Err(Status::NoUe), "{bits:x}");
        }
    }

    #[test]
    fn freed_slots_are_reused_and_no_others() {
        let instance = instance(3);
        let ues: Vec<_> = (0..3).map(|_| instance.add().unwrap()).collect();
        assert_eq!(instance.add(), Err(Status::Full));
        instance.remove(ues[2]).unwrap();
        instance.remove(ues[0]).unwrap();
        let reused: Vec<_> = (0..2).map(|_| instance.add().unwrap().index()).collect();
        assert_eq!(reused, [ues[0].index(), ues[2].index()]);
        assert_eq!(instance.add(), Err(Status::Full));
        assert!(instance.lock(ues[1]).is_ok());
    }

    #[test]
    fn the_second_call_for_a_ue_does_not_wait() {
        let instance = instance(2);
        let (one, other) = (instance.add().unwrap(), instance.add().unwrap());
        let guard = instance.lock(one).unwrap();
        assert!(instance.lock(one).is_err_and(|status| status == Status::Busy));
        assert_eq!(instance.remove(one), Err(Status::Busy));
        assert!(instance.lock(other).is_ok());
        drop(guard);
        assert!(instance.lock(one).is_ok());
    }

    #[test]
    fn an_idle_ue_takes_less_than_a_kib() {
        let bytes = Instance::bytes(4_096) / 4_096;
        println!("an idle UE through C: {bytes} bytes");
        assert!(bytes <= 1_024, "{bytes}");
    }
}
