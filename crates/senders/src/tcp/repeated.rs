//! Connections one after the other between the same two ends. Each has its own controller, which knows nothing of
//! the ones before.

use tidemark_core::{BitRate, Duration, Ecn, Instant, Packet, Stream};

use super::{Receiver, Sender};
use crate::app::ShortFlowsConfig;
use crate::endpoint::{Completion, Endpoint, Stats};
use crate::payload::Payload;

/// Makes the server's end of a connection by its number.
pub type MakeSender = Box<dyn Fn(u32) -> Sender + Send>;
/// Makes the client's end of a connection by its number and the time at which it opens.
pub type MakeReceiver = Box<dyn Fn(u32, Instant) -> Receiver + Send>;

fn connection_of(packet: Packet<&Payload>) -> Option<(u32, bool)> {
    match packet.payload {
        Payload::Tcp(segment) => Some((segment.connection, segment.flags.syn)),
        _ => None,
    }
}

fn label(packet: Option<Packet<Payload>>, connection: u32) -> Option<Packet<Payload>> {
    let mut packet = packet?;
    if let Payload::Tcp(segment) = &mut packet.payload {
        segment.connection = connection;
    }
    Some(packet)
}

/// A packet of a connection that is no more: it counts, and that is all.
fn count(stats: &mut Stats, packet: Packet<&Payload>) {
    stats.packets_received += 1;
    stats.bytes_received += packet.size;
    stats.marks_received += u64::from(packet.ecn == Ecn::Ce);
}

/// The end that answers and sends.
pub struct RepeatedSender {
    make: MakeSender,
    number: u32,
    current: Sender,
    /// Counters of the connections before.
    earlier: Stats,
}

impl RepeatedSender {
    /// A server that waits for the first connection.
    pub fn new(make: MakeSender) -> Self {
        Self { current: make(0), make, number: 0, earlier: Stats::default() }
    }
}

impl Endpoint for RepeatedSender {
    fn handle_packet(&mut self, now: Instant, packet: Packet<&Payload>) {
        let (number, syn) = connection_of(packet).unwrap_or_default();
        // The client has done with a connection when it opens the next.
        if syn && number > self.number {
            self.earlier = self.stats();
            self.current = (self.make)(number);
            self.number = number;
        }
        // A straggler of an earlier connection is nobody's any more.
        if number == self.number {
            self.current.handle_packet(now, packet);
        } else {
            count(&mut self.earlier, packet);
        }
    }
    fn handle_timeout(&mut self, now: Instant) {
        self.current.handle_timeout(now);
    }
    fn next_deadline(&self) -> Option<Instant> {
        self.current.next_deadline()
    }
    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<Payload>> {
        label(self.current.poll_transmit(now), self.number)
    }
    fn stats(&self) -> Stats {
        self.current.stats().after(&self.earlier)
    }
    fn take_rtt_sample(&mut self) -> Option<Duration> {
        self.current.take_rtt_sample()
    }
}

/// The end that opens and receives.
pub struct RepeatedReceiver {
    make: MakeReceiver,
    config: ShortFlowsConfig,
    stream: Stream,
    number: u32,
    current: Receiver,
    /// Time at which the next connection opens; `Instant::FAR` while the present one is not complete.
    next: Instant,
    completion: Option<Completion>,
    earlier: Stats,
}

impl RepeatedReceiver {
    /// A client that opens its first connection at the start that `config` names, or a pause later.
    pub fn new(config: &ShortFlowsConfig, make: MakeReceiver, mut stream: Stream) -> Self {
        let pause = if config.pause_first { config.think.draw(&mut stream) } else { Duration::ZERO };
        Self {
            current: make(0, Instant::ZERO + config.start + pause),
            make,
            config: config.clone(),
            stream,
            number: 0,
            next: Instant::FAR,
            completion: None,
            earlier: Stats::default(),
        }
    }

    fn schedule_next(&mut self, now: Instant) {
        let next = now + self.config.think.draw(&mut self.stream);
        let is_over = self.config.stop.is_some_and(|stop| next >= Instant::ZERO + stop);
        // Beyond its end or its count a flow opens no further connection.
        if !is_over && self.config.count.is_none_or(|count| self.number + 1 < count) {
            self.next = next;
        }
    }
}

impl Endpoint for RepeatedReceiver {
    fn handle_packet(&mut self, now: Instant, packet: Packet<&Payload>) {
        // What comes late is of a connection that is over.
        if connection_of(packet).is_none_or(|(number, _)| number != self.number) {
            return count(&mut self.earlier, packet);
        }
        self.current.handle_packet(now, packet);
        // The next transfer begins after this one's end.
        if let Some(completion) = self.current.take_completion() {
            self.completion = Some(Completion { number: u64::from(self.number) + 1, ..completion });
            self.schedule_next(now);
        }
    }
    fn handle_timeout(&mut self, now: Instant) {
        // What the old connection had counted is kept.
        if now >= self.next {
            self.earlier = self.stats();
            self.number += 1;
            self.current = (self.make)(self.number, self.next);
            self.next = Instant::FAR;
        }
        let had_given_up = self.current.gave_up();
        self.current.handle_timeout(now);
        // A connection that never opened must not end the series.
        if self.current.gave_up() && !had_given_up {
            self.schedule_next(now);
        }
    }
    fn handle_recommendation(&mut self, now: Instant, rate: BitRate) {
        self.current.handle_recommendation(now, rate);
    }
    fn next_deadline(&self) -> Option<Instant> {
        let next = self.current.next_deadline().unwrap_or(Instant::FAR).min(self.next);
        (next != Instant::FAR).then_some(next)
    }
    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<Payload>> {
        label(self.current.poll_transmit(now), self.number)
    }
    fn stats(&self) -> Stats {
        self.current.stats().after(&self.earlier)
    }
    fn take_completion(&mut self) -> Option<Completion> {
        self.completion.take()
    }
}
