//! The status that every call returns.

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Outcome of a call. With every status but OK the call changed nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// A pointer that must not be null is null.
    NullPointer = 1,
    /// A length is zero or too large.
    BadLength = 2,
    /// A configuration cannot be read, or one of its fields cannot be used.
    BadConfig = 3,
    /// A DRB identity is not one of 1 to 32.
    BadDrb = 4,
    /// A QFI is not one of 0 to 63.
    BadQfi = 5,
    /// The bytes are not a DL DATA DELIVERY STATUS, or not the IP packet that the call needs.
    BadFrame = 6,
    /// The UE was removed or never existed.
    NoUe = 7,
    /// The DRB is not set up.
    NoDrb = 8,
    /// The DRB is already set up.
    DrbExists = 9,
    /// Every slot for a UE is taken.
    Full = 10,
    /// Another thread is in a call for this UE. The caller must serialise them.
    Busy = 11,
    /// A bug in this library, contained by the call.
    Internal = 12,
    /// A buffer is too short. The call has written the length that it needs.
    BufferTooSmall = 13,
    /// The bytes are not the state of a UE, have another version, are cut short, or were changed on the way.
    BadState = 14,
}

const TEXTS: [&CStr; 15] = [
    c"done",
    c"a pointer is null",
    c"a length is zero or too large",
    c"a configuration cannot be read or used",
    c"the DRB identity is not one of 1 to 32",
    c"the QFI is not one of 0 to 63",
    c"the bytes are not a DL DATA DELIVERY STATUS or IP packet",
    c"there is no such UE",
    c"there is no such DRB",
    c"the DRB is already set up",
    c"every slot for a UE is taken",
    c"another thread is in a call for this UE",
    c"a bug in libtidemark",
    c"the buffer is too small",
    c"the bytes are not a UE state that this version can read",
];

/// Meaning of a status, in English. Never null; the text lives as long as the program.
#[unsafe(no_mangle)]
pub extern "C" fn tidemark_status_text(status: i32) -> *const c_char {
    let text = usize::try_from(status).ok().and_then(|status| TEXTS.get(status));
    text.unwrap_or(&c"not a status of libtidemark").as_ptr()
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
        assert_eq!(text(Status::Internal as i32), "a bug in libtidemark");
        assert_eq!(text(Status::BadState as i32), "the bytes are not a UE state that this version can read");
        for number in [-1, 15, i32::MIN, i32::MAX] {
            assert_eq!(text(number), "not a status of libtidemark");
        }
    }
}
