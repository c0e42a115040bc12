//! What listens to a driver: the recorder, the capture, and the snapshot that others read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tidemark_core::{BitRate, Bytes, Duration, Instant};
use tidemark_emu::{Observer, Progress, Seen};
use tidemark_sim::modem;
use tidemark_sim::scenario::{NamedUe, Scenario};
use tidemark_wire::mac::{BitRateMultiplier, Direction};

use super::modem::Inbox;
use super::pcap::Capture;
use super::record::{Recorder, lateness, mbps, tag};
use super::snapshot::{Snapshot, UeSnapshot};
use super::web::Source;

/// What others read of a live cell, from any thread.
pub type Shared = Arc<Board>;

/// The latest snapshot, and channel and law of each UE as they were set last.
#[derive(Default)]
pub struct Board {
    now: Mutex<Snapshot>,
    described: Mutex<Vec<UeSnapshot>>,
}

impl Board {
    /// The latest snapshot.
    pub fn latest(&self) -> Snapshot {
        let mut snapshot = self.now.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let described = self.described.lock().unwrap_or_else(PoisonError::into_inner);
        for (ue, described) in snapshot.ues.iter_mut().zip(&*described) {
            (ue.channel, ue.law) = (described.channel.clone(), described.law.clone());
        }
        snapshot
    }

    /// The scenario is this one from now on.
    pub fn describe(&self, scenario: &Scenario) {
        *self.described.lock().unwrap_or_else(PoisonError::into_inner) = describe(scenario);
    }
}

impl Source for Board {
    const PAGE: Option<&'static str> = Some(include_str!("page.html"));
    fn status(&self) -> Option<String> {
        serde_json::to_string(&self.latest()).ok()
    }
    fn metrics(&self) -> Option<String> {
        Some(self.latest().prometheus())
    }
}

/// Listens to a driver.
pub struct Watch {
    pub recorder: Recorder,
    pub capture: Option<Capture>,
    shared: Shared,
    modems: Inbox,
    name: String,
    /// The UEs' names.
    ues: Vec<UeSnapshot>,
    slot: Duration,
    last: Instant,
    interval: Vec<Interval>,
    recommended: Vec<Recommended>,
}

/// What a UE was recommended last, per logical channel and direction.
#[derive(Clone, Default)]
struct Recommended {
    multiplier: Option<BitRateMultiplier>,
    rates: BTreeMap<(u8, bool), BitRate>,
}

impl Recommended {
    /// Keeps a recommendation; gives its rate, and true where it is for the uplink.
    fn keep(&mut self, octets: [u8; 3]) -> Option<(BitRate, bool)> {
        let (channel, line) = modem::report(octets, self.multiplier?)?;
        let (rate, direction) = modem::heard(&line)?;
        let up = direction == Direction::Uplink;
        self.rates.insert((channel, up), rate);
        Some((rate, up))
    }
    /// The rates of one direction together.
    fn mbps(&self, up: bool) -> Option<f64> {
        let of = self.rates.iter().filter(|((_, way), _)| *way == up).map(|(_, rate)| rate.as_mbps());
        of.reduce(|sum, rate| sum + rate)
    }
}

/// What a UE received and sent since the last snapshot.
#[derive(Clone, Copy, Default)]
struct Interval {
    down: Bytes,
    up: Bytes,
    queue: Duration,
    packets: u64,
    delivered: Bytes,
}

impl Watch {
    pub fn new(scenario: &Scenario, capture: Option<Capture>, modems: Inbox) -> (Self, Shared) {
        let ues = describe(scenario);
        // Until the first interval is over nothing is measured, and nothing has happened.
        let now = Snapshot { name: scenario.name.clone(), ues: ues.clone(), ..Snapshot::default() };
        let shared = Arc::new(Board { now: now.into(), described: ues.clone().into() });
        let watch = Self {
            recorder: Recorder::new(scenario),
            capture,
            shared: Arc::clone(&shared),
            modems,
            recommended: scenario.ues().iter().map(multiplier).collect(),
            name: scenario.name.clone(),
            interval: vec![Interval::default(); ues.len()],
            ues,
            slot: scenario.cell.slot(),
            last: Instant::ZERO,
        };
        (watch, shared)
    }

    fn capture(&mut self, file: usize, at: Instant, bytes: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.packet(file, at, bytes);
        }
    }
}

fn multiplier(ue: &NamedUe) -> Recommended {
    let multiplier = ue.config.anbr.as_ref().map(|anbr| anbr.multiplier.on_wire());
    Recommended { multiplier, ..Recommended::default() }
}

/// What of a snapshot a scenario says.
fn describe(scenario: &Scenario) -> Vec<UeSnapshot> {
    let ues = scenario.ues().into_iter();
    ues.map(|ue| UeSnapshot {
        channel: tag(&ue.config.channel, "model"),
        law: tag(&ue.config.marker, "law"),
        name: ue.name,
        ..UeSnapshot::default()
    })
    .collect()
}

impl Observer for Watch {
    fn seen(&mut self, at: Instant, seen: &Seen<'_>) {
        self.recorder.seen(at, seen);
        match *seen {
            Seen::Downlink { bytes, .. } => self.capture(0, at, bytes),
            Seen::Delivered { ue, bytes, delay, .. } => {
                let size = Bytes(bytes.len() as u64);
                let interval = &mut self.interval[ue.0 as usize];
                interval.down += size;
                interval.delivered += size;
                interval.queue += delay.queuing + delay.scheduling;
                interval.packets += 1;
                self.capture(1 + ue.0 as usize, at, bytes);
            }
            Seen::Uplink { ue, bytes } => self.capture(1 + ue.0 as usize, at, bytes),
            Seen::Departed { ue, bytes } => {
                self.interval[ue.0 as usize].up += Bytes(bytes.len() as u64);
                self.capture(0, at, bytes);
            }
            Seen::Recommended { ue, octets } => {
                let recommended = &mut self.recommended[ue.0 as usize];
                if let Some((rate, up)) = recommended.keep(octets) {
                    self.recorder.recommended(at, ue, rate, up, recommended.mbps(up));
                }
                self.modems.put(ue, octets);
            }
            Seen::Carried { .. } | Seen::Dropped { .. } => {}
        }
    }

    fn sample(&mut self, progress: &Progress<'_>) {
        self.recorder.sample(progress);
        let span = progress.now.since(self.last);
        // A reader that holds the lock now gets the next snapshot: this thread waits for nobody.
        let Ok(mut shared) = self.shared.now.try_lock() else { return };
        let whole = progress.now.since(Instant::ZERO).as_secs_f64().max(1e-9);
        let busy = progress.busy.as_secs_f64() / whole;
        let delivered: Bytes = self.interval.iter().map(|interval| interval.delivered).sum();
        let late = lateness(progress.lateness);
        let too_slow =
            progress.counters.overload > 0 || late.is_some_and(|late| late.p99 > self.slot.as_secs_f64() * 1e6);
        let rate = delivered.as_f64() * 8e-6 / whole / busy.max(1e-3);
        let counters = progress.counters;
        *shared = Snapshot {
            name: self.name.clone(),
            t_s: progress.now.as_secs_f64(),
            ues: Vec::new(),
            lateness_us: late,
            busy,
            packets_in: counters.downlink + counters.uplink,
            packets_out: counters.forwarded,
            refused: counters.refused,
            overload: counters.overload,
            warning: too_slow.then(|| format!("OVERLOAD: this machine can carry {rate:.0} Mbit/s of this cell")),
        };
        let ues = self.ues.iter().zip(progress.ues).zip(&self.recommended);
        for (((ue, stats), recommended), interval) in ues.zip(&mut self.interval) {
            let queue = (interval.packets > 0).then(|| (interval.queue / interval.packets.max(1)).as_millis_f64());
            shared.ues.push(UeSnapshot {
                down_mbps: mbps(interval.down, span),
                up_mbps: mbps(interval.up, span),
                queue_ms: queue,
                backlog_bytes: stats.queue.backlog.0,
                mcs: stats.mcs,
                delivered_bytes: interval.delivered.0,
                marked: stats.marked,
                dropped: stats.dropped(),
                harq_retransmissions: stats.harq_retransmissions,
                forgotten_flows: stats.forgotten_flows,
                recommended_down_mbps: recommended.mbps(false),
                recommended_up_mbps: recommended.mbps(true),
                ..ue.clone()
            });
            *interval = Interval { delivered: interval.delivered, ..Interval::default() };
        }
        self.last = progress.now;
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hdrhistogram::Histogram;
    use tidemark_cell::UeStats;
    use tidemark_emu::Counters;
    use tidemark_emu::realtime::Priority;

    use super::*;
    use crate::live::modem;

    const SCENARIO: &str = "name = \"t\"\nduration = \"1 s\"\n[[ue]]\nname = \"walker\"\n";

    fn watch() -> (Watch, Shared) {
        let scenario = Scenario::parse("t.toml", SCENARIO, Path::new(""), &[]).unwrap();
        Watch::new(&scenario, None, modem::channel().0)
    }

    /// An interval of 100 ms is over, the cell's counters are these.
    fn sample(watch: &mut Watch, stats: UeStats) {
        let lateness = Histogram::new(3).unwrap();
        watch.sample(&Progress {
            now: watch.last + Duration::from_millis(100),
            ues: &[stats],
            bearers: &[vec![]],
            resources: 1_000,
            uplink_resources: 1_000,
            lateness: &lateness,
            busy: Duration::ZERO,
            counters: Counters::default(),
            priority: Priority::Ordinary,
        });
    }

    #[test]
    fn packets_left_behind_at_a_handover_are_drops_everywhere() {
        let (mut watch, shared) = watch();
        sample(&mut watch, UeStats { dropped_by_handover: 638, dropped_by_law: 2, ..UeStats::default() });
        assert_eq!(shared.latest().ues[0].dropped, 640);
        assert!(shared.latest().prometheus().contains("tidemark_dropped_packets_total{ue=\"walker\"} 640\n"));
        assert_eq!(watch.recorder.result(0).ues[0].dropped, 640);
    }
}
