//! The packet path: the calls for every packet, report and acknowledgement. None of them allocates, waits or makes a system call.

use tidemark_core::{Bytes, Duration, Ecn, Instant};
use tidemark_marker::DeliveryStatus;
use tidemark_marker::path::{DrbId, Ue};
use tidemark_wire::nru::DlDataDeliveryStatus;
use tidemark_wire::{ip, tunnel};

use crate::instance::Instance;
use crate::status::{Status, guard};
use crate::types::{Report, UeId, Verdict};

/// The longest packet: an IPv6 header and 65535 bytes.
pub const TIDEMARK_MAX_PACKET: usize = 65_575;

/// Locks the UE's slot and calls `body` with the UE.
///
/// # Safety
/// `instance` is null or lives.
#[inline]
unsafe fn with_ue(instance: *const Instance, ue: UeId, body: impl FnOnce(&mut Ue) -> Result<(), Status>) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        let instance = unsafe { instance.as_ref() }.ok_or(Status::NullPointer)?;
        body(instance.lock(ue)?.ue()?)
    })
}

/// The packet of a caller as a slice.
///
/// # Safety
/// `packet` is null or valid for `len` bytes, which nobody else uses meanwhile.
#[inline]
unsafe fn bytes<'a>(packet: *mut u8, len: usize) -> Result<&'a mut [u8], Status> {
    if packet.is_null() {
        return Err(Status::NullPointer);
    }
    if !(1..=TIDEMARK_MAX_PACKET).contains(&len) {
        return Err(Status::BadLength);
    }
    // SAFETY: not null, so valid for so many bytes by contract.
    Ok(unsafe { std::slice::from_raw_parts_mut(packet, len) })
}

/// Hands an event about one DRB to the UE. `NoDrb` if the UE has none of the kind, which it counts.
#[inline]
fn drb_event(ue: &mut Ue, event: impl FnOnce(&mut Ue)) -> Result<(), Status> {
    let before = ue.counters().unknown_drb;
    event(ue);
    if ue.counters().unknown_drb == before { Ok(()) } else { Err(Status::NoDrb) }
}

/// Decapsulates a packet at the end of a tunnel, N3's say: the outer header's ECN field is combined with the packet's own
/// (RFC 6040 4.2; RFC 9601 for GTP-U). `outer` is the outer header's type of service or traffic class, of which the two
/// lowest bits count; `packet` is `len` bytes from the inner IP header on. `verdict` is MARK where the packet is CE now and
/// was not, DROP where it was marked on its way and its transport would not know; the inner field may change with PASS too,
/// from ECT(0) to ECT(1). `verdict` is PASS after any error. To be called before `tidemark_downlink`, which counts what comes
/// with CE.
///
/// Fails with NULL_POINTER, BAD_LENGTH; BAD_FRAME for what is no IP packet, which has no ECN field.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `packet` is null or valid for `len` bytes that nobody else uses meanwhile, `verdict` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_decapsulate(outer: u8, packet: *mut u8, len: usize, verdict: *mut Verdict) -> Status {
    if verdict.is_null() {
        return Status::NullPointer;
    }
    let mut decided = Verdict::Pass;
    let status = guard(|| {
        // SAFETY: the caller's promise is handed on.
        let packet = unsafe { bytes(packet, len) }?;
        let inner = ip::ecn(packet).map_err(|_| Status::BadFrame)?;
        decided = match tunnel::decapsulate(inner, Ecn::from_bits(outer)).ecn {
            None => Verdict::Drop,
            Some(ecn) if ecn == inner => Verdict::Pass,
            Some(ecn) => {
                ip::set_ecn(packet, ecn).map_err(|_| Status::BadFrame)?;
                if ecn == Ecn::Ce { Verdict::Mark } else { Verdict::Pass }
            }
        };
        Ok(())
    });
    // SAFETY: not null, so valid by contract.
    unsafe { verdict.write(decided) };
    status
}

/// Decides on a downlink packet of this QoS flow, before PDCP: `len` bytes from its IP header on, in clear and in one piece. A mark
/// is set in place, with the header's checksum. What cannot be read, or belongs to no DRB, passes as it is and is
/// counted. `verdict` is PASS after any error.
///
/// `now_ns` is a clock of the caller's choice, the same for every call about a UE, that does not step back.
///
/// Fails with NULL_POINTER, BAD_LENGTH, NO_UE, BUSY.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `packet` is null or valid for `len` bytes that nobody else uses meanwhile, `verdict` is
/// null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_downlink(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    qfi: u8,
    packet: *mut u8,
    len: usize,
    verdict: *mut Verdict,
) -> Status {
    if verdict.is_null() {
        return Status::NullPointer;
    }
    let mut decided = Verdict::Pass;
    // SAFETY: the caller's promises are handed on.
    let status = unsafe {
        with_ue(instance, ue, |ue| {
            decided = ue.downlink(Instant::from_nanos(now_ns), qfi, bytes(packet, len)?).into();
            Ok(())
        })
    };
    // SAFETY: not null, so valid by contract.
    unsafe { verdict.write(decided) };
    status
}

/// Decides on a packet that leaves the caller's own queue after `sojourn_ns`, with `behind` bytes staying in it: `len` bytes
/// from its IP header on, in clear and in one piece. Laws that decide where packets leave the queue do so here; they pass
/// everything in `tidemark_downlink`, and mark and drop nothing where this call is not made. Every other law passes
/// everything here. After a DROP the next packet of the queue is asked about, at the same time. `verdict` is PASS after any
/// error.
///
/// Fails with NULL_POINTER, BAD_LENGTH, NO_UE, NO_DRB, BUSY.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `packet` is null or valid for `len` bytes that nobody else uses meanwhile, `verdict` is
/// null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_dequeue(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    drb: u8,
    packet: *mut u8,
    len: usize,
    sojourn_ns: u64,
    behind: u64,
    verdict: *mut Verdict,
) -> Status {
    if verdict.is_null() {
        return Status::NullPointer;
    }
    let mut decided = Verdict::Pass;
    let (now, sojourn) = (Instant::from_nanos(now_ns), Duration::from_nanos(sojourn_ns));
    // SAFETY: the caller's promises are handed on.
    let status = unsafe {
        with_ue(instance, ue, |ue| {
            let packet = bytes(packet, len)?;
            drb_event(ue, |ue| decided = ue.dequeue(now, DrbId(drb), packet, sojourn, Bytes(behind)).into())
        })
    };
    // SAFETY: not null, so valid by contract.
    unsafe { verdict.write(decided) };
    status
}

/// Announces a call about this UE: what it will need begins to come from memory. A caller with several packets or frames at
/// hand announces each before the first call, so that the waits, which are most of what a call costs with thousands of
/// UEs, pass at the same time. Nothing changes, and nobody has to be alone with the UE for it.
///
/// Fails with NULL_POINTER; NO_UE for a handle that no UE can have.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_warm(instance: *const Instance, ue: UeId) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        unsafe { instance.as_ref() }.ok_or(Status::NullPointer)?.warm(ue)
    })
}

/// Notes that PDCP gave a packet this SN and sends it to the DU; `size` is the PDU's in bytes.
///
/// Fails with NULL_POINTER, NO_UE, NO_DRB, BUSY.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_pdcp_pdu(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    drb: u8,
    sn: u32,
    size: u32,
) -> Status {
    let now = Instant::from_nanos(now_ns);
    // SAFETY: the caller's promise is handed on.
    unsafe { with_ue(instance, ue, |ue| drb_event(ue, |ue| ue.pdcp_pdu(now, DrbId(drb), sn, Bytes(size.into())))) }
}

/// Notes that PDCP discarded an SDU that had this SN.
///
/// Fails with NULL_POINTER, NO_UE, NO_DRB, BUSY.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_pdcp_discard(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    drb: u8,
    sn: u32,
) -> Status {
    let now = Instant::from_nanos(now_ns);
    // SAFETY: the caller's promise is handed on.
    unsafe { with_ue(instance, ue, |ue| drb_event(ue, |ue| ue.discard(now, DrbId(drb), sn))) }
}

/// Takes the DU's report on a DRB, from a frame that the caller has read.
///
/// Fails with NULL_POINTER, NO_UE, NO_DRB, BUSY.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `report` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_feedback(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    drb: u8,
    report: *const Report,
) -> Status {
    // SAFETY: null or valid by contract.
    let Some(report) = (unsafe { report.as_ref() }) else { return Status::NullPointer };
    let (now, status) = (Instant::from_nanos(now_ns), DeliveryStatus::from(report));
    // SAFETY: the caller's promise is handed on.
    unsafe { with_ue(instance, ue, |ue| drb_event(ue, |ue| ue.feedback(now, DrbId(drb), &status))) }
}

/// Takes the DU's report on a DRB: `len` bytes of a DL DATA DELIVERY STATUS as the NR RAN container carries it
/// (TS 38.425 5.5.2.2), from its PDU type on.
///
/// Fails with NULL_POINTER, BAD_LENGTH, BAD_FRAME, NO_UE, NO_DRB, BUSY.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `frame` is null or valid for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_feedback_frame(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    drb: u8,
    frame: *const u8,
    len: usize,
) -> Status {
    // SAFETY: null or valid by contract; it is only read.
    let frame = match unsafe { bytes(frame.cast_mut(), len) } {
        Ok(frame) => &*frame,
        Err(status) => return status,
    };
    let now = Instant::from_nanos(now_ns);
    // SAFETY: the caller's promise is handed on.
    unsafe {
        with_ue(instance, ue, |ue| {
            let frame = DlDataDeliveryStatus::parse(frame).map_err(|_| Status::BadFrame)?;
            let status = DeliveryStatus {
                highest_transmitted: frame.highest_transmitted,
                highest_delivered: frame.highest_delivered,
                highest_retransmitted: frame.highest_retransmitted,
                highest_delivered_retransmitted: frame.highest_delivered_retransmitted,
                desired_buffer_size: Some(Bytes(frame.desired_buffer_size.into())),
            };
            drb_event(ue, |ue| ue.feedback(now, DrbId(drb), &status))
        })
    }
}

/// Handles an uplink packet, after PDCP: `len` bytes from its IP header on, in clear and in one piece. Congestion feedback is
/// written in place, with the checksum, where a flow's is short-circuited; everything else passes as it is.
///
/// Fails with NULL_POINTER, BAD_LENGTH, NO_UE, BUSY.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `packet` is null or valid for `len` bytes that nobody else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_uplink(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    packet: *mut u8,
    len: usize,
) -> Status {
    // SAFETY: the caller's promises are handed on.
    unsafe {
        with_ue(instance, ue, |ue| {
            ue.uplink(Instant::from_nanos(now_ns), bytes(packet, len)?);
            Ok(())
        })
    }
}

/// True if the next frame to the DU should ask for a report on this DRB: to be set as the report polling flag of its DL USER
/// DATA (TS 38.425 5.5.3.7). False for a DRB that is not set up, and after any error.
///
/// Fails with NULL_POINTER, NO_UE, BUSY.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `wanted` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_wants_report(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    drb: u8,
    wanted: *mut bool,
) -> Status {
    if wanted.is_null() {
        return Status::NullPointer;
    }
    let mut answer = false;
    // SAFETY: the caller's promise is handed on.
    let status = unsafe {
        with_ue(instance, ue, |ue| {
            answer = ue.wants_report(Instant::from_nanos(now_ns), DrbId(drb));
            Ok(())
        })
    };
    // SAFETY: not null, so valid by contract.
    unsafe { wanted.write(answer) };
    status
}
