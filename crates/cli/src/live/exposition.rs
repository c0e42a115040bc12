//! Prometheus' text format, version 0.0.4.

use std::fmt::Write as _;

/// Counters and gauges as text.
#[derive(Default)]
pub(super) struct Exposition(String);

impl Exposition {
    /// Adds a metric with its samples, each with its labels; one without samples is left out.
    pub(super) fn family(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        samples: impl IntoIterator<Item = (String, f64)>,
    ) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_some() {
            // Writing to a string can't fail.
            let _ = writeln!(self.0, "# HELP tidemark_{name} {help}\n# TYPE tidemark_{name} {kind}");
        }
        for (labels, value) in samples {
            let _ = writeln!(self.0, "tidemark_{name}{labels} {value}");
        }
    }

    /// All of it.
    pub(super) fn text(self) -> String {
        self.0
    }
}

/// A label's value as it stands between quotes.
pub(super) fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_stays_between_its_quotes() {
        let label = escaped("a\"} 1\nb\\");
        assert_eq!(label, r#"a\"} 1\nb\\"#);
    }
}
