//! Reading of counters and estimates, at any time between two other calls for the UE. Nothing here allocates.

use tidemark_core::Instant;
use tidemark_marker::path::DrbId;

use crate::instance::{Instance, SlotGuard};
use crate::sized;
use crate::status::{Status, guard};
use crate::types::{DrbCounters, DrbEstimate, UeCounters, UeId};

/// Locks the UE's slot and writes a value that is read there to `to`, as far as its size goes.
///
/// # Safety
/// `instance` is null or lives, `to` is null or valid for a write.
unsafe fn read<T: Copy>(
    instance: *const Instance,
    ue: UeId,
    to: *mut T,
    what: impl FnOnce(&mut SlotGuard<'_>) -> Result<T, Status>,
) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        let instance = unsafe { instance.as_ref() }.ok_or(Status::NullPointer)?;
        // SAFETY: null or valid by contract.
        let place = unsafe { sized::place(to) }?;
        place.write(what(&mut instance.lock(ue)?)?);
        Ok(())
    })
}

/// Reads the counters of a UE's packets, apart from those of its DRBs. Also updates the UE's part in the instance's totals.
///
/// Fails with NULL_POINTER, BAD_LENGTH, NO_UE, BUSY.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `counters` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_read_ue_counters(
    instance: *const Instance,
    ue: UeId,
    counters: *mut UeCounters,
) -> Status {
    // SAFETY: the caller's promises are handed on.
    unsafe {
        read(instance, ue, counters, |slot| {
            slot.show();
            Ok(slot.ue()?.counters().into())
        })
    }
}

/// Reads the counters of a DRB since it was set up.
///
/// Fails with NULL_POINTER, BAD_LENGTH, NO_UE, NO_DRB, BUSY.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `counters` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_read_drb_counters(
    instance: *const Instance,
    ue: UeId,
    drb: u8,
    counters: *mut DrbCounters,
) -> Status {
    // SAFETY: the caller's promises are handed on.
    unsafe {
        read(instance, ue, counters, |slot| {
            slot.ue()?.drb_counters(DrbId(drb)).map(DrbCounters::from).ok_or(Status::NoDrb)
        })
    }
}

/// Reads the estimates about a DRB at this time.
///
/// Fails with NULL_POINTER, BAD_LENGTH, NO_UE, NO_DRB, BUSY.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `estimate` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_read_estimate(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    drb: u8,
    estimate: *mut DrbEstimate,
) -> Status {
    let now = Instant::from_nanos(now_ns);
    // SAFETY: the caller's promises are handed on.
    unsafe {
        read(instance, ue, estimate, |slot| {
            slot.ue()?.estimate(now, DrbId(drb)).map(DrbEstimate::from).ok_or(Status::NoDrb)
        })
    }
}
