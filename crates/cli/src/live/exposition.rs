//! Rows of live state as Prometheus' metrics, which the crate prometheus-client writes.

use std::fmt;

use prometheus_client::collector::Collector;
pub(super) use prometheus_client::encoding::prometheus_text::CONTENT_TYPE;
use prometheus_client::encoding::prometheus_text::encode;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use super::buckets::Buckets;

/// Declares rows: structs whose fields are shown under their own names, and as types of the live page (`web/src/live/fields.ts`). A field
/// may also be a Prometheus metric, with a name and a base unit; its doc comment is the metric's help.
// `/// Rate to the UE. pub down_mbps: f64 = Gauge("downlink_bits_per_second" * 1e6),` becomes
//
//     /// Rate to the UE.
//     pub down_mbps: f64,
//
// and, in the METRICS of the struct,
//
//     Metric {
//         kind: MetricType::Gauge, name: "downlink_bits_per_second", label: &[],
//         value: |row| Some(row.down_mbps.sample()? * 1e6),
//     }
//
// and, in the STRUCTS of the file, which a test compares with the page's types,
//
//     Field { name: "down_mbps", kind: "f64", meaning: &[" Rate to the UE."], .. }
//
// A counter's name gets its suffix `_total` when it is written.
macro_rules! rows {
    ($(
        $(#[doc = $doc:literal])*
        $(#[derive($($derive:ident),*)])?
        $visible:vis struct $name:ident {
            $(
                $(#[doc = $meaning:literal])*
                $(#[serde($($serde:tt)*)])?
                $shown:vis $field:ident: $kind:ty $(= $metric:ident($export:literal $(, $label:ident = $of:literal)? $(* $factor:literal)? $(/ $divisor:literal)?))?,
            )*
        }
    )*) => {$(
        $(#[doc = $doc])*
        $(#[derive($($derive),*)])?
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
                        kind: prometheus_client::metrics::MetricType::$metric,
                        name: $export,
                        label: &[$((stringify!($label), $of))?],
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
    )*
        /// Structs of this file, for the types of the page.
        #[cfg(test)]
        pub(in crate::live) const STRUCTS: &[tidemark_record::fields::Struct] = &[$(tidemark_record::fields::Struct {
            name: stringify!($name),
            meaning: &[$($doc),*],
            fields: &[$(tidemark_record::fields::Field {
                name: stringify!($field),
                kind: stringify!($kind),
                serde: concat!($(stringify!($($serde)*))?),
                meaning: &[$($meaning),*],
                decimals: None,
                outputs: &[],
            }),*],
        }),*];
    };
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
    /// `Counter` or `Gauge`.
    pub(super) kind: MetricType,
    /// Name after `tidemark_`, with the base unit. Fields of a row may share it if each has a label.
    pub(super) name: &'static str,
    /// Label of the field, such as the direction.
    pub(super) label: &'static [(&'static str, &'static str)],
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

/// Labels of a sample, such as the UE with its name.
pub(super) type Labels = Vec<(&'static str, String)>;

/// Writes the metrics of a state as text.
pub(super) fn text(state: impl Collector) -> String {
    let mut registry = Registry::with_prefix("tidemark");
    registry.register_collector(Box::new(state));
    let mut text = String::new();
    // Writing to a string can't fail.
    let _ = encode(&mut text, &registry);
    text
}

/// Writes the metrics of rows with their labels. Each name starts with `prefix`.
pub(super) fn write_rows<'a, T: Metrics>(
    to: &mut DescriptorEncoder<'_>,
    prefix: &str,
    rows: impl Iterator<Item = (Labels, &'a T)> + Clone,
) -> fmt::Result {
    let metrics = T::METRICS.iter().flat_map(|(help, metrics)| metrics.iter().map(move |metric| (*help, metric)));
    for metrics in metrics.collect::<Vec<_>>().chunk_by(|(_, a), (_, b)| a.name == b.name) {
        let (help, first) = metrics[0];
        let samples = metrics.iter().flat_map(|(_, metric)| {
            rows.clone().filter_map(move |(mut labels, row)| {
                labels.extend(metric.label.iter().map(|(name, value)| (*name, (*value).into())));
                Some((labels, (metric.value)(row)?))
            })
        });
        write_family(to, &format!("{prefix}{}", first.name), first.kind, help.concat().trim(), samples)?;
    }
    Ok(())
}

/// Writes a metric and its samples with their labels. A metric without samples is left out.
pub(super) fn write_family(
    to: &mut DescriptorEncoder<'_>,
    name: &str,
    kind: MetricType,
    help: &str,
    samples: impl IntoIterator<Item = (Labels, f64)>,
) -> fmt::Result {
    let mut samples = samples.into_iter().peekable();
    if samples.peek().is_none() {
        return Ok(());
    }
    let mut family = to.encode_descriptor(name, help, None, kind)?;
    samples.try_for_each(|(labels, value)| {
        let mut sample = family.encode_family(&labels)?;
        match kind {
            // Counters are whole numbers.
            MetricType::Counter => sample.encode_counter::<NoLabelSet, _, f64>(&(value as u64), None),
            _ => sample.encode_gauge(&value),
        }
    })
}

/// Writes a histogram of each of these labels. One without delays is left out.
pub(super) fn write_histograms<'a>(
    to: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    histograms: impl IntoIterator<Item = (Labels, &'a Buckets)>,
) -> fmt::Result {
    let mut histograms = histograms.into_iter().filter(|(_, buckets)| buckets.count() > 0).peekable();
    if histograms.peek().is_none() {
        return Ok(());
    }
    let mut family = to.encode_descriptor(name, help, None, MetricType::Histogram)?;
    histograms.try_for_each(|(labels, buckets)| {
        let counts: Vec<_> = buckets.counts().collect();
        let mut histogram = family.encode_family(&labels)?;
        histogram.encode_histogram::<NoLabelSet>(buckets.sum(), buckets.count(), &counts, None)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::{env, fs};

    use tidemark_core::Duration;
    use tidemark_record::fields::interfaces;

    use super::*;
    use crate::live::{cu, hop, snapshot};

    /// Writes metrics as a collector does.
    struct Written<F>(F);

    impl<F> fmt::Debug for Written<F> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Written")
        }
    }

    impl<F: Fn(&mut DescriptorEncoder<'_>) -> fmt::Result + Send + Sync + 'static> Collector for Written<F> {
        fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
            (self.0)(&mut encoder)
        }
    }

    fn label(name: &'static str, value: &str) -> Labels {
        vec![(name, value.into())]
    }

    #[test]
    fn a_label_stays_between_its_quotes() {
        let family = |to: &mut DescriptorEncoder<'_>| {
            write_family(to, "x", MetricType::Counter, "X.", [(label("ue", "a\"} 1\nb\\"), 1.0)])
        };
        let expected = "# HELP tidemark_x_total X.\n# TYPE tidemark_x_total counter\n\
            tidemark_x_total{ue=\"a\\\"} 1\\nb\\\\\"} 1\n";
        assert_eq!(text(Written(family)), expected);
    }

    #[test]
    fn a_histogram_counts_up_to_each_bound_and_is_left_out_without_delays() {
        let (mut buckets, none) = (Buckets::new(&[0.01, 0.5]), Buckets::new(&[0.01, 0.5]));
        buckets.add([(Duration::from_millis(10), 2), (Duration::from_millis(750), 1)].into_iter());
        let written = move |to: &mut DescriptorEncoder<'_>| {
            write_histograms(to, "wait_seconds", "Wait.", [(label("ue", "a"), &buckets), (label("ue", "b"), &none)])?;
            write_histograms(to, "late_seconds", "Lateness.", [(Labels::new(), &none)])
        };
        let expected = "# HELP tidemark_wait_seconds Wait.\n# TYPE tidemark_wait_seconds histogram\n\
            tidemark_wait_seconds_bucket{ue=\"a\",le=\"0.01\"} 2\n\
            tidemark_wait_seconds_bucket{ue=\"a\",le=\"0.5\"} 2\n\
            tidemark_wait_seconds_bucket{ue=\"a\",le=\"+Inf\"} 3\n\
            tidemark_wait_seconds_sum{ue=\"a\"} 0.77\ntidemark_wait_seconds_count{ue=\"a\"} 3\n";
        assert_eq!(text(Written(written)), expected);
    }

    #[test]
    fn types_of_the_page_are_what_the_rows_declare() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/live/fields.ts");
        let head = "/** Rows of live programs, written by `make reference` from what they declare. */\n\nimport type { Lateness } from \"../fields.ts\";\n";
        let structs = [snapshot::STRUCTS, cu::status::STRUCTS, hop::status::STRUCTS].concat();
        let mute = structs.iter().flat_map(|of| of.fields).find(|field| field.meaning.is_empty());
        assert!(mute.is_none(), "no sentence: {mute:?}");
        let text = head.to_owned() + &interfaces(&structs);
        if env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&file, &text).unwrap();
        }
        let kept = fs::read_to_string(&file).unwrap_or_default();
        assert!(kept == text, "{}: out of date: run `make reference`", file.display());
    }

    rows! {
        struct Row {
            /// Bytes in
            /// the queue.
            backlog: u64 = Gauge("backlog_bits" * 8.0),
            /// Rate down.
            down: Option<f64> = Gauge("rate", way = "down"),
            /// Rate up.
            up: Option<f64> = Gauge("rate", way = "up"),
            /// No number.
            name: String,
        }
    }

    #[test]
    fn a_metric_has_its_fields_sentence_unit_and_labels() {
        let row = |name: &str, down| Row { backlog: 2, down, up: Some(5.0), name: name.into() };
        let all = [row("a", None), row("b", Some(3.0))];
        let written = move |to: &mut DescriptorEncoder<'_>| {
            write_rows(to, "x_", all.iter().map(|row| (label("name", &row.name), row)))
        };
        let expected = "# HELP tidemark_x_backlog_bits Bytes in the queue.\n# TYPE tidemark_x_backlog_bits gauge\n\
            tidemark_x_backlog_bits{name=\"a\"} 16.0\ntidemark_x_backlog_bits{name=\"b\"} 16.0\n\
            # HELP tidemark_x_rate Rate down.\n# TYPE tidemark_x_rate gauge\n\
            tidemark_x_rate{name=\"b\",way=\"down\"} 3.0\n\
            tidemark_x_rate{name=\"a\",way=\"up\"} 5.0\ntidemark_x_rate{name=\"b\",way=\"up\"} 5.0\n";
        assert_eq!(text(Written(written)), expected);
        assert_eq!(
            STRUCTS[0].fields.iter().map(|field| field.name).collect::<Vec<_>>(),
            ["backlog", "down", "up", "name"]
        );
    }
}
