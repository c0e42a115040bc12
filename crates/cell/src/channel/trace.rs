//! Measured traces: mahimahi's delivery opportunities, JENS data-rate patterns, CSV with SNR, CQI or a rate.
//!
//! A trace arrives here as text; whoever reads the scenario reads the file. A value holds until the next one, a
//! missing value until the next one that is there, and of two rows with one time the later counts.

use std::sync::Arc;

use thiserror::Error;
use tidemark_core::{BitRate, Bytes, Duration, Instant};

use super::Quality;
use crate::config::ConfigError;

/// Bytes of one of mahimahi's delivery opportunities.
const OPPORTUNITY: u64 = 1504;
/// Values of a data-rate pattern a second, where its header does not say.
const PATTERN_HZ: f64 = 10.0;

/// A trace file.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceConfig {
    /// The file, relative to the scenario's folder.
    pub file: String,
    /// Its format.
    pub format: TraceFormat,
    /// CSV: the column to read, whose name ends in its unit: `_db` (SNR, of which the receiver loses
    /// `receiver_loss_db`), `cqi`, `_kbps` or `_mbps`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub column: Option<String>,
    /// The trace's time at which the run starts. Default 0 s.
    #[cfg_attr(feature = "serde", serde(default))]
    pub skip: Duration,
    /// What the file says, once it has been read.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub content: Option<Arc<Trace>>,
}

/// How a trace is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TraceFormat {
    /// One millisecond a line, each an opportunity to deliver 1504 bytes; repeats from its last line.
    #[default]
    Mahimahi,
    /// A data-rate pattern: one rate in kbit/s a line, `#` comments, `# :recommended_freqeuncy=` values a second.
    RatePattern,
    /// Comma-separated with a heading; the column `time_s` (seconds) or `timestamp` (`2019.12.16_14.23.32`) has the time.
    Csv,
}

/// A line that can't be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{file}:{line}: {wrong}")]
pub struct TraceError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and what would be right.
    pub wrong: String,
}

/// What the values of a trace are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    SnrDb,
    Cqi,
    /// Bits a second.
    Rate,
}

/// A trace: steps in time, repeated for ever.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    kind: Kind,
    /// Start of each step; the first is zero.
    starts: Vec<Duration>,
    values: Vec<f64>,
    /// Bits from the beginning to the start of each step; rates only.
    bits: Vec<f64>,
    length: Duration,
    skip: Duration,
}

impl TraceConfig {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        if self.file.is_empty() {
            return Err(ConfigError::new("channel.file", "names the trace's file"));
        }
        match (self.format, &self.column) {
            (TraceFormat::Csv, None) => {
                Err(ConfigError::new("channel.column", "a CSV trace needs the name of the column to read"))
            }
            (TraceFormat::Csv, Some(column)) if kind_of(column).is_none() => {
                Err(ConfigError::new("channel.column", "its name must end in _db, cqi, _kbps or _mbps"))
            }
            _ => Ok(()),
        }
    }

    /// Reads the trace's text and keeps what it says.
    ///
    /// # Errors
    /// The first line that can't be read.
    pub fn read(&mut self, text: &str) -> Result<(), TraceError> {
        let rows = match self.format {
            TraceFormat::Mahimahi => mahimahi(text),
            TraceFormat::RatePattern => rate_pattern(text),
            TraceFormat::Csv => csv(text, self.column.as_deref().unwrap_or_default()),
        };
        let trace = rows.and_then(|(kind, rows, length)| Trace::new(kind, &rows, length, self.skip));
        let trace = trace.map_err(|(line, wrong)| TraceError { file: self.file.clone(), line, wrong })?;
        self.content = Some(Arc::new(trace));
        Ok(())
    }
}

type Wrong = (usize, String);
/// Kind, (time, value) in order, and the length where the format gives one.
type Rows = (Kind, Vec<(Duration, f64)>, Option<Duration>);

impl Trace {
    fn new(kind: Kind, rows: &[(Duration, f64)], length: Option<Duration>, skip: Duration) -> Result<Self, Wrong> {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            return Err((1, "there is no value in it".into()));
        };
        let mut trace =
            Self { kind, starts: Vec::new(), values: Vec::new(), bits: Vec::new(), length: Duration::ZERO, skip };
        for (time, value) in rows {
            let start = *time - first.0;
            if trace.starts.last() == Some(&start) {
                trace.starts.pop();
                trace.values.pop();
            }
            trace.starts.push(start);
            trace.values.push(*value);
        }
        // The last value holds as long as a step usually does.
        let mean = (last.0 - first.0) / (trace.starts.len() as u64 - 1).max(1);
        let mean = if mean.is_zero() { Duration::from_secs(1) } else { mean };
        trace.length = length.unwrap_or(last.0 - first.0 + mean);
        let mut sum = 0.0;
        for (index, start) in trace.starts.iter().enumerate() {
            trace.bits.push(sum);
            let end = trace.starts.get(index + 1).copied().unwrap_or(trace.length);
            sum += trace.values[index] * (end - *start).as_secs_f64();
        }
        trace.bits.push(sum);
        Ok(trace)
    }

    /// What the trace says of an instant of the run.
    pub(crate) fn at(&self, now: Instant) -> Quality {
        let (_, offset) = self.position(now);
        let value = self.values[self.step(offset)];
        match self.kind {
            Kind::SnrDb => Quality::Snr(value),
            Kind::Cqi => Quality::Cqi(value as u8),
            Kind::Rate => Quality::Rate(BitRate::from_bps_f64(value)),
        }
    }

    /// The bytes that a rate trace lets through between two instants of the run.
    pub fn bytes_between(&self, from: Instant, to: Instant) -> f64 {
        (self.bits_before(to) - self.bits_before(from)) / 8.0
    }
    /// True for a trace of rates.
    pub fn is_rate(&self) -> bool {
        self.kind == Kind::Rate
    }
    /// Length of the trace.
    pub fn length(&self) -> Duration {
        self.length
    }
    /// Mean over the trace of what a rate trace lets through.
    pub fn mean_rate(&self) -> BitRate {
        BitRate::from_bytes_in(Bytes((self.bits[self.values.len()] / 8.0) as u64), self.length)
    }

    fn position(&self, now: Instant) -> (u64, Duration) {
        let time = now.as_nanos() + self.skip.as_nanos();
        (time / self.length.as_nanos(), Duration::from_nanos(time % self.length.as_nanos()))
    }
    fn step(&self, offset: Duration) -> usize {
        self.starts.partition_point(|start| *start <= offset) - 1
    }
    fn bits_before(&self, now: Instant) -> f64 {
        let (rounds, offset) = self.position(now);
        let step = self.step(offset);
        let partial = self.bits[step] + self.values[step] * (offset - self.starts[step]).as_secs_f64();
        rounds as f64 * self.bits[self.values.len()] + partial
    }
}

fn mahimahi(text: &str) -> Result<Rows, Wrong> {
    let mut counts: Vec<u64> = Vec::new();
    let mut last = 0;
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let at: usize = text
            .trim()
            .parse()
            .map_err(|_| (line, format!("`{}` is not a whole number of milliseconds", text.trim())))?;
        if at < last {
            return Err((line, format!("{at} ms comes after {last} ms: the lines must be in order")));
        }
        if at > 24 * 3_600_000 {
            return Err((line, format!("{at} ms is more than a day")));
        }
        last = at;
        counts.resize(counts.len().max(at + 1), 0);
        counts[at] += 1;
    }
    if last == 0 {
        return Err((1, "the last line must be above 0 ms: from there the trace repeats".into()));
    }
    // The trace starts over at its last millisecond, so what stands there falls into the millisecond before.
    let overlap = counts.pop().unwrap_or_default();
    counts[last - 1] += overlap;
    let rate = |count: u64| (count * OPPORTUNITY * 8 * 1000) as f64;
    let rows = counts.iter().zip(0..).map(|(count, ms)| (Duration::from_millis(ms), rate(*count))).collect();
    Ok((Kind::Rate, rows, Some(Duration::from_millis(last as u64))))
}

fn rate_pattern(text: &str) -> Result<Rows, Wrong> {
    let mut hz = PATTERN_HZ;
    let mut rows = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if let Some(comment) = text.strip_prefix('#') {
            // The misspelt key is the format's own.
            let value = comment.trim().strip_prefix(":recommended_freqeuncy=");
            if let Some(value) = value {
                hz = value.trim().parse().ok().filter(|hz| *hz > 0.0 && *hz <= 1000.0).ok_or_else(|| {
                    (line, format!("`{value}` is not a number of values a second between 0 and 1000"))
                })?;
            }
        } else if !text.is_empty() {
            let kbps = number(text, line)?;
            let time = Duration::from_secs_f64(rows.len() as f64 / hz);
            rows.push((time, kbps.unwrap_or(0.0) * 1e3));
        }
    }
    Ok((Kind::Rate, rows, None))
}

fn csv(text: &str, column: &str) -> Result<Rows, Wrong> {
    let (kind, scale) = kind_of(column).ok_or((1, format!("`{column}` must end in _db, cqi, _kbps or _mbps")))?;
    let mut lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty() && !text.starts_with('#'));
    let (_, heading) = lines.next().ok_or((1, "there is no heading in it".to_string()))?;
    let names: Vec<_> = heading.split(',').map(str::trim).collect();
    let find = |name: &str| names.iter().position(|other| *other == name);
    let value_column =
        find(column).ok_or_else(|| (1, format!("there is no column `{column}`: {}", names.join(", "))))?;
    let (time_column, is_clock) = match (find("time_s"), find("timestamp")) {
        (Some(index), _) => (index, false),
        (None, Some(index)) => (index, true),
        (None, None) => return Err((1, "there is no column time_s or timestamp".into())),
    };
    let mut rows: Vec<(Duration, f64)> = Vec::new();
    for (line, text) in lines {
        let fields: Vec<_> = text.split(',').map(str::trim).collect();
        let field = |index: usize| {
            fields
                .get(index)
                .copied()
                .ok_or_else(|| (line, format!("{} columns, {} wanted", fields.len(), names.len())))
        };
        let time = if is_clock { clock(field(time_column)?, line)? } else { seconds(field(time_column)?, line)? };
        if rows.last().is_some_and(|(last, _)| time < *last) {
            return Err((line, "its time lies before the line above: the lines must be in order".into()));
        }
        // A value that is missing leaves the one before it in force.
        if let Some(value) = number(field(value_column)?, line)? {
            if kind == Kind::Cqi && !(0.0..=15.0).contains(&value) {
                return Err((line, format!("a CQI lies between 0 and 15, not at {value}")));
            }
            if kind == Kind::Rate && value < 0.0 {
                return Err((line, format!("a rate can't be {value}")));
            }
            rows.push((time, value * scale));
        }
    }
    Ok((kind, rows, None))
}

fn kind_of(column: &str) -> Option<(Kind, f64)> {
    match column {
        _ if column.ends_with("_db") => Some((Kind::SnrDb, 1.0)),
        _ if column.ends_with("cqi") => Some((Kind::Cqi, 1.0)),
        _ if column.ends_with("_kbps") => Some((Kind::Rate, 1e3)),
        _ if column.ends_with("_mbps") => Some((Kind::Rate, 1e6)),
        _ => None,
    }
}

/// A number, or `None` where the value is missing.
fn number(text: &str, line: usize) -> Result<Option<f64>, Wrong> {
    if ["", "-", "None", "nan", "NaN"].contains(&text) {
        return Ok(None);
    }
    let value: Option<f64> = text.parse().ok().filter(|value: &f64| value.is_finite());
    value.map(Some).ok_or_else(|| (line, format!("`{text}` is not a number; a missing value is `-`, `None` or empty")))
}

fn seconds(text: &str, line: usize) -> Result<Duration, Wrong> {
    let wrong = || (line, format!("`{text}` is not a time in seconds"));
    let value = number(text, line)?.filter(|value| *value >= 0.0).ok_or_else(wrong)?;
    Ok(Duration::from_secs_f64(value))
}

/// `2019.12.16_14.23.32` as the time since an arbitrary day.
fn clock(text: &str, line: usize) -> Result<Duration, Wrong> {
    let wrong = || (line, format!("`{text}` is not a time like 2019.12.16_14.23.32"));
    let parts: Vec<u64> = text.split(['.', '_']).map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
    let [year, month, day, hour, minute, second] = parts[..] else { return Err(wrong()) };
    if !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || hour > 23
        || minute > 59
        || second > 60
        || !(1970..=2100).contains(&year)
    {
        return Err(wrong());
    }
    // Days since 1 March 1600 by the civil calendar: only differences matter.
    let (year, month) = if month > 2 { (year - 1600, month - 3) } else { (year - 1601, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    Ok(Duration::from_secs(((days * 24 + hour) * 60 + minute) * 60 + second))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: TraceFormat, column: Option<&str>, text: &str) -> Result<Arc<Trace>, TraceError> {
        let mut config =
            TraceConfig { file: "t".into(), format, column: column.map(Into::into), ..TraceConfig::default() };
        config.read(text)?;
        Ok(config.content.unwrap())
    }

    #[test]
    fn mahimahi_repeats_from_its_last_line() {
        let trace = read(TraceFormat::Mahimahi, None, "0\n0\n3\n4\n").unwrap();
        // Four opportunities in four milliseconds, for ever.
        assert_eq!(trace.length(), Duration::from_millis(4));
        assert!((trace.bytes_between(Instant::ZERO, Instant::from_millis(400)) - 400.0 * 1504.0).abs() < 1e-6);
        assert!((trace.bytes_between(Instant::ZERO, Instant::from_millis(1)) - 2.0 * 1504.0).abs() < 1e-9);
        assert_eq!(trace.bytes_between(Instant::from_millis(1), Instant::from_millis(3)), 0.0);
    }

    #[test]
    fn a_rate_pattern_has_its_frequency_in_its_header() {
        let trace = read(TraceFormat::RatePattern, None, "# x\n# :recommended_freqeuncy=2\n1000\n3000\n").unwrap();
        assert_eq!(trace.at(Instant::from_millis(400)), Quality::Rate(BitRate::from_mbps(1)));
        assert_eq!(trace.at(Instant::from_millis(600)), Quality::Rate(BitRate::from_mbps(3)));
        assert_eq!(trace.at(Instant::from_millis(1100)), Quality::Rate(BitRate::from_mbps(1)));
        assert_eq!(trace.mean_rate(), BitRate::from_mbps(2));
    }

    #[test]
    fn a_csv_may_have_gaps_missing_values_and_times_that_occur_twice() {
        let text =
            "timestamp,snr_db,cqi\n2019.12.31_23.59.59,-11.0,8\n2019.12.31_23.59.59,-9.0,-\n2020.01.01_00.00.02,-,5\n";
        let snr = read(TraceFormat::Csv, Some("snr_db"), text).unwrap();
        assert_eq!(snr.at(Instant::from_millis(2500)), Quality::Snr(-9.0));
        let cqi = read(TraceFormat::Csv, Some("cqi"), text).unwrap();
        assert_eq!(cqi.at(Instant::from_millis(2999)), Quality::Cqi(8));
        assert_eq!(cqi.at(Instant::from_millis(3000)), Quality::Cqi(5));
    }

    #[test]
    fn what_is_wrong_names_the_line() {
        let wrong = |format, column, text| read(format, column, text).unwrap_err();
        assert_eq!(wrong(TraceFormat::Mahimahi, None, "1\n\nx\n").line, 3);
        assert_eq!(wrong(TraceFormat::Mahimahi, None, "5\n4\n").line, 2);
        assert_eq!(wrong(TraceFormat::Csv, Some("a_db"), "time_s,a_db\n0,1\n1,?\n").line, 3);
        assert!(wrong(TraceFormat::Csv, Some("b_db"), "time_s,a_db\n0,1\n").wrong.contains("a_db"));
        assert!(wrong(TraceFormat::RatePattern, None, "# nothing\n").wrong.contains("no value"));
        assert!(wrong(TraceFormat::Csv, Some("a_db"), "time_s,a_db\n0\n").wrong.contains("2 wanted"));
    }
}
