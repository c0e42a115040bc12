//! Ctrl-C ends a run early, and what it has so far is kept; a second one ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

static HAPPENED: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt is noted.
pub fn listen() {
    // Where no handler can be set, an interrupt ends the program as it always did.
    let _ = ctrlc::set_handler(|| {
        if HAPPENED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
}

pub fn happened() -> bool {
    HAPPENED.load(Ordering::Relaxed)
}
