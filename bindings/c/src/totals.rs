//! Totals of an instance: sums over its UEs and DRBs, including removed ones, for operation and maintenance.
//!
//! Reading them never waits and never blocks other calls. Each UE keeps its part in a ledger. Its own calls update the ledger once a period,
//! and whenever one of its DRBs is removed or its counters are read. Readers add up the ledgers.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};

use tidemark_marker::Counters;
use tidemark_marker::path::Ue;

use crate::instance::Instance;
use crate::sized::{self, Plain};
use crate::status::{Status, guard};

/// Totals of an instance since it was made. `ues`, `drbs` and `sums.blind_drbs` are current numbers; all others only grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Totals {
    /// Size of this struct, `sizeof`. The caller sets it before each call, which changes it to the number of bytes written.
    pub size: usize,
    /// UEs, each counted from its first DRB on or earlier.
    pub ues: u64,
    /// DRBs.
    pub drbs: u64,
    /// Calls that were refused with BUSY.
    pub busy: u64,
    /// Downlink packets.
    pub downlink: u64,
    /// Uplink packets.
    pub uplink: u64,
    /// Packets of either direction whose headers could not be read, or were not all in the given bytes.
    pub unparsed: u64,
    /// Downlink packets of a QoS flow that no DRB carries.
    pub unknown_qfi: u64,
    /// Reports and PDCP events for a DRB that is not set up.
    pub unknown_drb: u64,
    /// Sums over the DRBs.
    pub sums: Counters,
}

/// Number of values in [`Totals`].
const VALUES: usize = (size_of::<Totals>() - size_of::<usize>()) / size_of::<u64>();

/// Values of [`Totals`] in the order of its fields, to be added up.
type Values = [u64; VALUES];

impl Default for Totals {
    fn default() -> Self {
        // SAFETY: integers alone, for which zeros are a value.
        Self { size: size_of::<Self>(), ..unsafe { std::mem::zeroed() } }
    }
}

// SAFETY: `repr(C)`, with its size first, then integers alone.
unsafe impl Plain for Totals {}

// As tests/layout.h has it for C and C++.
#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::offset_of;

    assert!(
        size_of::<Totals>() == 288
            && offset_of!(Totals, sums) == 72
            && offset_of!(Totals, sums.mismatched_reports) == 280
    );
};

impl Totals {
    /// Part of a UE that is there, with its DRBs.
    fn of(ue: &Ue) -> Self {
        let own = ue.counters();
        let mut part = Self {
            ues: 1,
            downlink: own.downlink,
            uplink: own.uplink,
            unparsed: own.unparsed,
            unknown_qfi: own.unknown_qfi,
            unknown_drb: own.unknown_drb,
            ..Self::default()
        };
        for counters in ue.all_drb_counters() {
            part.drbs += 1;
            part.sums += counters;
        }
        part
    }

    fn values(&self) -> Values {
        // SAFETY: behind its size the struct is so many u64 and nothing else.
        unsafe { std::ptr::from_ref(self).cast::<u8>().add(size_of::<usize>()).cast::<Values>().read() }
    }

    fn values_mut(&mut self) -> &mut Values {
        // SAFETY: as above; the borrow is of the whole struct.
        unsafe { &mut *std::ptr::from_mut(self).cast::<u8>().add(size_of::<usize>()).cast::<Values>() }
    }
}

/// Part of a slot's UEs, one after another, in the totals.
pub(crate) struct Ledger {
    /// Sums of what was removed; used by who has the slot.
    removed: UnsafeCell<Totals>,
    /// Sums of what was removed and what is there, for everyone to read.
    shown: [AtomicU64; VALUES],
}

// SAFETY: `removed` is only reached through the exclusive use of the slot (see the methods' contracts).
unsafe impl Sync for Ledger {}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self { removed: UnsafeCell::new(Totals::default()), shown: [const { AtomicU64::new(0) }; VALUES] }
    }

    /// Shows what the slot's UE, if there is one, has counted.
    ///
    /// # Safety
    /// The caller has the slot to itself.
    pub(crate) unsafe fn show(&self, ue: Option<&Ue>) {
        // SAFETY: the caller's promise.
        let removed = unsafe { &*self.removed.get() }.values();
        let part = ue.map_or([0; VALUES], |ue| Totals::of(ue).values());
        for ((shown, removed), part) in self.shown.iter().zip(removed).zip(part) {
            shown.store(removed.wrapping_add(part), Ordering::Relaxed);
        }
    }

    /// Keeps the counters of a DRB that was removed.
    ///
    /// # Safety
    /// The caller has the slot to itself.
    pub(crate) unsafe fn keep_drb(&self, counters: &Counters) {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.removed.get() }.sums += Counters { blind_drbs: 0, ..*counters };
    }

    /// Keeps the counters of a UE that is removed, with its DRBs.
    ///
    /// # Safety
    /// The caller has the slot to itself.
    pub(crate) unsafe fn keep(&self, ue: &Ue) {
        let part = Totals::of(ue);
        let part = Totals { ues: 0, drbs: 0, sums: Counters { blind_drbs: 0, ..part.sums }, ..part };
        // SAFETY: the caller's promise.
        let removed = unsafe { &mut *self.removed.get() };
        for (removed, part) in removed.values_mut().iter_mut().zip(part.values()) {
            *removed = removed.wrapping_add(part);
        }
    }

    /// Adds what is shown to a sum.
    pub(crate) fn add_to(&self, sum: &mut Totals) {
        for (sum, shown) in sum.values_mut().iter_mut().zip(&self.shown) {
            *sum = sum.wrapping_add(shown.load(Ordering::Relaxed));
        }
    }
}

/// Reads the totals of an instance. Any thread may call this at any time: it neither waits for other calls nor makes them wait or fail. A UE's
/// part is at most 1.1 s older than its last call with a time, or as of the last `tidemark_read_ue_counters`, whichever is later. Removed UEs
/// stay fully included. Each total is correct by itself, but two totals may differ by packets counted in between.
///
/// Fails with NULL_POINTER, BAD_LENGTH.
///
/// # Safety
/// `instance` is null or lives, `totals` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_read_totals(instance: *const Instance, totals: *mut Totals) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        let instance = unsafe { instance.as_ref() }.ok_or(Status::NullPointer)?;
        // SAFETY: null or valid by contract.
        let place = unsafe { sized::place(totals) }?;
        place.write(instance.totals());
        Ok(())
    })
}
