//! The server: answers the connection, sends the data, and does what its congestion controller says.
//!
//! Parts, each in its own file: [`SenderEcn`] reads marks, [`Scoreboard`] knows the segments, [`Recovery`] the phase of loss
//! recovery, [`SendBuffer`] the application's data, [`Timers`], [`Pacing`] and [`TailLossProbe`] when something leaves. The sender
//! hands news from one to the other.

use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet, TcpFlags};

use super::buffer::SendBuffer;
use super::ecn::{Marks, SenderEcn};
use super::handshake::{Handshake, Step};
use super::pacing::Pacing;
use super::probe::TailLossProbe;
use super::recovery::Recovery;
use super::rtt::RttEstimator;
use super::scoreboard::{FIRST_SEQ, News, Scoreboard};
use super::timers::{Expiry, Timers};
use super::window::SendWindow;
use crate::config::{EcnMode, TcpConfig};
use crate::controller::{Congestion, Controller, EcnResponse, Signal};
use crate::endpoint::{Completion, Endpoint, Stats};
use crate::payload::{Payload, TcpSegment};
use crate::source::Source;

/// Segment that leaves next: `len` bytes from `seq` on.
#[derive(Clone, Copy, Debug)]
struct NextSegment {
    seq: u64,
    len: u32,
    is_retransmission: bool,
}

/// The sending end of a connection.
pub struct Sender {
    flow: FlowId,
    receive_window: u32,
    handshake: Handshake,
    controller: Box<dyn Controller + Send>,
    buffer: SendBuffer,
    board: Scoreboard,
    recovery: Recovery,
    probe: TailLossProbe,
    timers: Timers,
    window: SendWindow,
    pacing: Pacing,
    rtt: RttEstimator,
    ecn: SenderEcn,
    peer_timestamp: Instant,
    last_sent: Instant,
    /// Time since which the send buffer alone holds data back; `Instant::FAR` while it does not.
    buffer_limited_since: Instant,
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
            receive_window: config.receive_window.0 as u32,
            handshake: Handshake::server(willing),
            controller,
            buffer: SendBuffer::new(source, config.mss.0 as u32, config.send_buffer.0),
            board: Scoreboard::new(),
            recovery: Recovery::new(),
            probe: TailLossProbe::default(),
            timers: Timers::new(),
            window: SendWindow::default(),
            pacing: Pacing::default(),
            rtt: RttEstimator::new(config.min_rto),
            ecn: SenderEcn::new(config.mss),
            peer_timestamp: Instant::ZERO,
            last_sent: Instant::ZERO,
            buffer_limited_since: Instant::FAR,
            rtt_sample: None,
            stats: Stats::default(),
        }
    }

    #[cold]
    fn establish(&mut self, now: Instant, segment: &TcpSegment) {
        let agreed = self.handshake.agreed();
        self.ecn.establish(agreed, self.controller.ecn_response(), segment.flags.ace());
        let rtt = self.handshake.rtt(now);
        // A SYN that was repeated gives no round trip (RFC 6298 3).
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt);
            self.rtt_sample = Some(rtt);
        }
        self.buffer.allow(segment.ack, segment.window);
        self.last_sent = now;
        self.controller.on_established(now, agreed, rtt);
        self.ask_controller();
    }

    fn handle_ack(&mut self, now: Instant, segment: &TcpSegment) {
        // Data that was never sent cannot be acknowledged (RFC 9293 3.10.7.4).
        if segment.ack > self.board.next_seq() {
            return;
        }
        let newest = segment.timestamp >= self.peer_timestamp;
        self.peer_timestamp = self.peer_timestamp.max(segment.timestamp);
        self.buffer.allow(segment.ack, segment.window);
        // The access network's recommendation, which the receiver hands on in an option.
        if let Some(rate) = segment.recommended {
            self.controller.on_recommendation(now, rate);
        }
        let prior_in_flight = self.board.in_flight();
        let was_limited = self.window.was_limit(self.board.delivered());
        let mut news = News::default();
        self.board.handle_ack(now, segment, self.rtt.min(), &mut news);
        // A retransmission's round trip is known only where the echo tells which one arrived (RFC 6298 3).
        if let Some(rtt) = news.first_rtt {
            self.rtt.sample(rtt);
        }
        self.rtt_sample = news.ack.rtt.or(self.rtt_sample);
        if news.advanced {
            // The path works again; and only now can a retransmission be found to have been for nothing.
            self.rtt.reset_backoff();
            self.find_spurious(now, segment);
            self.buffer.on_acknowledged(now, self.board.una());
        }
        let acked = news.ack.acked;
        let marks = self.read_marks(now, segment, newest, news.ack.acked_packets, prior_in_flight);
        // Bytes without a packet are old ones, reported late: they must not hold up the growth of a window.
        let marked = if marks.packets > 0 { marks.bytes.min(acked) } else { Bytes::ZERO };
        self.board.count_marked(&mut news, marked);
        self.recovery.advance(self.board.una());
        let lost = self.find_losses(now, prior_in_flight);
        self.check_probe(now, segment, prior_in_flight);
        let safe = news.advanced && lost == 0;
        self.recovery.on_ack(acked.0, self.board.in_flight(), || self.controller.window().0, safe);
        // An acknowledgement that tells nothing new must not count in anybody's averages.
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
            ack.recovering = self.recovery.is_reducing();
            ack.repairing = self.recovery.is_repairing();
            self.controller.on_ack(ack);
        }
        self.ask_controller();
        // The timer runs anew from every delivery (RFC 6298 5).
        if news.advanced || acked > Bytes::ZERO {
            self.arm_timer(now);
        }
    }

    /// Reads the congestion feedback of an acknowledgement, and answers it if the controller does not do so itself.
    fn read_marks(&mut self, now: Instant, segment: &TcpSegment, newest: bool, acked: u32, in_flight: u64) -> Marks {
        let marks = self.ecn.read(segment, newest, acked);
        // A scalable controller answers marks in its own proportion: the transport must not reduce for them too.
        if self.ecn.response() == EcnResponse::Scalable {
            self.stats.marks_reported += u64::from(marks.packets);
            return marks;
        }
        // One reduction for each window of data: an echo during recovery belongs to the congestion that is being answered.
        if marks.packets > 0 && self.recovery.is_open() {
            self.stats.marks_reported += 1;
            self.recovery.begin_reducing(self.board.next_seq());
            self.ecn.on_reduced();
            self.reduce(now, Signal::Ecn, in_flight);
        }
        Marks::default()
    }

    fn congestion(&self, now: Instant, signal: Signal, in_flight: u64) -> Congestion {
        Congestion { now, signal, in_flight: Bytes(in_flight), delivered: Bytes(self.board.delivered()) }
    }

    #[cold]
    fn reduce(&mut self, now: Instant, signal: Signal, in_flight: u64) {
        self.controller.on_congestion(&self.congestion(now, signal, in_flight));
        // A controller with a pace of its own, as BBR, says itself what leaves during recovery.
        if !self.controller.owns_recovery() {
            self.recovery.spread(in_flight, u64::from(self.buffer.mss()));
        }
    }

    /// Finds losses, and gives their bytes.
    fn find_losses(&mut self, now: Instant, prior_in_flight: u64) -> u64 {
        // Nothing outstanding was overtaken in all but a few acknowledgements, and nothing else can be lost.
        if self.board.is_overtaken() {
            return self.judge_overtaken(now, prior_in_flight);
        }
        self.timers.watch_reordering(Instant::FAR);
        0
    }

    #[cold]
    fn judge_overtaken(&mut self, now: Instant, prior_in_flight: u64) -> u64 {
        let repairing = self.recovery.is_repairing();
        let smoothed = self.rtt.smoothed().unwrap_or_default();
        let controller = &mut self.controller;
        let (lost, segments, deadline) =
            self.board.detect_losses(now, self.rtt.min(), smoothed, repairing, |lost| controller.on_lost(lost));
        self.timers.watch_reordering(deadline);
        self.stats.losses += u64::from(segments);
        if lost > 0 && !repairing {
            // A reduction after an echo in the same window was the reduction for this loss as well.
            if self.recovery.is_open() {
                self.reduce(now, Signal::Loss, prior_in_flight);
            }
            self.recovery.begin_repairing(self.board.next_seq());
        }
        lost
    }

    /// Takes back a reduction after a loss or a timeout that was none.
    fn find_spurious(&mut self, now: Instant, segment: &TcpSegment) {
        // The original had arrived: the window was reduced for nothing (RFC 3522).
        if self.recovery.is_spurious(self.board.una(), segment.echo) {
            self.stats.spurious += 1;
            self.board.restore_lost();
            self.controller.on_spurious(now);
            self.recovery.end();
        }
    }

    /// Answers a loss that a probe repaired, unless recovery has answered it.
    fn check_probe(&mut self, now: Instant, segment: &TcpSegment, in_flight: u64) {
        // A probe that filled the hole leaves nothing for recovery to find (RFC 8985 7.4).
        if self.probe.reveals_loss(self.board.una(), segment.echo) && self.recovery.is_open() {
            self.recovery.begin_reducing(self.board.next_seq());
            self.reduce(now, Signal::Loss, in_flight);
        }
    }

    /// Takes over the controller's window and rate; called after everything that the controller learns.
    fn ask_controller(&mut self) {
        self.window.set(self.controller.window().0);
        self.pacing.ask(&*self.controller);
    }

    /// Starts the retransmission timer: for a probe while nothing indicates a loss, else for the timeout (RFC 6298 5).
    #[inline(never)]
    fn arm_timer(&mut self, now: Instant) {
        // All data is acknowledged: nothing is left to time out (RFC 6298 5).
        if !self.board.is_outstanding() {
            self.timers.stop();
            return;
        }
        let rto = self.rtt.rto();
        // A probe comes before the timer: it repairs the tail without a collapsed window (RFC 8985 7.3).
        match self.probe_wait().filter(|wait| *wait < rto) {
            Some(wait) => self.timers.start(now + wait, Expiry::Probe),
            None => self.timers.start(now + rto, Expiry::Timeout),
        }
    }

    /// Wait before a probe; `None` while recovery or a hole already tells of a loss (RFC 8985 7.2).
    fn probe_wait(&self) -> Option<Duration> {
        if !self.recovery.is_open() || self.board.has_sacked() {
            return None;
        }
        self.probe.wait(self.rtt.smoothed(), self.board.is_single())
    }

    #[cold]
    fn handle_expiry(&mut self, now: Instant, expiry: Expiry) {
        // Without an answer to the probe the timer is next.
        match expiry {
            Expiry::Probe => self.probe.request(),
            Expiry::Timeout => self.time_out(now),
        }
        self.timers.start(now + self.rtt.rto(), Expiry::Timeout);
    }

    fn time_out(&mut self, now: Instant) {
        self.stats.timeouts += 1;
        self.rtt.back_off();
        let congestion = self.congestion(now, Signal::Loss, self.board.in_flight());
        self.stats.losses += u64::from(self.board.lose_all());
        // A timeout after a timeout tells nothing new of the path's capacity.
        if !self.recovery.is_timed_out() {
            self.controller.on_timeout(&congestion);
        }
        self.recovery.time_out(self.board.next_seq());
        self.probe.cancel();
        self.timers.watch_reordering(Instant::FAR);
        self.ask_controller();
    }

    /// Bytes that may be in flight.
    fn flight_limit(&self) -> u64 {
        self.recovery.window(self.board.in_flight()).unwrap_or(self.window.size())
    }

    /// Takes what leaves now, if anything: a probe, a segment that was lost, or new data.
    fn next_segment(&mut self, now: Instant) -> Option<NextSegment> {
        // A probe leaves whatever window and pacing say: it replaces a timeout.
        if self.probe.take_due() && self.board.is_outstanding() {
            return self.next_probe(now);
        }
        // Repairs go before new data: the receiver can hand on nothing behind a hole.
        if self.board.has_lost()
            && let Some((number, len)) = self.board.next_lost()
        {
            return self.next_repair(now, number, len);
        }
        let Some(len) = self.new_bytes_in_window(now) else {
            // Data that waits for the window needs no deadline: an acknowledgement opens it.
            self.timers.release_at(self.buffer.next_data(now));
            return None;
        };
        // The pacer's time has not come; its deadline is set.
        if !self.is_released(now) {
            return None;
        }
        // With nothing in flight the acknowledgements' clock has stopped, and the window is old.
        if !self.board.is_outstanding() && self.board.next_seq() > FIRST_SEQ {
            self.restart_after_idle(now);
        }
        Some(NextSegment { seq: self.board.send(now, len), len, is_retransmission: false })
    }

    /// Number of new bytes that leave next, if there are any and the window has room for them.
    fn new_bytes_in_window(&mut self, now: Instant) -> Option<u32> {
        let len = self.buffer.new_bytes(now, self.board.next_seq(), self.board.una())?;
        let (in_flight, limit) = (self.board.in_flight(), self.flight_limit());
        if len == 0 {
            // Rates measured from here on are the application's, not the path's.
            if in_flight < limit {
                self.board.limited_by_application();
                // A full buffer with an idle path: the application's buffer is what limits the flow.
                if self.buffer.is_full() && !self.path_queues() {
                    self.buffer_limited_since = self.buffer_limited_since.min(now);
                }
            }
            return None;
        }
        // Data again: the time that it was missing is over.
        if self.buffer_limited_since != Instant::FAR {
            let since = std::mem::replace(&mut self.buffer_limited_since, Instant::FAR);
            self.stats.buffer_limited += now.since(since);
        }
        // Only then is the window what limits the sender, and a reason to let it grow.
        if in_flight + u64::from(len) > limit {
            self.window.note_limit(self.board.delivered() + in_flight);
            return None;
        }
        Some(len)
    }

    /// True where the round trip has half of its least one in queues: more data in flight would only lengthen them.
    fn path_queues(&self) -> bool {
        self.rtt.smoothed().is_some_and(|smoothed| smoothed > self.rtt.min() + self.rtt.min() / 2)
    }

    /// True if pacing lets a packet leave now; else sets the time at which it will.
    fn is_released(&mut self, now: Instant) -> bool {
        let wait = self.pacing.wait(now);
        self.timers.release_at(wait.unwrap_or(Instant::FAR));
        wait.is_none()
    }

    /// Takes new data for a probe if there is some, else the last segment once more (RFC 8985 7.3).
    #[cold]
    fn next_probe(&mut self, now: Instant) -> Option<NextSegment> {
        let next = match self.buffer.new_bytes(now, self.board.next_seq(), self.board.una()).unwrap_or(0) {
            0 => {
                let (number, len) = self.board.last()?;
                NextSegment { seq: self.board.retransmit(now, number)?, len, is_retransmission: true }
            }
            len => NextSegment { seq: self.board.send(now, len), len, is_retransmission: false },
        };
        self.probe.on_sent(now, self.board.next_seq(), next.is_retransmission);
        Some(next)
    }

    /// Takes a segment that is held for lost, if the window has room for it.
    #[cold]
    fn next_repair(&mut self, now: Instant, number: u64, len: u32) -> Option<NextSegment> {
        // A repair loads the path as new data does, and has to wait for the window as well.
        if self.board.in_flight() + u64::from(len) > self.flight_limit() {
            self.timers.release_at(self.buffer.next_data(now));
            return None;
        }
        // Repairs are paced as new data is, or a burst of them would be lost again.
        if !self.is_released(now) {
            return None;
        }
        let seq = self.board.retransmit(now, number)?;
        self.recovery.on_retransmission(now, seq);
        Some(NextSegment { seq, len, is_retransmission: true })
    }

    #[cold]
    fn restart_after_idle(&mut self, now: Instant) {
        self.controller.on_idle(now, now.since(self.last_sent), self.rtt.rto());
        self.ask_controller();
    }

    #[cold]
    fn answer_syn(&mut self, now: Instant) -> Option<Packet<Payload>> {
        let flags = self.handshake.poll_transmit()?;
        let (window, echo) = (self.receive_window, self.peer_timestamp);
        let syn_ack = TcpSegment { flags, ack: 1, window, timestamp: now, echo, ..TcpSegment::default() };
        Some(self.wrap(syn_ack, Ecn::NotEct))
    }

    fn transmit(&mut self, now: Instant, next: NextSegment) -> Packet<Payload> {
        let NextSegment { seq, len, is_retransmission } = next;
        self.recovery.on_sent(len);
        self.stats.retransmissions += u64::from(is_retransmission);
        self.last_sent = now;
        let flags = self.ecn.flags(TcpFlags { ack: true, ..TcpFlags::default() }, is_retransmission);
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
        let packet = self.wrap(segment, self.ecn.codepoint(is_retransmission));
        self.pacing.on_sent(now, packet.size);
        // A running timeout stays: it is that of the oldest segment (RFC 6298 5).
        if self.timers.starts_with(!is_retransmission) {
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
        // Other payloads are no business of a connection.
        let Payload::Tcp(segment) = packet.payload else { return };
        // Before the third segment there is neither data nor a window to acknowledge it in.
        if !self.handshake.is_established() {
            if self.handshake.handle_segment(now, segment.flags, packet.ecn) == Step::Established {
                self.establish(now, segment);
            } else {
                self.peer_timestamp = segment.timestamp;
            }
        } else if !segment.flags.syn {
            // A SYN on an open connection would begin anew what is counted.
            self.ecn.on_packet(packet.ecn, segment);
            self.handle_ack(now, segment);
        }
    }

    fn handle_recommendation(&mut self, now: Instant, rate: BitRate) {
        self.controller.on_recommendation(now, rate);
        self.ask_controller();
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.handshake.handle_timeout(now);
        // What was overtaken has had its time to come late (RFC 8985 6.2).
        if self.timers.is_reordering_over(now) {
            let in_flight = self.board.in_flight();
            self.find_losses(now, in_flight);
            self.ask_controller();
        }
        // Timers come last: what was found lost above may have stopped them.
        if let Some(expiry) = self.timers.expired(now) {
            self.handle_expiry(now, expiry);
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let next = self.handshake.next_deadline().unwrap_or(Instant::FAR).min(self.timers.next());
        (next != Instant::FAR).then_some(next)
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<Payload>> {
        // Before the handshake is over there is at most a SYN/ACK to send.
        if !self.handshake.is_established() {
            return self.answer_syn(now);
        }
        self.timers.release_at(Instant::FAR);
        let next = self.next_segment(now)?;
        Some(self.transmit(now, next))
    }

    fn stats(&self) -> Stats {
        let established = self.handshake.is_established();
        Stats {
            acknowledged: Bytes(self.board.delivered()),
            in_flight: Some(Bytes(self.board.in_flight())),
            window: established.then(|| self.controller.window()),
            pacing_rate: self.pacing.rate(),
            smoothed_rtt: self.rtt.smoothed(),
            min_rtt: self.rtt.smoothed().map(|_| self.rtt.min()),
            // Before the handshake ends nobody knows whether marks are counted.
            alpha: if established { self.controller.alpha() } else { None },
            bleached: self.ecn.is_bleached(),
            ..self.stats
        }
    }

    fn take_rtt_sample(&mut self) -> Option<Duration> {
        self.rtt_sample.take()
    }

    fn take_completion(&mut self) -> Option<Completion> {
        self.buffer.take_completion()
    }
}
