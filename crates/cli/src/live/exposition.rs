//! Rows of live state, and Prometheus' text format, version 0.0.4.

use std::fmt::Write as _;

use super::buckets::Buckets;

/// Declares rows: structs whose fields are shown under their own names. A field may also be a Prometheus metric, with a name and a base
/// unit; its doc comment is the metric's help.
// `/// Rate to the UE. pub down_mbps: f64 = gauge("downlink_bits_per_second" * 1e6),` becomes
//
//     /// Rate to the UE.
//     pub down_mbps: f64,
//
// and, in the METRICS of the struct,
//
//     Metric {
//         kind: "gauge", name: "downlink_bits_per_second", labels: "", help: &[" Rate to the UE."],
//         value: |row| Some(row.down_mbps.sample()? * 1e6),
//     }
macro_rules! rows {
    ($(
        $(#[$attribute:meta])*
        $visible:vis struct $name:ident {
            $(
                $(#[doc = $meaning:literal])*
                $(#[serde($($serde:tt)*)])?
                $shown:vis $field:ident: $kind:ty $(= $metric:ident($export:literal $(, $label:literal)? $(* $factor:literal)? $(/ $divisor:literal)?))?,
            )*
        }
    )*) => {$(
        $(#[$attribute])*
        $visible struct $name {
            $(
                $(#[doc = $meaning])*
                $(#[serde($($serde)*)])?
                $shown $field: $kind,
            )*
        }

        impl $crate::live::exposition::Metrics for $name {
            const METRICS: &'static [$crate::live::exposition::Field<Self>] = &[$(
                (
                    &[$($meaning),*],
                    &[$($crate::live::exposition::Metric {
                        kind: stringify!($metric),
                        name: $export,
                        labels: concat!($($label)?),
                        value: |row| {
                            let sample = $crate::live::exposition::Sample::sample(&row.$field)?;
                            $(let sample = sample * $factor;)?
                            $(let sample = sample / $divisor;)?
                            Some(sample)
                        },
                    })?],
                ),
            )*];
        }
    )*};
}
pub(super) use rows;

/// A field's sentences, and its metric if it has one.
pub(super) type Field<T> = (&'static [&'static str], &'static [Metric<T>]);

/// Rows with metrics.
pub(super) trait Metrics: Sized + 'static {
    /// Fields in their order.
    const METRICS: &'static [Field<Self>];
}

/// A metric of a row.
pub(super) struct Metric<T> {
    /// `counter` or `gauge`.
    pub(super) kind: &'static str,
    /// Name after `tidemark_`, with the base unit. Fields of a row may share it if each has a label.
    pub(super) name: &'static str,
    /// Label of the field, such as `direction="uplink"`.
    pub(super) labels: &'static str,
    /// Value in the base unit; `None` if it was not measured.
    pub(super) value: fn(&T) -> Option<f64>,
}

/// A value that can be a sample.
pub(super) trait Sample {
    /// Gives the number; `None` if it was not measured.
    fn sample(&self) -> Option<f64>;
}

impl Sample for f64 {
    fn sample(&self) -> Option<f64> {
        Some(*self)
    }
}

impl Sample for u64 {
    fn sample(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl Sample for u8 {
    fn sample(&self) -> Option<f64> {
        Some(f64::from(*self))
    }
}

impl<T: Sample> Sample for Option<T> {
    fn sample(&self) -> Option<f64> {
        self.as_ref()?.sample()
    }
}

/// Metrics as text.
#[derive(Default)]
pub(super) struct Exposition(String);

impl Exposition {
    /// Adds the metrics of rows with their labels, such as `ue="a"`. Each name starts with `prefix`.
    pub(super) fn rows<'a, T: Metrics>(&mut self, prefix: &str, rows: impl Iterator<Item = (String, &'a T)> + Clone) {
        let metrics = T::METRICS.iter().flat_map(|(help, metrics)| metrics.iter().map(move |metric| (*help, metric)));
        let mut last = "";
        for (help, metric) in metrics {
            let name = format!("{prefix}{}", metric.name);
            let samples = rows.clone().filter_map(|(labels, row)| {
                let all = [labels.as_str(), metric.labels].into_iter().filter(|labels| !labels.is_empty());
                Some((all.collect::<Vec<_>>().join(","), (metric.value)(row)?))
            });
            let mut samples = samples.peekable();
            if samples.peek().is_some() && metric.name != last {
                self.head(&name, metric.kind, help.concat().trim());
                last = metric.name;
            }
            samples.for_each(|(labels, value)| self.sample(&name, &labels, value));
        }
    }

    /// Adds a metric and its samples with their labels. A metric without samples is left out.
    pub(super) fn family(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        samples: impl IntoIterator<Item = (String, f64)>,
    ) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_some() {
            self.head(name, kind, help);
        }
        samples.for_each(|(labels, value)| self.sample(name, &labels, value));
    }

    /// Adds a histogram of each of these labels. One without delays is left out.
    pub(super) fn histograms<'a>(
        &mut self,
        name: &str,
        help: &str,
        histograms: impl IntoIterator<Item = (String, &'a Buckets)>,
    ) {
        let mut histograms = histograms.into_iter().filter(|(_, buckets)| buckets.count() > 0).peekable();
        if histograms.peek().is_some() {
            self.head(name, "histogram", help);
        }
        for (labels, buckets) in histograms {
            let comma = if labels.is_empty() { "" } else { "," };
            for (bound, count) in buckets.up_to() {
                let labels = format!("{labels}{comma}{}", label("le", &bound));
                self.sample(&format!("{name}_bucket"), &labels, count as f64);
            }
            self.sample(&format!("{name}_sum"), &labels, buckets.sum());
            self.sample(&format!("{name}_count"), &labels, buckets.count() as f64);
        }
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string can't fail.
        let _ = writeln!(self.0, "# HELP tidemark_{name} {help}\n# TYPE tidemark_{name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: f64) {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(self.0, "tidemark_{name}{labels} {value}");
    }

    /// The whole text.
    pub(super) fn text(self) -> String {
        self.0
    }
}

/// A label with its value, such as `ue="a"`.
pub(super) fn label(name: &str, value: &str) -> String {
    format!("{name}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use tidemark_core::Duration;

    use super::*;

    #[test]
    fn a_label_stays_between_its_quotes() {
        assert_eq!(label("ue", "a\"} 1\nb\\"), r#"ue="a\"} 1\nb\\""#);
    }

    #[test]
    fn a_histogram_counts_up_to_each_bound_and_is_left_out_without_delays() {
        let (mut buckets, none) = (Buckets::new(&[0.01, 0.5]), Buckets::new(&[0.01, 0.5]));
        buckets.add([(Duration::from_millis(10), 2), (Duration::from_millis(750), 1)].into_iter());
        let mut text = Exposition::default();
        text.histograms("wait_seconds", "Wait.", [(label("ue", "a"), &buckets), (label("ue", "b"), &none)]);
        text.histograms("late_seconds", "Lateness.", [(String::new(), &none)]);
        let expected = "# HELP tidemark_wait_seconds Wait.\n# TYPE tidemark_wait_seconds histogram\n\
            tidemark_wait_seconds_bucket{ue=\"a\",le=\"0.01\"} 2\n\
            tidemark_wait_seconds_bucket{ue=\"a\",le=\"0.5\"} 2\n\
            tidemark_wait_seconds_bucket{ue=\"a\",le=\"+Inf\"} 3\n\
            tidemark_wait_seconds_sum{ue=\"a\"} 0.77\ntidemark_wait_seconds_count{ue=\"a\"} 3\n";
        assert_eq!(text.text(), expected);
    }

    rows! {
        struct Row {
            /// Bytes in
            /// the queue.
            backlog: u64 = gauge("backlog_bits" * 8.0),
            /// Rate down.
            down: Option<f64> = gauge("rate", "way=\"down\""),
            /// Rate up.
            up: Option<f64> = gauge("rate", "way=\"up\""),
            /// No number.
            name: String,
        }
    }

    #[test]
    fn a_metric_has_its_fields_sentence_unit_and_labels() {
        let row = |name: &str, down| Row { backlog: 2, down, up: Some(5.0), name: name.into() };
        let rows = [row("a", None), row("b", Some(3.0))];
        let mut text = Exposition::default();
        text.rows("x_", rows.iter().map(|row| (label("name", &row.name), row)));
        let expected = "# HELP tidemark_x_backlog_bits Bytes in the queue.\n# TYPE tidemark_x_backlog_bits gauge\n\
            tidemark_x_backlog_bits{name=\"a\"} 16\ntidemark_x_backlog_bits{name=\"b\"} 16\n\
            # HELP tidemark_x_rate Rate down.\n# TYPE tidemark_x_rate gauge\n\
            tidemark_x_rate{name=\"b\",way=\"down\"} 3\n\
            tidemark_x_rate{name=\"a\",way=\"up\"} 5\ntidemark_x_rate{name=\"b\",way=\"up\"} 5\n";
        assert_eq!(text.text(), expected);
    }
}
