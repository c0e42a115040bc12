//! The client: opens the connection, receives the data, acknowledges it.

use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet, TcpFlags};

use super::ecn::{Feedback, Urgency};
use super::handshake::{Handshake, Step};
use super::ranges::Ranges;
use crate::config::{EcnMode, TcpConfig};
use crate::endpoint::{Completion, Endpoint, Stats};
use crate::payload::{Payload, SackBlocks, TcpSegment};

/// Holes that a receiver keeps track of; a segment that would open one more is dropped, as a real one's
/// memory accounting does. No window of full segments has as many.
const MAX_RANGES: usize = 1 << 14;

/// The receiving end of a connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    flow: FlowId,
    window: u32,
    ack_every: u32,
    longest_delay: Duration,
    handshake: Handshake,
    feedback: Feedback,
    /// ECN codepoint of pure acknowledgements once AccECN is agreed (RFC 9768 allows it, Linux does it): that of the data.
    ect: Ecn,
    /// Next byte expected: RCV.NXT.
    next: u64,
    out_of_order: Ranges,
    /// A byte in each block that changed last, most recent first (RFC 2018 4).
    recent: [u64; SackBlocks::MAX],
    /// TS.Recent and Last.ACK.sent (RFC 7323 4.3).
    recent_timestamp: Instant,
    last_ack_sent: u64,
    /// Segments not yet acknowledged, and when they must be.
    unacked: u32,
    deadline: Instant,
    ack_now: bool,
    /// ACE field of the handshake's third segment, while it is due.
    handshake_ace: Option<u8>,
    /// Rate that the access network recommended, until it is handed on.
    recommended: Option<BitRate>,
    start: Instant,
    /// The transfer's size where it is known, until it is complete; and the completion until it is asked for.
    expected: Option<Bytes>,
    completion: Option<Completion>,
    stats: Stats,
}

impl Receiver {
    /// A client that opens its connection at `start`.
    pub fn new(config: &TcpConfig, willing: EcnMode, flow: FlowId, start: Instant) -> Self {
        Self {
            flow,
            window: config.receive_window.0 as u32,
            ack_every: config.ack_every,
            longest_delay: config.delayed_ack,
            handshake: Handshake::client(willing, start),
            feedback: Feedback::new(EcnMode::Off),
            ect: Ecn::NotEct,
            next: 0,
            out_of_order: Ranges::default(),
            recent: [0; SackBlocks::MAX],
            recent_timestamp: Instant::ZERO,
            last_ack_sent: 0,
            unacked: 0,
            deadline: Instant::FAR,
            ack_now: false,
            handshake_ace: None,
            recommended: None,
            start,
            expected: None,
            completion: None,
            stats: Stats::default(),
        }
    }

    /// Reports a completion when `size` has arrived.
    pub fn expecting(self, size: Option<Bytes>) -> Self {
        Self { expected: size, ..self }
    }

    /// The connection could not be opened.
    pub(super) fn gave_up(&self) -> bool {
        self.handshake.gave_up()
    }

    #[cold]
    fn handle_syn_ack(&mut self, now: Instant, packet: Packet<&Payload>, segment: &TcpSegment) {
        // It answers another SYN than ours.
        if segment.seq != 0 || segment.ack != 1 {
            return;
        }
        // A repeated SYN/ACK is acknowledged and changes nothing.
        if let Step::Acknowledge { ace, first } = self.handshake.handle_segment(now, segment.flags, packet.ecn) {
            if first {
                self.feedback = Feedback::new(self.handshake.agreed());
                // The only mark that comes before there are counters.
                if packet.ecn == Ecn::Ce {
                    self.feedback.syn_ack_was_marked();
                }
                self.next = segment.seq + 1;
                self.recent_timestamp = segment.timestamp;
            }
            self.handshake_ace = ace;
            self.ack_now = true;
        }
    }

    fn handle_data(&mut self, now: Instant, packet: Packet<&Payload>, segment: &TcpSegment) {
        let end = segment.seq.saturating_add(u64::from(segment.payload));
        // Outside of the window it is answered and not taken (RFC 9293 3.10.7.4).
        if segment.seq > self.next + u64::from(self.window) || end > self.next + u64::from(self.window) {
            self.ack_now = true;
            return;
        }
        // A sender's answer to marks must not wait for a second segment (RFC 9768 3.2.2.5.1).
        if self.feedback.on_packet(packet.ecn, segment.payload, segment.flags) == Urgency::Immediate {
            self.ack_now = true;
        }
        // CE hides which of the two the sender uses.
        if packet.ecn != Ecn::NotEct && packet.ecn != Ecn::Ce && self.handshake.agreed() == EcnMode::Accecn {
            self.ect = packet.ecn;
        }
        // A pure acknowledgement is not acknowledged.
        if segment.payload == 0 {
            return;
        }
        // The echo is that of the segment that the acknowledgement answers (RFC 7323 4.3).
        if segment.seq <= self.last_ack_sent && segment.timestamp >= self.recent_timestamp {
            self.recent_timestamp = segment.timestamp;
        }
        // In order: mostly so, and without a look at ranges.
        if segment.seq <= self.next && end > self.next {
            self.stats.duplicate += Bytes(self.next - segment.seq);
            self.accept_in_order(end);
            // A transfer is complete when its last byte is in order, not when its last segment comes.
            if let Some(size) = self.expected.take_if(|size| self.stats.delivered >= *size) {
                self.complete(now, size);
            }
        } else {
            self.accept_out_of_order(segment.seq, end);
        }
        // The delay runs from the first segment that is not acknowledged (RFC 5681 4.2).
        if self.unacked == 0 {
            self.deadline = now + self.longest_delay;
        }
        self.unacked += 1;
        self.ack_now |= self.unacked >= self.ack_every;
    }

    #[cold]
    fn complete(&mut self, now: Instant, size: Bytes) {
        self.stats.completed += 1;
        let (started, duration) = (self.start, now.since(self.start));
        self.completion = Some(Completion { number: 1, size, started, duration });
    }

    fn accept_in_order(&mut self, end: u64) {
        let before = self.next;
        self.next = end;
        // Without holes, as nearly always, the segment is all that arrived.
        if !self.out_of_order.is_empty() {
            self.close_hole();
        }
        self.stats.delivered += Bytes(self.next - before);
    }

    /// True while there are holes, and when one closes: the sender wants to know at once (RFC 5681 4.2).
    #[cold]
    fn close_hole(&mut self) {
        self.ack_now = true;
        while let Some(end) = self.out_of_order.take_from(self.next) {
            self.next = self.next.max(end);
        }
    }

    #[cold]
    fn accept_out_of_order(&mut self, seq: u64, end: u64) {
        self.ack_now = true;
        let len = end - seq;
        // It was here before, or there is no room to remember one more hole.
        if end <= self.next || self.out_of_order.len() >= MAX_RANGES {
            self.stats.duplicate += Bytes(len);
            return;
        }
        let mut new = 0;
        self.out_of_order.insert(seq.max(self.next), end, |from, to| new += to - from);
        self.stats.duplicate += Bytes(len - new);
        // Move to the front; one of several points in the same block is enough, so the oldest may go.
        let same = self
            .recent
            .iter()
            .position(|point| self.out_of_order.containing(*point).is_some_and(|(from, to)| (from..to).contains(&seq)));
        let last = same.unwrap_or(SackBlocks::MAX - 1);
        self.recent.copy_within(0..last, 1);
        self.recent[0] = seq;
    }

    #[cold]
    fn sack(&self) -> SackBlocks {
        let mut sack = SackBlocks::default();
        for point in self.recent.iter().filter(|point| **point >= self.next) {
            // A range is told once, though several recent segments may lie in it (RFC 2018 4).
            if let Some((start, end)) = self.out_of_order.containing(*point)
                && sack.iter(self.next).all(|(other, _)| other != start)
            {
                sack.push(self.next, start, end);
            }
        }
        sack
    }

    fn acknowledgement(&mut self, now: Instant) -> TcpSegment {
        // Most often there is no gap, and nothing to name.
        let sack = if self.out_of_order.is_empty() { SackBlocks::default() } else { self.sack() };
        let flags = TcpFlags { ack: true, ..TcpFlags::default() };
        // The first acknowledgement has the SYN/ACK's ECN field in place of the counter (RFC 9768 3.2.2.1).
        let flags = match self.handshake_ace.take() {
            Some(ace) => flags.with_ace(ace),
            None => self.feedback.flags(flags),
        };
        // How many counters the 40 bytes of options have room for: timestamps take 10, blocks 2 + 8 n, counters 2 + 3 n.
        let accecn = self.feedback.option([3, 3, 2, 0][sack.len()]);
        // Beside two blocks there is no room for a rate: it waits.
        let recommended = if sack.len() < 2 { self.recommended.take() } else { None };
        self.unacked = 0;
        self.ack_now = false;
        self.deadline = Instant::FAR;
        self.last_ack_sent = self.next;
        TcpSegment {
            connection: 0,
            flags,
            seq: 1,
            ack: self.next,
            payload: 0,
            window: self.window,
            timestamp: now,
            echo: self.recent_timestamp,
            sack,
            accecn,
            recommended,
        }
    }

    #[cold]
    fn open(&mut self, now: Instant) -> Option<Packet<Payload>> {
        let flags = self.handshake.poll_transmit()?;
        let syn = TcpSegment { flags, window: self.window, timestamp: now, ..TcpSegment::default() };
        Some(self.wrap(syn, Ecn::NotEct))
    }

    #[inline(never)]
    fn acknowledge(&mut self, now: Instant) -> Option<Packet<Payload>> {
        let segment = self.acknowledgement(now);
        Some(self.wrap(segment, self.ect))
    }

    fn wrap(&mut self, segment: TcpSegment, ecn: Ecn) -> Packet<Payload> {
        let size = segment.wire_size();
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += size;
        Packet { flow: self.flow, size, ecn, payload: Payload::Tcp(segment) }
    }
}

impl Endpoint for Receiver {
    fn handle_packet(&mut self, now: Instant, packet: Packet<&Payload>) {
        self.stats.packets_received += 1;
        self.stats.bytes_received += packet.size;
        self.stats.marks_received += u64::from(packet.ecn == Ecn::Ce);
        // Other payloads are no business of a connection.
        let Payload::Tcp(segment) = packet.payload else { return };
        // SYN/ACKs come to a client in any state.
        if segment.flags.syn {
            self.handle_syn_ack(now, packet, segment);
        } else if self.handshake.is_established() {
            self.handle_data(now, packet, segment);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.handshake.handle_timeout(now);
        // A delayed acknowledgement has waited for its second segment long enough (RFC 5681 4.2).
        if now >= self.deadline {
            self.ack_now = true;
        }
    }

    fn handle_recommendation(&mut self, _now: Instant, rate: BitRate) {
        self.recommended = Some(rate);
        self.ack_now |= self.handshake.is_established();
    }

    fn next_deadline(&self) -> Option<Instant> {
        // Nothing is to be acknowledged before the connection stands.
        match self.handshake.next_deadline() {
            Some(deadline) => Some(deadline),
            None => (self.deadline != Instant::FAR).then_some(self.deadline),
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<Payload>> {
        // Nothing can be acknowledged before the connection is open.
        if self.handshake.is_due() {
            return self.open(now);
        }
        // Data is never sent this way: a packet leaves to acknowledge one that came.
        if self.ack_now { self.acknowledge(now) } else { None }
    }

    fn stats(&self) -> Stats {
        self.stats
    }

    fn take_completion(&mut self) -> Option<Completion> {
        self.completion.take()
    }
}
