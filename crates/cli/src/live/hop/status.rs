//! State of a hop: its line of output, and what `tidemark ctl` and Prometheus show.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use miette::Result;
use serde::Serialize;
use tidemark_emu::{HopCounters, HopProgress};

use crate::live::control::{UNKNOWN, listen, state};
use crate::live::exposition::{Exposition, escaped};
use crate::live::web::Source;

/// A hop at one time.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Status {
    name: String,
    /// Seconds since the start.
    t_s: f64,
    ways: Vec<WayStatus>,
    refused: u64,
    unreadable: u64,
    overload: u64,
    lost_by_ports: u64,
}

/// Counters of one way.
#[derive(Clone, Debug, Default, Serialize)]
struct WayStatus {
    name: String,
    rate_mbps: f64,
    packets_in: u64,
    packets_out: u64,
    marked: u64,
    dropped: u64,
}

impl Status {
    /// Reads the state of a hop whose ways have these names.
    pub(super) fn new(name: &str, ways: [String; 2], progress: &HopProgress<'_>) -> Self {
        let HopCounters { packets_in, packets_out, marked, dropped, .. } = progress.counters;
        let way = |(way, name): (usize, String)| WayStatus {
            name,
            rate_mbps: progress.rates[way].as_mbps(),
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
    fn prometheus(&self) -> String {
        let mut text = Exposition::default();
        let mut ways = |name: &str, kind: &str, help: &str, value: fn(&WayStatus) -> f64| {
            let sample = |way: &WayStatus| (format!("{{way=\"{}\"}}", escaped(&way.name)), value(way));
            text.family(&format!("hop_{name}"), kind, help, self.ways.iter().map(sample));
        };
        ways("rate_bits_per_second", "gauge", "Rate of the link now.", |way| way.rate_mbps * 1e6);
        ways("packets_in_total", "counter", "Packets that came.", |way| way.packets_in as f64);
        ways("packets_out_total", "counter", "Packets that left.", |way| way.packets_out as f64);
        ways("marked_packets_total", "counter", "Packets marked by the queue.", |way| way.marked as f64);
        ways("dropped_packets_total", "counter", "Packets dropped by the queue.", |way| way.dropped as f64);
        for (name, help, value) in [
            ("refused_packets", "Packets that the kernel refused.", self.refused),
            ("unreadable_frames", "Frames that could not be read.", self.unreadable),
            ("overload_drops", "Packets dropped because the machine was too slow.", self.overload),
            ("port_drops", "Frames that nobody read in time.", self.lost_by_ports),
        ] {
            text.family(&format!("hop_{name}_total"), "counter", help, [(String::new(), value as f64)]);
        }
        text.text()
    }
}

/// A running hop as others see it.
#[derive(Default)]
pub(super) struct Running(Mutex<Status>);

impl Running {
    /// Replaces the state.
    pub(super) fn set(&self, status: Status) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }

    /// State as JSON.
    pub(super) fn status(&self) -> String {
        serde_json::to_string(&self.get()).unwrap_or_default()
    }

    fn get(&self) -> Status {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
    const PAGE: Option<&'static str> = None;
    fn status(&self) -> Option<String> {
        Some(Self::status(self))
    }
    fn metrics(&self) -> Option<String> {
        Some(self.get().prometheus())
    }
}
