//! One end of a flow on a real socket: the loop that hands packets and the time to the endpoint.

use std::io::{ErrorKind, Write as _};
use std::net::SocketAddr;

use miette::{Result, miette};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet};
use tidemark_emu::{Clock, EcnSocket};
use tidemark_record::endpoint::EndpointRecorder;
use tidemark_record::endpoint_result::{EndpointResult, Role, Verdict};
use tidemark_senders::{Endpoint, Payload, Stats};
use tidemark_wire::rtcp::Presence;

use super::format::{Format, RECEIVER_STARTS};
use super::modem::Modem;
use tidemark_terminal::interrupt;

/// Time between two introductions. An end sends them to a peer that reads RTCP until something of the flow has come.
const INTRODUCTION: Duration = Duration::from_millis(500);
/// If a peer answers and nothing of its flow comes for this long, the path drops ECT.
const BLACK_HOLE: Duration = Duration::from_secs(3);
/// A sender that has stayed at its minimum rate for this long is stuck.
const STUCK: Duration = Duration::from_secs(3);
/// Greatest lateness that the endpoint does not see: deadlines are served at their own time, so a late wake-up costs no rate.
const MAX_BEHIND: Duration = Duration::from_millis(10);
/// Longest sleep, after which an interrupt is noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);
/// Deadlines served before the socket is read again.
const BATCH: usize = 1_000;
/// Bytes of IPv4 and UDP headers, which endpoints count too.
const HEADERS: u64 = 28;
/// Number of farewells sent, because a datagram may be lost.
const FAREWELLS: u32 = 3;

/// Times of a session.
pub(super) struct Times {
    /// Time from the peer's first datagram to the end.
    pub time: Duration,
    /// Time between two lines of output.
    pub interval: Duration,
    /// Time to wait for the peer's first datagram.
    pub patience: Duration,
    /// Longest time from the peer's first datagram to the first packet.
    pub start: Duration,
}

/// One end of a flow.
pub(super) struct Session {
    /// Socket of the flow, which reads and sets ECN.
    pub socket: EcnSocket,
    /// Role of this end.
    pub role: Role,
    /// Address of the peer; a listener learns it from the first datagram.
    pub peer: Option<SocketAddr>,
    /// Sender or receiver, the same code as in the simulator.
    pub endpoint: Box<dyn Endpoint + Send>,
    /// ECN codepoint of the flow's data.
    pub codepoint: Ecn,
    /// Format of the flow's packets.
    pub format: Box<dyn Format>,
    /// Times of the session.
    pub times: Times,
    /// Name of this end in RTCP.
    pub ssrc: u32,
    /// Modem with the cell's recommendations, if this end follows them.
    pub modem: Option<Modem>,
    /// Minimum rate that a sender should exceed.
    pub min_rate: Option<BitRate>,
}

/// Outcome of a session.
pub(super) struct Outcome {
    /// Verdict on what the path does to ECN.
    pub verdict: Verdict,
    /// Error of a sender that never left its minimum rate.
    pub stuck: Option<String>,
}

/// A running session.
struct Running {
    session: Session,
    listens: bool,
    /// True for a sender that may send before its peer was heard.
    begins: bool,
    /// True while this end announces itself and its leaving by RTCP. Other peers would take that for data.
    introduces_itself: bool,
    clock: Clock,
    recorder: EndpointRecorder,
    /// Time of the peer's first datagram.
    met: Option<Instant>,
    /// Time at which the endpoint was last served. It never goes back.
    served: Instant,
    next_introduction: Instant,
    next_line: Instant,
    /// Datagrams of data or feedback on it since the beginning.
    received: u64,
    /// Introductions of the peer since the beginning.
    presences: u64,
    peer_left: bool,
    /// Error of the first datagram that the kernel did not take, printed once.
    refused: Option<std::io::Error>,
}

impl Session {
    /// Runs to its end.
    ///
    /// # Errors
    /// A peer that does not come, and a socket that fails.
    pub(super) fn run(mut self) -> Result<Outcome> {
        let clock = Clock::start();
        let start = if self.role == Role::Receiver { RECEIVER_STARTS } else { Instant::ZERO };
        let (listens, introduces_itself) = (self.peer.is_none(), self.format.peer_reads_rtcp());
        let opening = self.format.opening().filter(|_| self.role == Role::Sender && !listens);
        if let Some(payload) = &opening {
            let packet = Packet { flow: FlowId(0), size: Bytes(HEADERS), ecn: Ecn::NotEct, payload };
            self.endpoint.handle_packet(start, packet);
        }
        Running {
            listens,
            begins: opening.is_some(),
            introduces_itself,
            clock,
            recorder: EndpointRecorder::new(self.role, start, self.min_rate),
            met: None,
            served: start,
            // A peer that may take RTCP for data is asked once, after a long silence, to tell a missing peer from a path that drops ECT.
            next_introduction: if introduces_itself { start } else { start + self.times.patience / 2 },
            next_line: Instant::FAR,
            received: 0,
            presences: 0,
            peer_left: false,
            refused: None,
            session: self,
        }
        .run()
    }
}

impl Running {
    fn run(mut self) -> Result<Outcome> {
        let mut buffer = vec![0; 65_536];
        let start = self.now();
        loop {
            let now = self.now();
            if self.met.is_none() && now >= start + self.session.times.patience {
                return Err(self.no_peer());
            }
            if self.is_over(now) || interrupt::happened() {
                break;
            }
            if let Some(rate) = self.session.modem.as_ref().and_then(Modem::latest) {
                self.recorder.recommended(rate);
                self.session.endpoint.handle_recommendation(now.max(self.served), rate);
            }
            self.introduce(now);
            if self.is_open() {
                self.serve(now, &mut buffer);
            }
            if now >= self.next_line {
                let stats = self.session.endpoint.stats();
                self.recorder.rate(now, stats.target_rate);
                print(&self.recorder.end_interval(now, &stats));
                self.next_line += self.session.times.interval;
            }
            let sleep = self.wake(start).since(self.now());
            match self.session.socket.wait(std::time::Duration::from_nanos(sleep.as_nanos())) {
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    return Err(miette!("waiting for packets: {error}"));
                }
                _ => self.receive(&mut buffer)?,
            }
        }
        Ok(self.finish())
    }

    fn now(&self) -> Instant {
        let start = if self.session.role == Role::Receiver { RECEIVER_STARTS } else { Instant::ZERO };
        start + self.clock.now().since(Instant::ZERO)
    }

    fn no_peer(&self) -> miette::Report {
        let other = if self.session.role == Role::Sender { "receive" } else { "send" };
        let (patience, why) = (self.session.times.patience, self.refused.as_ref());
        match (self.session.peer, why) {
            (Some(peer), Some(error)) => miette!("{peer}: {error}"),
            (Some(peer), None) => miette!(
                "{peer} did not answer for {patience}: start `tidemark net {other} --listen {}` there, and let UDP pass both ways",
                peer.port()
            ),
            (None, _) => miette!("no peer for {patience}: start `tidemark net {other} HOST:PORT` at the other end"),
        }
    }

    /// True once the endpoint may send. A receiver that knows its sender opens the path itself.
    fn is_open(&self) -> bool {
        self.met.is_some() || self.begins || !self.listens && self.session.role == Role::Receiver
    }

    fn is_over(&self, now: Instant) -> bool {
        let Some(met) = self.met else { return false };
        self.peer_left || now >= met + self.session.times.time || self.verdict(now) == Verdict::BlackHoled
    }

    /// Time of the next deadline, if nothing comes before.
    fn wake(&self, start: Instant) -> Instant {
        let endpoint = self.session.endpoint.next_deadline().filter(|_| self.is_open()).unwrap_or(Instant::FAR);
        let end = self.met.map_or(start + self.session.times.patience, |met| met + self.session.times.time);
        let introduction = if self.introduces() { self.next_introduction } else { Instant::FAR };
        let (wake, now) = (endpoint.min(end).min(introduction).min(self.next_line), self.now());
        wake.min(now + LONGEST_SLEEP).max(now)
    }

    /// Announces this end to the peer with Not-ECT, which passes where ECT does not.
    fn introduce(&mut self, now: Instant) {
        if self.introduces() && now >= self.next_introduction {
            self.next_introduction = if self.introduces_itself { now + INTRODUCTION } else { Instant::FAR };
            self.say(Presence::Here);
        }
    }

    fn introduces(&self) -> bool {
        self.session.peer.is_some() && self.received == 0 && (self.introduces_itself || self.met.is_none())
    }

    fn say(&mut self, presence: Presence) {
        let bytes = presence.emit(self.session.ssrc);
        self.send(&bytes, Ecn::NotEct);
    }

    fn send(&mut self, bytes: &[u8], ecn: Ecn) {
        let Some(peer) = self.session.peer else { return };
        // A datagram that the kernel refuses counts as lost on the path.
        if let Err(error) = self.session.socket.send(bytes, peer, ecn)
            && self.refused.is_none()
        {
            eprintln!("tidemark: {peer}: {error}");
            self.refused = Some(error);
        }
    }

    /// Serves the deadlines up to `now`, each at its own time.
    fn serve(&mut self, now: Instant, buffer: &mut [u8]) {
        for _ in 0..BATCH {
            let Some(due) = self.session.endpoint.next_deadline().filter(|due| *due <= now) else { break };
            let at = due.max(now.before(MAX_BEHIND)).max(self.served);
            self.served = at;
            self.session.endpoint.handle_timeout(at);
            self.transmit(at, buffer);
        }
        self.served = now.max(self.served);
        self.transmit(now, buffer);
    }

    fn transmit(&mut self, at: Instant, buffer: &mut [u8]) {
        while let Some(packet) = self.session.endpoint.poll_transmit(at) {
            if let Some(length) = self.session.format.write(&packet.payload, buffer) {
                if self.session.role == Role::Sender {
                    self.recorder.sent(at);
                }
                self.send(&buffer[..length], packet.ecn);
            }
        }
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<()> {
        loop {
            let (length, from, ecn) = match self.session.socket.try_receive(buffer) {
                Ok(received) => received,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Ok(()),
                // An ICMP error about an earlier datagram. The peer's own datagrams show whether it is there.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => continue,
                Err(error) => return Err(miette!("receiving: {error}")),
            };
            // Datagrams of a second peer do not belong to this flow.
            if self.session.peer.is_some_and(|peer| peer.port() != from.port() || peer.ip().to_canonical() != from.ip())
            {
                continue;
            }
            match Presence::parse(&buffer[..length]) {
                Ok(Presence::Here) => {
                    self.introduces_itself = true;
                    self.next_introduction = self.next_introduction.min(self.now() + INTRODUCTION);
                    self.meet(from, true);
                }
                Ok(Presence::Bye) => self.peer_left = self.met.is_some(),
                Err(_) => self.read(from, ecn, length, buffer),
            }
        }
    }

    /// Notes that the peer has been heard, by an introduction or by its flow. A sender's time begins then, so that nothing is encoded
    /// before.
    fn meet(&mut self, from: SocketAddr, is_introduction: bool) {
        self.session.peer = Some(from);
        if self.met.is_none() {
            if self.session.role == Role::Sender && !self.begins {
                self.clock = Clock::start();
                self.served = Instant::ZERO;
                self.next_introduction = Instant::ZERO;
            }
            let now = self.now();
            self.met = Some(now);
            self.recorder = EndpointRecorder::new(self.session.role, now, self.session.min_rate);
            self.next_line = now + self.session.times.interval;
        }
        if is_introduction {
            self.presences += 1;
            if self.listens {
                self.say(Presence::Here);
            }
        }
    }

    fn read(&mut self, from: SocketAddr, ecn: Ecn, length: usize, buffer: &mut [u8]) {
        let now = self.now();
        let Some(payload) = self.session.format.read(now, &buffer[..length]) else { return };
        let is_first = self.met.is_none();
        self.meet(from, false);
        let now = if self.received == 0 { self.now() } else { now };
        if !self.introduces_itself && self.session.format.peer_reads_rtcp() {
            self.introduces_itself = true;
            self.say(Presence::Here);
        }
        // A datagram that opens the path acknowledges nothing.
        self.received += u64::from(!matches!(&payload, Payload::PragueAck(ack) if ack.ack_seq == 0));
        // Deadlines before the datagram's arrival are served first. An end that waited has none: a sender that calls has opened the path.
        if !is_first || !self.listens {
            self.serve(now, buffer);
        }
        let sent_at = match &payload {
            Payload::PragueData(data) => Some(data.timestamp),
            Payload::Rtp(packet) => Some(packet.sent_at),
            _ => None,
        };
        let size = Bytes(length as u64 + HEADERS);
        match sent_at {
            Some(sent_at) => self.recorder.arrived(now, (size, ecn), now.since(sent_at)),
            None => self.recorder.acknowledged(now, ecn),
        }
        let packet = Packet { flow: tidemark_core::FlowId(0), size, ecn, payload };
        let endpoint = &mut self.session.endpoint;
        endpoint.handle_packet(now, packet.as_ref());
        if let Some(rtt) = endpoint.take_rtt_sample() {
            self.recorder.round_trip(now, rtt);
        }
        self.recorder.rate(now, endpoint.stats().target_rate);
        while let Some(frame) = endpoint.take_frame() {
            self.recorder.frame(now, frame);
        }
        self.transmit(now, buffer);
    }

    fn verdict(&self, now: Instant) -> Verdict {
        let (stats, seen) = (self.session.endpoint.stats(), self.recorder.codepoints());
        // The other end may have ended a moment before.
        let enough = if self.peer_left { BLACK_HOLE * 2 / 3 } else { BLACK_HOLE };
        let waited = self.met.is_some_and(|met| now >= met + self.session.times.start + enough);
        match self.session.role {
            _ if self.received == 0 && self.presences > 1 && waited => Verdict::BlackHoled,
            _ if self.received == 0 => Verdict::Unknown,
            Role::Sender if stats.bleached => Verdict::Bleached,
            _ if !self.session.codepoint.is_ect() => Verdict::Unknown,
            Role::Receiver if !seen.keep(self.session.codepoint) => Verdict::Bleached,
            _ => Verdict::Kept,
        }
    }

    /// Error of a sender that never left its minimum rate, though it had time to.
    fn stuck(&self, now: Instant, stats: &Stats) -> Option<String> {
        let (min_rate, met) = (self.recorder.stuck_at()?, self.met?);
        (now >= met + self.session.times.start + STUCK).then(|| {
            let Stats { packets_sent: sent, losses, timeouts, marks_reported: marks, .. } = stats;
            let why = match self.received {
                0 => format!("none of {sent} packets was reported"),
                _ => format!("{losses} of {sent} packets were lost and {marks} marked, with {timeouts} timeouts"),
            };
            format!("the sender never left its minimum rate, {:.2} Mbit/s: {why}", min_rate.as_mbps())
        })
    }

    fn finish(mut self) -> Outcome {
        let now = self.now();
        if self.introduces_itself && !self.peer_left {
            for _ in 0..FAREWELLS {
                self.say(Presence::Bye);
            }
        }
        let (verdict, stats) = (self.verdict(now), self.session.endpoint.stats());
        self.recorder.rate(now, stats.target_rate);
        print(&self.recorder.summary(now, &stats, verdict));
        Outcome { verdict, stuck: self.stuck(now, &stats) }
    }
}

/// Prints a line of JSON.
fn print(line: &EndpointResult) {
    // The reader may have closed its end; the flow still runs to its end.
    let text = serde_json::to_string(line).unwrap_or_default();
    let _ = writeln!(std::io::stdout(), "{text}");
}
