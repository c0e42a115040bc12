//! The sender of a media stream: encoder, queue, pacing, and what became of each packet.

use std::collections::VecDeque;

use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet, Stream};

use super::encoder::{Encoder, VideoConfig};
use super::prober::Prober;
use super::{Feedback, MediaController, PacketResult};
use crate::endpoint::{Endpoint, Stats};
use crate::pacer::Pacer;
use crate::payload::{FramePart, Metrics, Payload, Report, RtpPacket};

/// Media in a packet.
const MAX_PAYLOAD: u32 = 1200;
/// Packets sent whose fate may be unknown; older ones are forgotten.
const MAX_HISTORY: usize = 1 << 16;
/// Packets that must have overtaken one before it is held for lost.
const REORDERING: u64 = 3;
/// Packets of the queue; more are discarded with it.
const MAX_QUEUE: usize = 1 << 14;
const SILENCE: Duration = Duration::from_secs(1);
/// Packets that were sent as ECT and arrived as Not-ECT, one after the other, after which the path is held to clear the field.
const ENOUGH_TO_TELL: u32 = 64;
/// Weight of a new round-trip time.
const RTT_GAIN: u64 = 8;

#[derive(Clone, Copy, Debug)]
struct Sent {
    size: Bytes,
    at: Instant,
    known: bool,
    probe: Option<u32>,
}

/// The sending end.
pub struct Sender {
    flow: FlowId,
    controller: Box<dyn MediaController + Send>,
    encoder: Encoder,
    discard_after: Duration,
    queue: VecDeque<(FramePart, bool)>,
    pacer: Pacer,
    prober: Prober,
    release: Instant,
    history: VecDeque<Sent>,
    /// Number of the first packet in `history`.
    first: u64,
    in_flight: u64,
    last_report: Instant,
    /// Packets that arrived as Not-ECT since one arrived as something else.
    cleared: u32,
    results: Vec<PacketResult>,
    rtt_sample: Option<Duration>,
    smoothed: Option<Duration>,
    min_rtt: Option<Duration>,
    stats: Stats,
}

impl Sender {
    /// A server that sends `video` from its start on.
    pub fn new(video: &VideoConfig, flow: FlowId, seed: u64, controller: Box<dyn MediaController + Send>) -> Self {
        let rate = media_rate(controller.target_rate());
        Self {
            flow,
            controller,
            encoder: Encoder::new(video, rate, Stream::new(seed, flow.0, "encoder")),
            discard_after: video.discard_after,
            queue: VecDeque::new(),
            pacer: Pacer::default(),
            prober: Prober::default(),
            release: Instant::ZERO + video.start,
            history: VecDeque::new(),
            first: 0,
            in_flight: 0,
            last_report: Instant::ZERO,
            cleared: 0,
            results: Vec::new(),
            rtt_sample: None,
            smoothed: None,
            min_rtt: None,
            stats: Stats::default(),
        }
    }

    fn encode(&mut self, now: Instant) {
        while let Some(frame) = self.encoder.poll_frame(now) {
            self.stats.frames_sent += 1;
            let size = frame.size.0 as u32;
            // Packets of one size: the last one would else be tiny.
            let packets = size.div_ceil(MAX_PAYLOAD);
            let mut left = size;
            for index in 0..packets {
                let len = left.div_ceil(packets - index);
                left -= len;
                let part = FramePart { number: frame.number, size, len, captured: frame.captured };
                self.queue.push_back((part, left == 0));
            }
            let queued = self.queue.front().map_or(Duration::ZERO, |(part, _)| now.since(part.captured));
            if queued > self.discard_after || self.queue.len() > MAX_QUEUE {
                self.discard();
            }
            self.controller.on_frame(now, frame.size, queued);
            self.take_probes(now);
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
        let ends = self.queue.iter().filter(|(_, marker)| *marker).count();
        self.stats.frames_discarded += ends as u64;
        self.queue.clear();
        self.encoder.request_key();
    }

    fn handle_report(&mut self, now: Instant, report: &Report) {
        self.last_report = now;
        self.results.clear();
        let tells_ecn = matches!(report.metrics, Metrics::Ccfb(_)) && self.controller.ecn().is_ect();
        let highest = report.arrivals().filter(|(_, arrival)| arrival.is_some()).map(|(seq, _)| seq).max();
        let mut newest: Option<(Instant, Instant)> = None;
        for (seq, arrival) in report.arrivals() {
            let Some(index) = seq.checked_sub(self.first).and_then(|index| usize::try_from(index).ok()) else {
                continue;
            };
            let Some(sent) = self.history.get_mut(index).filter(|sent| !sent.known) else { continue };
            let is_lost = arrival.is_none() && highest.is_some_and(|highest| seq + REORDERING <= highest);
            if arrival.is_none() && !is_lost {
                continue;
            }
            sent.known = true;
            self.in_flight -= sent.size.0;
            let (ecn, received_at) = match arrival {
                Some((ecn, at)) => (ecn, Some(at.unwrap_or(report.timestamp))),
                None => (Ecn::NotEct, None),
            };
            if let Some(at) = received_at {
                self.stats.acknowledged += sent.size;
                self.stats.marks_reported += u64::from(ecn == Ecn::Ce);
                self.cleared = if tells_ecn && ecn == Ecn::NotEct { self.cleared.saturating_add(1) } else { 0 };
                self.stats.bleached |= self.cleared >= ENOUGH_TO_TELL;
                newest = newest.max(Some((sent.at, at)));
            } else {
                self.stats.losses += 1;
            }
            let Sent { size, at: sent_at, probe, .. } = *sent;
            self.results.push(PacketResult { seq, size, sent_at, received_at, ecn, probe });
        }
        // Below the report is what earlier reports told of. If they were lost, nobody will ever know.
        while let Some(sent) = self.history.front().filter(|sent| sent.known || self.first < report.begin) {
            self.in_flight -= if sent.known { 0 } else { sent.size.0 };
            self.history.pop_front();
            self.first += 1;
        }
        let rtt = newest.map(|(sent_at, at)| now.since(sent_at) - report.timestamp.since(at));
        if let Some(rtt) = rtt {
            self.rtt_sample = Some(rtt);
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
            self.smoothed = Some(self.smoothed.map_or(rtt, |smoothed| {
                Duration::from_nanos(((RTT_GAIN - 1) * smoothed.as_nanos() + rtt.as_nanos()) / RTT_GAIN)
            }));
        }
        let feedback = Feedback {
            now,
            results: &self.results,
            rtt,
            in_flight: Bytes(self.in_flight),
            sent: self.first + self.history.len() as u64,
        };
        if let Some(rate) = report.recommended {
            self.controller.on_recommendation(rate);
        }
        self.controller.on_feedback(&feedback);
        self.take_probes(now);
        self.encoder.set_rate(now, media_rate(self.controller.target_rate()));
    }

    fn transmit(&mut self, now: Instant, part: FramePart, marker: bool) -> Packet<Payload> {
        let size = RtpPacket::wire_size_of(part.len);
        if self.in_flight == 0 {
            self.last_report = now;
        }
        let probe = self.prober.sent(now, size);
        let seq = self.remember(now, size, probe);
        self.pacer.sent(now, size, self.controller.pacing_rate(), size);
        self.controller.on_sent(now, size);
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += size;
        let payload = Payload::Rtp(RtpPacket { seq, frame: part, sent_at: now, marker });
        let ecn = if self.stats.bleached { Ecn::NotEct } else { self.controller.ecn() };
        Packet { flow: self.flow, size, ecn, payload }
    }

    fn remember(&mut self, now: Instant, size: Bytes, probe: Option<u32>) -> u64 {
        if self.history.len() == MAX_HISTORY
            && let Some(sent) = self.history.pop_front()
        {
            self.first += 1;
            self.in_flight -= if sent.known { 0 } else { sent.size.0 };
        }
        self.history.push_back(Sent { size, at: now, known: false, probe });
        self.in_flight += size.0;
        self.first + self.history.len() as u64 - 1
    }
}

/// What fills a probe where there is no media: of no frame.
fn padding(now: Instant) -> FramePart {
    FramePart { number: FramePart::PADDING, size: 0, len: MAX_PAYLOAD, captured: now }
}

/// What headers leave of a rate of IP packets.
fn media_rate(rate: BitRate) -> BitRate {
    let packet = RtpPacket::wire_size_of(MAX_PAYLOAD).as_f64();
    BitRate::from_bps_f64(rate.as_bps() as f64 * f64::from(MAX_PAYLOAD) / packet)
}

impl Endpoint for Sender {
    fn handle_packet(&mut self, now: Instant, packet: Packet<&Payload>) {
        self.stats.packets_received += 1;
        self.stats.bytes_received += packet.size;
        self.stats.marks_received += u64::from(packet.ecn == Ecn::Ce);
        if let Payload::Report(report) = packet.payload {
            self.handle_report(now, report);
        }
    }

    fn handle_recommendation(&mut self, now: Instant, rate: BitRate) {
        self.controller.on_recommendation(rate);
        self.encoder.set_rate(now, media_rate(self.controller.target_rate()));
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.encode(now);
        if self.in_flight > 0 && now >= self.last_report + SILENCE {
            self.stats.timeouts += 1;
            self.last_report = now;
            self.controller.on_silence(now);
            self.encoder.set_rate(now, media_rate(self.controller.target_rate()));
            // What is under way counts no more: it must not hold back what tries the path again.
            self.in_flight = 0;
            for sent in &mut self.history {
                sent.known = true;
            }
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let frame = self.encoder.next_frame().unwrap_or(Instant::FAR);
        let silence = if self.in_flight > 0 { self.last_report + SILENCE } else { Instant::FAR };
        let next = frame.min(silence).min(self.release);
        (next != Instant::FAR).then_some(next)
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<Payload>> {
        self.encode(now);
        self.release = Instant::FAR;
        if let Some(next) = self.prober.next() {
            if now < next {
                self.release = next;
                return None;
            }
            let (part, marker) = self.queue.pop_front().unwrap_or((padding(now), false));
            return Some(self.transmit(now, part, marker));
        }
        let (part, marker) = *self.queue.front()?;
        let size = RtpPacket::wire_size_of(part.len);
        let window = self.controller.window().map_or(u64::MAX, |window| window.0);
        if self.in_flight > 0 && self.in_flight + size.0 > window {
            return None;
        }
        if let Some(until) = self.pacer.wait(now) {
            self.release = until;
            return None;
        }
        self.queue.pop_front();
        Some(self.transmit(now, part, marker))
    }

    fn stats(&self) -> Stats {
        Stats {
            in_flight: Some(Bytes(self.in_flight)),
            window: self.controller.window(),
            pacing_rate: Some(self.controller.pacing_rate()),
            target_rate: Some(self.controller.target_rate()),
            smoothed_rtt: self.smoothed,
            min_rtt: self.min_rtt,
            alpha: self.controller.alpha(),
            ..self.stats
        }
    }

    fn take_rtt_sample(&mut self) -> Option<Duration> {
        self.rtt_sample.take()
    }
}
