//! The server: answers the connection, sends the data, and does what its congestion controller says.

mod next;

use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet, TcpFlags};

use self::next::NextUp;
use super::ecn::{Decoder, Feedback, Marks};
use super::handshake::{Handshake, Step};
use super::prr::Prr;
use super::rtt::RttEstimator;
use super::scoreboard::{FIRST_SEQ, News, Scoreboard};
use crate::config::{EcnMode, TcpConfig};
use crate::controller::{Congestion, Controller, EcnResponse, Signal};
use crate::endpoint::{Completion, Endpoint, Stats};
use crate::pacer::Pacer;
use crate::payload::{Payload, TcpSegment};
use crate::source::Source;

/// How long a lone segment's acknowledgement may be delayed by the receiver at the most (RFC 8985 7.2, Linux).
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);

/// Where loss recovery stands. Each phase ends when what had been sent at its start is acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Open,
    /// The window was reduced after an echo of congestion.
    Reducing {
        end: u64,
    },
    /// Losses are being repaired.
    Recovering {
        end: u64,
    },
    /// The retransmission timer expired.
    TimedOut {
        end: u64,
    },
}

/// What the retransmission timer does when it expires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Timer {
    Probe,
    Timeout,
}

/// The sending end of a connection.
pub struct Sender {
    flow: FlowId,
    mss: u32,
    receive_window: u32,
    handshake: Handshake,
    controller: Box<dyn Controller + Send>,
    source: Box<dyn Source + Send>,
    board: Scoreboard,
    rtt: RttEstimator,
    pacer: Pacer,
    /// What the controller said when it last heard something: its window, and its rate and burst where it paces.
    window: u64,
    pacing: Option<(BitRate, Bytes)>,
    prr: Option<Prr>,
    phase: Phase,
    /// Retransmission timer; off at `Instant::FAR`.
    timer: (Instant, Timer),
    /// When to look for losses again; `Instant::FAR` while nothing is overdue.
    reorder_deadline: Instant,
    /// A tail loss probe is to be sent; and the end of the last one, with its time, until it is acknowledged.
    probe_now: bool,
    probe: Option<(u64, Instant, bool)>,
    /// The first retransmission of this phase: its sequence number and time, to find out whether it was needed.
    first_resent: Option<(u64, Instant)>,
    /// When pacing or the application let the next packet go.
    release: Instant,
    /// Until this much is delivered the window counts as what limited the sender.
    window_limited_until: u64,
    /// Rightmost byte that the receiver allows.
    allowed: u64,
    /// Payload that the socket holds, and the rightmost byte that it had room for when the application wrote last.
    send_buffer: u64,
    writable: u64,
    last_sent: Instant,
    /// ECN of data packets, and how marks are handed to the controller.
    ect: Ecn,
    response: EcnResponse,
    feedback: Feedback,
    decoder: Decoder,
    say_cwr: bool,
    peer_timestamp: Instant,
    rtt_sample: Option<Duration>,
    stats: Stats,
}

impl Sender {
    /// A server that waits for its client, and then sends what `source` has.
    pub fn new(
        config: &TcpConfig,
        willing: EcnMode,
        flow: FlowId,
        controller: Box<dyn Controller + Send>,
        source: Box<dyn Source + Send>,
    ) -> Self {
        Self {
            flow,
            mss: config.mss.0 as u32,
            receive_window: config.receive_window.0 as u32,
            handshake: Handshake::server(willing),
            controller,
            source,
            board: Scoreboard::new(),
            rtt: RttEstimator::new(config.min_rto),
            pacer: Pacer::default(),
            window: 0,
            pacing: None,
            prr: None,
            phase: Phase::Open,
            timer: (Instant::FAR, Timer::Timeout),
            reorder_deadline: Instant::FAR,
            probe_now: false,
            probe: None,
            first_resent: None,
            release: Instant::FAR,
            window_limited_until: 0,
            allowed: 0,
            send_buffer: config.send_buffer.0,
            writable: 0,
            last_sent: Instant::ZERO,
            ect: Ecn::NotEct,
            response: EcnResponse::Classic,
            feedback: Feedback::new(EcnMode::Off),
            decoder: Decoder::new(config.mss),
            say_cwr: false,
            peer_timestamp: Instant::ZERO,
            rtt_sample: None,
            stats: Stats::default(),
        }
    }

    #[cold]
    fn establish(&mut self, now: Instant, segment: &TcpSegment) {
        let agreed = self.handshake.agreed();
        self.feedback = Feedback::new(agreed);
        self.response = match agreed {
            EcnMode::Accecn => self.controller.ecn_response(),
            EcnMode::Classic | EcnMode::Off => EcnResponse::Classic,
        };
        self.ect = match (agreed, self.response) {
            (EcnMode::Off, _) => Ecn::NotEct,
            (EcnMode::Accecn, EcnResponse::Scalable) => Ecn::Ect1,
            (EcnMode::Classic | EcnMode::Accecn, _) => Ecn::Ect0,
        };
        // A cleared ACE field means that something on the path mangles ECN (RFC 9768 3.2.2.1).
        if agreed == EcnMode::Accecn && !self.decoder.handshake(segment.flags.ace()) {
            self.ect = Ecn::NotEct;
            self.stats.bleached = true;
        }
        let rtt = self.handshake.rtt(now);
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt);
            self.rtt_sample = Some(rtt);
        }
        self.allowed = segment.ack.saturating_add(u64::from(segment.window));
        self.last_sent = now;
        self.controller.on_established(now, agreed, rtt);
        self.ask_controller();
    }

    fn handle_ack(&mut self, now: Instant, segment: &TcpSegment) {
        if segment.ack > self.board.next_seq() {
            return;
        }
        let is_newest = segment.timestamp >= self.peer_timestamp;
        self.peer_timestamp = self.peer_timestamp.max(segment.timestamp);
        self.allowed = self.allowed.max(segment.ack + u64::from(segment.window));
        let prior_in_flight = self.board.in_flight();
        let was_limited = self.board.delivered() < self.window_limited_until;
        let mut news = News::default();
        self.board.handle_ack(now, segment, self.rtt.min(), &mut news);
        if let Some(rtt) = news.first_rtt {
            self.rtt.sample(rtt);
        }
        self.rtt_sample = news.ack.rtt.or(self.rtt_sample);
        if news.advanced {
            self.rtt.reset_backoff();
            self.find_spurious(now, segment);
            self.source.on_acknowledged(now, Bytes(self.board.una() - FIRST_SEQ));
        }
        let acked = news.ack.acked;
        let marks = self.read_marks(now, segment, is_newest, news.ack.acked_packets, prior_in_flight);
        // Bytes without a packet are old ones, told late: they must not hold up the growth of a window.
        let marked = if marks.packets > 0 { marks.bytes.min(acked) } else { Bytes::ZERO };
        self.board.count_marked(&mut news, marked);
        self.leave_phase();
        let lost = self.find_losses(now, prior_in_flight);
        self.check_probe(now, segment, prior_in_flight);
        if let Some(prr) = &mut self.prr {
            let target = self.controller.window().0;
            prr.on_ack(acked.0, self.board.in_flight(), target, news.advanced && lost == 0);
        }
        if acked > Bytes::ZERO || marks.packets > 0 {
            let ack = &mut news.ack;
            ack.now = now;
            ack.marked_packets = marks.packets;
            ack.lost = Bytes(lost);
            ack.smoothed_rtt = self.rtt.smoothed().unwrap_or_default();
            ack.min_rtt = self.rtt.min();
            ack.prior_in_flight = Bytes(prior_in_flight);
            ack.in_flight = Bytes(self.board.in_flight());
            ack.delivered = Bytes(self.board.delivered());
            ack.window_limited = was_limited;
            ack.recovering = matches!(self.phase, Phase::Reducing { .. } | Phase::Recovering { .. });
            ack.repairing = matches!(self.phase, Phase::Recovering { .. } | Phase::TimedOut { .. });
            self.controller.on_ack(ack);
        }
        self.ask_controller();
        if news.advanced || acked > Bytes::ZERO {
            self.arm_timer(now);
        }
    }

    /// Congestion feedback of an acknowledgement, in either of its two forms.
    fn read_marks(
        &mut self,
        now: Instant,
        segment: &TcpSegment,
        is_newest: bool,
        acked_packets: u32,
        in_flight: u64,
    ) -> Marks {
        let marks = match self.handshake.agreed() {
            EcnMode::Accecn if is_newest => {
                self.decoder.decode(segment.flags.ace(), segment.accecn.as_ref(), acked_packets)
            }
            EcnMode::Classic if segment.flags.ece => Marks { packets: 1, bytes: Bytes::ZERO },
            _ => return Marks::default(),
        };
        if self.decoder.is_bleached() {
            // Nobody's marks would arrive: losses have to tell, and packets must not claim otherwise.
            self.ect = Ecn::NotEct;
            self.stats.bleached = true;
        }
        if self.response == EcnResponse::Classic {
            if marks.packets > 0 && self.phase == Phase::Open {
                self.stats.marks_reported += 1;
                self.phase = Phase::Reducing { end: self.board.next_seq() };
                self.say_cwr = self.handshake.agreed() == EcnMode::Classic;
                self.reduce(now, Signal::Ecn, in_flight);
            }
            return Marks::default();
        }
        self.stats.marks_reported += u64::from(marks.packets);
        marks
    }

    fn congestion(&self, now: Instant, signal: Signal, in_flight: u64) -> Congestion {
        Congestion { now, signal, in_flight: Bytes(in_flight), delivered: Bytes(self.board.delivered()) }
    }

    #[cold]
    fn reduce(&mut self, now: Instant, signal: Signal, in_flight: u64) {
        self.controller.on_congestion(&self.congestion(now, signal, in_flight));
        if !self.controller.owns_recovery() {
            self.prr = Some(Prr::new(in_flight, u64::from(self.mss)));
        }
    }

    fn leave_phase(&mut self) {
        let (Phase::Reducing { end } | Phase::Recovering { end } | Phase::TimedOut { end }) = self.phase else {
            return;
        };
        if self.board.una() >= end {
            self.phase = Phase::Open;
            self.prr = None;
            self.first_resent = None;
        }
    }

    fn find_losses(&mut self, now: Instant, prior_in_flight: u64) -> u64 {
        if self.board.is_overtaken() {
            return self.judge_overtaken(now, prior_in_flight);
        }
        self.reorder_deadline = Instant::FAR;
        0
    }

    #[cold]
    fn judge_overtaken(&mut self, now: Instant, prior_in_flight: u64) -> u64 {
        let recovering = matches!(self.phase, Phase::Recovering { .. } | Phase::TimedOut { .. });
        let smoothed = self.rtt.smoothed().unwrap_or_default();
        let controller = &mut self.controller;
        let (lost, segments, deadline) =
            self.board.detect_losses(now, self.rtt.min(), smoothed, recovering, |lost| controller.on_lost(lost));
        self.reorder_deadline = deadline;
        self.stats.losses += u64::from(segments);
        if lost > 0 && !recovering {
            // A reduction after an echo in the same window was the reduction for this loss as well.
            if self.phase == Phase::Open {
                self.reduce(now, Signal::Loss, prior_in_flight);
            }
            self.phase = Phase::Recovering { end: self.board.next_seq() };
            self.first_resent = None;
        }
        lost
    }

    /// The Eifel detection (RFC 3522): the acknowledgement of what was sent again first echoes the time of a
    /// segment that was sent before.
    fn find_spurious(&mut self, now: Instant, segment: &TcpSegment) {
        let Some((seq, sent_at)) = self.first_resent else { return };
        if self.board.una() <= seq {
            return;
        }
        self.first_resent = None;
        if segment.echo < sent_at {
            self.stats.spurious += 1;
            self.board.restore_lost();
            self.controller.on_spurious(now);
            self.phase = Phase::Open;
            self.prr = None;
        }
    }

    /// RFC 8985 7.4: a probe that filled a hole at the tail reveals a loss that nothing else tells of.
    fn check_probe(&mut self, now: Instant, segment: &TcpSegment, in_flight: u64) {
        let Some((end, sent_at, was_retransmission)) = self.probe else { return };
        if self.board.una() < end {
            return;
        }
        self.probe = None;
        if was_retransmission && segment.echo >= sent_at && self.phase == Phase::Open {
            self.phase = Phase::Reducing { end: self.board.next_seq() };
            self.reduce(now, Signal::Loss, in_flight);
        }
    }

    /// After everything that the controller was told.
    fn ask_controller(&mut self) {
        self.window = self.controller.window().0;
        self.pacing = self.controller.pacing_rate().map(|rate| (rate, self.controller.burst(rate)));
    }

    /// RFC 6298 5, and a probe before it while nothing indicates a loss.
    #[inline(never)]
    fn arm_timer(&mut self, now: Instant) {
        if !self.board.is_outstanding() {
            self.timer = (Instant::FAR, Timer::Timeout);
            return;
        }
        let rto = self.rtt.rto();
        self.timer = match self.probe_timeout().filter(|wait| *wait < rto) {
            Some(wait) => (now + wait, Timer::Probe),
            None => (now + rto, Timer::Timeout),
        };
    }

    /// RFC 8985 7.2.
    fn probe_timeout(&self) -> Option<Duration> {
        if self.phase != Phase::Open || self.probe.is_some() || self.board.has_sacked() {
            return None;
        }
        let delay = if self.board.is_single() { MAX_ACK_DELAY } else { Duration::from_millis(2) };
        self.rtt.smoothed().map(|smoothed| smoothed * 2 + delay)
    }

    #[cold]
    fn handle_timer(&mut self, now: Instant) {
        if self.timer.1 == Timer::Probe {
            self.probe_now = true;
            self.timer = (now + self.rtt.rto(), Timer::Timeout);
            return;
        }
        self.stats.timeouts += 1;
        self.rtt.back_off();
        let congestion = self.congestion(now, Signal::Loss, self.board.in_flight());
        self.stats.losses += u64::from(self.board.lose_all());
        if !matches!(self.phase, Phase::TimedOut { .. }) {
            self.controller.on_timeout(&congestion);
        }
        self.phase = Phase::TimedOut { end: self.board.next_seq() };
        self.prr = None;
        self.probe = None;
        self.first_resent = None;
        self.reorder_deadline = Instant::FAR;
        self.ask_controller();
        self.timer = (now + self.rtt.rto(), Timer::Timeout);
    }

    #[cold]
    fn answer_syn(&mut self, now: Instant) -> Option<Packet<Payload>> {
        let flags = self.handshake.poll_transmit()?;
        let (window, echo) = (self.receive_window, self.peer_timestamp);
        let syn_ack = TcpSegment { flags, ack: 1, window, timestamp: now, echo, ..TcpSegment::default() };
        Some(self.wrap(syn_ack, Ecn::NotEct))
    }

    fn transmit(&mut self, now: Instant, next: NextUp) -> Packet<Payload> {
        let NextUp { seq, len, again } = next;
        if let Some(prr) = &mut self.prr {
            prr.sent(u64::from(len));
        }
        self.stats.retransmissions += u64::from(again);
        self.last_sent = now;
        let mut flags = self.feedback.flags(TcpFlags { ack: true, ..TcpFlags::default() });
        if !again && std::mem::take(&mut self.say_cwr) {
            flags.cwr = true;
        }
        // RFC 3168 6.1.5: not on retransmissions; with AccECN all packets are alike.
        let ecn = if again && self.handshake.agreed() == EcnMode::Classic { Ecn::NotEct } else { self.ect };
        let segment = TcpSegment {
            flags,
            seq,
            ack: 1,
            payload: len,
            window: self.receive_window,
            timestamp: now,
            echo: self.peer_timestamp,
            ..TcpSegment::default()
        };
        let packet = self.wrap(segment, ecn);
        if let Some((rate, burst)) = self.pacing {
            self.pacer.sent(now, packet.size, rate, burst);
        }
        // New data in an open window moves the probe; the timeout runs from the oldest segment.
        if self.timer.0 == Instant::FAR || (self.timer.1 == Timer::Probe && !again) {
            self.arm_timer(now);
        }
        packet
    }

    fn wrap(&mut self, segment: TcpSegment, ecn: Ecn) -> Packet<Payload> {
        let size = segment.wire_size();
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += size;
        Packet { flow: self.flow, size, ecn, payload: Payload::Tcp(segment) }
    }
}

impl Endpoint for Sender {
    fn handle_packet(&mut self, now: Instant, packet: Packet<&Payload>) {
        self.stats.packets_received += 1;
        self.stats.bytes_received += packet.size;
        self.stats.marks_received += u64::from(packet.ecn == Ecn::Ce);
        let Payload::Tcp(segment) = packet.payload else { return };
        if !self.handshake.is_established() {
            if self.handshake.handle_segment(now, segment.flags, packet.ecn) == Step::Established {
                self.establish(now, segment);
            } else {
                self.peer_timestamp = segment.timestamp;
            }
        } else if !segment.flags.syn {
            self.feedback.on_packet(packet.ecn, segment.payload, segment.flags);
            self.handle_ack(now, segment);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.handshake.handle_timeout(now);
        if self.reorder_deadline <= now {
            let in_flight = self.board.in_flight();
            self.find_losses(now, in_flight);
            self.ask_controller();
        }
        if self.timer.0 <= now {
            self.handle_timer(now);
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let handshake = self.handshake.next_deadline().unwrap_or(Instant::FAR);
        let next = handshake.min(self.reorder_deadline).min(self.timer.0).min(self.release);
        (next != Instant::FAR).then_some(next)
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<Payload>> {
        if !self.handshake.is_established() {
            return self.answer_syn(now);
        }
        self.release = Instant::FAR;
        let next = self.next_up(now)?;
        Some(self.transmit(now, next))
    }

    fn stats(&self) -> Stats {
        let established = self.handshake.is_established();
        Stats {
            acknowledged: Bytes(self.board.delivered()),
            in_flight: Some(Bytes(self.board.in_flight())),
            window: established.then(|| self.controller.window()),
            pacing_rate: self.pacing.map(|(rate, _)| rate),
            smoothed_rtt: self.rtt.smoothed(),
            min_rtt: self.rtt.smoothed().map(|_| self.rtt.min()),
            alpha: if established { self.controller.alpha() } else { None },
            ..self.stats
        }
    }

    fn take_rtt_sample(&mut self) -> Option<Duration> {
        self.rtt_sample.take()
    }

    fn take_completion(&mut self) -> Option<Completion> {
        self.source.take_completion()
    }
}
