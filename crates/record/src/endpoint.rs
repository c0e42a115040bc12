//! Recorder of one end of a flow on a real network, whose clock is not the other end's.

use tidemark_cell::DelaySplit;
use tidemark_core::{BitRate, Bytes, Duration, Ecn, Instant};
use tidemark_senders::{FrameArrival, Stats};

use crate::counters::Counters;
use crate::distribution::Distribution;
use crate::endpoint_result::{EndpointResult, Role, Verdict};
use crate::event::{Arrival, Event};
use crate::recorder::{Limits, Recorder};
use crate::result::Codepoints;

/// The sender's rate of the first second is its initial one, wherever it goes from there.
const SETTLING: Duration = Duration::from_secs(1);

/// Recorder of one end: of the only flow of a [`Recorder`], with the end's counters.
#[derive(Debug)]
pub struct EndpointRecorder {
    role: Role,
    recorder: Recorder,
    flow: usize,
    started: Instant,
    /// Beginning of the interval, and the counters then.
    begun: (Instant, Stats),
    /// The least one-way delay so far.
    fastest: Option<Duration>,
    recommended: Option<BitRate>,
    /// Minimum rate of a sender that should leave it.
    min_rate: Option<BitRate>,
    /// Highest rate of the sender once it could have left its first one.
    highest_rate: Option<BitRate>,
}

/// Interval, or all of them, with the counters at its beginning.
struct Span<'a> {
    kind: &'static str,
    begun: Instant,
    before: &'a Stats,
    rtt: &'a Distribution,
    queue: &'a Distribution,
    frames: &'a Distribution,
    codepoints: Codepoints,
    highest_rate: Option<BitRate>,
}

impl EndpointRecorder {
    /// Starts at `now` with nothing measured. `min_rate` is the rate that a sender should rise above.
    pub fn new(role: Role, now: Instant, min_rate: Option<BitRate>) -> Self {
        let mut recorder = Recorder::new(Duration::ZERO, &[], 0, Limits { flows: 1, ..Limits::LIVE });
        let flow = recorder.add_flow();
        recorder.watch_flow(flow);
        Self {
            role,
            recorder,
            flow,
            started: now,
            begun: (now, Stats::default()),
            fastest: None,
            recommended: None,
            min_rate,
            highest_rate: None,
        }
    }

    /// Counts a packet of data that this end sent.
    pub fn sent(&mut self, now: Instant) {
        self.recorder.handle(now, Event::Sent { flow: self.flow });
    }
    /// Counts a packet of data that arrived; its time in the network includes the difference of the two clocks, so that
    /// times are measured relative to the fastest packet's.
    pub fn arrived(&mut self, now: Instant, (size, ecn): (Bytes, Ecn), under_way: Duration) {
        let fastest = self.fastest.map_or(under_way, |fastest| fastest.min(under_way));
        self.fastest = Some(fastest);
        let queuing = under_way - fastest;
        let (waited, in_routers, delay) = (None, Duration::ZERO, DelaySplit { queuing, ..DelaySplit::default() });
        let arrival = Arrival { sent: now.before(queuing), size, ecn, waited, in_routers, drb: 0, delay };
        self.recorder.handle(now, Event::Arrived { flow: self.flow, ue: None, arrival });
    }
    /// Counts a packet of feedback that arrived.
    pub fn acknowledged(&mut self, now: Instant, ecn: Ecn) {
        self.recorder.handle(now, Event::Acknowledged { flow: self.flow, ecn });
    }
    /// Measures a round trip.
    pub fn round_trip(&mut self, now: Instant, rtt: Duration) {
        self.recorder.handle(now, Event::RoundTrip { flow: self.flow, rtt });
    }
    /// Measures a frame that arrived; its delay is only known relative to the fastest packet's.
    pub fn frame(&mut self, now: Instant, frame: FrameArrival) {
        let delay = frame.sender_queue + frame.network_queue;
        let frame = FrameArrival { delay, propagation: Duration::ZERO, ..frame };
        self.recorder.handle(now, Event::Frame { flow: self.flow, frame, wire: Duration::ZERO });
    }
    /// Notes the rate that the sender's controller has now.
    pub fn rate(&mut self, now: Instant, rate: Option<BitRate>) {
        let Some(rate) = rate else { return };
        self.recorder.handle(now, Event::Rate { flow: self.flow, rate });
        if now >= self.started + SETTLING {
            self.highest_rate = self.highest_rate.max(Some(rate));
        }
    }
    /// Notes a rate that the cell recommends.
    pub fn recommended(&mut self, rate: BitRate) {
        self.recommended = Some(rate);
    }
    /// Minimum rate of a sender that never rose above it; `None` for others.
    pub fn stuck_at(&self) -> Option<BitRate> {
        self.min_rate.filter(|min| self.highest_rate.is_some_and(|highest| highest <= *min))
    }
    /// Datagrams of the whole flow by their ECN field on arrival.
    pub fn codepoints(&self) -> Codepoints {
        self.recorder.flows[self.flow].watched.as_ref().map(|watched| watched.codepoints).unwrap_or_default()
    }

    /// Ends an interval with these counters at its end, and gives its line.
    pub fn end_interval(&mut self, now: Instant, stats: &Stats) -> EndpointResult {
        let counters = Counters { at: now, ..Counters::default() };
        self.recorder.sample(&counters, |_| *stats);
        let (begun, before) = std::mem::replace(&mut self.begun, (now, *stats));
        let interval = self.recorder.take_interval(self.flow);
        let span = Span {
            kind: "interval",
            begun,
            before: &before,
            rtt: &interval.rtt,
            queue: &interval.queue,
            frames: &interval.frames,
            codepoints: interval.codepoints,
            highest_rate: interval.highest_rate,
        };
        self.result(now, &span, stats, None)
    }

    /// Line about all intervals, with these counters at their end.
    pub fn summary(&self, now: Instant, stats: &Stats, verdict: Verdict) -> EndpointResult {
        let flow = &self.recorder.flows[self.flow];
        let span = Span {
            kind: "summary",
            begun: self.started,
            before: &Stats::default(),
            rtt: &flow.rtt,
            queue: &flow.queue,
            frames: &flow.frames.delay,
            codepoints: self.codepoints(),
            highest_rate: self.highest_rate,
        };
        self.result(now, &span, stats, Some(verdict))
    }

    fn result(&self, now: Instant, span: &Span<'_>, stats: &Stats, verdict: Option<Verdict>) -> EndpointResult {
        let (before, sends) = (span.before, self.role == Role::Sender);
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
        EndpointResult {
            kind: span.kind,
            role: self.role,
            t_s: now.since(self.started).as_secs_f64(),
            mbps: bytes.as_f64() * 8e-6 / now.since(span.begun).as_secs_f64().max(1e-9),
            packets,
            marked,
            ecn: (!sends).then_some(span.codepoints),
            // A packet held for lost may come after all.
            lost: sends.then(|| stats.losses.saturating_sub(before.losses)),
            target_mbps: stats.target_rate.map(BitRate::as_mbps),
            pacing_mbps: stats.pacing_rate.map(BitRate::as_mbps),
            cwnd_kb: stats.window.map(|window| window.as_f64() / 1e3),
            recommended_mbps: self.recommended.map(BitRate::as_mbps),
            alpha: stats.alpha,
            rtt_ms: span.rtt.quantiles(),
            queue_ms: span.queue.quantiles(),
            frame_ms: span.frames.quantiles(),
            frames: has_frames.then_some(frames),
            frames_lost: (has_frames && !sends).then(|| stats.frames_lost.saturating_sub(before.frames_lost)),
            freezes: (has_frames && !sends).then(|| stats.freezes - before.freezes),
            frozen_s: (has_frames && !sends).then(|| (stats.frozen - before.frozen).as_secs_f64()),
            at_minimum: self.min_rate.zip(span.highest_rate).is_some_and(|(min, highest)| highest <= min),
            verdict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_its_own_figures_and_the_summary_those_of_all() {
        let mut record = EndpointRecorder::new(Role::Receiver, Instant::ZERO, None);
        for (millis, ecn) in [(9, Ecn::Ect1), (4, Ecn::Ce), (7, Ecn::Ect1)] {
            record.arrived(Instant::from_millis(10), (Bytes(1250), ecn), Duration::from_millis(millis));
        }
        let stats =
            |packets| Stats { packets_received: packets, bytes_received: Bytes(packets * 1250), ..Stats::default() };
        let first = record.end_interval(Instant::from_millis(1_000), &stats(100));
        assert_eq!((first.packets, first.mbps, first.ecn.map(|ecn| (ecn.ect1, ecn.ce))), (100, 1.0, Some((2, 1))));
        let second = record.end_interval(Instant::from_millis(2_000), &stats(300));
        assert_eq!((second.packets, second.mbps, second.ecn), (200, 2.0, Some(Codepoints::default())));
        assert_eq!(second.queue_ms, None);
        let whole = record.summary(Instant::from_millis(2_000), &stats(300), Verdict::Kept);
        assert_eq!((whole.packets, whole.mbps, whole.ecn.map(|ecn| ecn.ce)), (300, 1.5, Some(1)));
        // The first packet is its own measure; the third waited 3 ms longer than the second.
        assert!((whole.queue_ms.unwrap().p99 - 3.0).abs() < 0.1);
    }

    #[test]
    fn freezes_of_an_interval_are_its_own() {
        let mut record = EndpointRecorder::new(Role::Receiver, Instant::ZERO, None);
        let stats = |freezes| Stats {
            frames_received: 9,
            freezes,
            frozen: Duration::from_millis(250) * freezes,
            ..Stats::default()
        };
        record.end_interval(Instant::from_millis(1_000), &stats(1));
        let second = record.end_interval(Instant::from_millis(2_000), &stats(3));
        let whole = record.summary(Instant::from_millis(2_000), &stats(3), Verdict::Kept);
        assert_eq!((second.freezes, second.frozen_s), (Some(2), Some(0.5)));
        assert_eq!((whole.freezes, whole.frozen_s), (Some(3), Some(0.75)));
        let sender = EndpointRecorder::new(Role::Sender, Instant::ZERO, None);
        let state = Stats { window: Some(Bytes(12_500)), pacing_rate: Some(BitRate::from_mbps(3)), ..Stats::default() };
        let line = sender.summary(Instant::from_millis(2_000), &state, Verdict::Unknown);
        assert_eq!((line.cwnd_kb, line.pacing_mbps, line.freezes), (Some(12.5), Some(3.0), None));
    }

    #[test]
    fn a_sender_that_stays_at_its_minimum_after_the_first_second_is_stuck() {
        let (low, high) = (BitRate::from_mbps(1), BitRate::from_mbps(2));
        let mut record = EndpointRecorder::new(Role::Sender, Instant::ZERO, Some(low));
        record.rate(Instant::from_millis(500), Some(high));
        assert_eq!(record.stuck_at(), None, "nothing is known of the time after the first second");
        let first = record.end_interval(Instant::from_millis(1_000), &Stats::default());
        record.rate(Instant::from_millis(1_500), Some(low));
        let second = record.end_interval(Instant::from_millis(2_000), &Stats::default());
        assert_eq!((first.at_minimum, second.at_minimum, record.stuck_at()), (false, true, Some(low)));
        record.rate(Instant::from_millis(2_500), Some(high));
        assert_eq!(record.stuck_at(), None);
    }
}
