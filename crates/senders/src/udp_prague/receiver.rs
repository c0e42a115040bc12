//! UDP Prague's receiver: opens the path, counts, and acknowledges every packet or reports at intervals.

use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet};

use super::UdpPragueConfig;
use super::reports::Arrivals;
use crate::endpoint::{Endpoint, FrameArrival, Stats};
use crate::media::Assembly;
use crate::payload::{Payload, PragueAck};

/// Interval at which the path is opened while nothing has arrived.
const OPENING_INTERVAL: Duration = Duration::from_secs(1);

/// The receiving end.
#[derive(Clone, Debug)]
pub struct Receiver {
    flow: FlowId,
    /// Next attempt to open the path; `Instant::FAR` once data flows.
    deadline: Instant,
    ack: PragueAck,
    /// Time at which the peer's timestamp arrived.
    held_since: Instant,
    ack_now: bool,
    reports: Option<Arrivals>,
    frames: Assembly,
    stats: Stats,
}

impl Receiver {
    /// A client that opens the path at `start`; nobody can reach it before that.
    pub fn new(config: &UdpPragueConfig, flow: FlowId, start: Instant) -> Self {
        Self {
            flow,
            deadline: start,
            ack: PragueAck::default(),
            held_since: Instant::ZERO,
            ack_now: false,
            reports: config.report_interval.map(Arrivals::new),
            frames: Assembly::default(),
            stats: Stats::default(),
        }
    }
}

impl Receiver {
    fn wrap(&mut self, ecn: Ecn, payload: Payload) -> Packet<Payload> {
        let packet = Packet { flow: self.flow, size: payload.wire_size(), ecn, payload };
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += packet.size;
        packet
    }
}

impl Endpoint for Receiver {
    fn handle_packet(&mut self, now: Instant, packet: Packet<&Payload>) {
        self.stats.packets_received += 1;
        self.stats.bytes_received += packet.size;
        self.stats.marks_received += u64::from(packet.ecn == Ecn::Ce);
        // Other payloads are none of this sender's.
        let Payload::PragueData(data) = packet.payload else { return };
        self.deadline = Instant::FAR;
        self.ack.received += 1;
        self.ack.marked += u64::from(packet.ecn == Ecn::Ce);
        self.ack.error |= !packet.ecn.is_l4s();
        // Packets between the last one and this are skipped; one that comes late was not lost.
        let known = self.ack.received.saturating_add(self.ack.lost);
        if data.seq >= known {
            self.ack.lost += data.seq - known;
        } else {
            self.ack.lost = self.ack.lost.saturating_sub(1);
        }
        // The round trip is measured on the newest packet.
        if data.timestamp >= self.ack.echo {
            self.ack.echo = data.timestamp;
            self.held_since = now;
        }
        self.ack.ack_seq = data.seq;
        // A bulk sender wants each packet acknowledged, one with frames a report a frame time.
        match &mut self.reports {
            Some(reports) => reports.record(now, data.seq, packet.ecn),
            None => self.ack_now = true,
        }
        self.stats.delivered += Bytes(u64::from(data.size));
        // Bulk packets have no frame.
        if let Some(part) = &data.frame {
            self.frames.on_part(now, data.timestamp, part);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        // Until data comes, the request to begin may be lost: it is sent once more.
        if now >= self.deadline {
            self.ack_now = true;
            self.deadline = now + OPENING_INTERVAL;
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let report = self.reports.as_ref().and_then(Arrivals::next_deadline).unwrap_or(Instant::FAR);
        let next = self.deadline.min(report);
        (next != Instant::FAR).then_some(next)
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<Payload>> {
        // Reports are due at their time, acknowledgements after a packet.
        if let Some(report) = self.reports.as_mut().and_then(|reports| reports.poll(now)) {
            return Some(self.wrap(Ecn::Ect1, Payload::PragueReport(report)));
        }
        // Nothing came since the last.
        if !std::mem::take(&mut self.ack_now) {
            return None;
        }
        // The client's opening packet answers nothing.
        let echo = if self.ack.received == 0 { Instant::ZERO } else { self.ack.echo + now.since(self.held_since) };
        let ack = PragueAck { timestamp: now, echo, ..self.ack.clone() };
        // A path that clears ECN is not trusted with ECT(1) any more.
        let ecn = if self.ack.error { Ecn::NotEct } else { Ecn::Ect1 };
        Some(self.wrap(ecn, Payload::PragueAck(ack)))
    }

    fn stats(&self) -> Stats {
        self.frames.stats(self.stats)
    }

    fn take_frame(&mut self) -> Option<FrameArrival> {
        self.frames.take()
    }
}
