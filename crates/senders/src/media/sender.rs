//! The sender of a media stream: encoder, queue, pacing, probes and the history of what was sent, each a part of its own.

use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet, Stream};

use super::bleaching::Bleaching;
use super::encoder::{Encoder, VideoConfig};
use super::frame_source::FrameSource;
use super::history::{History, Sent};
use super::prober::Prober;
use super::queue::Queue;
use super::round_trip::RoundTrip;
use super::wakes::Wakes;
use super::{Feedback, MAX_PAYLOAD, MediaController, PacketResult};
use crate::endpoint::{Endpoint, Stats};
use crate::pacer::Pacer;
use crate::payload::{FramePart, Metrics, Payload, Report, RtpPacket};

/// Packets that must have overtaken one before it is held for lost.
const REORDERING: u64 = 3;
/// Time without a report after which nothing counts as under way.
const SILENCE: Duration = Duration::from_secs(1);

/// The sending end of a media stream whose frames come from `F`.
pub struct Sender<F = Encoder> {
    flow: FlowId,
    controller: Box<dyn MediaController + Send>,
    frames: F,
    discard_after: Duration,
    queue: Queue,
    pacer: Pacer,
    /// Wakes at which packets leave, in the pacer's place.
    wakes: Option<Wakes>,
    prober: Prober,
    release: Instant,
    history: History,
    last_report: Instant,
    bleaching: Bleaching,
    /// Fates that the last report had, kept for their memory.
    results: Vec<PacketResult>,
    round_trip: RoundTrip,
    stats: Stats,
}

impl Sender {
    /// A server that sends `video` from its start on.
    pub fn new(video: &VideoConfig, flow: FlowId, seed: u64, controller: Box<dyn MediaController + Send>) -> Self {
        let rate = media_rate(controller.target_rate());
        let encoder = Encoder::new(video, rate, Stream::new(seed, flow.0, "encoder"));
        Self::with_frames(encoder, video, flow, seed, controller)
    }
}

impl<F: FrameSource> Sender<F> {
    /// A server that sends the frames of `frames`, which is told the controller's initial rate. `video` gives only the
    /// start and the time after which waiting frames are discarded.
    pub fn with_frames(
        mut frames: F,
        video: &VideoConfig,
        flow: FlowId,
        seed: u64,
        controller: Box<dyn MediaController + Send>,
    ) -> Self {
        let wakes = controller.wake_interval().map(|interval| Wakes::new(interval, Stream::new(seed, flow.0, "wakes")));
        frames.set_rate(Instant::ZERO + video.start, media_rate(controller.target_rate()));
        Self {
            flow,
            controller,
            frames,
            discard_after: video.discard_after,
            queue: Queue::default(),
            pacer: Pacer::default(),
            wakes,
            prober: Prober::default(),
            release: Instant::ZERO + video.start,
            history: History::default(),
            last_report: Instant::ZERO,
            bleaching: Bleaching::default(),
            results: Vec::new(),
            round_trip: RoundTrip::default(),
            stats: Stats::default(),
        }
    }

    /// Source of the frames.
    pub fn frames_mut(&mut self) -> &mut F {
        &mut self.frames
    }

    fn encode(&mut self, now: Instant) {
        while let Some(frame) = self.frames.poll_frame(now) {
            self.stats.frames_sent += 1;
            self.queue.add(&frame, self.frames.payloads(&frame));
            let queued = self.queue.delay(now);
            // What is older than its viewer waits for is of no use, and would hold up what follows.
            if queued > self.discard_after || self.queue.is_overfull() {
                self.discard();
            }
            self.controller.on_frame(now, frame.size, queued);
            self.take_probes(now);
            // A cluster that was asked for before there was media begins now.
            if !self.queue.is_empty() {
                self.prober.on_media();
            }
        }
    }

    fn take_probes(&mut self, now: Instant) {
        while let Some(probe) = self.controller.take_probe() {
            self.prober.add(now, probe);
        }
    }

    fn discard(&mut self) {
        self.stats.frames_discarded += self.queue.discard();
        self.frames.request_key();
    }

    fn handle_report(&mut self, now: Instant, report: &Report) {
        self.last_report = now;
        self.results.clear();
        let tells_ecn = matches!(report.metrics, Metrics::Ccfb(_)) && self.controller.ecn().is_ect();
        let highest = report.arrivals().filter(|(_, arrival)| arrival.is_some()).map(|(seq, _)| seq).max();
        let mut newest: Option<(Instant, Instant)> = None;
        for (seq, arrival) in report.arrivals() {
            // A gap is a loss only once enough packets have overtaken it.
            let is_lost = arrival.is_none() && highest.is_some_and(|highest| seq.saturating_add(REORDERING) <= highest);
            if arrival.is_none() && !is_lost {
                continue;
            }
            // It was settled by an earlier report.
            let Some(Sent { size, at: sent_at, probe, .. }) = self.history.settle(seq) else { continue };
            // A lost packet has neither a time nor a mark.
            let (ecn, received_at) = match arrival {
                Some((ecn, at)) => (ecn, Some(at.unwrap_or(report.timestamp))),
                None => (Ecn::NotEct, None),
            };
            // Only an arrival has a time, and a field that could have been cleared.
            if let Some(at) = received_at {
                self.stats.acknowledged += size;
                self.stats.marks_reported += u64::from(ecn == Ecn::Ce);
                self.bleaching.on_arrival(ecn, tells_ecn);
                newest = newest.max(Some((sent_at, at)));
            } else {
                self.stats.losses += 1;
            }
            self.results.push(PacketResult { seq, size, sent_at, received_at, ecn, probe });
        }
        // Below the report is what earlier reports had. If they were lost, nobody will ever know.
        self.history.forget_below(report.begin);
        let rtt = newest.map(|(sent_at, at)| now.since(sent_at) - report.timestamp.since(at));
        // Only arrivals tell a round trip.
        if let Some(rtt) = rtt {
            self.round_trip.update(rtt);
        }
        let feedback = Feedback {
            now,
            results: &self.results,
            rtt,
            in_flight: Bytes(self.history.in_flight()),
            sent: self.history.sent(),
            outstanding: self.history.outstanding(),
        };
        // The rate came with the report, and is known before its fates are judged.
        if let Some(rate) = report.recommended {
            self.controller.on_recommendation(now, rate);
        }
        self.controller.on_feedback(&feedback);
        self.take_probes(now);
        self.frames.set_rate(now, media_rate(self.controller.target_rate()));
    }

    fn transmit(&mut self, now: Instant, part: FramePart, marker: bool) -> Packet<Payload> {
        let size = RtpPacket::wire_size_of(part.len);
        // Silence counts from the packet that asks for a report.
        if self.history.in_flight() == 0 {
            self.last_report = now;
        }
        let probe = self.prober.sent(now, size);
        let seq = self.history.add(now, size, probe);
        // A sender of the program's kind wakes at its interval, the others at each packet's time.
        match &mut self.wakes {
            Some(wakes) => wakes.sent(size),
            None => self.pacer.sent(now, size, self.controller.pacing_rate(), size),
        }
        self.controller.on_sent(now, size);
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += size;
        let payload = Payload::Rtp(RtpPacket { seq, frame: part, sent_at: now, marker });
        // A path that clears ECN is not trusted with ECT any more.
        let ecn = if self.bleaching.is_found() { Ecn::NotEct } else { self.controller.ecn() };
        Packet { flow: self.flow, size, ecn, payload }
    }
}

/// Makes what fills a probe where there is no media: of no frame.
fn padding(now: Instant) -> FramePart {
    FramePart { number: FramePart::PADDING, size: 0, len: MAX_PAYLOAD, captured: now }
}

/// Rate that headers leave of one of IP packets.
fn media_rate(rate: BitRate) -> BitRate {
    let packet = RtpPacket::wire_size_of(MAX_PAYLOAD).as_f64();
    BitRate::from_bps_f64(rate.as_bps() as f64 * f64::from(MAX_PAYLOAD) / packet)
}

impl<F: FrameSource> Endpoint for Sender<F> {
    fn handle_packet(&mut self, now: Instant, packet: Packet<&Payload>) {
        self.stats.packets_received += 1;
        self.stats.bytes_received += packet.size;
        self.stats.marks_received += u64::from(packet.ecn == Ecn::Ce);
        // Other payloads are none of this sender's.
        if let Payload::Report(report) = packet.payload {
            self.handle_report(now, report);
        }
    }

    fn handle_recommendation(&mut self, now: Instant, rate: BitRate) {
        self.controller.on_recommendation(now, rate);
        self.frames.set_rate(now, media_rate(self.controller.target_rate()));
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.encode(now);
        // Without reports the window would stay full for ever.
        if self.history.in_flight() > 0 && now >= self.last_report + SILENCE {
            self.stats.timeouts += 1;
            self.last_report = now;
            self.controller.on_silence(now);
            self.frames.set_rate(now, media_rate(self.controller.target_rate()));
            // What is under way counts no more: it must not hold back what tries the path again.
            self.history.give_up();
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let frame = self.frames.next_frame().unwrap_or(Instant::FAR);
        // Without a packet under way silence means nothing.
        let silence = if self.history.in_flight() > 0 { self.last_report + SILENCE } else { Instant::FAR };
        let next = frame.min(silence).min(self.release);
        (next != Instant::FAR).then_some(next)
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<Payload>> {
        self.encode(now);
        self.release = Instant::FAR;
        // A probe has a rate of its own, which the pacer would spoil.
        if let Some(next) = self.prober.next() {
            if now < next {
                self.release = next;
                return None;
            }
            let (part, marker) = self.queue.pop().unwrap_or((padding(now), false));
            return Some(self.transmit(now, part, marker));
        }
        let size = RtpPacket::wire_size_of(self.queue.front()?.len);
        let window = self.controller.window().map_or(u64::MAX, |window| window.0);
        let in_flight = self.history.in_flight();
        // A packet that is larger than the window leaves alone.
        if in_flight > 0 && in_flight + size.0 > window {
            return None;
        }
        // Frames come in bursts, and would queue in the network as such.
        let wait = match &mut self.wakes {
            Some(wakes) => wakes.wait(now, self.controller.pacing_rate()),
            None => self.pacer.wait(now),
        };
        // The pacer's time has not come.
        if let Some(until) = wait {
            self.release = until;
            return None;
        }
        let (part, marker) = self.queue.pop()?;
        Some(self.transmit(now, part, marker))
    }

    fn stats(&self) -> Stats {
        Stats {
            in_flight: Some(Bytes(self.history.in_flight())),
            window: self.controller.window(),
            pacing_rate: Some(self.controller.pacing_rate()),
            target_rate: Some(self.controller.target_rate()),
            smoothed_rtt: self.round_trip.smoothed(),
            min_rtt: self.round_trip.min(),
            alpha: self.controller.alpha(),
            bleached: self.bleaching.is_found(),
            ..self.stats
        }
    }

    fn take_rtt_sample(&mut self) -> Option<Duration> {
        self.round_trip.take_sample()
    }
}
