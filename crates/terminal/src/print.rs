//! Lines on the standard output, which a reader such as `head` may close before all has been written, and how many of them there are.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicU8, Ordering};

/// Amount of what a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Errors and warnings alone, and data that was asked for by its format.
    Quiet = 0,
    /// Tables and where files are.
    Normal = 1,
    /// Besides, what is done meanwhile.
    Verbose = 2,
}

static LEVEL: AtomicU8 = AtomicU8::new(Level::Normal as u8);

/// Sets how much is printed from now on.
pub fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// True where lines of this level are printed.
pub fn shows(level: Level) -> bool {
    LEVEL.load(Ordering::Relaxed) >= level as u8
}

/// Prints a line as `println!` does, unless all is to be quiet, and goes on where the reader has closed its end.
#[macro_export]
macro_rules! say {
    ($($part:tt)*) => {
        if $crate::print::shows($crate::print::Level::Normal) {
            $crate::print::line(format_args!($($part)*));
        }
    };
}

/// Prints a line on the standard error where more is to be printed than usual.
#[macro_export]
macro_rules! detail {
    ($($part:tt)*) => {
        if $crate::print::shows($crate::print::Level::Verbose) {
            eprintln!("tidemark: {}", format_args!($($part)*));
        }
    };
}

/// Prints one line. A closed reader is no error; any other one ends the program with 2.
pub fn line(text: Arguments<'_>) {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("the standard output can't be written: {error}");
            std::process::exit(2);
        }
        _ => {}
    }
}

/// Prints data as it is, for another program.
pub fn data(text: &str) {
    line(format_args!("{}", text.strip_suffix('\n').unwrap_or(text)));
}
