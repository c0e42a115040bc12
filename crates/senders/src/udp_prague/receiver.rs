//! UDP Prague's receiver: opens the path, counts, and acknowledges every packet.

use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet};

use crate::endpoint::{Endpoint, FrameArrival, Stats};
use crate::media::Assembly;
use crate::payload::{Payload, PragueAck};

/// While nothing has arrived the path is opened again so often.
const OPENING_INTERVAL: Duration = Duration::from_secs(1);

/// The receiving end.
#[derive(Clone, Debug)]
pub struct Receiver {
    flow: FlowId,
    /// Next attempt to open the path; `Instant::FAR` once data flows.
    deadline: Instant,
    ack: PragueAck,
    /// When the peer's timestamp arrived.
    held_since: Instant,
    ack_now: bool,
    frames: Assembly,
    stats: Stats,
}

impl Receiver {
    /// A client that opens the path at `start`: until then nobody could reach it.
    pub fn new(flow: FlowId, start: Instant) -> Self {
        Self {
            flow,
            deadline: start,
            ack: PragueAck::default(),
            held_since: Instant::ZERO,
            ack_now: false,
            frames: Assembly::default(),
            stats: Stats::default(),
        }
    }
}

impl Endpoint for Receiver {
    fn handle_packet(&mut self, now: Instant, packet: &Packet<Payload>) {
        self.stats.packets_received += 1;
        self.stats.bytes_received += packet.size;
        self.stats.marks_received += u64::from(packet.ecn == Ecn::Ce);
        let Payload::PragueData(data) = &packet.payload else { return };
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
        if data.timestamp >= self.ack.echo {
            self.ack.echo = data.timestamp;
            self.held_since = now;
        }
        self.ack.ack_seq = data.seq;
        self.ack_now = true;
        self.stats.delivered += Bytes(u64::from(data.size));
        if let Some(part) = &data.frame {
            self.frames.on_part(now, data.timestamp, part);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if now >= self.deadline {
            self.ack_now = true;
            self.deadline = now + OPENING_INTERVAL;
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        (self.deadline != Instant::FAR).then_some(self.deadline)
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<Payload>> {
        if !std::mem::take(&mut self.ack_now) {
            return None;
        }
        let echo = if self.ack.received == 0 { Instant::ZERO } else { self.ack.echo + now.since(self.held_since) };
        let ack = PragueAck { timestamp: now, echo, ..self.ack.clone() };
        let ecn = if self.ack.error { Ecn::NotEct } else { Ecn::Ect1 };
        let packet = Packet { flow: self.flow, size: ack.wire_size(), ecn, payload: Payload::PragueAck(ack) };
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += packet.size;
        Some(packet)
    }

    fn stats(&self) -> Stats {
        self.frames.stats(self.stats)
    }

    fn take_frame(&mut self) -> Option<FrameArrival> {
        self.frames.take()
    }
}
