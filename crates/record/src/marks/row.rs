//! Rows of `marks.csv`. Times, sizes and rates are whole numbers of their smallest unit, so their digits are written as they are: a float in
//! between would cost ten times as much, and could not be more exact.

use tidemark_core::{BitRate, Bytes, Duration, Instant};

use crate::fields::Declared;
use crate::files::quoted;
use crate::result::MarkResult;

/// Row in the making, whose cells come in the order in which [`MarkResult`] declares its fields.
pub(super) struct Row<'a> {
    text: &'a mut Vec<u8>,
    column: usize,
}

impl<'a> Row<'a> {
    /// Begins a row at the end of `text`.
    pub(super) fn begin(text: &'a mut Vec<u8>) -> Self {
        Self { text, column: 0 }
    }

    /// Ends the row.
    pub(super) fn end(&mut self) {
        debug_assert_eq!(self.column, MarkResult::STRUCT.fields.len(), "every field has a cell");
        self.text.push(b'\n');
    }

    fn cell(&mut self, name: &str) {
        debug_assert_eq!(MarkResult::STRUCT.fields[self.column].name, name);
        if self.column > 0 {
            self.text.push(b',');
        }
        self.column += 1;
    }

    /// Writes a word that needs no quotes.
    pub(super) fn word(&mut self, name: &str, word: &str) {
        self.cell(name);
        self.text.extend_from_slice(word.as_bytes());
    }

    /// Writes text that can need quotes.
    pub(super) fn text(&mut self, name: &str, text: &str) {
        self.cell(name);
        if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b' ' || byte == b'-') {
            self.text.extend_from_slice(text.as_bytes());
        } else {
            self.text.extend_from_slice(quoted(text).as_bytes());
        }
    }

    /// Writes a count.
    pub(super) fn count(&mut self, name: &str, count: Option<u64>) {
        self.cell(name);
        if let Some(count) = count {
            self.digits::<0>(count);
        }
    }

    /// Writes a number with all of its digits.
    pub(super) fn float(&mut self, name: &str, number: Option<f64>) {
        self.cell(name);
        match number {
            None => {}
            // Odds are so in most rows.
            Some(0.0) => self.text.extend_from_slice(b"0.0"),
            Some(1.0) => self.text.extend_from_slice(b"1.0"),
            Some(number) => self.text.extend_from_slice(ryu::Buffer::new().format(number).as_bytes()),
        }
    }

    /// Writes a time in seconds, to the nanosecond.
    pub(super) fn seconds(&mut self, name: &str, at: Option<Instant>) {
        self.decimal::<9>(name, at.map(Instant::as_nanos));
    }

    /// Writes a span in milliseconds, to the nanosecond.
    pub(super) fn milliseconds(&mut self, name: &str, span: Option<Duration>) {
        self.decimal::<6>(name, span.map(Duration::as_nanos));
    }

    /// Writes a size in kilobytes, to the byte.
    pub(super) fn kilobytes(&mut self, name: &str, size: Option<Bytes>) {
        self.decimal::<3>(name, size.map(|size| size.0));
    }

    /// Writes a rate in Mbit/s, to the bit a second.
    pub(super) fn megabits(&mut self, name: &str, rate: Option<BitRate>) {
        self.decimal::<6>(name, rate.map(BitRate::as_bps));
    }

    fn decimal<const PLACES: usize>(&mut self, name: &str, value: Option<u64>) {
        debug_assert_eq!(MarkResult::STRUCT.fields[self.column].decimals, Some(PLACES), "{name}");
        self.cell(name);
        if let Some(value) = value {
            self.digits::<PLACES>(value);
        }
    }

    /// Writes this many units of 10^-`PLACES`. Zeros at the end are left out but for the first decimal, as they are where a float is written.
    fn digits<const PLACES: usize>(&mut self, value: u64) {
        // Parts of a delay are so in most rows.
        if value == 0 && PLACES > 0 {
            self.text.extend_from_slice(b"0.0");
            return;
        }
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(value).as_bytes();
        let Some(point) = digits.len().checked_sub(PLACES) else {
            self.text.extend_from_slice(b"0.");
            self.text.extend(std::iter::repeat_n(b'0', PLACES - digits.len()));
            let end = digits.iter().rposition(|digit| *digit != b'0').unwrap_or(0);
            self.text.extend_from_slice(&digits[..=end]);
            return;
        };
        let (whole, decimals) = digits.split_at(point);
        self.text.extend_from_slice(if whole.is_empty() { b"0" } else { whole });
        if PLACES > 0 {
            self.text.push(b'.');
            let end = decimals.iter().rposition(|digit| *digit != b'0').unwrap_or(0);
            self.text.extend_from_slice(&decimals[..=end]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits<const PLACES: usize>(value: u64) -> String {
        let mut text = Vec::new();
        Row::begin(&mut text).digits::<PLACES>(value);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn decimals_are_those_of_the_shortest_float() {
        for value in [0, 1, 9, 10, 100, 12_345, 1_500_000, 90_000_001, 123_456_789_012] {
            let float = |scale: f64| format!("{:?}", value as f64 / scale);
            assert_eq!(digits::<3>(value), float(1e3));
            if value == 0 || value >= 100_000 {
                // Below, a float has an exponent.
                assert_eq!((digits::<6>(value), digits::<9>(value)), (float(1e6), float(1e9)));
            }
            assert_eq!(digits::<0>(value), value.to_string());
        }
        assert_eq!((digits::<6>(1), digits::<9>(100)), ("0.000001".into(), "0.0000001".into()));
        assert_eq!(digits::<9>(u64::MAX), "18446744073.709551615");
        assert_eq!(digits::<0>(u64::MAX), "18446744073709551615");
    }
}
