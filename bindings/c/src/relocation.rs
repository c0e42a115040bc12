//! Mobility of UEs DRB by DRB. Nothing here allocates.

use tidemark_core::Instant;
use tidemark_marker::path::DrbId;

use crate::instance::Instance;
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
