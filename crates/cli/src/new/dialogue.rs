//! Questions on a terminal.

use std::fmt::Display;
use std::io::{self, BufRead, ErrorKind, Write};

/// Questions and answers, one line each.
pub(super) struct Dialogue<R, W> {
    input: R,
    output: W,
}

impl<R: BufRead, W: Write> Dialogue<R, W> {
    /// Asks on `output` and reads from `input`.
    pub(super) fn new(input: R, output: W) -> Self {
        Self { input, output }
    }

    /// Asks until `read` accepts the answer; an empty answer means the default.
    ///
    /// # Errors
    /// An input that ends, or a terminal that fails.
    pub(super) fn ask<T, E: Display>(
        &mut self,
        question: &str,
        choices: &str,
        default: &str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> io::Result<T> {
        loop {
            write!(self.output, "{question} ({choices}) [{default}]: ")?;
            self.output.flush()?;
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                return Err(io::Error::new(ErrorKind::UnexpectedEof, "the answers ended early: no file is written"));
            }
            let answer = if line.trim().is_empty() { default } else { line.trim() };
            match read(answer) {
                Ok(value) => return Ok(value),
                Err(error) => writeln!(self.output, "{error}")?,
            }
        }
    }
}
