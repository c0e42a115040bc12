//! Notices for a host's log: totals that grew and show a problem, each with its name, its severity and a sentence.
//!
//! The library does not log and has no callbacks, because its calls run on real-time threads where a host's logger may not be called. The host
//! asks for the notices from any thread and at any time.

use std::ffi::{CStr, c_char};
use std::mem::offset_of;

use crate::sized;
use crate::status::{Status, guard};
use crate::totals::Totals;

/// Severity of a notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub enum Severity {
    /// Normal in a working network; only a sudden increase is worth a look.
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
    /// Meaning as an English sentence; it lives as long as the program.
    pub text: *const c_char,
    /// Value now.
    pub total: u64,
    /// Growth since the earlier totals.
    pub change: u64,
    /// Severity.
    pub severity: Severity,
}

/// Largest number of notices at a time.
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
    rule!(busy, Error, c"calls about one UE overlapped, and the later ones did nothing: the host must serialise them"),
    rule!(unknown_qfi, Warning, c"downlink packets passed unmarked because no DRB carries their QoS flow"),
    rule!(unknown_drb, Warning, c"reports or PDUs were for a DRB that is not set up"),
    rule!(
        unparsed,
        Warning,
        c"packets passed unmarked because their headers could not be read or were not all in the first segment"
    ),
    rule!(
        sums.blind_drbs,
        Warning,
        c"DUs report the SNs that they received instead of those that they transmitted: the queues of their DRBs are unknown"
    ),
    rule!(
        sums.mismatched_reports,
        Warning,
        c"DUs report SNs that are not those of the DRB: they use another SN length, and nothing is marked"
    ),
    rule!(
        sums.reports_missing,
        Warning,
        c"packets were not marked because their DU had not reported on its queue for too long"
    ),
    rule!(sums.unknown_sns, Warning, c"DUs or PDCP used SNs that were not announced"),
    rule!(sums.repeated_sns, Warning, c"PDUs were announced a second time without a handover"),
    rule!(sums.skipped_sns, Warning, c"PDUs were not announced, or PDCP dropped them after numbering"),
    rule!(
        sums.overload_drops,
        Warning,
        c"flows ignored marks, and their packets were dropped: a sender does not respond to marks"
    ),
    rule!(
        sums.flows_refused,
        Warning,
        c"flows found no room in the table of a DRB: flow_capacity is too small, or the table is being flooded"
    ),
    rule!(sums.sn_restarts, Info, c"SNs restarted without a handover"),
    rule!(sums.stale_reports, Info, c"reports came after newer ones, and were ignored"),
    rule!(sums.empty_reports, Info, c"reports had no highest transmitted SN, which is normal before the first transmission of a DU"),
    rule!(sums.beyond_table, Info, c"PDUs were queued beyond profile_capacity, and only counted in sum"),
    rule!(sums.untimed_deliveries, Info, c"deliveries came too late for their transmission times to be known"),
    rule!(sums.flows_evicted, Info, c"flows were evicted from the table of a DRB by others"),
    rule!(sums.marks_let_go, Info, c"acknowledgements had no room for marks, and packets were marked instead"),
];

impl Rule {
    fn value(&self, totals: &Totals) -> u64 {
        // SAFETY: the offset is that of a field of this type.
        unsafe { std::ptr::from_ref(totals).cast::<u8>().add(self.offset).cast::<u64>().read() }
    }
}

/// Compares totals with earlier ones and writes a notice for each that grew and that a host should log, the most severe first. `before` is
/// null if there are no earlier totals. `count` becomes the number of notices, at most `TIDEMARK_MAX_NOTICES`, of which at most `capacity` are
/// written. The host keeps the totals, so it decides where and how often to ask, and several readers may ask.
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
