//! The module's exports. Texts are UTF-8 bytes in the module's memory, which JavaScript reads and writes.

use crate::{Answer, Fault, Request, check, run};

#[link(wasm_import_module = "tidemark")]
unsafe extern "C" {
    /// Receives the finished share of a run, from 0 to 1.
    safe fn progress(share: f64);
}

/// Allocates this many bytes for a text that [`tidemark_check`] or [`tidemark_run`] takes.
#[unsafe(no_mangle)]
pub extern "C" fn tidemark_room(length: usize) -> *mut u8 {
    Box::leak(vec![0; length].into_boxed_slice()).as_mut_ptr()
}

/// Checks the scenario of the JSON [`Request`] at `text`, and frees the text.
///
/// # Safety
/// `text` came from [`tidemark_room`] with this `length`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_check(text: *mut u8, length: usize) -> *mut Vec<u8> {
    // SAFETY: the caller's promise.
    answer(unsafe { take(text, length) }, check)
}

/// Runs the scenario of the JSON [`Request`] at `text`, and frees the text.
///
/// # Safety
/// `text` came from [`tidemark_room`] with this `length`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_run(text: *mut u8, length: usize) -> *mut Vec<u8> {
    // SAFETY: the caller's promise.
    answer(unsafe { take(text, length) }, |request| run(request, |share| progress(share)))
}

/// Gives the address of an answer's first byte. The answer is JSON.
///
/// # Safety
/// `answer` came from a call of this module and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_answer(answer: *const Vec<u8>) -> *const u8 {
    // SAFETY: the caller's promise.
    unsafe { &*answer }.as_ptr()
}

/// Gives the number of bytes of an answer.
///
/// # Safety
/// As for [`tidemark_answer`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_answer_length(answer: *const Vec<u8>) -> usize {
    // SAFETY: the caller's promise.
    unsafe { &*answer }.len()
}

/// Frees an answer.
///
/// # Safety
/// As for [`tidemark_answer`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tidemark_free(answer: *mut Vec<u8>) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(answer) });
}

/// Takes ownership of a text.
///
/// # Safety
/// It came from [`tidemark_room`] with this length.
unsafe fn take(text: *mut u8, length: usize) -> Vec<u8> {
    // SAFETY: the room has the requested number of bytes, all of them initialised.
    unsafe { Vec::from_raw_parts(text, length, length) }
}

fn answer(request: Vec<u8>, work: impl FnOnce(&Request) -> Answer) -> *mut Vec<u8> {
    let answer = match serde_json::from_slice(&request) {
        Ok(request) => work(&request),
        Err(error) => Answer::Wrong { errors: vec![Fault::of(error)] },
    };
    // Only strings, numbers and lists, which JSON can always express.
    let bytes = serde_json::to_vec(&answer).unwrap_or_default();
    Box::into_raw(Box::new(bytes))
}
