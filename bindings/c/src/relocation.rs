//! Mobility: moves of a DRB to another DU, and of a UE to another CU-UP. Nothing here allocates but the text of an error.

use std::ffi::c_char;

use tidemark_core::Instant;
use tidemark_marker::RelocationError;
use tidemark_marker::path::DrbId;

use crate::instance::Instance;
use crate::setup::write_message;
use crate::status::{Status, guard};
use crate::types::UeId;

/// Notes that a DRB moved to another DU or cell, or was re-established: `tidemark_ue_handover` for one DRB. It is for hosts that loop over DRBs,
/// as for E1AP's Bearer Context Modification: PDUs that other DRBs have already retransmitted are not forgotten. The measurements of the
/// DRB's old radio and its queue are forgotten, and PDUs that PDCP retransmits must be announced again. Flows and their counters
/// are kept.
///
/// Fails with NULL_POINTER, NO_UE, NO_DRB, BUSY.
///
/// # Safety
/// `instance` is null or lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_drb_handover(instance: *const Instance, ue: UeId, now_ns: u64, drb: u8) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        let instance = unsafe { instance.as_ref() }.ok_or(Status::NullPointer)?;
        let mut guard = instance.lock(ue)?;
        let (ue, drb) = (guard.ue()?, DrbId(drb));
        let unknown = ue.counters().unknown_drb;
        ue.handover_drb(Instant::from_nanos(now_ns), drb);
        if ue.counters().unknown_drb == unknown { Ok(()) } else { Err(Status::NoDrb) }
    })
}

/// Writes a UE's TCP connections for the CU-UP to which it moves: the agreed ECN mode, the additions to the counters in their
/// acknowledgements, and the marks that no acknowledgement has carried yet. Without this state the senders would read false marks.
/// The bytes are the same on every machine (docs/concepts/relocation.md).
///
/// `len` becomes the length of the state in bytes, also with BUFFER_TOO_SMALL. To get only the length, pass a null `buffer` and a `capacity` of 0.
/// It is 12 bytes and 136 for each connection. The UE itself does not change. Export after its last uplink packet here: marks
/// carried by acknowledgements after the export would be missing at the other CU-UP.
///
/// Fails with NULL_POINTER, NO_UE, BUSY, BUFFER_TOO_SMALL. `buffer` is then unchanged.
///
/// # Safety
/// `instance` is null or lives, `buffer` is null or valid for `capacity` bytes, `len` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_ue_export(
    instance: *const Instance,
    ue: UeId,
    buffer: *mut u8,
    capacity: usize,
    len: *mut usize,
) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        let instance = unsafe { instance.as_ref() }.ok_or(Status::NullPointer)?;
        if len.is_null() || (buffer.is_null() && capacity > 0) {
            return Err(Status::NullPointer);
        }
        let mut guard = instance.lock(ue)?;
        let ue = guard.ue()?;
        let wanted = ue.export_len();
        // SAFETY: not null, so valid by contract.
        unsafe { len.write(wanted) };
        if capacity < wanted {
            return Err(Status::BufferTooSmall);
        }
        // SAFETY: a capacity above 0 has a pointer, valid for so many bytes by contract.
        let buffer = unsafe { std::slice::from_raw_parts_mut(buffer, wanted) };
        ue.export(buffer).map(drop).ok_or(Status::BufferTooSmall)
    })
}

/// Imports a UE's TCP connections from another CU-UP: the `len` bytes that `tidemark_ue_export` wrote there. Call it after the UE's DRBs are
/// set up and before its first packet here. Connections go to the DRB of the same identity, or to the one that was set up first, from which
/// their packets move them. If a DRB's `flow_capacity` is smaller, the weakest are forgotten and counted. With another law, or one without
/// short-circuit, the counters in acknowledgements still go on as long as the connection.
///
/// The bytes need not be trusted. An error in them and its position are written to `problem`, cut to `problem_len` bytes with a terminating
/// zero; `problem` may be null.
///
/// Fails with NULL_POINTER, NO_UE, BUSY; NO_DRB if none is set up yet; BAD_STATE. Nothing has changed then.
///
/// # Safety
/// `instance` is null or lives, `state` is null or valid for `len` bytes, `problem` is null or valid for `problem_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_ue_import(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    state: *const u8,
    len: usize,
    problem: *mut c_char,
    problem_len: usize,
) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        let instance = unsafe { instance.as_ref() }.ok_or(Status::NullPointer)?;
        if state.is_null() {
            return Err(Status::NullPointer);
        }
        let mut guard = instance.lock(ue)?;
        let ue = guard.ue()?;
        // SAFETY: not null, so valid for so many bytes by contract.
        let state = unsafe { std::slice::from_raw_parts(state, len) };
        ue.import(Instant::from_nanos(now_ns), state).map_err(|error| {
            // SAFETY: null or of this length by contract.
            unsafe { write_message(&error.to_string(), problem, problem_len) };
            if error == RelocationError::NoDrb { Status::NoDrb } else { Status::BadState }
        })
    })
}
