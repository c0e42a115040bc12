//! Lines on the standard output, which a reader such as `head` may close before all has been written.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

/// Prints a line as `println!` does, and goes on where the reader has closed its end.
#[macro_export]
macro_rules! say {
    ($($part:tt)*) => { $crate::print::line(format_args!($($part)*)) };
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
