//! State of a hop: its line of output, and what `tidemark ctl` and Prometheus show.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use miette::Result;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use serde::Serialize;
use tidemark_core::Bytes;
use tidemark_emu::{HopCounters, HopProgress};
use tidemark_record::distribution::Distribution;

use crate::live::control::{UNKNOWN, listen, state};
use crate::live::exposition::{self, Labels, rows};
use crate::live::past::{Past, drawn};
use crate::live::web::Source;

rows! {
    /// A hop at one time.
    #[derive(Clone, Debug, Default, Serialize)]
    pub(super) struct HopStatus {
        /// Name of the scenario.
        name: String,
        /// Seconds since the start.
        t_s: f64,
        /// Directions, each with its link.
        ways: Vec<WayStatus>,
        /// Packets that the kernel refused.
        refused: u64 = Counter("refused_packets"),
        /// Frames that could not be read.
        unreadable: u64 = Counter("unreadable_frames"),
        /// Packets dropped because the machine was too slow.
        overload: u64 = Counter("overload_drops"),
        /// Frames that nobody read in time.
        lost_by_ports: u64 = Counter("port_drops"),
    }

    /// One direction.
    #[derive(Clone, Debug, Default, Serialize)]
    struct WayStatus {
        /// Name of the direction.
        name: String,
        /// Rate of the link now.
        rate_mbps: f64 = Gauge("rate_bits_per_second" * 1e6),
        /// IP bytes that the link carried.
        carried_bytes: u64 = Counter("carried_bytes"),
        /// 95th percentile of the time in the queue over the last interval; absent where no packet left it.
        queue_p95_ms: Option<f64> = Gauge("queue_delay_p95_seconds" / 1e3),
        /// Packets that arrived.
        packets_in: u64 = Counter("packets_in"),
        /// Packets that left.
        packets_out: u64 = Counter("packets_out"),
        /// Packets marked by the queue.
        marked: u64 = Counter("marked_packets"),
        /// Packets dropped by the queue.
        dropped: u64 = Counter("dropped_packets"),
    }
}

drawn! { WayStatus { rate_mbps: Mean, carried_bytes: Last, queue_p95_ms: Maximum, marked: Last, dropped: Last } }

/// Link and queue of a direction, as the packets show them.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// IP bytes that the link carried since the start.
    pub(super) carried: Bytes,
    /// Times in the queue since the last sample.
    pub(super) queue: Distribution,
}

impl HopStatus {
    /// Reads the state of a hop whose directions have these names.
    pub(super) fn new(name: &str, ways: [(String, &Watched); 2], progress: &HopProgress<'_>) -> Self {
        let HopCounters { packets_in, packets_out, marked, dropped, .. } = progress.counters;
        let way = |(way, (name, watched)): (usize, (String, &Watched))| WayStatus {
            name,
            rate_mbps: progress.rates[way].as_mbps(),
            carried_bytes: watched.carried.0,
            queue_p95_ms: watched.queue.quantile(0.95),
            packets_in: packets_in[way],
            packets_out: packets_out[way],
            marked: marked[way],
            dropped: dropped[way],
        };
        Self {
            name: name.into(),
            t_s: progress.now.as_secs_f64(),
            ways: ways.into_iter().enumerate().map(way).collect(),
            refused: progress.counters.refused,
            unreadable: progress.counters.unreadable,
            overload: progress.counters.overload,
            lost_by_ports: progress.counters.lost_by_ports,
        }
    }

    /// Counters and gauges in Prometheus' text format.
    fn prometheus(self) -> String {
        exposition::text(self)
    }
}

impl Collector for HopStatus {
    fn encode(&self, mut to: DescriptorEncoder<'_>) -> fmt::Result {
        exposition::write_rows(&mut to, "hop_", self.ways.iter().map(|way| (vec![("way", way.name.clone())], way)))?;
        exposition::write_rows(&mut to, "hop_", [(Labels::new(), self)].into_iter())
    }
}

/// State of a running hop and its past, for other threads.
#[derive(Default)]
pub(super) struct Running {
    now: Mutex<HopStatus>,
    past: Past<WayStatus>,
}

impl Running {
    /// Replaces the state, and adds it to the past.
    pub(super) fn set(&self, status: HopStatus) {
        self.past.push(status.t_s, &status.ways);
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }

    /// State as JSON.
    pub(super) fn status(&self) -> String {
        serde_json::to_string(&self.get()).unwrap_or_default()
    }

    fn get(&self) -> HopStatus {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Answers at this socket until the process ends.
    pub(super) fn listen(self: &Arc<Self>, socket: &Path, about: String) -> Result<()> {
        let running = Arc::clone(self);
        listen(socket, move |words| match words {
            ["about"] => Ok(format!("{about}\n")),
            ["status" | "metrics"] => state(&*running, words[0]),
            ["set" | "outage" | "handover", ..] => {
                Err("a hop can't be changed while it runs: write `changes` of its rate into a [[router]]".into())
            }
            _ => Err(UNKNOWN.into()),
        })
    }
}

impl Source for Running {
    fn past(&self) -> String {
        self.past.json()
    }
    fn status(&self) -> Option<String> {
        Some(Self::status(self))
    }
    fn metrics(&self) -> Option<String> {
        Some(self.get().prometheus())
    }
}
