//! Ctrl-C ends a run early, and what it has so far is kept; a second one ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

static HAPPENED: AtomicBool = AtomicBool::new(false);

/// Notes interrupts from now on, the first one of them; the second ends the program with 130.
pub fn listen() {
    // Where no handler can be set, an interrupt ends the program, as it does by default.
    let _ = ctrlc::set_handler(|| {
        if HAPPENED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
}

/// True once an interrupt has come.
pub fn happened() -> bool {
    HAPPENED.load(Ordering::Relaxed)
}
