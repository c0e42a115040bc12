//! Tables with a heading, as published data sets have them: the column to read, the unit of its values, and their times.

use tidemark_core::Duration;

use super::{Kind, Rows, TraceConfig, Wrong, missing_or_number, time};

/// Headings of a column with the time, the best first, as letters and digits in lower case.
const TIMES: [&str; 12] = [
    "time_s",
    "timestamp",
    "timestamp_ms",
    "timestamp_s",
    "time",
    "time_ms",
    "datetime",
    "date_time",
    "ts",
    "epoch",
    "seconds",
    "seq_num",
];
/// The largest signed 32-bit number, which Android reports for a measurement that is not available.
const UNAVAILABLE: f64 = 2_147_483_647.0;

/// Quantity and scale of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TraceUnit {
    /// An SNR in dB.
    #[cfg_attr(feature = "serde", serde(rename = "dB", alias = "db"))]
    Decibels,
    /// A CQI, 0 to 15.
    #[cfg_attr(feature = "serde", serde(rename = "CQI", alias = "cqi"))]
    Cqi,
    /// A rate in bit/s.
    #[cfg_attr(feature = "serde", serde(rename = "bit/s", alias = "bps"))]
    Bits,
    /// A rate in kbit/s.
    #[cfg_attr(feature = "serde", serde(rename = "kbit/s", alias = "kbps"))]
    Kilobits,
    /// A rate in Mbit/s.
    #[cfg_attr(feature = "serde", serde(rename = "Mbit/s", alias = "Mbps", alias = "mbps"))]
    Megabits,
    /// A rate in Gbit/s.
    #[cfg_attr(feature = "serde", serde(rename = "Gbit/s", alias = "Gbps", alias = "gbps"))]
    Gigabits,
}

impl TraceUnit {
    /// The unit in a heading: `SNR`, `cqi`, `dl_kbps`, `RATE(MBit/s)`.
    fn of(heading: &str) -> Option<Self> {
        let heading = heading.to_ascii_lowercase();
        let rates = [
            (["kbps", "kbit/s"], Self::Kilobits),
            (["mbps", "mbit/s"], Self::Megabits),
            (["gbps", "gbit/s"], Self::Gigabits),
            (["bits_per_second", "bit/s"], Self::Bits),
        ];
        let rate = rates.iter().find(|(names, _)| names.iter().any(|name| heading.contains(name)));
        let says = |of: &dyn Fn(&&str) -> bool| words(&heading).any(|word| of(&word));
        match rate {
            Some((_, unit)) => Some(*unit),
            None if is_power(&heading) => None,
            None if says(&|word| *word == "bps") => Some(Self::Bits),
            None if says(&|word| word.ends_with("cqi")) => Some(Self::Cqi),
            None if says(&|word| word.ends_with("snr") || word.ends_with("sinr")) => Some(Self::Decibels),
            None => words(&heading).last().filter(|word| *word == "db").map(|_| Self::Decibels),
        }
    }
    /// Quantity of the values, and the factor to its base unit.
    fn kind(self) -> (Kind, f64) {
        match self {
            Self::Decibels => (Kind::SnrDb, 1.0),
            Self::Cqi => (Kind::Cqi, 1.0),
            Self::Bits => (Kind::Rate, 1.0),
            Self::Kilobits => (Kind::Rate, 1e3),
            Self::Megabits => (Kind::Rate, 1e6),
            Self::Gigabits => (Kind::Rate, 1e9),
        }
    }
}

/// The character between the fields of a heading: the one that occurs most.
pub(super) fn delimiter(heading: &str) -> Option<char> {
    let count = |delimiter: &char| heading.matches(*delimiter).count();
    [',', ';', '\t'].into_iter().max_by_key(count).filter(|delimiter| count(delimiter) > 0)
}

/// Reads the column and the time that `config` names.
pub(super) fn read(text: &str, config: &TraceConfig) -> Result<Rows, Wrong> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty() && !text.starts_with('#'));
    let (top, heading) = lines.next().ok_or((1, "there is no heading in it".to_string()))?;
    let delimiter = delimiter(heading).unwrap_or(',');
    let names = fields(heading, delimiter);
    let column = config.column.as_deref().ok_or_else(|| {
        (
            top,
            format!(
                "it has several columns: choose one with `column` (FILE#COLUMN on the command line); {}",
                choice(&names)
            ),
        )
    })?;
    let values =
        find(&names, column).ok_or_else(|| (top, format!("there is no column `{column}`; {}", choice(&names))))?;
    let unit = config.unit.or_else(|| TraceUnit::of(&names[values])).ok_or_else(|| (top, unitless(&names[values])))?;
    let (kind, scale) = unit.kind();
    let (times, nanos) = time_column(&names, config.time.as_deref()).map_err(|wrong| (top, wrong))?;
    let mut rows: Vec<(Duration, f64)> = Vec::new();
    for (line, text) in lines {
        let fields = fields(text, delimiter);
        let field = |index: usize| {
            fields
                .get(index)
                .ok_or_else(|| (line, format!("it has {} columns instead of {}", fields.len(), names.len())))
        };
        let at = field(times)?;
        let at =
            time::parse(at, nanos).ok_or_else(|| (line, format!("`{at}` is not a time: write {}", time::FORMS)))?;
        if rows.last().is_some_and(|(last, _)| at < *last) {
            let wrong =
                "its time is before that of the line above: lines must be in order, so a file may hold only one run";
            return Err((line, wrong.into()));
        }
        let value = missing_or_number(field(values)?, line)?.filter(|value| *value != UNAVAILABLE);
        match value {
            Some(value) if kind == Kind::Cqi && !(0.0..=15.0).contains(&value) => {
                return Err((line, format!("a CQI must lie between 0 and 15, not {value}")));
            }
            Some(value) if kind == Kind::Rate && value < 0.0 => {
                return Err((line, format!("a rate can't be negative, as {value} is")));
            }
            Some(value) => rows.push((at, value * scale)),
            // A value that is missing leaves the one before it in force.
            None => rows.extend(rows.last().map(|(_, value)| (at, *value))),
        }
    }
    Ok((kind, rows, None))
}

/// The fields of a line, which may be quoted (RFC 4180 2).
fn fields(line: &str, delimiter: char) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for letter in line.trim_start_matches('\u{feff}').chars() {
        match letter {
            '"' => quoted = !quoted,
            _ if letter == delimiter && !quoted => fields.push(String::new()),
            _ => fields.last_mut().into_iter().for_each(|field| field.push(letter)),
        }
    }
    fields.iter().map(|field| field.trim().to_string()).collect()
}

/// The column of this name. An exact match is preferred to one in another case.
fn find(names: &[String], name: &str) -> Option<usize> {
    let exact = names.iter().position(|other| other == name);
    exact.or_else(|| names.iter().position(|other| other.eq_ignore_ascii_case(name)))
}

/// The column with the time, and the unit of its numbers if its heading gives one.
fn time_column(names: &[String], asked: Option<&str>) -> Result<(usize, Option<u64>), String> {
    let known = |name: &&str| names.iter().position(|other| words(&other.to_ascii_lowercase()).eq(name.split('_')));
    let found = match asked {
        Some(name) => find(names, name),
        None => TIMES.iter().find_map(known),
    };
    let problem = || match asked {
        Some(name) => format!("there is no column `{name}`: its columns are {}", names.join(", ")),
        None => {
            format!("no column looks like the time: choose one with `time`; its columns are {}", names.join(", "))
        }
    };
    found.map(|index| (index, time::unit_of(&names[index]))).ok_or_else(problem)
}

/// Lists the columns and how to read them.
fn choice(names: &[String]) -> String {
    let with_unit: Vec<_> = names.iter().filter(|name| TraceUnit::of(name).is_some()).cloned().collect();
    let is_rate = |name: &&String| {
        let name = name.to_ascii_lowercase();
        TraceUnit::of(&name).is_none() && ["rate", "throughput", "bandwidth"].iter().any(|part| name.contains(part))
    };
    let rates: Vec<_> = names.iter().filter(is_rate).cloned().collect();
    let said = |names: &[String], of: &str| (!names.is_empty()).then(|| format!("{} {of}", names.join(", ")));
    let parts = [said(&with_unit, "can be read as they are"), said(&rates, "with a `unit`, as kbit/s")];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let usable = if parts.is_empty() { "none of them gives its unit".into() } else { parts.join(", ") };
    format!("its columns are {}; {usable}", names.join(", "))
}

fn unitless(name: &str) -> String {
    if is_power(&name.to_ascii_lowercase()) {
        return format!(
            "`{name}` is a received power or derived from one, so it gives no rate: read an SNR, a CQI or a rate"
        );
    }
    let known =
        if name.to_ascii_lowercase().ends_with("_bitrate") { "; G-NetTrack writes `DL_bitrate` in kbit/s" } else { "" };
    format!(
        "`{name}` does not say its unit: add `unit` (FILE#{name},unit=kbit/s on the command line), one of dB, CQI, bit/s, \
         kbit/s, Mbit/s and Gbit/s{known}"
    )
}

fn is_power(heading: &str) -> bool {
    words(heading).any(|word| ["rsrp", "rsrq", "rssi"].iter().any(|power| word.ends_with(power)))
}

fn words(heading: &str) -> impl Iterator<Item = &str> {
    heading.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_says_its_unit_in_many_ways() {
        for (heading, unit) in [
            ("SNR", Some(TraceUnit::Decibels)),
            ("nr_ssSinr", Some(TraceUnit::Decibels)),
            ("PCell_SNR_1", Some(TraceUnit::Decibels)),
            ("quality_db", Some(TraceUnit::Decibels)),
            ("5G_CQI", Some(TraceUnit::Cqi)),
            ("RATE(MBit/s)", Some(TraceUnit::Megabits)),
            ("dl_kbps", Some(TraceUnit::Kilobits)),
            ("bits_per_second", Some(TraceUnit::Bits)),
            ("DL_bitrate", None),
            ("Throughput", None),
            ("rsrq(dB)", None),
            ("NRxRSRQ", None),
        ] {
            assert_eq!(TraceUnit::of(heading), unit, "{heading}");
        }
    }

    #[test]
    fn a_field_in_quotes_may_hold_the_delimiter() {
        assert_eq!(fields("\u{feff}a,\"b,c\", d ", ','), ["a", "b,c", "d"]);
        assert_eq!(delimiter("timestamp;a;b,c"), Some(';'));
        assert_eq!(delimiter("alone"), None);
    }
}
