//! Measured traces: delivery opportunities of mahimahi, JENS data-rate patterns, and CSV with SNR, CQI or a rate.
//!
//! A trace arrives here as text; the reader of the scenario reads the file. A value holds until the next one. A missing
//! value is skipped. If two rows have the same time, the later row counts.

mod csv;
mod time;

use std::sync::Arc;

use thiserror::Error;
use tidemark_core::{BitRate, Bytes, ConfigError, Duration, Instant};

use super::Quality;
pub use csv::TraceUnit;

/// Bytes of one delivery opportunity of mahimahi.
const OPPORTUNITY: u64 = 1504;
/// Values a second of a data-rate pattern whose header does not say it.
const PATTERN_HZ: f64 = 10.0;

/// A trace file.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceConfig {
    /// The file, relative to the scenario's folder.
    pub file: String,
    /// Format of the file. Default: recognised from the content.
    #[cfg_attr(feature = "serde", serde(default))]
    pub format: Option<TraceFormat>,
    /// CSV: name of the column to read, in upper or lower case.
    #[cfg_attr(feature = "serde", serde(default))]
    pub column: Option<String>,
    /// CSV: the unit of the values. Default: the unit in the heading (`SNR` and `SINR` are in dB). The receiver loses
    /// `receiver_loss_db` of an SNR.
    #[cfg_attr(feature = "serde", serde(default))]
    pub unit: Option<TraceUnit>,
    /// CSV: the column with the time. Default: `time_s`, `timestamp`, `time` or another usual name, in upper or lower case.
    #[cfg_attr(feature = "serde", serde(default))]
    pub time: Option<String>,
    /// Time in the trace at which the run starts. Default 0 s.
    #[cfg_attr(feature = "serde", serde(default))]
    pub skip: Duration,
    /// Content of the file, after it has been read.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub content: Option<Arc<Trace>>,
}

/// Format of a trace file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TraceFormat {
    /// Each line is a time in whole milliseconds at which 1504 bytes can be delivered. The trace repeats from its last line.
    Mahimahi,
    /// A data-rate pattern: one rate in kbit/s on each line, and `#` comments. `# :recommended_freqeuncy=` gives the values a second.
    RatePattern,
    /// A heading and rows, separated by commas, semicolons or tabs. Times are seconds or milliseconds, ISO 8601,
    /// `2019.12.16_14.23.32` (G-NetTrack), `Wed Dec 15 16:05:11 UTC 2021` or times of a day.
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
    /// The error and its remedy.
    pub wrong: String,
}

/// Meaning of a trace's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    SnrDb,
    Cqi,
    /// Bits a second.
    Rate,
}

/// A trace: steps in time, repeated without end.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    kind: Kind,
    /// Start of each step; the first is zero.
    starts: Vec<Duration>,
    values: Vec<f64>,
    /// Bits from the beginning to the start of each step; rates only.
    bits: Vec<f64>,
    /// Bits that the trace carries in its best second.
    peak: f64,
    length: Duration,
    skip: Duration,
}

impl TraceConfig {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        if self.file.is_empty() {
            return Err(ConfigError::of_value("file", "must name a trace file"));
        }
        Ok(())
    }

    /// Reads the trace from text and keeps it.
    ///
    /// # Errors
    /// The first line that can't be read.
    pub fn read(&mut self, text: &str) -> Result<(), TraceError> {
        let format = self.format.map_or_else(|| TraceFormat::of(text), Ok);
        let rows = format.and_then(|format| match (format, &self.column) {
            (TraceFormat::Csv, _) => csv::read(text, self),
            (_, Some(column)) => {
                Err((1, format!("it has no column `{column}`: it is not CSV with a heading, so leave `column` out")))
            }
            (TraceFormat::Mahimahi, None) => mahimahi(text),
            (TraceFormat::RatePattern, None) => rate_pattern(text),
        });
        let trace = rows.and_then(|(kind, rows, length)| Trace::new(kind, &rows, length, self.skip));
        let trace = trace.map_err(|(line, wrong)| TraceError { file: self.file.clone(), line, wrong })?;
        self.content = Some(Arc::new(trace));
        Ok(())
    }
}

impl TraceFormat {
    /// The format of a text. CSV begins with a heading. Lines of mahimahi are whole numbers that never fall, without comments.
    fn of(text: &str) -> Result<Self, Wrong> {
        let is_comment = |line: &str| line.trim().starts_with('#');
        let mut values = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !is_comment(line));
        let (number, first) = values.next().ok_or((1, "there is no value in it".to_string()))?;
        if first.trim().parse::<f64>().is_ok() {
            let whole: Vec<Option<u64>> =
                text.lines().filter(|line| !line.trim().is_empty()).map(|line| line.trim().parse().ok()).collect();
            let rises = whole.iter().all(Option::is_some) && whole.is_sorted();
            return Ok(if rises { Self::Mahimahi } else { Self::RatePattern });
        }
        if csv::delimiter(first).is_some() && first.contains(|c: char| c.is_ascii_alphabetic()) {
            return Ok(Self::Csv);
        }
        let first: String = first.chars().take(40).collect();
        Err((
            number,
            format!(
                "`{first}` is neither a heading with the names of columns (CSV), nor a whole number of milliseconds (mahimahi), nor a \
                 rate in kbit/s (rate pattern)"
            ),
        ))
    }
}

type Wrong = (usize, String);
/// Kind, pairs of time and value in order, and the length if the format gives one.
type Rows = (Kind, Vec<(Duration, f64)>, Option<Duration>);

impl Trace {
    fn new(kind: Kind, rows: &[(Duration, f64)], length: Option<Duration>, skip: Duration) -> Result<Self, Wrong> {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
            return Err((1, "there is no value in it".into()));
        };
        let mut trace = Self {
            kind,
            starts: Vec::new(),
            values: Vec::new(),
            bits: Vec::new(),
            peak: 0.0,
            length: Duration::ZERO,
            skip,
        };
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
        let second = |index: u64| [index, index + 1].map(|index| Instant::ZERO + Duration::from_secs(index));
        let bits = |index: u64| trace.bytes_between(second(index)[0], second(index)[1]) * 8.0;
        trace.peak = (0..=trace.length.as_secs_f64() as u64).map(bits).fold(0.0, f64::max);
        Ok(trace)
    }

    /// The value at an instant of the run: an SNR in dB, a CQI or a rate in bit/s.
    pub fn value_at(&self, now: Instant) -> f64 {
        let (_, offset) = self.position(now);
        let value = self.values[self.step(offset)];
        if self.kind == Kind::Cqi { libm::floor(value) } else { value }
    }
    pub(crate) fn at(&self, now: Instant) -> Quality {
        let value = self.value_at(now);
        match self.kind {
            Kind::SnrDb => Quality::Snr(value),
            Kind::Cqi => Quality::Cqi(value as u8),
            Kind::Rate => Quality::Rate(BitRate::from_bps_f64(value)),
        }
    }

    /// The bytes that a rate trace carries between two instants of the run.
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
    /// Mean rate of a rate trace.
    pub fn mean_rate(&self) -> BitRate {
        BitRate::from_bytes_in(Bytes((self.bits[self.values.len()] / 8.0) as u64), self.length)
    }

    /// Rate of a rate trace in its best second.
    pub fn peak_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.peak)
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
            let kbps = missing_or_number(text, line)?;
            let time = Duration::from_secs_f64(rows.len() as f64 / hz);
            rows.push((time, kbps.unwrap_or(0.0) * 1e3));
        }
    }
    Ok((Kind::Rate, rows, None))
}

/// A number, or `None` if the value is missing.
fn missing_or_number(text: &str, line: usize) -> Result<Option<f64>, Wrong> {
    if ["", "-", "none", "nan", "null", "na", "n/a"].iter().any(|missing| text.eq_ignore_ascii_case(missing)) {
        return Ok(None);
    }
    let value: Option<f64> = text.parse().ok().filter(|value: &f64| value.is_finite());
    value.map(Some).ok_or_else(|| (line, format!("`{text}` is not a number; a missing value is `-`, `None` or empty")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: TraceFormat, column: Option<&str>, text: &str) -> Result<Arc<Trace>, TraceError> {
        let config = TraceConfig { format: Some(format), column: column.map(Into::into), ..TraceConfig::default() };
        content(config, text)
    }

    fn content(config: TraceConfig, text: &str) -> Result<Arc<Trace>, TraceError> {
        let mut config = TraceConfig { file: "t".into(), ..config };
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
        assert!(wrong(TraceFormat::Csv, Some("a_db"), "time_s,a_db\n0\n").wrong.contains("instead of 2"));
    }
}
