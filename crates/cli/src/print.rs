//! Lines on the standard output, which a reader such as `head` may close before all has been said.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

/// As `println!`, but for readers who have gone.
macro_rules! say {
    ($($part:tt)*) => { $crate::print::line(format_args!($($part)*)) };
}
pub(crate) use say;

/// One line; a reader who has gone misses nothing.
pub fn line(text: Arguments<'_>) {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("the standard output can't be written: {error}");
            std::process::exit(2);
        }
        _ => {}
    }
}
