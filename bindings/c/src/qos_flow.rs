//! Marking of QoS flows: switched on or off at the core's request, and reports to a UPF that marks instead.

use tidemark_core::Instant;
use tidemark_marker::path::NoReport;
use tidemark_marker::{CongestionReport, Marking};
use tidemark_wire::pdu_session::{Congestion, UlInformation};

use crate::instance::Instance;
use crate::path::with_ue;
use crate::sized;
use crate::status::{Status, guard};
use crate::types::UeId;

/// Downlink packets of the QoS flow are marked by the law of its DRB. This is the initial state.
pub const TIDEMARK_MARKING_DOWNLINK: u8 = 0;
/// Downlink packets of the QoS flow are not marked, neither in themselves nor in acknowledgements.
pub const TIDEMARK_MARKING_OFF: u8 = 1;
/// Downlink packets of the QoS flow are not marked here, but at the UPF by the value of `tidemark_qfi_congestion`.
pub const TIDEMARK_MARKING_REPORT: u8 = 2;

/// Bytes that `tidemark_congestion_container` writes.
pub const TIDEMARK_CONGESTION_CONTAINER: usize = 6;

/// Congestion of a QoS flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct QfiCongestion {
    /// Size of this struct, `sizeof`. The caller sets it before each call, which changes it to the number of bytes written.
    pub size: usize,
    /// Downlink packets of the QoS flow so far that came while its DRB's law did not mark it.
    pub packets: u64,
    /// DL Congestion Information (TS 38.415 5.5.2.2): the share of packets to mark, in hundredths of a percent, 0 to 10000.
    pub dl_congestion: u16,
}

// As tests/layout.h has it for C and C++.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<QfiCongestion>() == 24 && std::mem::offset_of!(QfiCongestion, dl_congestion) == 16);

impl From<CongestionReport> for QfiCongestion {
    fn from(report: CongestionReport) -> Self {
        Self { size: size_of::<Self>(), packets: report.packets, dl_congestion: report.downlink.hundredths() }
    }
}

/// Sets the marking of a QoS flow's downlink packets from now on: `marking` is one of `TIDEMARK_MARKING_...`. It belongs to the QoS flow in any
/// DRB, and can be set before the flow is mapped to one. Packets that are not marked here still count in the queue, and the law can still drop
/// them. Marks that already wait for acknowledgements are still sent, and the counters in acknowledgements go on. The first QoS flow of a UE
/// that is not `TIDEMARK_MARKING_DOWNLINK` allocates memory.
///
/// Fails with NULL_POINTER, NO_UE, BUSY, BAD_QFI; BAD_CONFIG for another `marking`.
///
/// # Safety
/// `instance` is null or lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_qfi_marking(instance: *const Instance, ue: UeId, qfi: u8, marking: u8) -> Status {
    // SAFETY: the caller's promise is handed on.
    unsafe {
        with_ue(instance, ue, |ue| {
            let marking = match marking {
                TIDEMARK_MARKING_DOWNLINK => Marking::Downlink,
                TIDEMARK_MARKING_OFF => Marking::Off,
                TIDEMARK_MARKING_REPORT => Marking::Report,
                _ => return Err(Status::BadConfig),
            };
            if ue.set_marking(qfi, marking) { Ok(()) } else { Err(Status::BadQfi) }
        })
    }
}

/// Gives the congestion of a QoS flow's downlink, for a report to the UPF: the share of its L4S packets since the last call that the DRB's law would
/// have marked. Call it once for each report. If there were no such packets, the share is that of the last call while something is queued in the
/// DRB, and then zero.
///
/// Fails with NULL_POINTER, BAD_LENGTH, NO_UE, BUSY, BAD_QFI; NO_DRB for a QoS flow that no DRB carries; BAD_CONFIG for one that is marked here.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `congestion` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_qfi_congestion(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    qfi: u8,
    congestion: *mut QfiCongestion,
) -> Status {
    // SAFETY: the caller's promises are handed on.
    unsafe {
        with_ue(instance, ue, |ue| {
            let place = sized::place(congestion)?;
            check(qfi)?;
            let report = ue.congestion(Instant::from_nanos(now_ns), qfi).map_err(|none| match none {
                NoReport::NoDrb => Status::NoDrb,
                NoReport::MarkedHere => Status::BadConfig,
            })?;
            place.write(report.into());
            Ok(())
        })
    }
}

/// Writes an UL PDU SESSION INFORMATION (TS 38.415 5.5.2.2) with the QFI and the DL Congestion Information. It is the content of a GTP-U extension
/// header of type 0x85, for an uplink packet of the QoS flow, or for one without payload if the UE sends none. `dl_congestion` is in hundredths of
/// a percent.
///
/// Fails with NULL_POINTER, BAD_QFI; BAD_CONFIG for a `dl_congestion` above 10000.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `container` is null or valid for a write of `TIDEMARK_CONGESTION_CONTAINER` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_congestion_container(
    qfi: u8,
    dl_congestion: u16,
    container: *mut [u8; TIDEMARK_CONGESTION_CONTAINER],
) -> Status {
    guard(|| {
        // SAFETY: null or valid by contract.
        let container = unsafe { container.as_mut() }.ok_or(Status::NullPointer)?;
        check(qfi)?;
        let dl_congestion = Some(Congestion::new(dl_congestion).ok_or(Status::BadConfig)?);
        let information = UlInformation { qfi, dl_congestion, ..UlInformation::default() };
        information.emit(container).map(drop).map_err(|_| Status::Internal)
    })
}

/// Refuses a QFI that does not exist.
fn check(qfi: u8) -> Result<(), Status> {
    if qfi < 64 { Ok(()) } else { Err(Status::BadQfi) }
}
