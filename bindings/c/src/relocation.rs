//! Mobility of UEs: of a DRB to another DU, and of a UE to another CU-UP. Nothing here allocates but the text of an error.

use std::ffi::c_char;

use tidemark_core::Instant;
use tidemark_marker::RelocationError;
use tidemark_marker::path::DrbId;

use crate::instance::Instance;
use crate::setup::write_message;
use crate::status::{Status, guard};
use crate::types::UeId;

/// Notes that a DRB moved to another DU or cell, or was re-established: `tidemark_ue_handover` for one DRB. It is the call for hosts that loop
/// over DRBs, as E1AP's Bearer Context Modification does: PDUs that the DRBs before it retransmitted stay known. Measurements of
/// the DRB's old radio are forgotten, and so is its queue; PDUs that PDCP retransmits are announced a second time. Flows and their
/// counters stay.
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

/// Writes a UE's TCP connections for the CU-UP that it moves to: what their ends agreed on, what was added to the counters in their
/// acknowledgements, and the marks that no acknowledgement has carried yet. Without them their senders would read marks that never were.
/// The bytes are the same on every machine (docs/reference/relocation.md).
///
/// `len` becomes the length of the state in bytes, with BUFFER_TOO_SMALL too: a call with a null `buffer` and a `capacity` of 0 asks for it. It is
/// 12 bytes and 136 for each connection. The UE goes on as it was; what its acknowledgements carry after the export is
/// lacking at the other CU-UP, so that the UE's last uplink packet comes before it.
///
/// Fails with NULL_POINTER, NO_UE, BUSY, BUFFER_TOO_SMALL. `buffer` is untouched then.
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

/// Takes in a UE's TCP connections from another CU-UP: `len` bytes as `tidemark_ue_export` wrote them there. To be called once its DRBs are
/// set up, before its first packet here. Connections go to the DRB of the same identity, or to the one that was set up first, from where
/// their packets fetch them; where a DRB's `flow_capacity` is smaller, the weakest are forgotten and counted. Another law, or one without
/// short-circuit, takes nothing back: the counters in acknowledgements go on as long as the connection.
///
/// The bytes may come from anyone. What is wrong with them is written to `problem`, cut to `problem_len` bytes with a terminating zero, with
/// its place; `problem` may be null.
///
/// Fails with NULL_POINTER, NO_UE, BUSY; NO_DRB where none is set up yet; BAD_STATE. Nothing has changed then.
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
