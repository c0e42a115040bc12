//! Report of an endpoint: a JSON line each interval, and one at the end.

use serde::Serialize;
use tidemark_core::{BitRate, Bytes, Duration, Ecn, Instant};
use tidemark_record::distribution::{Distribution, Quantiles};
use tidemark_senders::{FrameArrival, Stats};

use super::role::Role;

/// The sender's rate of the first second is its initial one, wherever it goes from there.
const SETTLING: Duration = Duration::from_secs(1);

/// Datagrams by the ECN field with which they arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Codepoints {
    /// Datagrams with Not-ECT.
    pub not_ect: u64,
    /// Datagrams with ECT(1).
    pub ect1: u64,
    /// Datagrams with ECT(0).
    pub ect0: u64,
    /// Datagrams with CE.
    pub ce: u64,
}

impl Codepoints {
    fn count(&mut self, ecn: Ecn) {
        *match ecn {
            Ecn::NotEct => &mut self.not_ect,
            Ecn::Ect1 => &mut self.ect1,
            Ecn::Ect0 => &mut self.ect0,
            Ecn::Ce => &mut self.ce,
        } += 1;
    }
    /// True if something arrived as `sent`, or marked on its way.
    pub fn keep(&self, sent: Ecn) -> bool {
        let unmarked = match sent {
            Ecn::NotEct | Ecn::Ce => 0,
            Ecn::Ect1 => self.ect1,
            Ecn::Ect0 => self.ect0,
        };
        unmarked + self.ce > 0
    }
}

/// Verdict on what the path does to ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Packets with ECT arrive so, or marked.
    Kept,
    /// Packets with ECT arrive as Not-ECT.
    Bleached,
    /// Packets with ECT do not arrive, and those with Not-ECT do.
    BlackHoled,
    /// No packet was sent that could tell.
    Unknown,
}

/// A line. What this end can't know, or does not measure, is absent.
#[derive(Serialize)]
struct Line {
    kind: &'static str,
    role: Role,
    t_s: f64,
    /// IP packets and their rate: sent by the sender, received by the receiver.
    mbps: f64,
    packets: u64,
    /// CE marks: received by the receiver, reported to the sender.
    marked: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ecn: Option<Codepoints>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_mbps: Option<f64>,
    /// Rate that the cell recommended last.
    #[serde(skip_serializing_if = "Option::is_none")]
    recommended_mbps: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alpha: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rtt_ms: Option<Quantiles>,
    /// One-way delay beyond that of the fastest packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_ms: Option<Quantiles>,
    /// Delay of frames from capture to arrival of the last packet, beyond the fastest packet's one-way delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame_ms: Option<Quantiles>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames_lost: Option<u64>,
    /// True if the sender's rate never was above its minimum.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_minimum: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
}

/// Measurements of one interval, or of all of them.
#[derive(Default)]
struct Measured {
    rtt: Distribution,
    queue: Distribution,
    frame: Distribution,
    ecn: Codepoints,
    /// The highest rate that the sender's controller had; of the whole, once it could have left its first one.
    highest: Option<BitRate>,
    /// The counters at its beginning.
    before: Stats,
}

/// Counters and delays of one end.
pub struct Record {
    role: Role,
    started: Instant,
    begun: Instant,
    interval: Measured,
    whole: Measured,
    /// The least one-way delay so far.
    fastest: Option<Duration>,
    recommended: Option<BitRate>,
    /// Minimum rate of a sender that should leave it.
    min_rate: Option<BitRate>,
}

impl Record {
    /// Starts at `now` with nothing measured.
    pub fn new(role: Role, now: Instant, min_rate: Option<BitRate>) -> Self {
        let [interval, whole] = std::array::from_fn(|_| Measured::default());
        Self { role, started: now, begun: now, interval, whole, fastest: None, recommended: None, min_rate }
    }

    fn each(&mut self, measure: impl Fn(&mut Measured)) {
        measure(&mut self.interval);
        measure(&mut self.whole);
    }

    /// Counts a datagram of the flow that arrived.
    pub fn arrived(&mut self, ecn: Ecn) {
        self.each(|measured| measured.ecn.count(ecn));
    }
    /// Measures data that arrived: its time under way, with the difference of the two clocks.
    pub fn under_way(&mut self, time: Duration) {
        let fastest = self.fastest.map_or(time, |fastest| fastest.min(time));
        self.fastest = Some(fastest);
        self.each(|measured| measured.queue.record(time - fastest));
    }
    /// Notes a rate that the cell recommends.
    pub fn recommended(&mut self, rate: BitRate) {
        self.recommended = Some(rate);
    }
    /// Notes the rate that the sender's controller has now.
    pub fn rate(&mut self, now: Instant, rate: Option<BitRate>) {
        self.interval.highest = self.interval.highest.max(rate);
        if now >= self.started + SETTLING {
            self.whole.highest = self.whole.highest.max(rate);
        }
    }
    /// Minimum rate of a sender that stayed there; `None` for others.
    pub fn stuck_at(&self) -> Option<BitRate> {
        self.min_rate.filter(|min| self.whole.highest.is_some_and(|highest| highest <= *min))
    }
    /// Measures a round trip.
    pub fn round_trip(&mut self, rtt: Duration) {
        self.each(|measured| measured.rtt.record(rtt));
    }
    /// Measures a frame that arrived.
    pub fn frame(&mut self, frame: &FrameArrival) {
        let delay = frame.sender_queue + frame.network_queue;
        self.each(|measured| measured.frame.record(delay));
    }
    /// Datagrams of the whole flow by their ECN field on arrival.
    pub fn codepoints(&self) -> Codepoints {
        self.whole.ecn
    }

    /// Ends an interval and prints it.
    pub fn print_interval(&mut self, now: Instant, stats: &Stats) {
        let measured = std::mem::take(&mut self.interval);
        print(&self.line("interval", now, self.begun, &measured, stats, None));
        self.interval.before = *stats;
        self.begun = now;
    }

    /// Prints the summary of all intervals.
    pub fn print_summary(&self, now: Instant, stats: &Stats, verdict: Verdict) {
        print(&self.line("summary", now, self.started, &self.whole, stats, Some(verdict)));
    }

    fn line(
        &self,
        kind: &'static str,
        now: Instant,
        since: Instant,
        measured: &Measured,
        stats: &Stats,
        verdict: Option<Verdict>,
    ) -> Line {
        let (before, sends) = (&measured.before, self.role == Role::Sender);
        let (bytes, packets, marked) = if sends {
            let bytes = stats.bytes_sent - before.bytes_sent;
            (bytes, stats.packets_sent - before.packets_sent, stats.marks_reported - before.marks_reported)
        } else {
            let bytes = stats.bytes_received - before.bytes_received;
            (bytes, stats.packets_received - before.packets_received, stats.marks_received - before.marks_received)
        };
        let has_frames = stats.frames_sent + stats.frames_received + stats.frames_lost > 0;
        let frames =
            if sends { stats.frames_sent - before.frames_sent } else { stats.frames_received - before.frames_received };
        Line {
            kind,
            role: self.role,
            t_s: now.since(self.started).as_secs_f64(),
            mbps: mbps(bytes, now.since(since)),
            packets,
            marked,
            ecn: (!sends).then_some(measured.ecn),
            // A packet held for lost may come after all.
            lost: sends.then(|| stats.losses.saturating_sub(before.losses)),
            target_mbps: stats.target_rate.map(|rate: BitRate| rate.as_bps() as f64 * 1e-6),
            recommended_mbps: self.recommended.map(BitRate::as_mbps),
            alpha: stats.alpha,
            rtt_ms: measured.rtt.quantiles(),
            queue_ms: measured.queue.quantiles(),
            frame_ms: measured.frame.quantiles(),
            frames: has_frames.then_some(frames),
            frames_lost: (has_frames && !sends).then(|| stats.frames_lost.saturating_sub(before.frames_lost)),
            at_minimum: self.min_rate.zip(measured.highest).is_some_and(|(min, highest)| highest <= min),
            verdict,
        }
    }
}

fn mbps(bytes: Bytes, time: Duration) -> f64 {
    bytes.as_f64() * 8e-6 / time.as_secs_f64().max(1e-9)
}

fn print(line: &Line) {
    // The reader may have closed its end: the flow goes on to its own.
    use std::io::Write as _;
    let text = serde_json::to_string(line).unwrap_or_default();
    let _ = writeln!(std::io::stdout(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_its_own_figures_and_the_summary_those_of_all() {
        let mut record = Record::new(Role::Receiver, Instant::ZERO, None);
        record.under_way(Duration::from_millis(9));
        record.under_way(Duration::from_millis(4));
        record.under_way(Duration::from_millis(7));
        record.arrived(Ecn::Ect1);
        record.arrived(Ecn::Ce);
        let stats =
            |packets| Stats { packets_received: packets, bytes_received: Bytes(packets * 1250), ..Stats::default() };
        record.print_interval(Instant::from_millis(1_000), &stats(100));
        let line = record.line("", Instant::from_millis(2_000), record.begun, &record.interval, &stats(300), None);
        assert_eq!((line.packets, line.mbps, line.ecn.unwrap()), (200, 2.0, Codepoints::default()));
        let line = record.line("", Instant::from_millis(2_000), record.started, &record.whole, &stats(300), None);
        assert_eq!((line.packets, line.mbps, line.ecn.unwrap().ce), (300, 1.5, 1));
        // The first packet is its own measure; the third waited 3 ms longer than the second.
        assert!((line.queue_ms.unwrap().p99 - 3.0).abs() < 0.1);
    }
}
