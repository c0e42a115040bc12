//! One flow's end on a real socket: the loop that gives the endpoint packets and the time.

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

/// Time between two introductions, which an end sends to a peer that reads RTCP until something of the flow has come.
const INTRODUCTION: Duration = Duration::from_millis(500);
/// A peer that is there and of whose flow nothing comes for so long is behind a path that swallows ECT.
const BLACK_HOLE: Duration = Duration::from_secs(3);
/// A sender that has kept to its minimum rate for so long is stuck there.
const STUCK: Duration = Duration::from_secs(3);
/// Lateness up to which what is due is done at its own time: a late wake-up costs no rate.
const MAX_BEHIND: Duration = Duration::from_millis(10);
/// Longest sleep: an interrupt is noticed then at the latest.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);
/// Deadlines served before the socket has its turn.
const BATCH: usize = 1_000;
/// IPv4 and UDP headers, which endpoints count with.
const HEADERS: u64 = 28;
/// Farewells that are sent: a datagram may be lost.
const FAREWELLS: u32 = 3;

/// Times of a session.
pub(super) struct Times {
    /// Time from the peer's first datagram to the end.
    pub time: Duration,
    /// Time between two lines of output.
    pub interval: Duration,
    /// Time to wait for the peer's first datagram.
    pub patience: Duration,
    /// Time from the peer's first datagram to the first packet, at the most.
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
    /// Sender or receiver, as it is simulated.
    pub endpoint: Box<dyn Endpoint + Send>,
    /// ECN codepoint of the flow's data.
    pub codepoint: Ecn,
    /// Format of the flow's packets.
    pub format: Box<dyn Format>,
    /// Times of the session.
    pub times: Times,
    /// Names this end in RTCP.
    pub ssrc: u32,
    /// Modem that the cell's recommendations come from, if this end listens to them.
    pub modem: Option<Modem>,
    /// Minimum rate of a sender that should leave it.
    pub min_rate: Option<BitRate>,
}

/// A session at its end.
pub(super) struct Outcome {
    /// Verdict on what the path does to ECN.
    pub verdict: Verdict,
    /// Error of a sender that never left its minimum rate.
    pub stuck: Option<String>,
}

/// A session under way.
struct Running {
    session: Session,
    listens: bool,
    /// True for a sender that sends before anything of its peer has come.
    begins: bool,
    /// True while this end sends the peer by RTCP that it is there, and when it leaves. Other peers take that for data.
    introduces_itself: bool,
    clock: Clock,
    recorder: EndpointRecorder,
    /// Time of the peer's first datagram.
    met: Option<Instant>,
    /// Time at which the endpoint was served last: it never goes back.
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
            // A peer that may take RTCP for data is asked once, after a long silence: is it not there, or does the path swallow ECT?
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
                "{peer} said nothing for {patience}: start `tidemark net {other} --listen {}` there, and let UDP pass both ways",
                peer.port()
            ),
            (None, _) => miette!("nobody came for {patience}: start `tidemark net {other} HOST:PORT` at the other end"),
        }
    }

    /// True once the endpoint may speak. A receiver that knows its sender opens the path itself.
    fn is_open(&self) -> bool {
        self.met.is_some() || self.begins || !self.listens && self.session.role == Role::Receiver
    }

    fn is_over(&self, now: Instant) -> bool {
        let Some(met) = self.met else { return false };
        self.peer_left || now >= met + self.session.times.time || self.verdict(now) == Verdict::BlackHoled
    }

    /// Time at which something is to be done, if nothing comes.
    fn wake(&self, start: Instant) -> Instant {
        let endpoint = self.session.endpoint.next_deadline().filter(|_| self.is_open()).unwrap_or(Instant::FAR);
        let end = self.met.map_or(start + self.session.times.patience, |met| met + self.session.times.time);
        let introduction = if self.introduces() { self.next_introduction } else { Instant::FAR };
        let (wake, now) = (endpoint.min(end).min(introduction).min(self.next_line), self.now());
        wake.min(now + LONGEST_SLEEP).max(now)
    }

    /// Tells the peer that this end is there, with Not-ECT: that passes where ECT does not.
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
        // What the kernel does not take is lost, as it could be anywhere on its way.
        if let Err(error) = self.session.socket.send(bytes, peer, ecn)
            && self.refused.is_none()
        {
            eprintln!("tidemark: {peer}: {error}");
            self.refused = Some(error);
        }
    }

    /// Serves what is due at `now`, each deadline at its own time.
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
                // An ICMP error about something sent before; the peer's datagrams show whether it is there.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => continue,
                Err(error) => return Err(miette!("receiving: {error}")),
            };
            // A second peer is none of this flow's.
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

    /// Notes that the peer is there, by an introduction or by its flow. A sender's time begins with the peer: nothing is encoded for
    /// nobody.
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
        // What opens the path acknowledges nothing that was sent.
        self.received += u64::from(!matches!(&payload, Payload::PragueAck(ack) if ack.ack_seq == 0));
        // What was due before it came happens before it. One that waited had nothing to do: a sender that calls has opened the path.
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
        // The other end may have come to the same conclusion a moment before.
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

    /// Error of a sender that never left its minimum rate, however long it had.
    fn stuck(&self, now: Instant, stats: &Stats) -> Option<String> {
        let (min_rate, met) = (self.recorder.stuck_at()?, self.met?);
        (now >= met + self.session.times.start + STUCK).then(|| {
            let Stats { packets_sent: sent, losses, timeouts, marks_reported: marks, .. } = stats;
            let why = match self.received {
                0 => format!("nothing was said of any of {sent} packets"),
                _ => format!("of {sent} packets {losses} were lost and {marks} marked, with {timeouts} timeouts"),
            };
            format!("the sender never left its least rate, {:.2} Mbit/s: {why}", min_rate.as_mbps())
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
    // The reader may have closed its end: the flow goes on to its own.
    let text = serde_json::to_string(line).unwrap_or_default();
    let _ = writeln!(std::io::stdout(), "{text}");
}
