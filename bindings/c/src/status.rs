//! The status that every call returns.

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Outcome of a call. Every status but OK left things as they were.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// A pointer that must lead somewhere is null.
    NullPointer = 1,
    /// A length is zero, or above what its data can have.
    BadLength = 2,
    /// A configuration cannot be read, or a field of it cannot work.
    BadConfig = 3,
    /// A DRB identity is not one of 1 to 32.
    BadDrb = 4,
    /// A QFI is not one of 0 to 63.
    BadQfi = 5,
    /// The bytes are no DL DATA DELIVERY STATUS, or no IP packet where one has to be.
    BadFrame = 6,
    /// The UE was removed, or never was.
    NoUe = 7,
    /// The DRB is not set up.
    NoDrb = 8,
    /// The DRB is set up already.
    DrbExists = 9,
    /// Every slot for a UE is taken.
    Full = 10,
    /// The UE is in use by a call of another thread: the caller has to keep them apart.
    Busy = 11,
    /// A defect of this library, stopped at its border.
    Internal = 12,
    /// A buffer is shorter than what was to be written. The length that it needs was written where the call says.
    BufferTooSmall = 13,
    /// The bytes are no state of a UE, or of another version, or cut short or changed on their way.
    BadState = 14,
}

const TEXTS: [&CStr; 15] = [
    c"done",
    c"a pointer is null",
    c"a length is zero or too large",
    c"a configuration cannot be read or cannot work",
    c"the DRB identity is not one of 1 to 32",
    c"the QFI is not one of 0 to 63",
    c"the bytes are no DL DATA DELIVERY STATUS or IP packet",
    c"there is no such UE",
    c"there is no such DRB",
    c"the DRB is set up already",
    c"every slot for a UE is taken",
    c"another thread is inside a call for this UE",
    c"a defect of libtidemark",
    c"the buffer is too small",
    c"the bytes are no state of a UE that this version reads",
];

/// Meaning of a status, in English. Never null; the text lives as long as the program.
#[unsafe(no_mangle)]
pub extern "C" fn tidemark_status_text(status: i32) -> *const c_char {
    let text = usize::try_from(status).ok().and_then(|status| TEXTS.get(status));
    text.unwrap_or(&c"no status of libtidemark").as_ptr()
}

/// Runs the body of a call, and returns its error or a panic as a status.
pub(crate) fn guard(body: impl FnOnce() -> Result<(), Status>) -> Status {
    // A panic leaves a UE in an old or odd state, never in an unsound one.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(status)) => status,
        Err(_) => Status::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_stops_at_the_border() {
        assert_eq!(guard(|| panic!("this is what the test is about")), Status::Internal);
        assert_eq!(guard(|| Err(Status::Full)), Status::Full);
        assert_eq!(guard(|| Ok(())), Status::Ok);
    }

    #[test]
    fn every_status_has_a_text_and_any_number_is_safe() {
        let text = |status: i32| {
            // SAFETY: the text is a C string of this library's.
            unsafe { CStr::from_ptr(tidemark_status_text(status)) }.to_str().unwrap()
        };
        assert_eq!(text(Status::Ok as i32), "done");
        assert_eq!(text(Status::Internal as i32), "a defect of libtidemark");
        assert_eq!(text(Status::BadState as i32), "the bytes are no state of a UE that this version reads");
        for number in [-1, 15, i32::MIN, i32::MAX] {
            assert_eq!(text(number), "no status of libtidemark");
        }
    }
}
