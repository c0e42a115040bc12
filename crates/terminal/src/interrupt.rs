//! The first Ctrl-C ends a run early and keeps its results so far; the second one ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

static HAPPENED: AtomicBool = AtomicBool::new(false);

/// Starts to catch interrupts: the first one is noted, the second one ends the program with exit code 130.
pub fn listen() {
    // If no handler can be set, an interrupt ends the program, as by default.
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
