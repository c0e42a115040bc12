//! Two flows and more over one wired bottleneck, dropping at its tail or DualPI2 (RFC 9332), in virtual time.
#![allow(dead_code, reason = "each user takes a part")]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet, Probability, Stream};
use tidemark_marker::{Dequeued, DualQueue, DualQueueConfig};
use tidemark_senders::{AppConfig, Endpoint, Payload, SenderConfig, connect};

/// A packet in the queue, with the time of its arrival there.
type Queued = Packet<(Instant, Payload)>;

/// The bottleneck's queue.
pub enum Queue {
    /// Drops what does not fit.
    DropTail { limit: Bytes, size: Bytes, packets: VecDeque<Queued> },
    /// Two queues, coupled.
    DualPi2(Box<DualQueue<(Instant, Payload)>>),
    /// One queue, which marks all that is ECT alike.
    Pi2(Box<Pi2>),
}

/// A classic AQM: the squared output of a PI controller on the queue's delay (RFC 9332's classic half alone), every 16 ms.
pub struct Pi2 {
    packets: VecDeque<Queued>,
    base: f64,
    delay: f64,
    updated: Instant,
    draws: Stream,
}

impl Pi2 {
    const TARGET: f64 = 0.015;
    const UPDATE: Duration = Duration::from_millis(16);

    fn pop(&mut self, now: Instant) -> Option<Queued> {
        while now.since(self.updated) >= Self::UPDATE {
            self.updated += Self::UPDATE;
            let delay = self.packets.front().map_or(0.0, |packet| self.updated.since(packet.payload.0).as_secs_f64());
            self.base += 0.16 * (delay - Self::TARGET) + 3.2 * (delay - self.delay);
            self.base = self.base.clamp(0.0, 1.0);
            self.delay = delay;
        }
        let mut packet = self.packets.pop_front()?;
        if packet.ecn.is_ect() && self.draws.chance(Probability::new(self.base * self.base)) {
            packet.ecn = packet.ecn.marked();
        }
        Some(packet)
    }
}

impl Queue {
    pub fn drop_tail(limit: Bytes) -> Self {
        Self::DropTail { limit, size: Bytes::ZERO, packets: VecDeque::new() }
    }
    pub fn dual_pi2() -> Self {
        Self::dual_pi2_with(&DualQueueConfig::default(), 1)
    }
    pub fn dual_pi2_with(config: &DualQueueConfig, seed: u64) -> Self {
        let queue = DualQueue::new(config, Stream::new(seed, 0, "dualpi2"));
        Self::DualPi2(Box::new(queue.expect("a valid configuration")))
    }

    pub fn pi2() -> Self {
        let draws = Stream::new(1, 0, "pi2");
        Self::Pi2(Box::new(Pi2 { packets: VecDeque::new(), base: 0.0, delay: 0.0, updated: Instant::ZERO, draws }))
    }

    /// False if the packet was dropped.
    fn push(&mut self, now: Instant, packet: Queued) -> bool {
        match self {
            Self::DropTail { limit, size, packets } => {
                let fits = *size + packet.size <= *limit;
                if fits {
                    *size += packet.size;
                    packets.push_back(packet);
                }
                fits
            }
            Self::DualPi2(queue) => queue.enqueue(now, packet).is_ok(),
            Self::Pi2(queue) => {
                queue.packets.push_back(packet);
                true
            }
        }
    }

    /// The next packet, and those dropped on the way to it.
    fn pop(&mut self, now: Instant, mut dropped: impl FnMut(&Queued)) -> Option<Queued> {
        match self {
            Self::DropTail { size, packets, .. } => {
                let packet = packets.pop_front()?;
                *size -= packet.size;
                Some(packet)
            }
            Self::Pi2(queue) => queue.pop(now),
            Self::DualPi2(queue) => loop {
                match queue.dequeue(now)? {
                    Dequeued::Send(packet) => return Some(packet),
                    Dequeued::Drop(packet) => dropped(&packet),
                }
            },
        }
    }
}

/// A flow, and what the bottleneck did to it since the counters were last cleared.
pub struct Flow {
    server: Box<dyn Endpoint + Send>,
    client: Box<dyn Endpoint + Send>,
    /// Delay from the bottleneck to the client and from the client to the server: the round trip without queue.
    rtt: Duration,
    /// Packets under way in each direction, in the order of their arrival: the delay is constant.
    wires: [VecDeque<Packet<Payload>>; 2],
    /// First deadline of both ends.
    deadline: Option<Instant>,
    /// Bytes of IP packets through the bottleneck.
    pub bytes: Bytes,
    /// Time in the queue of each packet that went through, in milliseconds.
    pub delays: Vec<f32>,
    pub drops: u64,
    /// Packets that left the queue with CE.
    pub marks: u64,
}

impl Flow {
    pub fn mbps(&self, span: Duration) -> f64 {
        self.bytes.as_f64() * 8e-6 / span.as_secs_f64()
    }
    pub fn mean_delay(&self) -> f64 {
        self.delays.iter().map(|delay| f64::from(*delay)).sum::<f64>() / self.delays.len().max(1) as f64
    }
}

/// Direction of a packet between the bottleneck and an end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    Down,
    Up,
}

/// Time at which a packet arrives, its number among all of them, its flow and its direction. The packet itself waits in [`Flow::wires`]: it is
/// large, and a heap moves what it orders.
type Flight = (Instant, u64, usize, Direction);

/// The dumbbell. Servers stand before the bottleneck.
pub struct Dumbbell {
    pub now: Instant,
    pub flows: Vec<Flow>,
    rate: BitRate,
    queue: Queue,
    sending: Option<(Instant, Queued)>,
    flights: BinaryHeap<Reverse<Flight>>,
    number: u64,
}

impl Dumbbell {
    pub fn new(rate: BitRate, queue: Queue, flows: &[(SenderConfig, AppConfig, Duration)]) -> Self {
        let flow = |(index, (sender, app, rtt)): (usize, &(SenderConfig, AppConfig, Duration))| {
            let (server, client) = connect(sender, app, FlowId(index as u32), 1).expect("a valid configuration");
            Flow {
                server,
                client,
                rtt: *rtt,
                wires: Default::default(),
                deadline: None,
                bytes: Bytes::ZERO,
                delays: Vec::new(),
                drops: 0,
                marks: 0,
            }
        };
        Self {
            now: Instant::ZERO,
            flows: flows.iter().enumerate().map(flow).collect(),
            rate,
            queue,
            sending: None,
            flights: BinaryHeap::new(),
            number: 0,
        }
    }

    /// Probability with which DualPI2 marks L4S packets by its coupling; 0 in other queues.
    pub fn coupled_probability(&self) -> f64 {
        if let Queue::DualPi2(queue) = &self.queue { queue.coupled_probability() } else { 0.0 }
    }

    /// Forgets what was counted.
    pub fn clear(&mut self) {
        for flow in &mut self.flows {
            flow.bytes = Bytes::ZERO;
            flow.delays.clear();
            flow.drops = 0;
            flow.marks = 0;
        }
    }

    fn fly(&mut self, index: usize, direction: Direction, packet: Packet<Payload>) {
        let flow = &mut self.flows[index];
        self.number += 1;
        self.flights.push(Reverse((self.now + flow.rtt / 2, self.number, index, direction)));
        flow.wires[direction as usize].push_back(packet);
    }

    fn drain(&mut self, index: usize) {
        while let Some(Packet { flow, size, ecn, payload }) = self.flows[index].server.poll_transmit(self.now) {
            let packet = Packet { flow, size, ecn, payload: (self.now, payload) };
            self.flows[index].drops += u64::from(!self.queue.push(self.now, packet));
        }
        while let Some(packet) = self.flows[index].client.poll_transmit(self.now) {
            self.fly(index, Direction::Up, packet);
        }
        let flow = &mut self.flows[index];
        flow.deadline = [flow.server.next_deadline(), flow.client.next_deadline()].into_iter().flatten().min();
        self.send();
    }

    fn send(&mut self) {
        if self.sending.is_none() {
            let flows = &mut self.flows;
            let packet = self.queue.pop(self.now, |dropped| flows[dropped.flow.0 as usize].drops += 1);
            if let Some(packet) = packet {
                let flow = &mut self.flows[packet.flow.0 as usize];
                flow.delays.push(self.now.since(packet.payload.0).as_millis_f64() as f32);
                flow.bytes += packet.size;
                flow.marks += u64::from(packet.ecn == Ecn::Ce);
                self.sending = Some((self.now + self.rate.time_to_send(packet.size), packet));
            }
        }
    }

    pub fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        for index in 0..self.flows.len() {
            self.drain(index);
        }
        loop {
            let flight = self.flights.peek().map(|Reverse((at, ..))| *at);
            let sent = self.sending.as_ref().map(|(at, _)| *at);
            let next = self.flows.iter().map(|flow| flow.deadline).chain([flight, sent]).flatten().min();
            let Some(next) = next.filter(|next| *next < end) else { break };
            self.now = self.now.max(next);
            if let Some((_, packet)) = self.sending.take_if(|(at, _)| *at <= self.now) {
                let Packet { flow, size, ecn, payload: (_, payload) } = packet;
                self.fly(flow.0 as usize, Direction::Down, Packet { flow, size, ecn, payload });
                self.send();
            }
            while self.flights.peek().is_some_and(|Reverse((at, ..))| *at <= self.now) {
                let Some(Reverse((_, _, index, direction))) = self.flights.pop() else { break };
                let flow = &mut self.flows[index];
                let Some(packet) = flow.wires[direction as usize].pop_front() else { break };
                let end = if direction == Direction::Down { &mut flow.client } else { &mut flow.server };
                end.handle_packet(self.now, packet.as_ref());
                self.drain(index);
            }
            for index in 0..self.flows.len() {
                let flow = &mut self.flows[index];
                if flow.deadline.is_some_and(|deadline| deadline <= self.now) {
                    for end in [&mut flow.server, &mut flow.client] {
                        if end.next_deadline().is_some_and(|deadline| deadline <= self.now) {
                            end.handle_timeout(self.now);
                        }
                    }
                    self.drain(index);
                }
            }
        }
        self.now = end;
    }
}
