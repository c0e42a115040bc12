//! Times for the option `--at`.

use std::fmt;
use std::str::FromStr;

use tidemark_core::Duration;

/// A time of a run, or a span between two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moment {
    from: Duration,
    to: Duration,
}

impl Moment {
    /// First and last second of the moment.
    pub(super) fn span(self) -> (f64, f64) {
        (self.from.as_secs_f64(), self.to.as_secs_f64())
    }
    /// True for a span, false for one time.
    pub(super) fn is_span(self) -> bool {
        self.from < self.to
    }
}

impl FromStr for Moment {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        // A number without a unit is in seconds, as on the report's axes.
        let time = |text: &str| match text.trim().parse::<f64>() {
            Ok(_) => format!("{text} s").parse::<Duration>(),
            Err(_) => text.parse::<Duration>(),
        };
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let (from, to) = (time(from)?, time(to)?);
        if from > to { Err(format!("`{text}` ends before it begins")) } else { Ok(Self { from, to }) }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = self.span();
        if self.is_span() { write!(f, "{} to {}", seconds(from), seconds(to)) } else { f.write_str(&seconds(from)) }
    }
}

/// A time in seconds with its unit, to a tenth of a millisecond.
pub(super) fn seconds(at: f64) -> String {
    format!("{at:.4} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_time_or_a_span_in_any_unit() {
        let span = |text: &str| text.parse::<Moment>().map(Moment::span);
        assert_eq!(span("3.2"), Ok((3.2, 3.2)));
        assert_eq!(span("1500 ms"), Ok((1.5, 1.5)));
        assert_eq!(span("3 s..3500 ms"), Ok((3.0, 3.5)));
        assert_eq!(span("3..4"), Ok((3.0, 4.0)));
        assert!(span("4..3").unwrap_err().contains("ends before it begins"));
        assert!(span("soon").unwrap_err().contains("number with a unit"));
    }
}
