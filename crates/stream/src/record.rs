//! Results of one viewer: a folder with a summary, a series, and the frames that were shown.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::lateness::{Lateness, LatenessUs};
use crate::negotiation::Feedback;
use crate::page;
use crate::references::References;
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

/// Point of the report: figures since the last one. There are never more than rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Point {
    t_s: f64,
    target_mbps: f64,
    sent_mbps: f64,
    rtt_ms: Option<f64>,
    marks_per_s: Option<f64>,
    delay_p95_ms: Option<f64>,
    /// Freezes since the start, as the browser counts them.
    freezes: Option<u64>,
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
    /// Number of each frame that is to be compared with the sent one, and its scaled luma.
    #[serde(default)]
    pictures: Vec<(u32, Vec<u8>)>,
}

impl Shown {
    /// SSIM of each picture whose sent one was kept, by its frame number.
    pub(crate) fn compared(&self, references: &References) -> Vec<(u32, f64)> {
        let ssim = |(frame, luma): &(u32, Vec<u8>)| Some((*frame, references.compare(*frame, luma)?));
        self.pictures.iter().filter_map(ssim).collect()
    }
}

/// Record of one viewer's stream.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) rows: Vec<Row>,
    frames: Vec<(u32, f64, u32)>,
    clicks: Vec<f64>,
    inbound: Value,
    points: Vec<Point>,
    /// Rows before the last point.
    pointed: usize,
    /// SSIM of compared frames.
    ssim: Vec<(u32, f64)>,
    /// Lateness of packets, once the stream has ended.
    pub(crate) lateness: Lateness,
}

#[derive(Serialize)]
struct Quantiles {
    p50: f64,
    p95: f64,
    p99: f64,
}

/// Similarity of shown and sent pictures.
#[derive(Serialize)]
struct Similarity {
    p5: f64,
    p50: f64,
    mean: f64,
    /// Number of compared pictures.
    pictures: usize,
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
    ssim: Option<Similarity>,
    lateness_us: Option<LatenessUs>,
    browser: &'a Value,
}

impl Record {
    pub(crate) fn add(&mut self, row: Row) {
        if self.rows.len() < MAX_ROWS {
            self.rows.push(row);
        }
    }

    /// Notes what was shown, with the SSIM of compared frames.
    pub(crate) fn shown(&mut self, shown: Shown, compared: Vec<(u32, f64)>) {
        self.point(&shown);
        let room = MAX_FRAMES.saturating_sub(self.ssim.len());
        self.ssim.extend(compared.into_iter().take(room));
        let room = MAX_FRAMES.saturating_sub(self.frames.len());
        self.frames.extend(shown.frames.iter().filter(|(_, delay, _)| delay.is_finite()).take(room));
        let room = MAX_ROWS.saturating_sub(self.clicks.len());
        self.clicks.extend(shown.clicks.iter().filter(|time| time.is_finite()).take(room));
        self.inbound = shown.inbound;
    }

    /// Adds a point of what the sender did and the page saw since the last one.
    fn point(&mut self, shown: &Shown) {
        let (earlier, new) = self.rows.split_at(self.pointed);
        let Some(row) = new.last() else { return };
        let before = earlier.last().filter(|before| before.time_s < row.time_s);
        let delays = quantiles(shown.frames.iter().map(|(_, delay, _)| *delay).filter(|delay| delay.is_finite()));
        self.points.push(Point {
            t_s: row.time_s,
            target_mbps: row.target_mbps,
            sent_mbps: new.iter().map(|row| row.sent_mbps).sum::<f64>() / new.len() as f64,
            rtt_ms: row.rtt_ms,
            marks_per_s: before
                .map(|before| row.marks.saturating_sub(before.marks) as f64 / (row.time_s - before.time_s)),
            delay_p95_ms: delays.map(|delays| delays.p95),
            freezes: shown.inbound.get("freezeCount").and_then(Value::as_u64),
        });
        self.pointed = self.rows.len();
    }

    /// Writes the folder.
    ///
    /// # Errors
    /// An error of the system.
    pub(crate) fn write(&self, folder: &Path, controller: &str, l4s: bool, status: &Status) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        write_table(&folder.join("series.csv"), &[], &self.rows)?;
        write_table(&folder.join("frames.csv"), &["frame", "delay_ms", "width"], &self.frames)?;
        write_table(&folder.join("ssim.csv"), &["frame", "ssim"], &self.ssim)?;
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
            ssim: similarity(self.ssim.iter().map(|(_, ssim)| *ssim)),
            lateness_us: self.lateness.quantiles(),
            browser: &self.inbound,
        };
        let recorded = serde_json::json!({ "summary": summary, "points": self.points });
        fs::write(folder.join("report.html"), page::with_recorded(&recorded.to_string()))?;
        fs::write(folder.join("summary.json"), serde_json::to_string_pretty(&summary)? + "\n")
    }
}

/// Writes rows as CSV, below this head if they do not name their columns.
fn write_table(path: &Path, head: &[&str], rows: &[impl Serialize]) -> io::Result<()> {
    let mut table = csv::Writer::from_path(path)?;
    if !head.is_empty() {
        table.write_record(head)?;
    }
    rows.iter().try_for_each(|row| table.serialize(row))?;
    table.flush()
}

/// Quantiles by rank; `None` without values.
fn quantiles(values: impl Iterator<Item = f64>) -> Option<Quantiles> {
    let [p50, p95, p99] = at_ranks(&values.collect::<Vec<_>>(), [0.5, 0.95, 0.99])?;
    Some(Quantiles { p50, p95, p99 })
}

/// Figures of SSIM; `None` without values.
fn similarity(values: impl Iterator<Item = f64>) -> Option<Similarity> {
    let values: Vec<f64> = values.collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let [p5, p50] = at_ranks(&values, [0.05, 0.5])?;
    Some(Similarity { p5, p50, mean, pictures: values.len() })
}

/// Values at these ranks from 0 to 1; `None` without values.
fn at_ranks<const N: usize>(values: &[f64], ranks: [f64; N]) -> Option<[f64; N]> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(ranks.map(|rank| values[((values.len() as f64 * rank) as usize).min(last)]))
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
            record.shown(
                Shown { frames, inbound: Value::Null, clicks: vec![f64::NAN], pictures: Vec::new() },
                Vec::new(),
            );
        }
        assert_eq!((record.frames.len(), record.clicks.len()), (MAX_FRAMES, 0));
    }

    #[test]
    fn a_report_has_a_point_for_each_look_and_compared_pictures_have_their_figures() {
        let mut record = Record::default();
        let shown = |delay| {
            let (frames, inbound) = (vec![(1, delay, 640)], serde_json::json!({ "freezeCount": 2 }));
            Shown { frames, inbound, clicks: Vec::new(), pictures: Vec::new() }
        };
        record.shown(shown(20.0), Vec::new());
        assert!(record.points.is_empty(), "nothing was sent yet");
        for (time_s, marks, delay) in [(1.0, 4, 20.0), (3.0, 10, f64::NAN)] {
            record.add(Row { time_s: time_s / 2.0, sent_mbps: 2.0, ..Row::default() });
            record.add(Row { time_s, marks, sent_mbps: 4.0, ..Row::default() });
            record.shown(shown(delay), vec![(1, time_s / 4.0)]);
        }
        let points: Vec<_> = record
            .points
            .iter()
            .map(|of| (of.t_s, of.sent_mbps, of.marks_per_s, of.delay_p95_ms, of.freezes))
            .collect();
        assert_eq!(points, [(1.0, 3.0, None, Some(20.0), Some(2)), (3.0, 3.0, Some(3.0), None, Some(2))]);
        let of = similarity(record.ssim.iter().map(|(_, ssim)| *ssim)).unwrap();
        assert_eq!((of.p5, of.p50, of.mean, of.pictures), (0.25, 0.75, 0.5, 2));
        assert!(similarity(std::iter::empty()).is_none());
    }
}
