//! Batches: one call for several packets, PDUs or reports at one time, of one UE or several. Each element does the same as its single call,
//! in the order of the array, while the memory for later elements is prefetched. To prefetch, the batch may take a UE's slot before the
//! UE's turn. For other threads a batch is therefore one call about all its UEs.

use std::ptr::null_mut;

use tidemark_marker::path::DrbId;

use crate::instance::{Instance, prefetch};
use crate::path::{front, tidemark_downlink, tidemark_feedback, tidemark_pdcp_pdu, tidemark_uplink};
use crate::status::{Status, guard};
use crate::types::{Report, UeId, Verdict};

/// Largest number of elements in a batch.
pub const TIDEMARK_MAX_BATCH: usize = 65_536;

/// Elements whose memory is fetched ahead: about as many lines as a core has under way at a time.
const AHEAD: usize = 16;

/// A packet in a batch.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Packet {
    /// UE that receives or sent the packet.
    pub ue: UeId,
    /// First bytes of the packet, from its IP header on.
    pub packet: *mut u8,
    /// Number of bytes at `packet`.
    pub present: usize,
    /// Length of the whole packet.
    pub len: usize,
    /// QoS flow of a downlink packet; ignored for an uplink packet.
    pub qfi: u8,
    /// Written: the verdict on a downlink packet; PASS for an uplink packet, and after any error.
    pub verdict: Verdict,
    /// Written: the status of the single call.
    pub status: Status,
}

/// A PDCP data PDU in a batch.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pdu {
    /// UE that receives the PDU.
    pub ue: UeId,
    /// PDCP SN.
    pub sn: u32,
    /// Length of the PDU in bytes.
    pub size: u32,
    /// DRB identity.
    pub drb: u8,
    /// True for a PDU that PDCP sends again.
    pub is_retx: bool,
    /// Written: the status of the single call.
    pub status: Status,
}

/// A DU's report on a DRB, in a batch.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DrbReport {
    /// UE of the DRB.
    pub ue: UeId,
    /// The report.
    pub report: *const Report,
    /// DRB identity.
    pub drb: u8,
    /// Written: the status of the single call.
    pub status: Status,
}

// As tests/layout.h has it for C and C++.
#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<Packet>() == 48 && offset_of!(Packet, status) == 40);
    assert!(size_of::<Pdu>() == 24 && offset_of!(Pdu, status) == 20);
    assert!(size_of::<DrbReport>() == 24 && offset_of!(DrbReport, status) == 20);
};

/// Calls for each of some elements, of which `ahead` names the UE and what else is read. `behind` begins to fetch what the call will read
/// behind the UE's own memory, which has come by then. The first error, if there is any.
///
/// # Safety
/// `instance` is null or lives, `elements` is null or valid for `count` elements.
#[inline]
unsafe fn each<T>(
    instance: *const Instance,
    elements: *mut T,
    count: usize,
    ahead: impl Fn(*const T) -> (UeId, *const u8),
    behind: impl Fn(&Instance, *const T),
    mut call: impl FnMut(*mut T) -> Status,
) -> Status {
    let mut first = Status::Ok;
    let status = guard(|| {
        // SAFETY: null or alive by contract.
        let instance = unsafe { instance.as_ref() }.ok_or(Status::NullPointer)?;
        if count > TIDEMARK_MAX_BATCH {
            return Err(Status::BadLength);
        }
        if elements.is_null() && count > 0 {
            return Err(Status::NullPointer);
        }
        for begin in (0..count).step_by(AHEAD) {
            let chunk = begin..count.min(begin + AHEAD);
            for index in chunk.clone() {
                let (ue, line) = ahead(elements.wrapping_add(index));
                prefetch(line);
                // A handle that no UE can have is refused by its call.
                let _ = instance.warm(ue);
            }
            for index in chunk.clone() {
                behind(instance, elements.wrapping_add(index));
            }
            for index in chunk {
                let status = call(elements.wrapping_add(index));
                first = if first == Status::Ok { status } else { first };
            }
        }
        Ok(())
    });
    if status == Status::Ok { first } else { status }
}

/// Decides on downlink packets, each as with `tidemark_downlink`, at one time: the clock is read once. An error in one element does not
/// affect the others. Returns OK if all elements have that status, else the first other status.
///
/// For other threads a batch is one call about all its UEs, from its first element to its last. A call in another thread about one of them may
/// fail with BUSY, or make an element fail with it.
///
/// Fails with NULL_POINTER, with BAD_LENGTH for more than `TIDEMARK_MAX_BATCH` packets, of which none is then handled, and with the elements' errors.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `packets` is null or valid for `count` packets, each of which is as in `tidemark_downlink`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_downlink_batch(
    instance: *const Instance,
    now_ns: u64,
    packets: *mut Packet,
    count: usize,
) -> Status {
    // SAFETY: the caller's promises are handed on. What is written may be uninitialized before, so that no reference to it is made.
    unsafe {
        let ahead = |at: *const Packet| ((*at).ue, (*at).packet.cast_const());
        let behind = |instance: &Instance, at: *const Packet| {
            if let Ok(bytes) = front((*at).packet, (*at).present, (*at).len) {
                instance.peek((*at).ue, |ue| ue.downlink_addresses(bytes, (*at).len).for_each(prefetch));
            }
        };
        each(instance, packets, count, ahead, behind, |at| {
            let (ue, qfi, packet, present, len) = ((*at).ue, (*at).qfi, (*at).packet, (*at).present, (*at).len);
            let verdict = &raw mut (*at).verdict;
            let status = tidemark_downlink(instance, ue, now_ns, qfi, packet, present, len, verdict);
            (&raw mut (*at).status).write(status);
            status
        })
    }
}

/// Handles uplink packets, each as with `tidemark_uplink`, at one time. Statuses and threads are as in
/// `tidemark_downlink_batch`.
///
/// Fails with NULL_POINTER, with BAD_LENGTH for more than `TIDEMARK_MAX_BATCH` packets, and with the elements' errors.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `packets` is null or valid for `count` packets, each of which is as in `tidemark_uplink`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_uplink_batch(
    instance: *const Instance,
    now_ns: u64,
    packets: *mut Packet,
    count: usize,
) -> Status {
    // SAFETY: as above.
    unsafe {
        let ahead = |at: *const Packet| ((*at).ue, (*at).packet.cast_const());
        let behind = |instance: &Instance, at: *const Packet| {
            if let Ok(bytes) = front((*at).packet, (*at).present, (*at).len) {
                instance.peek((*at).ue, |ue| ue.uplink_addresses(bytes, (*at).len).for_each(prefetch));
            }
        };
        each(instance, packets, count, ahead, behind, |at| {
            let (ue, packet, present, len) = ((*at).ue, (*at).packet, (*at).present, (*at).len);
            let status = tidemark_uplink(instance, ue, now_ns, packet, present, len);
            (&raw mut (*at).verdict).write(Verdict::Pass);
            (&raw mut (*at).status).write(status);
            status
        })
    }
}

/// Notes PDCP data PDUs, each as with `tidemark_pdcp_pdu`, at one time. Statuses and threads are as in
/// `tidemark_downlink_batch`.
///
/// Fails with NULL_POINTER, with BAD_LENGTH for more than `TIDEMARK_MAX_BATCH` PDUs, and with the elements' errors.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `pdus` is null or valid for `count` PDUs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_pdcp_pdu_batch(
    instance: *const Instance,
    now_ns: u64,
    pdus: *mut Pdu,
    count: usize,
) -> Status {
    // SAFETY: as above.
    unsafe {
        each(
            instance,
            pdus,
            count,
            |at: *const Pdu| ((*at).ue, null_mut()),
            |_, _| {},
            |at| {
                let (ue, drb, sn, size, is_retx) = ((*at).ue, (*at).drb, (*at).sn, (*at).size, (*at).is_retx);
                let status = tidemark_pdcp_pdu(instance, ue, now_ns, drb, sn, size, is_retx);
                (&raw mut (*at).status).write(status);
                status
            },
        )
    }
}

/// Takes reports of DUs, each as with `tidemark_feedback`, at one time. Statuses and threads are as in
/// `tidemark_downlink_batch`.
///
/// Fails with NULL_POINTER, with BAD_LENGTH for more than `TIDEMARK_MAX_BATCH` reports, and with the elements' errors.
/// cbindgen:postfix=TIDEMARK_NOEXCEPT TIDEMARK_HOT
///
/// # Safety
/// `instance` is null or lives, `reports` is null or valid for `count` reports, each of which is as in `tidemark_feedback`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_feedback_batch(
    instance: *const Instance,
    now_ns: u64,
    reports: *mut DrbReport,
    count: usize,
) -> Status {
    // SAFETY: as above.
    unsafe {
        let ahead = |at: *const DrbReport| ((*at).ue, (*at).report.cast());
        let behind = |instance: &Instance, at: *const DrbReport| {
            instance.peek((*at).ue, |ue| ue.report_addresses(DrbId((*at).drb)).for_each(prefetch));
        };
        each(instance, reports, count, ahead, behind, |at| {
            let status = tidemark_feedback(instance, (*at).ue, now_ns, (*at).drb, (*at).report);
            (&raw mut (*at).status).write(status);
            status
        })
    }
}
