//! Lines on standard output, with a level of detail. A reader such as `head` may close the output early.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Level of detail of a command's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Only errors, warnings, and data requested by a format.
    Quiet = 0,
    /// Also tables, and the paths of files.
    Normal = 1,
    /// Also progress messages.
    Verbose = 2,
}

static LEVEL: AtomicU8 = AtomicU8::new(Level::Normal as u8);
/// True once standard output has data.
static HAS_DATA: AtomicBool = AtomicBool::new(false);

/// Sets the level of detail from now on.
pub fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// True where lines of this level are printed.
pub fn shows(level: Level) -> bool {
    LEVEL.load(Ordering::Relaxed) >= level as u8
}

/// Prints a line like `println!`, unless the level is quiet; after data on standard error. A closed reader is no error.
#[macro_export]
macro_rules! say {
    ($($part:tt)*) => {
        if $crate::print::shows($crate::print::Level::Normal) {
            $crate::print::sentence(format_args!($($part)*));
        }
    };
}

/// Prints a line on standard error, unless the level is quiet.
#[macro_export]
macro_rules! note {
    ($($part:tt)*) => {
        if $crate::print::shows($crate::print::Level::Normal) {
            eprintln!($($part)*);
        }
    };
}

/// Prints a line on standard error at the verbose level.
#[macro_export]
macro_rules! detail {
    ($($part:tt)*) => {
        if $crate::print::shows($crate::print::Level::Verbose) {
            eprintln!("tidemark: {}", format_args!($($part)*));
        }
    };
}

/// Prints a line for people, on standard error where standard output has data for a program.
pub fn sentence(text: Arguments<'_>) {
    if HAS_DATA.load(Ordering::Relaxed) {
        eprintln!("{text}");
    } else {
        line(text);
    }
}

/// Prints one line. A closed reader is no error; any other error ends the program with exit code 2.
fn line(text: Arguments<'_>) {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("standard output can't be written: {error}");
            std::process::exit(2);
        }
        _ => {}
    }
}

/// Prints data as it is, for another program.
pub fn data(text: &str) {
    HAS_DATA.store(true, Ordering::Relaxed);
    line(format_args!("{}", text.strip_suffix('\n').unwrap_or(text)));
}
