//! Two ends and the network between them, in memory and in virtual time.
#![allow(dead_code, reason = "each test uses a part")]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet, Probability, Stream};
use tidemark_senders::{
    AppConfig, Completion, ConfigError, CongestionControl, Endpoint, Ends, FrameArrival, OverTcp, Payload, Properties,
    SenderConfig, Stats, TcpConfig, Transport, connect,
};

/// Every controller over TCP, with its defaults.
pub fn over_tcp() -> Vec<SenderConfig> {
    SenderConfig::all().into_iter().filter(|sender| matches!(sender.transport(), Transport::Tcp(_))).collect()
}

/// Those of them that find their rate by themselves: the oracle sends what it is told, and nobody tells it here.
pub fn finding_their_rate() -> impl Iterator<Item = SenderConfig> {
    over_tcp().into_iter().filter(|sender| !matches!(sender, SenderConfig::Oracle(_)))
}

/// A controller over a TCP of other settings than its own.
#[derive(Debug)]
pub struct WithTcp {
    pub sender: SenderConfig,
    pub tcp: TcpConfig,
}

impl CongestionControl for WithTcp {
    fn properties(&self) -> &'static Properties {
        self.sender.properties()
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.tcp.validate()?;
        self.sender.validate()
    }
    fn transport(&self) -> Transport<'_> {
        match self.sender.transport() {
            Transport::Tcp(over) => Transport::Tcp(OverTcp { config: &self.tcp, ..over }),
            other => other,
        }
    }
}

/// Fate of a packet in the network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fate {
    Deliver,
    Mark,
    /// Clears the ECN field.
    Bleach,
    Drop,
    /// Late by this much more than others.
    Late(Duration),
    Twice,
}

/// A queue that serves at a rate, drops at a size and marks at an age.
pub struct Bottleneck {
    pub rate: BitRate,
    pub limit: Bytes,
    pub mark_above: Duration,
    /// Age from which everything is marked, by a share that rises from `mark_above`.
    pub mark_all: Duration,
    marks: Stream,
    queue: VecDeque<(Instant, Packet<Payload>)>,
    size: Bytes,
    free_at: Instant,
    pub drops: u64,
    pub longest: Duration,
}

impl Bottleneck {
    pub fn new(rate: BitRate, limit: Bytes, mark_above: Duration) -> Self {
        Self {
            rate,
            limit,
            mark_above,
            mark_all: mark_above,
            marks: Stream::new(1, 0, "bottleneck"),
            queue: VecDeque::new(),
            size: Bytes::ZERO,
            free_at: Instant::ZERO,
            drops: 0,
            longest: Duration::ZERO,
        }
    }
    fn push(&mut self, now: Instant, packet: Packet<Payload>) {
        if self.size + packet.size > self.limit {
            self.drops += 1;
            return;
        }
        self.size += packet.size;
        if self.queue.is_empty() {
            self.free_at = self.free_at.max(now);
        }
        self.queue.push_back((now, packet));
    }
    fn next(&self) -> Option<Instant> {
        let (_, packet) = self.queue.front()?;
        Some(self.free_at + self.rate.time_to_send(packet.size))
    }
    fn pop(&mut self, now: Instant) -> Option<Packet<Payload>> {
        if self.next()? > now {
            return None;
        }
        self.free_at = now;
        let (since, mut packet) = self.queue.pop_front()?;
        self.size -= packet.size;
        self.longest = self.longest.max(now.since(since));
        let age = now.since(since);
        let ramp = (self.mark_all - self.mark_above).as_secs_f64().max(1e-9);
        if self.marks.chance(Probability::new((age - self.mark_above).as_secs_f64() / ramp)) {
            packet.ecn = packet.ecn.marked();
        }
        Some(packet)
    }
}

struct Flight {
    at: Instant,
    number: u64,
    down: bool,
    packet: Packet<Payload>,
}
impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}
impl Eq for Flight {}
impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Flight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

type Fates = Box<dyn FnMut(Instant, &Packet<Payload>) -> Fate>;
/// A node that reads and rewrites what passes; true for data on its way down.
pub type Node = Box<dyn FnMut(Instant, bool, &mut Packet<Payload>)>;

pub struct Link {
    pub server: Box<dyn Endpoint + Send>,
    pub client: Box<dyn Endpoint + Send>,
    pub now: Instant,
    pub delay: Duration,
    pub down: Fates,
    pub up: Fates,
    /// Node behind the bottleneck, before the fates.
    pub node: Option<Node>,
    pub bottleneck: Option<Bottleneck>,
    pub rtts: Vec<(Instant, Duration)>,
    pub frames: Vec<FrameArrival>,
    pub completions: Vec<Completion>,
    /// Time integral of the window, and the time.
    pub window: (f64, f64),
    pub sent_down: Vec<(Instant, Packet<Payload>)>,
    pub sent_up: Vec<(Instant, Packet<Payload>)>,
    pub keep: bool,
    flights: BinaryHeap<Reverse<Flight>>,
    number: u64,
}

impl Link {
    /// A path of `delay` each way between the ends of a flow.
    pub fn new(config: &dyn CongestionControl, app: &AppConfig, delay: Duration) -> Self {
        Self::between(connect(config, app, FlowId(3), 1).expect("a valid configuration"), delay)
    }

    /// A path of `delay` each way between a server and a client.
    pub fn between((server, client): Ends, delay: Duration) -> Self {
        Self {
            server,
            client,
            now: Instant::ZERO,
            delay,
            down: Box::new(|_, _| Fate::Deliver),
            up: Box::new(|_, _| Fate::Deliver),
            node: None,
            bottleneck: None,
            rtts: Vec::new(),
            frames: Vec::new(),
            completions: Vec::new(),
            window: (0.0, 0.0),
            sent_down: Vec::new(),
            sent_up: Vec::new(),
            keep: false,
            flights: BinaryHeap::new(),
            number: 0,
        }
    }

    fn fly(&mut self, down: bool, extra: Duration, packet: Packet<Payload>) {
        self.number += 1;
        let at = self.now + self.delay + extra;
        self.flights.push(Reverse(Flight { at, number: self.number, down, packet }));
    }

    fn launch(&mut self, down: bool, mut packet: Packet<Payload>) {
        if let Some(node) = &mut self.node {
            node(self.now, down, &mut packet);
        }
        let fate = if down { (self.down)(self.now, &packet) } else { (self.up)(self.now, &packet) };
        match fate {
            Fate::Deliver => self.fly(down, Duration::ZERO, packet),
            Fate::Mark => {
                packet.ecn = packet.ecn.marked();
                self.fly(down, Duration::ZERO, packet);
            }
            Fate::Bleach => {
                packet.ecn = Ecn::NotEct;
                self.fly(down, Duration::ZERO, packet);
            }
            Fate::Drop => {}
            Fate::Late(extra) => self.fly(down, extra, packet),
            Fate::Twice => {
                self.fly(down, Duration::ZERO, packet.clone());
                self.fly(down, Duration::ZERO, packet);
            }
        }
    }

    fn drain(&mut self) {
        while let Some(packet) = self.server.poll_transmit(self.now) {
            if self.keep {
                self.sent_down.push((self.now, packet.clone()));
            }
            match &mut self.bottleneck {
                Some(bottleneck) => bottleneck.push(self.now, packet),
                None => self.launch(true, packet),
            }
        }
        while let Some(packet) = self.client.poll_transmit(self.now) {
            if self.keep {
                self.sent_up.push((self.now, packet.clone()));
            }
            self.launch(false, packet);
        }
    }

    /// One event; false if nothing is ever going to happen again, or not before `end`.
    fn step(&mut self, end: Instant) -> bool {
        self.drain();
        let flight = self.flights.peek().map(|Reverse(flight)| flight.at);
        let queue = self.bottleneck.as_ref().and_then(Bottleneck::next);
        let next =
            [flight, queue, self.server.next_deadline(), self.client.next_deadline()].into_iter().flatten().min();
        let Some(next) = next.filter(|next| *next < end) else { return false };
        if let Some(window) = self.server.stats().window {
            let span = next.since(self.now).as_secs_f64();
            self.window.0 += window.as_f64() * span;
            self.window.1 += span;
        }
        self.now = self.now.max(next);
        if let Some(packet) = self.bottleneck.as_mut().and_then(|bottleneck| bottleneck.pop(self.now)) {
            self.launch(true, packet);
        }
        while self.flights.peek().is_some_and(|Reverse(flight)| flight.at <= self.now) {
            let Some(Reverse(flight)) = self.flights.pop() else { break };
            if flight.down {
                self.client.handle_packet(self.now, flight.packet.as_ref());
                self.frames.extend(std::iter::from_fn(|| self.client.take_frame()));
                self.completions.extend(self.client.take_completion());
            } else {
                self.server.handle_packet(self.now, flight.packet.as_ref());
                self.rtts.extend(self.server.take_rtt_sample().map(|rtt| (self.now, rtt)));
            }
            self.drain();
        }
        for end in [&mut self.server, &mut self.client] {
            if end.next_deadline().is_some_and(|deadline| deadline <= self.now) {
                end.handle_timeout(self.now);
            }
        }
        true
    }

    /// Runs until `end`; true if everything has fallen silent before.
    pub fn run_until(&mut self, end: Instant) -> bool {
        let (mut at, mut steps) = (self.now, 0);
        while self.step(end) {
            steps = if self.now > at { 0 } else { steps + 1 };
            at = self.now;
            assert!(steps < 100_000, "the ends keep each other busy at {at:?} without end");
        }
        let silent =
            self.flights.is_empty() && self.server.next_deadline().is_none() && self.client.next_deadline().is_none();
        if !silent {
            self.now = end;
        }
        silent
    }

    pub fn run_for(&mut self, span: Duration) -> bool {
        self.run_until(self.now + span)
    }

    /// The mean window over `span`, in segments.
    pub fn mean_window(&mut self, span: Duration, mss: f64) -> f64 {
        self.window = (0.0, 0.0);
        self.run_for(span);
        self.window.0 / self.window.1 / mss
    }

    pub fn stats(&self) -> (Stats, Stats) {
        (self.server.stats(), self.client.stats())
    }
}

pub fn is_data(packet: &Packet<Payload>) -> bool {
    match &packet.payload {
        Payload::Tcp(segment) => segment.payload > 0,
        Payload::PragueData(_) | Payload::Rtp(_) | Payload::Datagram(_) => true,
        Payload::PragueAck(_) | Payload::PragueReport(_) | Payload::Report(_) => false,
    }
}

pub fn ecn_of(packets: &[(Instant, Packet<Payload>)], data: bool) -> Vec<Ecn> {
    packets.iter().filter(|(_, packet)| is_data(packet) == data).map(|(_, packet)| packet.ecn).collect()
}
