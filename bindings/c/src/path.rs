//! The packet path: the calls for packets, reports and acknowledgements. They never allocate, wait or make a system call.

use tidemark_core::{Bytes, Duration, Ecn, Instant};
use tidemark_marker::path::{DrbId, Ue};
use tidemark_marker::{DeliveryStatus, SnLength};
use tidemark_wire::nru::DlDataDeliveryStatus;
use tidemark_wire::{ip, pdcp, tunnel};

use crate::instance::Instance;
use crate::sized;
use crate::status::{Status, guard};
use crate::types::{Report, UeId, Verdict};

/// The longest packet: an IPv6 header and 65535 bytes.
pub const TIDEMARK_MAX_PACKET: usize = 65_575;

/// Header of a data PDU with an SN of 18 bits, in bytes.
const MAX_PDCP_HEADER: usize = pdcp::SnLength::Bits18.header_len();

/// Locks the UE's slot and calls `body` with the UE.
///
/// # Safety
/// `instance` is null or lives.
#[inline]
pub(crate) unsafe fn with_ue(
    instance: *const Instance,
    ue: UeId,
    body: impl FnOnce(&mut Ue) -> Result<(), Status>,
) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        let instance = unsafe { instance.as_ref() }.ok_or(Status::NullPointer)?;
        body(instance.lock(ue)?.ue()?)
    })
}

/// Locks the UE's slot and calls `body` with the UE, at this time of the host's clock, by which its part in the totals is shown.
///
/// # Safety
/// `instance` is null or lives.
#[inline]
unsafe fn with_ue_at(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    body: impl FnOnce(&mut Ue) -> Result<(), Status>,
) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        let instance = unsafe { instance.as_ref() }.ok_or(Status::NullPointer)?;
        let mut guard = instance.lock(ue)?;
        let done = body(guard.ue()?);
        guard.show_in(now_ns);
        done
    })
}

/// The first bytes of a caller's packet of `len` bytes as a slice.
///
/// # Safety
/// `packet` is null or valid for `present` bytes, which nobody else uses meanwhile.
#[inline]
pub(crate) unsafe fn front<'a>(packet: *mut u8, present: usize, len: usize) -> Result<&'a mut [u8], Status> {
    if packet.is_null() {
        return Err(Status::NullPointer);
    }
    if present == 0 || present > len || len > TIDEMARK_MAX_PACKET {
        return Err(Status::BadLength);
    }
    // SAFETY: not null, so valid for so many bytes by contract.
    Ok(unsafe { std::slice::from_raw_parts_mut(packet, present) })
}

/// Bytes that a caller has read, as a slice.
///
/// # Safety
/// `bytes` is null or valid for `len` bytes, which nobody writes meanwhile.
#[inline]
unsafe fn read_only<'a>(bytes: *const u8, len: usize) -> Result<&'a [u8], Status> {
    if bytes.is_null() {
        return Err(Status::NullPointer);
    }
    if !(1..=TIDEMARK_MAX_PACKET).contains(&len) {
        return Err(Status::BadLength);
    }
    // SAFETY: not null, so valid for so many bytes by contract.
    Ok(unsafe { std::slice::from_raw_parts(bytes, len) })
}

/// Hands an event about one DRB to the UE. `NoDrb` if the UE has none of the kind, which it counts.
#[inline]
fn drb_event(ue: &mut Ue, event: impl FnOnce(&mut Ue)) -> Result<(), Status> {
    let before = ue.counters().unknown_drb;
    event(ue);
    if ue.counters().unknown_drb == before { Ok(()) } else { Err(Status::NoDrb) }
}

/// Decapsulates a packet at the end of a tunnel, for example on N3: combines the outer header's ECN field with that of the packet
/// (RFC 6040 4.2; RFC 9601 for GTP-U). `outer` is the outer header's type of service or traffic class; only its two lowest
/// bits count. `packet` has the first `present` bytes of the inner packet of `len` bytes, from its IP header on; the header
/// without options and extension headers is enough. `verdict` is MARK if the packet became CE. It is DROP if the packet was
/// marked in the tunnel and its transport does not understand ECN. With PASS the inner field may still change from ECT(0) to
/// ECT(1). `verdict` is PASS after any error. Call this before `tidemark_downlink`, which counts packets that arrive with CE.
///
/// Fails with NULL_POINTER, BAD_LENGTH; BAD_FRAME if the bytes are not an IP packet.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `packet` is null or valid for `present` bytes that nobody else uses meanwhile, `verdict` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_decapsulate(
    outer: u8,
    packet: *mut u8,
    present: usize,
    len: usize,
    verdict: *mut Verdict,
) -> Status {
    if verdict.is_null() {
        return Status::NullPointer;
    }
    let mut decided = Verdict::Pass;
    let status = guard(|| {
        // SAFETY: the caller's promise is handed on.
        let packet = unsafe { front(packet, present, len) }?;
        let inner = ip::ecn_of_front(packet, len).map_err(|_| Status::BadFrame)?;
        decided = match tunnel::decapsulate(inner, Ecn::from_bits(outer)).ecn {
            None => Verdict::Drop,
            Some(ecn) if ecn == inner => Verdict::Pass,
            Some(ecn) => {
                ip::set_ecn_of_front(packet, len, ecn).map_err(|_| Status::BadFrame)?;
                if ecn == Ecn::Ce { Verdict::Mark } else { Verdict::Pass }
            }
        };
        Ok(())
    });
    // SAFETY: not null, so valid by contract.
    unsafe { verdict.write(decided) };
    status
}

/// Decides on a downlink packet of this QoS flow, before PDCP. `packet` has the first `present` bytes of the packet of `len` bytes, from its
/// IP header on and unciphered; if packets are stored in segments, pass the first segment. It must contain the IP and TCP headers with
/// their options; nothing after them is read or written. A mark is set in place, with the header's checksum. A packet that cannot be
/// read or belongs to no DRB passes unchanged, and is counted as `unparsed` or `unknown_qfi`. `verdict` is PASS after any error.
///
/// `now_ns` is a clock of the caller's choice. It must be the same for all calls about a UE, and must not step back.
///
/// Fails with NULL_POINTER, BAD_LENGTH, NO_UE, BUSY.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `packet` is null or valid for `present` bytes that nobody else uses meanwhile, `verdict` is
/// null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_downlink(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    qfi: u8,
    packet: *mut u8,
    present: usize,
    len: usize,
    verdict: *mut Verdict,
) -> Status {
    if verdict.is_null() {
        return Status::NullPointer;
    }
    let mut decided = Verdict::Pass;
    // SAFETY: the caller's promises are handed on.
    let status = unsafe {
        with_ue_at(instance, ue, now_ns, |ue| {
            decided = ue.downlink_front(Instant::from_nanos(now_ns), qfi, front(packet, present, len)?, len).into();
            Ok(())
        })
    };
    // SAFETY: not null, so valid by contract.
    unsafe { verdict.write(decided) };
    status
}

/// Decides on a packet that leaves the caller's own queue after `sojourn_ns`; `behind` bytes remain in the queue. `packet`,
/// `present` and `len` are as in `tidemark_downlink`. Laws that decide when packets leave the queue do so here. They pass
/// everything in `tidemark_downlink`, and neither mark nor drop if this call is not made. Every other law passes everything
/// here. After a DROP the caller asks for the next packet of the queue, at the same time. `verdict` is PASS after any error.
///
/// Fails with NULL_POINTER, BAD_LENGTH, NO_UE, NO_DRB, BUSY.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `packet` is null or valid for `present` bytes that nobody else uses meanwhile, `verdict` is
/// null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_dequeue(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    drb: u8,
    packet: *mut u8,
    present: usize,
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
        with_ue_at(instance, ue, now_ns, |ue| {
            let packet = front(packet, present, len)?;
            drb_event(ue, |ue| {
                decided = ue.dequeue_front(now, DrbId(drb), packet, len, sojourn, Bytes(behind)).into();
            })
        })
    };
    // SAFETY: not null, so valid by contract.
    unsafe { verdict.write(decided) };
    status
}

/// Announces a call about this UE, to prefetch the memory that it will need. A caller with several packets or frames announces
/// each before the first call. The waits for memory, which are most of a call's cost with thousands of UEs, then overlap.
/// The call changes nothing, and may run while other calls use the UE.
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

/// Notes that PDCP sends a data PDU with this SN and a `size` in bytes to the DU. `is_retx` is true if PDCP sends it again, like all
/// unconfirmed PDUs after a handover. A repeated PDU counts only if this DU has not got it before, so a host can announce every PDU
/// without tracking that.
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
    is_retx: bool,
) -> Status {
    let now = Instant::from_nanos(now_ns);
    // SAFETY: the caller's promise is handed on.
    unsafe { with_ue_at(instance, ue, now_ns, |ue| pdcp_pdu(ue, now, DrbId(drb), sn, size, is_retx)) }
}

/// Hands a data PDU to the UE.
#[inline]
fn pdcp_pdu(ue: &mut Ue, now: Instant, drb: DrbId, sn: u32, size: u32, is_retx: bool) -> Result<(), Status> {
    let size = Bytes(size.into());
    drb_event(
        ue,
        |ue| if is_retx { ue.pdcp_retransmission(now, drb, sn, size) } else { ue.pdcp_pdu(now, drb, sn, size) },
    )
}

/// Does the work of `tidemark_pdcp_pdu` for a host that has the PDU but not its SN. `header` has the PDU's first `present` bytes, of which at
/// most three are read, and `size` is the size of the PDU in bytes. The SN length is that of the DRB (TS 38.323 6.2.2). A control PDU, which
/// has no SN and no reports, returns OK and changes nothing.
///
/// Fails with NULL_POINTER, NO_UE, NO_DRB, BUSY; BAD_LENGTH for an incomplete header.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `header` is null or valid for `present` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_pdcp_pdu_header(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    drb: u8,
    header: *const u8,
    present: usize,
    size: u32,
    is_retx: bool,
) -> Status {
    // SAFETY: null or valid by contract.
    let header = match unsafe { read_only(header, present.min(MAX_PDCP_HEADER)) } {
        Ok(header) => header,
        Err(status) => return status,
    };
    let (now, drb) = (Instant::from_nanos(now_ns), DrbId(drb));
    // SAFETY: the caller's promise is handed on.
    unsafe {
        with_ue_at(instance, ue, now_ns, |ue| {
            // Counted where there is no such DRB.
            let Some(sn_length) = ue.sn_length(drb) else { return pdcp_pdu(ue, now, drb, 0, size, is_retx) };
            let sn_length = match sn_length {
                SnLength::Bits12 => pdcp::SnLength::Bits12,
                SnLength::Bits18 => pdcp::SnLength::Bits18,
            };
            match pdcp::Pdu::parse(header, sn_length).map_err(|_| Status::BadLength)? {
                pdcp::Pdu::Data { sn, .. } => pdcp_pdu(ue, now, drb, sn, size, is_retx),
                pdcp::Pdu::Control { .. } => Ok(()),
            }
        })
    }
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
    unsafe { with_ue_at(instance, ue, now_ns, |ue| drb_event(ue, |ue| ue.discard(now, DrbId(drb), sn))) }
}

/// Takes the DU's report on a DRB, from a frame that the caller has parsed. Fields of a newer header than that of this library are ignored.
///
/// Fails with NULL_POINTER, NO_UE, NO_DRB, BUSY; BAD_LENGTH for an invalid `size`.
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
    let report = match unsafe { sized::read(report) } {
        Ok(report) => report,
        Err(status) => return status,
    };
    let (now, status) = (Instant::from_nanos(now_ns), DeliveryStatus::from(&report));
    // SAFETY: the caller's promise is handed on.
    unsafe { with_ue_at(instance, ue, now_ns, |ue| drb_event(ue, |ue| ue.feedback(now, DrbId(drb), &status))) }
}

/// Takes the DU's report on a DRB: the `len` bytes of a DL DATA DELIVERY STATUS in the NR RAN container
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
    let frame = match unsafe { read_only(frame, len) } {
        Ok(frame) => frame,
        Err(status) => return status,
    };
    let now = Instant::from_nanos(now_ns);
    // SAFETY: the caller's promise is handed on.
    unsafe {
        with_ue_at(instance, ue, now_ns, |ue| {
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

/// Handles an uplink packet, after PDCP. `packet`, `present` and `len` are as in `tidemark_downlink`. If the feedback of its flow is
/// short-circuited, it is written in place, with the checksum. All other packets pass unchanged.
///
/// Fails with NULL_POINTER, BAD_LENGTH, NO_UE, BUSY.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `packet` is null or valid for `present` bytes that nobody else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_uplink(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    packet: *mut u8,
    present: usize,
    len: usize,
) -> Status {
    // SAFETY: the caller's promises are handed on.
    unsafe {
        with_ue_at(instance, ue, now_ns, |ue| {
            ue.uplink_front(Instant::from_nanos(now_ns), front(packet, present, len)?, len);
            Ok(())
        })
    }
}

/// Sets `wanted` to true if the next frame to the DU should ask for a report on this DRB, with the report polling flag of DL USER
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
        with_ue_at(instance, ue, now_ns, |ue| {
            answer = ue.wants_report(Instant::from_nanos(now_ns), DrbId(drb));
            Ok(())
        })
    };
    // SAFETY: not null, so valid by contract.
    unsafe { wanted.write(answer) };
    status
}
