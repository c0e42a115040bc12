//! What senders do, as qlog (draft-ietf-quic-qlog-main-schema-13): a file for each, of JSON text sequences (RFC 7464).
//!
//! Events are those of QUIC (draft-ietf-quic-qlog-quic-events-12), which viewers know, for transports other than QUIC as well:
//! packets sent, and the state of the controller whenever it changes. quiche's crate `qlog` would turn on
//! `preserve_order` of serde_json, and with it change the order of fields in every result; its reader tests these files.

use std::fs::File;
use std::io::{Result, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::json;
use tidemark_core::{Bytes, Duration, Instant};
use tidemark_senders::Stats;

/// Text of a sender that is kept in memory before it goes to its file: so only one file is open at a time.
const BUFFERED: usize = 64 * 1024;
/// First character of each record (RFC 7464 2.2).
const RECORD_SEPARATOR: u8 = 0x1e;

/// Logs of all senders, in the order of their flows.
#[derive(Clone)]
pub(crate) struct Senders(Arc<Mutex<Logs>>);

struct Logs {
    folder: PathBuf,
    logs: Vec<Log>,
    /// First error; nothing is written after it.
    outcome: Result<()>,
}

/// Log of one sender.
struct Log {
    path: PathBuf,
    name: String,
    begun: bool,
    text: Vec<u8>,
    last: Metrics,
}

/// State of a sender, in the units of qlog: times in ms, sizes in bytes, rates in bit/s. The last four are not of QUIC's events.
#[derive(Clone, Copy, Default, PartialEq, Serialize)]
struct Metrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    min_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    smoothed_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    congestion_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_in_flight: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pacing_rate: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_rate: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    marks_reported: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    losses: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeouts: Option<u64>,
}

impl Senders {
    pub(super) fn new(folder: &Path) -> Self {
        Self(Arc::new(Mutex::new(Logs { folder: folder.into(), logs: Vec::new(), outcome: Ok(()) })))
    }

    /// Names the flows, in the order of their numbers. A file's name has its flow's number, and of its name what every file
    /// system takes.
    pub(super) fn name(&self, flows: impl Iterator<Item = String>) {
        let mut logs = self.lock();
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        for (number, name) in (1..).zip(flows) {
            let plain: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).collect();
            let path = logs.folder.join(format!("{number}-{plain}.sqlog"));
            logs.logs.push(Log { path, name, begun: false, text: Vec::new(), last: Metrics::default() });
        }
    }

    /// The sender of a flow sent a packet.
    pub(crate) fn sent(&self, now: Instant, flow: usize, number: u64, size: Bytes) {
        let data =
            json!({ "header": { "packet_type": "unknown", "packet_number": number }, "raw": { "length": size.0 } });
        self.lock().event(flow, now, "quic:packet_sent", &data);
    }

    /// The sender of a flow got feedback, or did without it; writes what is different now.
    pub(crate) fn measured(&self, now: Instant, flow: usize, stats: &Stats, rtt: Option<Duration>) {
        let mut logs = self.lock();
        let Some(log) = logs.logs.get_mut(flow) else { return };
        let metrics = Metrics::of(stats, rtt.map(Duration::as_millis_f64).or(log.last.latest_rtt));
        let changed = metrics.beside(&log.last);
        log.last = metrics;
        if changed != Metrics::default() {
            logs.event(flow, now, "quic:recovery_metrics_updated", &changed);
        }
    }

    /// Writes what is left.
    pub(super) fn finish(self) -> Result<()> {
        let mut logs = self.lock();
        let Logs { logs, outcome, .. } = &mut *logs;
        std::mem::replace(outcome, Ok(()))?;
        logs.iter_mut().try_for_each(Log::flush)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Logs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Logs {
    fn event(&mut self, flow: usize, now: Instant, name: &str, data: &impl Serialize) {
        let Some(log) = self.logs.get_mut(flow).filter(|_| self.outcome.is_ok()) else { return };
        self.outcome = log.event(now, name, data);
    }
}

impl Log {
    fn event(&mut self, now: Instant, name: &str, data: &impl Serialize) -> Result<()> {
        if self.text.is_empty() && !self.begun {
            let head = self.head();
            self.record(&head)?;
        }
        #[derive(Serialize)]
        struct Event<'a, D> {
            time: f64,
            name: &'a str,
            data: &'a D,
        }
        self.record(&Event { time: now.as_nanos() as f64 / 1e6, name, data })?;
        if self.text.len() >= BUFFERED { self.flush() } else { Ok(()) }
    }

    /// First record of the file: times count from the start of the run.
    fn head(&self) -> serde_json::Value {
        json!({
            "file_schema": "urn:ietf:params:qlog:file:sequential",
            "serialization_format": "application/qlog+json-seq",
            "title": self.name,
            "trace": {
                "title": self.name,
                "common_fields": {
                    "time_format": "relative_to_epoch",
                    "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                },
                "vantage_point": { "name": "sender", "type": "server" },
                "event_schemas": ["urn:ietf:params:qlog:events:quic-12"],
            },
        })
    }

    fn record(&mut self, value: &impl Serialize) -> Result<()> {
        self.text.push(RECORD_SEPARATOR);
        serde_json::to_writer(&mut self.text, value)?;
        self.text.push(b'\n');
        Ok(())
    }

    /// Appends the text to the file, which the first text begins.
    fn flush(&mut self) -> Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        let mut file = match std::mem::replace(&mut self.begun, true) {
            false => File::create(&self.path)?,
            true => File::options().append(true).open(&self.path)?,
        };
        file.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

impl Metrics {
    fn of(stats: &Stats, latest_rtt: Option<f64>) -> Self {
        Self {
            min_rtt: stats.min_rtt.map(Duration::as_millis_f64),
            smoothed_rtt: stats.smoothed_rtt.map(Duration::as_millis_f64),
            latest_rtt,
            congestion_window: stats.window.map(|window| window.0),
            bytes_in_flight: stats.in_flight.map(|bytes| bytes.0),
            pacing_rate: stats.pacing_rate.map(|rate| rate.as_bps()),
            target_rate: stats.target_rate.map(|rate| rate.as_bps()),
            marks_reported: Some(stats.marks_reported),
            losses: Some(stats.losses),
            timeouts: Some(stats.timeouts),
        }
    }

    /// Values that differ from those of `last`.
    fn beside(&self, last: &Self) -> Self {
        fn new<T: PartialEq + Copy>(now: Option<T>, last: Option<T>) -> Option<T> {
            now.filter(|_| now != last)
        }
        Self {
            min_rtt: new(self.min_rtt, last.min_rtt),
            smoothed_rtt: new(self.smoothed_rtt, last.smoothed_rtt),
            latest_rtt: new(self.latest_rtt, last.latest_rtt),
            congestion_window: new(self.congestion_window, last.congestion_window),
            bytes_in_flight: new(self.bytes_in_flight, last.bytes_in_flight),
            pacing_rate: new(self.pacing_rate, last.pacing_rate),
            target_rate: new(self.target_rate, last.target_rate),
            marks_reported: new(self.marks_reported, last.marks_reported),
            losses: new(self.losses, last.losses),
            timeouts: new(self.timeouts, last.timeouts),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_sender_has_its_file_of_what_it_sent_and_of_what_changed() {
        let folder = tempfile::tempdir().unwrap();
        let senders = Senders::new(folder.path());
        senders.name(["down/load", "idle"].map(String::from).into_iter());
        let stats = Stats { window: Some(Bytes(14_480)), ..Stats::default() };
        let sent = 2 * BUFFERED as u64 / 100;
        for number in 1..=sent {
            let now = Instant::from_millis(number);
            senders.sent(now, 0, number, Bytes(1_500));
            // Nothing is different but the first time.
            senders.measured(now, 0, &stats, Some(Duration::from_millis(20)));
        }
        senders.measured(Instant::from_millis(sent), 0, &Stats { losses: 1, ..stats }, None);
        senders.finish().unwrap();

        let text = std::fs::read_to_string(folder.path().join("1-down-load.sqlog")).unwrap();
        let records: Vec<Value> =
            text.split('\u{1e}').skip(1).map(|record| serde_json::from_str(record).unwrap()).collect();
        assert_eq!(records[0]["title"], "down/load");
        let updates: Vec<_> = records.iter().filter(|one| one["name"] == "quic:recovery_metrics_updated").collect();
        assert_eq!(records.len() as u64, 1 + sent + 2);
        assert_eq!(updates[0]["data"]["congestion_window"], 14_480);
        assert_eq!(updates[1]["data"], json!({ "losses": 1 }));
        assert!(!folder.path().join("2-idle.sqlog").exists(), "who sends nothing has no file");
    }
}
