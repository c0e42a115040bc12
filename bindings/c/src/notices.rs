//! What a host should log: the totals that grew and mean that something is not as it should be, each with its name, its severity and a
//! sentence.
//!
//! The library logs nothing by itself and calls nobody back: its calls run on real-time threads, where a host's logger may not be called. The
//! counters are what is logged, and a host asks where and when it likes.

use std::ffi::{CStr, c_char};
use std::mem::offset_of;

use crate::sized;
use crate::status::{Status, guard};
use crate::totals::Totals;

/// Weight of a notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub enum Severity {
    /// Happens in a network that works; a rate that jumps is worth a look.
    Info = 0,
    /// Some packets are not marked as they should be.
    Warning = 1,
    /// The host breaks the rules of the interface.
    Error = 2,
}

/// A total that grew.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Notice {
    /// Name of the field of `tidemark_totals`, or of its `sums`; it lives as long as the program.
    pub name: *const c_char,
    /// Sentence in English that says what it means; it lives as long as the program.
    pub text: *const c_char,
    /// Value now.
    pub total: u64,
    /// Growth since the earlier totals.
    pub change: u64,
    /// Weight.
    pub severity: Severity,
}

/// Most notices that there are at a time.
pub const TIDEMARK_MAX_NOTICES: usize = 19;

struct Rule {
    name: &'static CStr,
    offset: usize,
    severity: Severity,
    text: &'static CStr,
}

macro_rules! rule {
    (sums.$field:ident, $severity:ident, $text:literal) => {
        rule!($field at offset_of!(Totals, sums.$field), $severity, $text)
    };
    ($field:ident, $severity:ident, $text:literal) => {
        rule!($field at offset_of!(Totals, $field), $severity, $text)
    };
    ($field:ident at $offset:expr, $severity:ident, $text:literal) => {
        Rule {
            name: match CStr::from_bytes_with_nul(concat!(stringify!($field), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a field's name has no zero in it"),
            },
            offset: $offset,
            severity: Severity::$severity,
            text: $text,
        }
    };
}

/// The heaviest first.
static RULES: [Rule; TIDEMARK_MAX_NOTICES] = [
    rule!(busy, Error, c"calls about one UE met, and the later ones did nothing: the host has to keep them apart"),
    rule!(unknown_qfi, Warning, c"downlink packets passed unmarked, since no DRB carries their QoS flow"),
    rule!(unknown_drb, Warning, c"reports or PDUs were of a DRB that is not set up"),
    rule!(
        unparsed,
        Warning,
        c"packets passed unmarked, since their headers could not be read or were not all in the first segment"
    ),
    rule!(
        sums.blind_drbs,
        Warning,
        c"DUs report what they received and not what they transmitted: their DRBs' queues are not seen"
    ),
    rule!(
        sums.mismatched_reports,
        Warning,
        c"DUs name SNs that are not those of the DRB: its SNs have another length there, and nothing is marked"
    ),
    rule!(
        sums.reports_missing,
        Warning,
        c"packets were not marked, since their DU had not reported on its queue for too long"
    ),
    rule!(sums.unknown_sns, Warning, c"DUs or PDCP named SNs that were not announced"),
    rule!(sums.repeated_sns, Warning, c"PDUs were announced a second time without a handover"),
    rule!(sums.skipped_sns, Warning, c"PDUs were not announced, or PDCP dropped them after numbering"),
    rule!(
        sums.overload_drops,
        Warning,
        c"flows went on through marks, and their packets were dropped: someone does not answer to marks"
    ),
    rule!(
        sums.flows_refused,
        Warning,
        c"flows found no room in a DRB's table: flow_capacity is too small, or someone floods it"
    ),
    rule!(sums.sn_restarts, Info, c"SNs began anew without a handover"),
    rule!(sums.stale_reports, Info, c"reports came after newer ones, and were ignored"),
    rule!(sums.empty_reports, Info, c"reports had no highest transmitted SN, as before a DU's first transmission"),
    rule!(sums.beyond_table, Info, c"PDUs were queued beyond profile_capacity, and counted in sum"),
    rule!(sums.untimed_deliveries, Info, c"deliveries came too late for their transmission times to be known"),
    rule!(sums.flows_evicted, Info, c"flows gave way to others in a DRB's table"),
    rule!(sums.marks_let_go, Info, c"acknowledgements had no room for marks, which went into packets"),
];

impl Rule {
    fn value(&self, totals: &Totals) -> u64 {
        // SAFETY: the offset is that of a field of this type.
        unsafe { std::ptr::from_ref(totals).cast::<u8>().add(self.offset).cast::<u64>().read() }
    }
}

/// Compares totals with earlier ones, and writes a notice for each of those that grew and that a host should log, the heaviest first. `before`
/// is null for none. `count` is how many there are, of which as many as `capacity` are written; there are never more than
/// `TIDEMARK_MAX_NOTICES`. The totals are the host's own, so that it decides where and how often to ask, and several may ask.
///
/// Fails with NULL_POINTER, BAD_LENGTH.
///
/// # Safety
/// `before` is null or valid, `now` and `count` are null or valid, `notices` is null or valid for `capacity` notices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_notices(
    before: *const Totals,
    now: *const Totals,
    notices: *mut Notice,
    capacity: usize,
    count: *mut usize,
) -> Status {
    guard(|| {
        if count.is_null() || (notices.is_null() && capacity > 0) {
            return Err(Status::NullPointer);
        }
        // SAFETY: null or valid by contract.
        let now = unsafe { sized::read(now) }?;
        // SAFETY: as above.
        let before = if before.is_null() { Totals::default() } else { unsafe { sized::read(before) }? };
        let grown = RULES.iter().filter_map(|rule| {
            let total = rule.value(&now);
            let change = total.saturating_sub(rule.value(&before));
            let (name, text) = (rule.name.as_ptr(), rule.text.as_ptr());
            (change > 0).then_some(Notice { name, text, total, change, severity: rule.severity })
        });
        let mut found = 0;
        for notice in grown {
            if found < capacity {
                // SAFETY: valid for so many notices by contract.
                unsafe { notices.add(found).write(notice) };
            }
            found += 1;
        }
        // SAFETY: not null, so valid by contract.
        unsafe { count.write(found) };
        Ok(())
    })
}
