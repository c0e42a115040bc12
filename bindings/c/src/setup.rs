//! Set-up and release of policies, instances, UEs and DRBs. These calls may allocate and take locks.

use std::ffi::{CStr, c_char};

use tidemark_core::words::in_toml;
use tidemark_core::{Instant, Stream};
use tidemark_marker::path::{DrbId, SetupError};
use tidemark_marker::{MarkerConfig, Policy, SnLength};

use crate::instance::Instance;
use crate::sized;
use crate::status::{Status, guard};
use crate::types::{DrbCounters, InstanceConfig, QosFlow, UeId};

/// Major version of the interface.
pub const TIDEMARK_VERSION_MAJOR: u32 = 0;
/// Minor version. While the major version is 0, each minor version has another interface.
pub const TIDEMARK_VERSION_MINOR: u32 = 1;
/// Patch version.
pub const TIDEMARK_VERSION_PATCH: u32 = 0;

const MAX_UES: u32 = 1 << 20;

/// Version of the running library, such as "0.1.0". The macros give the version of this header.
#[unsafe(no_mangle)]
pub extern "C" fn tidemark_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("the version is not a C string"),
    };
    VERSION.as_ptr()
}

/// Rules that choose the law of a QoS flow. It is read-only, so any thread may use it.
pub struct CompiledPolicy(Policy);

/// Reads a policy in TOML, with the keys of Tidemark's scenarios. Rules are tried in order. The first one with the flow's QFI
/// or 5QI, or with neither key, decides.
///
/// ```toml
/// [otherwise]
/// law = "tide"
/// mode = "by-5qi"
/// [[rules]]
/// five_qi = 9
/// marker = { law = "tide", mode = "throughput-first", short_circuit = true }
/// ```
///
/// With an empty text nothing is marked. An error in the text is written to `problem`, cut to `problem_len` bytes with a
/// terminating zero; `problem` may be null.
///
/// Fails with NULL_POINTER, BAD_CONFIG.
///
/// # Safety
/// `text` is null or a C string, `problem` null or of `problem_len` bytes, `policy` null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_policy_new(
    text: *const c_char,
    policy: *mut *mut CompiledPolicy,
    problem: *mut c_char,
    problem_len: usize,
) -> Status {
    guard(|| {
        if text.is_null() || policy.is_null() {
            return Err(Status::NullPointer);
        }
        // SAFETY: not null, so a C string by contract.
        let text = unsafe { CStr::from_ptr(text) };
        match parse(text) {
            Ok(parsed) => {
                // SAFETY: not null, so valid by contract.
                unsafe { policy.write(Box::into_raw(Box::new(CompiledPolicy(parsed)))) };
                Ok(())
            }
            Err(message) => {
                // SAFETY: null or of this length by contract.
                unsafe { write_message(&message, problem, problem_len) };
                Err(Status::BadConfig)
            }
        }
    })
}

fn parse(text: &CStr) -> Result<Policy, String> {
    let text =
        text.to_str().map_err(|error| format!("the text is not UTF-8 from byte {} on", error.valid_up_to() + 1))?;
    let policy: Policy = toml::from_str(text).map_err(|error| at_its_line(text, &error))?;
    policy.validate().map_err(|error| error.to_string())?;
    Ok(policy)
}

/// Message of the reader with its line, in the words of a scenario.
fn at_its_line(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    format!("line {}: {}", before.matches('\n').count() + 1, in_toml(error.message()))
}

/// Writes as much of a message as there is room for.
///
/// # Safety
/// `to` is null or valid for `len` bytes.
pub(crate) unsafe fn write_message(message: &str, to: *mut c_char, len: usize) {
    if to.is_null() || len == 0 {
        return;
    }
    let mut end = message.len().min(len - 1);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    let message = &message[..end];
    // SAFETY: the message and its zero fit into `len` bytes, and can't overlap with the caller's.
    unsafe {
        to.copy_from_nonoverlapping(message.as_ptr().cast(), message.len());
        to.add(message.len()).write(0);
    }
}

/// Frees a policy. DRBs that were set up with it are not affected. `policy` may be null.
///
/// # Safety
/// `policy` is null or came from `tidemark_policy_new` and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_policy_free(policy: *mut CompiledPolicy) {
    if !policy.is_null() {
        // SAFETY: it came from `Box::into_raw`, and no call uses it any more.
        drop(unsafe { Box::from_raw(policy) });
    }
}

/// Makes an instance: a slab for the UEs of a CU-UP, or of one of its threads.
///
/// Calls for different UEs may come from different threads at the same time. The caller must serialise calls for one UE; a gNB
/// runs them on one strand. A call that overlaps another one for the same UE returns BUSY and does nothing.
///
/// Fails with NULL_POINTER; BAD_LENGTH for an invalid `size` of `config`; BAD_CONFIG for a field that cannot be used, or that this library
/// does not know yet.
///
/// # Safety
/// `config` is null or valid, `instance` null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_instance_new(config: *const InstanceConfig, instance: *mut *mut Instance) -> Status {
    guard(|| {
        // SAFETY: null or valid by contract.
        let (config, is_newer) = unsafe { (sized::read(config)?, sized::has_more(config)) };
        if instance.is_null() {
            return Err(Status::NullPointer);
        }
        if is_newer || !(1..=MAX_UES).contains(&config.max_ues) || config.reserved != 0 || config.secret == [0; 16] {
            return Err(Status::BadConfig);
        }
        let made = Box::new(Instance::new(config.max_ues, &config.secret, config.seed));
        // SAFETY: not null, so valid by contract.
        unsafe { instance.write(Box::into_raw(made)) };
        Ok(())
    })
}

/// Frees an instance with all its UEs. `instance` may be null.
///
/// # Safety
/// `instance` is null or came from `tidemark_instance_new` and was not freed; no other call is under way in it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_instance_free(instance: *mut Instance) {
    if !instance.is_null() {
        // SAFETY: it came from `Box::into_raw`, and no call uses it any more.
        drop(unsafe { Box::from_raw(instance) });
    }
}

/// Adds a UE, without DRBs. Any thread may do so at any time.
///
/// Fails with NULL_POINTER; FULL if every slot is taken.
///
/// # Safety
/// `instance` is null or lives, `ue` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_ue_add(instance: *const Instance, ue: *mut UeId) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        let instance = unsafe { instance.as_ref() }.ok_or(Status::NullPointer)?;
        if ue.is_null() {
            return Err(Status::NullPointer);
        }
        let id = instance.add()?;
        // SAFETY: not null, so valid by contract.
        unsafe { ue.write(id) };
        Ok(())
    })
}

/// Removes a UE with its DRBs. Calls with its handle return NO_UE from then on.
///
/// Fails with NULL_POINTER, NO_UE, BUSY.
///
/// # Safety
/// `instance` is null or lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_ue_remove(instance: *const Instance, ue: UeId) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        unsafe { instance.as_ref() }.ok_or(Status::NullPointer)?.remove(ue)
    })
}

/// Sets up a DRB that carries these QoS flows, and allocates all memory that it will ever use. The first flow decides which
/// rule of the policy applies. A QoS flow that another DRB carried moves to this one. `sn_bits` is the length of the DRB's
/// PDCP SNs, 12 or 18.
///
/// Fails with NULL_POINTER, NO_UE, BUSY; BAD_LENGTH for no flow, or more than 64; BAD_DRB, BAD_QFI, DRB_EXISTS; BAD_CONFIG
/// for another `sn_bits`.
///
/// # Safety
/// `instance` is null or lives, `flows` is null or valid for `flow_count` flows, `policy` is null or was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_drb_add(
    instance: *const Instance,
    ue: UeId,
    drb: u8,
    sn_bits: u8,
    flows: *const QosFlow,
    flow_count: usize,
    policy: *const CompiledPolicy,
) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        let (instance, policy) = unsafe { (instance.as_ref(), policy.as_ref()) };
        let (Some(instance), Some(policy), false) = (instance, policy, flows.is_null()) else {
            return Err(Status::NullPointer);
        };
        // SAFETY: not null, so valid for so many flows by contract.
        let bearer = unsafe { Bearer::new(sn_bits, flows, flow_count, policy) }?;
        // A UE has at most 32 DRBs, an instance at most 2^20 UEs: every DRB draws from a stream of its own.
        let stream = Stream::new(instance.seed, (ue.bits as u32) << 6 | u32::from(drb & 63), "mark");
        let mut guard = instance.lock(ue)?;
        let added = guard.ue()?.add_drb(DrbId(drb), &bearer.qfis, &bearer.marker, bearer.sn_length, stream);
        added.map_err(refusal)?;
        guard.open_ledger();
        Ok(())
    })
}

/// Reconfigures a DRB. It carries these QoS flows too from now on, and is marked by the rule of the policy for the first of
/// them. Its counters are kept, and so are its TCP connections and the counters in their acknowledgements. (After
/// `tidemark_drb_remove` and `tidemark_drb_add` the latter would seem to go backwards to the senders.) The state of the DU's
/// queue is kept too, unless `sn_bits` changes. In that case it is forgotten as by `tidemark_ue_handover`, and PDUs that PDCP
/// retransmits, or that are still under way, must be announced. This call allocates and frees memory.
///
/// Fails with NULL_POINTER, NO_UE, BUSY; BAD_LENGTH for no flow, or more than 64; BAD_DRB, BAD_QFI, NO_DRB; BAD_CONFIG for another
/// `sn_bits` than 12 and 18. Nothing has changed then.
///
/// # Safety
/// `instance` is null or lives, `flows` is null or valid for `flow_count` flows, `policy` is null or was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_drb_reconfigure(
    instance: *const Instance,
    ue: UeId,
    now_ns: u64,
    drb: u8,
    sn_bits: u8,
    flows: *const QosFlow,
    flow_count: usize,
    policy: *const CompiledPolicy,
) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        let (instance, policy) = unsafe { (instance.as_ref(), policy.as_ref()) };
        let (Some(instance), Some(policy), false) = (instance, policy, flows.is_null()) else {
            return Err(Status::NullPointer);
        };
        // SAFETY: not null, so valid for so many flows by contract.
        let bearer = unsafe { Bearer::new(sn_bits, flows, flow_count, policy) }?;
        let (mut guard, now) = (instance.lock(ue)?, Instant::from_nanos(now_ns));
        let done = guard.ue()?.reconfigure_drb(now, DrbId(drb), &bearer.qfis, &bearer.marker, bearer.sn_length);
        done.map_err(refusal)
    })
}

/// Settings of a DRB.
struct Bearer {
    sn_length: SnLength,
    qfis: Vec<u8>,
    marker: MarkerConfig,
}

impl Bearer {
    /// # Safety
    /// `flows` is valid for `flow_count` flows.
    unsafe fn new(
        sn_bits: u8,
        flows: *const QosFlow,
        flow_count: usize,
        policy: &CompiledPolicy,
    ) -> Result<Self, Status> {
        if !(1..=64).contains(&flow_count) {
            return Err(Status::BadLength);
        }
        // SAFETY: valid for so many flows by contract.
        let flows = unsafe { std::slice::from_raw_parts(flows, flow_count) };
        let sn_length = match sn_bits {
            12 => SnLength::Bits12,
            18 => SnLength::Bits18,
            _ => return Err(Status::BadConfig),
        };
        let qfis = flows.iter().map(|flow| flow.qfi).collect();
        Ok(Self { sn_length, qfis, marker: policy.0.marker(flows[0].qfi, flows[0].five_qi) })
    }
}

fn refusal(error: SetupError) -> Status {
    match error {
        SetupError::Drb => Status::BadDrb,
        SetupError::Qfi => Status::BadQfi,
        SetupError::Exists => Status::DrbExists,
        SetupError::NotSetUp => Status::NoDrb,
        SetupError::Config(_) => Status::BadConfig,
    }
}

/// Releases a DRB. Its final counters are written to `counters`, which may be null, or must have its `size` set. Its TCP connections, and the counters
/// in their acknowledgements, go to another DRB of the UE, if there is one. To change the law or the SN length, use
/// `tidemark_drb_reconfigure`.
///
/// Fails with NULL_POINTER, BAD_LENGTH, NO_UE, NO_DRB, BUSY.
///
/// # Safety
/// `instance` is null or lives, `counters` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_drb_remove(
    instance: *const Instance,
    ue: UeId,
    drb: u8,
    counters: *mut DrbCounters,
) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        let instance = unsafe { instance.as_ref() }.ok_or(Status::NullPointer)?;
        // SAFETY: null or valid by contract.
        let place = if counters.is_null() { None } else { Some(unsafe { sized::place(counters) }?) };
        let mut guard = instance.lock(ue)?;
        let last = guard.ue()?.remove_drb(DrbId(drb)).ok_or(Status::NoDrb)?;
        guard.keep_drb(&last);
        if let Some(place) = place {
            place.write(last.into());
        }
        Ok(())
    })
}

/// Maps a QoS flow to a DRB, even if another DRB carried it before.
///
/// Fails with NULL_POINTER, NO_UE, BUSY, BAD_QFI, NO_DRB.
///
/// # Safety
/// `instance` is null or lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_qfi_map(instance: *const Instance, ue: UeId, qfi: u8, drb: u8) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        let instance = unsafe { instance.as_ref() }.ok_or(Status::NullPointer)?;
        let mut guard = instance.lock(ue)?;
        let ue = guard.ue()?;
        if qfi > 63 {
            return Err(Status::BadQfi);
        }
        if ue.map_qfi(qfi, DrbId(drb)) { Ok(()) } else { Err(Status::NoDrb) }
    })
}

/// Notes that the UE moved to another DU or cell, or that its DRBs were re-established. The measurements of the old radio and
/// its queues are forgotten, and PDUs that PDCP retransmits must be announced again. Flows and their counters are kept. Call it
/// once, before the first of these PDUs is announced. In a loop over DRBs it would forget the PDUs that earlier DRBs retransmitted;
/// use `tidemark_drb_handover` there.
///
/// Fails with NULL_POINTER, NO_UE, BUSY.
///
/// # Safety
/// `instance` is null or lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_ue_handover(instance: *const Instance, ue: UeId, now_ns: u64) -> Status {
    guard(|| {
        // SAFETY: null or alive by contract.
        let instance = unsafe { instance.as_ref() }.ok_or(Status::NullPointer)?;
        instance.lock(ue)?.ue()?.handover(Instant::from_nanos(now_ns));
        Ok(())
    })
}
