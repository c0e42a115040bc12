//! UDP Prague's sender: bulk, or frames at their times.

use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet};

use super::UdpPragueConfig;
use super::control::{Control, Counters};
use super::frames::Frames;
use super::reports::{Ledger, News};
use crate::endpoint::{Endpoint, Stats};
use crate::pacer::Pacer;
use crate::payload::{FramePart, Payload, PragueAck, PragueData, PragueReport};
use crate::source::Source;

/// Time without feedback after which, with a full window, everything starts anew.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The sending end.
pub struct Sender {
    flow: FlowId,
    control: Control,
    source: Box<dyn Source + Send>,
    frames: Option<Frames>,
    pacer: Pacer,
    open: bool,
    sent: u64,
    /// Bytes that the application has given.
    taken: Bytes,
    counters: Counters,
    /// Record of what was sent, for a receiver that reports at intervals.
    ledger: Option<Ledger>,
    peer_timestamp: (Instant, Instant),
    error: bool,
    release: Instant,
    last_feedback: Instant,
    rtt_sample: Option<Duration>,
    min_rtt: Option<Duration>,
    stats: Stats,
}

impl Sender {
    /// A server that begins when its client has opened the path.
    pub fn new(config: &UdpPragueConfig, flow: FlowId, source: Box<dyn Source + Send>) -> Self {
        let frames = config.frames.as_ref().map(|frames| {
            let interval = Duration::from_nanos(1_000_000_000 / u64::from(frames.rate));
            Frames::new(interval, source.start())
        });
        Self {
            flow,
            control: Control::new(config),
            source,
            frames,
            pacer: Pacer::default(),
            open: false,
            sent: 0,
            taken: Bytes::ZERO,
            counters: Counters::default(),
            ledger: config.report_interval.map(|_| Ledger::new()),
            peer_timestamp: (Instant::ZERO, Instant::ZERO),
            error: false,
            release: Instant::FAR,
            last_feedback: Instant::ZERO,
            rtt_sample: None,
            min_rtt: None,
            stats: Stats::default(),
        }
    }

    fn in_flight(&self) -> u64 {
        self.sent.saturating_sub(self.counters.received + self.counters.lost)
    }

    fn handle_ack(&mut self, now: Instant, ack: &PragueAck) {
        self.last_feedback = now;
        // An overtaken acknowledgement must not turn the echo back.
        if ack.timestamp >= self.peer_timestamp.0 {
            self.peer_timestamp = (ack.timestamp, now);
        }
        // The client only opens the path: there is nothing to acknowledge yet.
        if ack.ack_seq == 0 {
            if !self.open {
                self.open = true;
                // Frames are counted from the opening: those before have no receiver.
                if let Some(frames) = &mut self.frames {
                    frames.open(now);
                }
            }
            return;
        }
        // It is none that was asked for, or speaks of packets that were never sent.
        if self.ledger.is_some() || ack.ack_seq > self.sent || ack.received.saturating_add(ack.lost) > self.sent {
            return;
        }
        self.on_rtt(now.since(ack.echo));
        let used = self.is_window_used();
        let before = self.counters;
        // Counters only grow: this one was overtaken.
        if ack.received < before.received {
            return;
        }
        self.counters = Counters { received: ack.received, marked: ack.marked, lost: ack.lost };
        self.error |= ack.error;
        self.stats.bleached = self.error;
        self.stats.marks_reported += self.counters.marked.saturating_sub(before.marked);
        self.stats.losses += self.counters.lost.saturating_sub(before.lost);
        // Bulk data has no frames whose end has to be known.
        if let Some(frames) = &mut self.frames {
            let newly_lost = self.counters.lost.saturating_sub(before.lost);
            frames.acknowledge(ack.ack_seq, newly_lost);
        }
        self.control.on_feedback(now, self.counters, self.sent, used);
    }

    fn on_rtt(&mut self, rtt: Duration) {
        self.control.on_rtt(rtt);
        self.rtt_sample = Some(rtt);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
    }

    /// Half a window is use enough: its packets are spread over the round trip.
    fn is_window_used(&self) -> bool {
        self.frames.is_some() || 2 * self.in_flight() >= self.control.limits().packet_window
    }

    fn handle_report(&mut self, now: Instant, report: &PragueReport) {
        let used = self.is_window_used();
        // A report to a sender that asked for acknowledgements is not meant for it.
        let Some(mut ledger) = self.ledger.take() else { return };
        let (before, mut counters) = (self.counters, self.counters);
        let mut received = false;
        self.error |= ledger.on_report(now, report, &mut counters, |seq, news| {
            // A loss has no round trip, and is no sign of life.
            if let News::Received(rtt) = news {
                self.on_rtt(rtt);
                received = true;
            }
            // Bulk data has no frames to settle.
            if let Some(frames) = &mut self.frames {
                frames.settle(seq, news == News::Lost);
            }
        });
        self.ledger = Some(ledger);
        self.counters = counters;
        self.stats.bleached = self.error;
        self.stats.marks_reported += counters.marked - before.marked;
        self.stats.losses += counters.lost.saturating_sub(before.lost);
        // Losses alone may be those of a path that is gone: the timeout goes on.
        if received {
            self.last_feedback = now;
            self.control.on_feedback(now, counters, self.sent, used);
        }
    }

    /// The next part to send: bytes of UDP payload, and where they belong in real time.
    fn next_part(&mut self, now: Instant) -> Option<(u32, Option<FramePart>)> {
        let limits = *self.control.limits();
        let has_data = self.source.available(now, self.taken) > Bytes::ZERO;
        // Bulk data has no frames to begin: the window is the only limit.
        let Some(frames) = &mut self.frames else {
            return (has_data && self.in_flight() < limits.packet_window).then_some((limits.packet_size, None));
        };
        if !frames.is_begun() {
            // A frame begins at its time, and only while few enough are in flight.
            if !has_data {
                return None;
            }
            // The encoder's next frame is not there yet.
            if now < frames.next() {
                self.release = frames.next();
                return None;
            }
            // Behind so many frames another one would only wait in the network.
            if frames.in_flight() > limits.frame_window {
                return None;
            }
            frames.begin(now, limits.frame_size);
        }
        // A frame leaves spread over its time, not at once.
        if let Some(until) = self.pacer.wait(now) {
            self.release = until;
            return None;
        }
        let part = frames.take(limits.packet_size)?;
        Some((part.len, Some(part)))
    }
}

impl Endpoint for Sender {
    fn handle_packet(&mut self, now: Instant, packet: Packet<&Payload>) {
        self.stats.packets_received += 1;
        self.stats.bytes_received += packet.size;
        self.stats.marks_received += u64::from(packet.ecn == Ecn::Ce);
        match packet.payload {
            Payload::PragueAck(ack) => self.handle_ack(now, ack),
            Payload::PragueReport(report) => self.handle_report(now, report),
            _ => {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        // Without feedback the window would stay full for ever.
        if self.open && self.in_flight() > 0 && now >= self.last_feedback + TIMEOUT {
            self.stats.timeouts += 1;
            self.control.reset(self.counters, self.sent, now);
            // What is still under way counts no more.
            self.counters.lost = self.sent.saturating_sub(self.counters.received);
            self.last_feedback = now;
            // Ledger and frames hold what is under way for lost, as the counters do.
            if let Some(ledger) = &mut self.ledger {
                ledger.lose_all();
            }
            if let Some(frames) = &mut self.frames {
                frames.lose_all();
            }
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        // Without a packet under way silence means nothing.
        let timeout = if self.open && self.in_flight() > 0 { self.last_feedback + TIMEOUT } else { Instant::FAR };
        let next = self.release.min(timeout);
        (next != Instant::FAR).then_some(next)
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<Payload>> {
        // The client speaks first: until then its port is unknown.
        if !self.open {
            return None;
        }
        self.release = Instant::FAR;
        if self.frames.is_none()
            && let Some(until) = self.pacer.wait(now)
        {
            // With a full window an acknowledgement wakes the sender, not the pacer.
            if self.in_flight() < self.control.limits().packet_window {
                self.release = until;
            }
            return None;
        }
        // Neither a begun frame nor bulk data.
        let Some((size, frame)) = self.next_part(now) else {
            let source = self.source.next_deadline(now).unwrap_or(Instant::FAR);
            self.release = self.release.min(source);
            return None;
        };
        // Silence counts from the packet that asks for feedback.
        if self.in_flight() == 0 {
            self.last_feedback = now;
        }
        self.sent += 1;
        // Reports name packets by number: their times have to be remembered.
        if let Some(ledger) = &mut self.ledger {
            ledger.sent(now);
        }
        self.taken += Bytes(u64::from(size));
        let echo = self.peer_timestamp.0 + now.since(self.peer_timestamp.1);
        let data = PragueData { seq: self.sent, timestamp: now, echo, size, frame };
        // A path that clears ECN is not trusted with ECT(1) any more.
        let ecn = if self.error { Ecn::NotEct } else { Ecn::Ect1 };
        let packet = Packet { flow: self.flow, size: data.wire_size(), ecn, payload: Payload::PragueData(data) };
        let limits = self.control.limits();
        let burst = Bytes(limits.burst * u64::from(limits.packet_size));
        self.pacer.sent(now, Bytes(u64::from(size)), self.control.pacing(now), burst);
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += packet.size;
        Some(packet)
    }

    fn stats(&self) -> Stats {
        Stats {
            frames_sent: self.frames.as_ref().map_or(0, Frames::begun),
            frames_discarded: self.frames.as_ref().map_or(0, Frames::skipped),
            window: Some(Bytes(self.control.window() as u64)),
            pacing_rate: Some(self.control.rate()),
            target_rate: Some(self.control.rate()),
            smoothed_rtt: self.control.smoothed_rtt(),
            min_rtt: self.min_rtt,
            alpha: Some(self.control.alpha()),
            ..self.stats
        }
    }

    fn take_rtt_sample(&mut self) -> Option<Duration> {
        self.rtt_sample.take()
    }
}
