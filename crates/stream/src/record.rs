//! Results of one viewer: a folder with a summary, a series, and the frames that were shown.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::lateness::{Lateness, LatenessUs};
use crate::negotiation::Feedback;
use crate::session::Status;

/// Most rows of the series, enough for an hour.
const MAX_ROWS: usize = 36_000;
/// Most frames, enough for four hours.
const MAX_FRAMES: usize = 500_000;

/// State at one time. Counters are totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Row {
    /// Time since the first picture, in seconds.
    pub(crate) time_s: f64,
    /// The controller's target rate, and the rate of packets sent since the previous row, in Mbit/s of IP packets.
    pub(crate) target_mbps: f64,
    pub(crate) sent_mbps: f64,
    /// Smoothed round-trip time.
    pub(crate) rtt_ms: Option<f64>,
    pub(crate) packets: u64,
    pub(crate) marks: u64,
    pub(crate) losses: u64,
    pub(crate) frames: u64,
    pub(crate) discarded: u64,
}

/// Figures that the page sends: frames with their delays, and the browser's own counters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shown {
    /// Number of each frame, its delay from drawn to shown in ms, and its width in pixels.
    frames: Vec<(u32, f64, u32)>,
    /// `inbound-rtp` of the browser's statistics.
    inbound: Value,
    /// Time from a click to the white picture in ms, once for each click.
    #[serde(default)]
    clicks: Vec<f64>,
}

/// Record of one viewer's stream.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) rows: Vec<Row>,
    frames: Vec<(u32, f64, u32)>,
    clicks: Vec<f64>,
    inbound: Value,
    /// Lateness of packets, once the stream has ended.
    pub(crate) lateness: Lateness,
}

#[derive(Serialize)]
struct Quantiles {
    p50: f64,
    p95: f64,
    p99: f64,
}

#[derive(Serialize)]
struct Summary<'a> {
    tidemark: &'a str,
    controller: &'a str,
    l4s: bool,
    feedback: Feedback,
    seconds: f64,
    rate_mbps: f64,
    packets: u64,
    marks_reported: u64,
    losses: u64,
    reports: u64,
    retransmitted: u64,
    key_frames_asked: u64,
    frames_sent: u64,
    frames_discarded: u64,
    frames_shown: usize,
    frame_delay_ms: Option<Quantiles>,
    click_to_picture_ms: Option<Quantiles>,
    lateness_us: Option<LatenessUs>,
    browser: &'a Value,
}

impl Record {
    pub(crate) fn add(&mut self, row: Row) {
        if self.rows.len() < MAX_ROWS {
            self.rows.push(row);
        }
    }

    pub(crate) fn shown(&mut self, shown: Shown) {
        let room = MAX_FRAMES.saturating_sub(self.frames.len());
        self.frames.extend(shown.frames.iter().filter(|(_, delay, _)| delay.is_finite()).take(room));
        let room = MAX_ROWS.saturating_sub(self.clicks.len());
        self.clicks.extend(shown.clicks.iter().filter(|time| time.is_finite()).take(room));
        self.inbound = shown.inbound;
    }

    /// Writes the folder.
    ///
    /// # Errors
    /// An error of the system.
    pub(crate) fn write(&self, folder: &Path, controller: &str, l4s: bool, status: &Status) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let mut series = csv::Writer::from_path(folder.join("series.csv"))?;
        self.rows.iter().try_for_each(|row| series.serialize(row))?;
        series.flush()?;
        let mut frames = csv::Writer::from_path(folder.join("frames.csv"))?;
        frames.write_record(["frame", "delay_ms", "width"])?;
        self.frames.iter().try_for_each(|frame| frames.serialize(frame))?;
        frames.flush()?;
        let seconds = self.rows.last().map_or(0.0, |row| row.time_s);
        let sender = &status.sender;
        let summary = Summary {
            tidemark: tidemark_version::VERSION,
            controller,
            l4s,
            feedback: status.feedback,
            seconds,
            rate_mbps: if seconds > 0.0 { 8e-6 * sender.bytes_sent.as_f64() / seconds } else { 0.0 },
            packets: sender.packets_sent,
            marks_reported: sender.marks_reported,
            losses: sender.losses,
            reports: status.reports,
            retransmitted: status.retransmitted,
            key_frames_asked: status.refreshes,
            frames_sent: sender.frames_sent,
            frames_discarded: sender.frames_discarded,
            frames_shown: self.frames.len(),
            frame_delay_ms: quantiles(self.frames.iter().map(|(_, delay, _)| *delay)),
            click_to_picture_ms: quantiles(self.clicks.iter().copied()),
            lateness_us: self.lateness.quantiles(),
            browser: &self.inbound,
        };
        fs::write(folder.join("summary.json"), serde_json::to_string_pretty(&summary)? + "\n")
    }
}

/// Quantiles by rank; `None` without values.
fn quantiles(values: impl Iterator<Item = f64>) -> Option<Quantiles> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() as f64 * share) as usize).min(values.len() - 1)];
    (!values.is_empty()).then(|| Quantiles { p50: at(0.5), p95: at(0.95), p99: at(0.99) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_sorted_values() {
        let of_hundred = quantiles((0..100).rev().map(f64::from)).unwrap();
        assert_eq!((of_hundred.p50, of_hundred.p95, of_hundred.p99), (50.0, 95.0, 99.0));
        assert!(quantiles(std::iter::empty()).is_none());
    }

    #[test]
    fn what_a_page_sends_is_bounded() {
        let mut record = Record::default();
        for _ in 0..6 {
            let frames = vec![(1, 20.0, 640); 100_000];
            record.shown(Shown { frames, inbound: Value::Null, clicks: vec![f64::NAN] });
        }
        assert_eq!((record.frames.len(), record.clicks.len()), (MAX_FRAMES, 0));
    }
}
