//! Wired bottleneck between two interfaces: a router of the simulator for each way, in real time.

mod frame;
mod port;

use std::collections::VecDeque;
use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex, PoisonError};

use hdrhistogram::Histogram;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet};
use tidemark_router::{Router, RouterConfig};
use tidemark_wire::ip::FiveTuple;

use self::frame::Frame;
use self::port::{MAX_FRAME, OFFLOAD_HEADER, Port};
use crate::clock::Clock;
use crate::control::{Commands, Control};
use crate::datagram::Reader;
use crate::error::Error;
use crate::realtime::{self, Priority};

/// Frames read from one port before the other has its turn.
const BATCH: usize = 64;
/// A hop that is this far behind the clock takes no frames until it has caught up.
const MAX_BEHIND: Duration = Duration::from_millis(200);
/// Packets that a wire holds for one way. A delay that is too long for the rate loses what comes beyond.
const MAX_ON_WIRE: usize = 1 << 18;

/// Parts of a hop.
#[derive(Clone, Debug)]
pub struct HopPlan {
    /// Names of the interfaces: left, right.
    pub interfaces: [String; 2],
    /// Router from left to right, and back. Its `delay` is the wire behind it.
    pub routers: [RouterConfig; 2],
    /// Seed of all random draws.
    pub seed: u64,
}

/// Command to a running hop.
#[derive(Clone, Copy, Debug)]
pub enum HopCommand {
    /// Ends the hop.
    Stop,
}

/// Step of a packet. `way` is 0 from left to right, 1 back.
#[derive(Clone, Copy, Debug)]
pub enum HopEvent {
    /// A packet came.
    Came {
        /// Way of the packet.
        way: usize,
        /// Flow of the packet.
        flow: FlowId,
        /// Five-tuple of the packet; `None` where it has no readable IP header.
        tuple: Option<FiveTuple>,
    },
    /// The link began to send a packet.
    Began {
        /// Way of the packet.
        way: usize,
        /// Time of the packet in the queue.
        waited: Duration,
    },
    /// The link finished sending a packet.
    Sent {
        /// Way of the packet.
        way: usize,
        /// Length of the IP packet.
        size: Bytes,
        /// True for a packet with CE that came without.
        marked: bool,
    },
    /// A packet left for the other interface.
    Left {
        /// Way of the packet.
        way: usize,
        /// Flow of the packet.
        flow: FlowId,
        /// Time at which it came.
        came: Instant,
        /// Length of the IP packet.
        size: Bytes,
        /// ECN field with which it left.
        ecn: Ecn,
        /// Time in the queue.
        waited: Duration,
        /// Time in the queue and on the link.
        in_router: Duration,
    },
    /// The queue dropped a packet.
    Dropped {
        /// Way of the packet.
        way: usize,
        /// Flow of the packet.
        flow: FlowId,
    },
}

/// Counters of a hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HopCounters {
    /// Packets that came, by way.
    pub packets_in: [u64; 2],
    /// Packets that left, by way.
    pub packets_out: [u64; 2],
    /// Packets that left with CE and had come without, by way.
    pub marked: [u64; 2],
    /// Packets that a queue dropped, by way.
    pub dropped: [u64; 2],
    /// Packets that the kernel refused to send.
    pub refused: u64,
    /// Frames that can't be read: longer than the buffer, or bundles of an unknown kind.
    pub unreadable: u64,
    /// Packets dropped because the machine was too slow.
    pub overload: u64,
    /// Frames that nobody read in time.
    pub lost_by_ports: u64,
}

/// State of a hop once an interval.
#[derive(Clone, Copy, Debug)]
pub struct HopProgress<'a> {
    /// Time since the start.
    pub now: Instant,
    /// Rate of each way's link.
    pub rates: [BitRate; 2],
    /// Bytes that each way's link could have carried since the start.
    pub capacity: [f64; 2],
    /// Counters.
    pub counters: HopCounters,
    /// Lateness of deadlines, in nanoseconds.
    pub lateness: &'a Histogram<u64>,
    /// Processor time of the hop's thread.
    pub busy: Duration,
    /// Scheduling of the hop's thread.
    pub priority: Priority,
}

/// Listener to a hop, on the hop's thread: it must not wait for anything.
pub trait HopObserver: Send + 'static {
    /// Handles a step of a packet.
    fn handle(&mut self, at: Instant, event: &HopEvent);
    /// Ends an interval.
    fn sample(&mut self, progress: &HopProgress<'_>);
}

/// Hop at work.
pub struct Hop<O> {
    /// Interfaces: left, right.
    ports: [Port; 2],
    ways: [Way; 2],
    clock: Clock,
    reader: Reader,
    observer: Arc<Mutex<O>>,
    commands: Commands<HopCommand>,
    sample_interval: Duration,
    next_sample: Instant,
    lateness: Histogram<u64>,
    counters: HopCounters,
    priority: Priority,
}

/// Way from one interface to the other.
struct Way {
    router: Router<Frame>,
    /// Delay of the wire behind the router.
    delay: Duration,
    /// Packets on the wire, with the times at which they leave it and their times in the router.
    wire: VecDeque<(Instant, Duration, Packet<Frame>)>,
}

impl Way {
    fn new(config: &RouterConfig, index: u32, seed: u64) -> Result<Self, Error> {
        let router = Router::new(config, index, seed)?;
        Ok(Self { router, delay: config.delay, wire: VecDeque::new() })
    }

    fn next_deadline(&self) -> Instant {
        self.router.next_deadline().min(self.wire.front().map_or(Instant::FAR, |(at, ..)| *at))
    }
}

impl<O: HopObserver> Hop<O> {
    /// Puts routers between two interfaces. `observer` is shown every step of a packet, and the counters once each `sample_interval`.
    ///
    /// # Errors
    /// An interface that can't be used, with the remedy; a configuration that a router refuses; or an error of the
    /// system.
    pub fn new(
        plan: &HopPlan,
        observer: Arc<Mutex<O>>,
        sample_interval: Duration,
    ) -> Result<(Self, Control<HopCommand>), Error> {
        let [left, right] = &plan.interfaces;
        if left == right {
            let problem = "it is left and right: name another interface for one of them".into();
            return Err(Error::Interface { interface: left.clone(), problem });
        }
        let ports = [Port::open(left)?, Port::open(right)?];
        let [at_left, at_right] = [ports[0].mtu(), ports[1].mtu()];
        if at_left != at_right {
            let (wide, narrow) = if at_left > at_right { (left, right) } else { (right, left) };
            let (most, mtu) = (at_left.max(at_right), at_left.min(at_right));
            let problem = format!(
                "its MTU is {most}, and {narrow} can't carry more than {mtu}: `ip link set {wide} mtu {mtu}`, or `ip link set {narrow} mtu {most}`"
            );
            return Err(Error::Interface { interface: wide.clone(), problem });
        }
        let mut secret = [0; 16];
        rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())
            .map_err(Error::errno("random bytes"))?;
        let (control, commands) = Control::new()?;
        let [to_right, to_left] = &plan.routers;
        let hop = Self {
            ports,
            ways: [Way::new(to_right, 0, plan.seed)?, Way::new(to_left, 1, plan.seed)?],
            clock: Clock::start(),
            reader: Reader::new(&secret),
            observer,
            commands,
            sample_interval,
            next_sample: Instant::ZERO + sample_interval,
            lateness: Histogram::new(3).unwrap_or_else(|_| unreachable!("three digits are supported")),
            counters: HopCounters::default(),
            priority: Priority::Ordinary,
        };
        Ok((hop, control))
    }

    /// Runs on the calling thread until [`HopCommand::Stop`]. Packets that still wait are lost.
    ///
    /// # Errors
    /// An interface that vanished, or an error of the system; the observer has been shown everything up to then.
    pub fn run(mut self) -> Result<(), Error> {
        self.priority = realtime::prefer();
        self.clock = Clock::start();
        let outcome = self.forward();
        self.sample(self.clock.now());
        outcome
    }

    fn forward(&mut self) -> Result<(), Error> {
        let mut buffer = vec![0; OFFLOAD_HEADER + MAX_FRAME];
        let wake = Arc::clone(&self.commands.1);
        loop {
            self.catch_up(self.clock.now())?;
            let wait = self.next_deadline().since(self.clock.now());
            let timeout = Timespec {
                tv_sec: (wait.as_nanos() / 1_000_000_000) as i64,
                tv_nsec: (wait.as_nanos() % 1_000_000_000) as i64,
            };
            let mut fds = [
                PollFd::new(&self.ports[0], PollFlags::IN),
                PollFd::new(&self.ports[1], PollFlags::IN),
                PollFd::from_borrowed_fd(wake.as_fd(), PollFlags::IN),
            ];
            match poll(&mut fds, Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(errno) => return Err(Error::errno("waiting for packets")(errno)),
            }
            let [left, right, told] = fds.map(|fd| !fd.revents().is_empty());
            if told {
                let _ = rustix::io::read(&*wake, &mut buffer[..8]);
                if let Ok(HopCommand::Stop) = self.commands.0.try_recv() {
                    return Ok(());
                }
            }
            for (way, _) in [left, right].into_iter().enumerate().filter(|(_, is_ready)| *is_ready) {
                self.read(way, &mut buffer)?;
            }
        }
    }

    /// Reads what waits at the interface that a way begins at.
    fn read(&mut self, way: usize, buffer: &mut [u8]) -> Result<(), Error> {
        for _ in 0..BATCH {
            let Some(received) = self.ports[way].receive(buffer)? else { break };
            let now = self.clock.now();
            // What was due before the packet came happens before it.
            let behind = self.catch_up(now)?;
            let mut packets = Vec::new();
            let frame = &mut buffer[..received.length.min(OFFLOAD_HEADER + MAX_FRAME)];
            let each = |packet, tuple| packets.push((packet, tuple));
            if received.is_cut || !frame::read(&mut self.reader, now, frame, received.vlan, each) {
                self.counters.unreadable += 1;
            }
            for (packet, tuple) in packets {
                self.counters.packets_in[way] += 1;
                self.observe(now, &HopEvent::Came { way, flow: packet.flow, tuple });
                if behind > MAX_BEHIND {
                    self.counters.overload += 1;
                    self.observe(now, &HopEvent::Dropped { way, flow: packet.flow });
                    self.reader.recycle(packet.payload.datagram);
                    continue;
                }
                self.ways[way].router.arrive(now, packet);
                self.observe_router(now, way);
            }
        }
        Ok(())
    }

    /// Does what is due, each at its own time, and gives how late the first of it was.
    fn catch_up(&mut self, now: Instant) -> Result<Duration, Error> {
        let behind = now.since(self.next_deadline().min(now));
        loop {
            let due = self.next_deadline();
            if due > now {
                return Ok(behind);
            }
            // An auto-resizing histogram refuses nothing below 2^63.
            let _ = self.lateness.record(now.since(due).as_nanos());
            for way in 0..self.ways.len() {
                self.leave_router(due, way)?;
                self.leave_wire(due, way)?;
            }
            if self.next_sample <= due {
                self.sample(due);
                // Intervals that were slept through are one interval.
                while self.next_sample <= now {
                    self.next_sample += self.sample_interval;
                }
            }
        }
    }

    fn next_deadline(&self) -> Instant {
        let [to_right, to_left] = &self.ways;
        to_right.next_deadline().min(to_left.next_deadline()).min(self.next_sample)
    }

    fn leave_router(&mut self, due: Instant, way: usize) -> Result<(), Error> {
        while let Some((at, packet)) = self.ways[way].router.receive(due) {
            let marked = packet.ecn == Ecn::Ce && !packet.payload.came_marked;
            self.counters.marked[way] += u64::from(marked);
            self.observe(at, &HopEvent::Sent { way, size: packet.size, marked });
            self.observe_router(at, way);
            let in_router = at.since(packet.payload.arrived);
            let Way { delay, wire, .. } = &mut self.ways[way];
            if delay.is_zero() {
                self.send(at, way, in_router, packet)?;
            } else if wire.len() < MAX_ON_WIRE {
                wire.push_back((at + *delay, in_router, packet));
            } else {
                self.counters.overload += 1;
                self.observe(at, &HopEvent::Dropped { way, flow: packet.flow });
            }
        }
        Ok(())
    }

    fn leave_wire(&mut self, due: Instant, way: usize) -> Result<(), Error> {
        while self.ways[way].wire.front().is_some_and(|(at, ..)| *at <= due) {
            if let Some((at, in_router, packet)) = self.ways[way].wire.pop_front() {
                self.send(at, way, in_router, packet)?;
            }
        }
        Ok(())
    }

    /// Sends a packet out of the interface that the way ends at.
    fn send(&mut self, at: Instant, way: usize, in_router: Duration, mut packet: Packet<Frame>) -> Result<(), Error> {
        let event = HopEvent::Left {
            way,
            flow: packet.flow,
            came: packet.payload.arrived,
            size: packet.size,
            ecn: packet.ecn,
            waited: packet.payload.waited,
            in_router,
        };
        let ecn = packet.ecn;
        let (header, datagram) = packet.payload.parts(ecn);
        match self.ports[1 - way].send(&[header, datagram])? {
            true => {
                self.counters.packets_out[way] += 1;
                self.observe(at, &event);
            }
            false => {
                self.counters.refused += 1;
                self.observe(at, &HopEvent::Dropped { way, flow: packet.flow });
            }
        }
        self.reader.recycle(packet.payload.datagram);
        Ok(())
    }

    /// Shows what a router did: the packet that its link began with, and those that its queue dropped.
    fn observe_router(&mut self, now: Instant, way: usize) {
        if let Some((at, packet)) = self.ways[way].router.take_begun() {
            let waited = at.since(packet.payload.arrived);
            packet.payload.waited = waited;
            self.observe(at, &HopEvent::Began { way, waited });
        }
        while let Some(packet) = self.ways[way].router.take_dropped() {
            self.counters.dropped[way] += 1;
            self.observe(now, &HopEvent::Dropped { way, flow: packet.flow });
            self.reader.recycle(packet.payload.datagram);
        }
    }

    fn observe(&self, at: Instant, event: &HopEvent) {
        self.observer.lock().unwrap_or_else(PoisonError::into_inner).handle(at, event);
    }

    fn sample(&mut self, now: Instant) {
        self.counters.lost_by_ports += self.ports.iter().map(Port::take_lost).sum::<u64>();
        let progress = HopProgress {
            now,
            rates: [0, 1].map(|way: usize| self.ways[way].router.rate(now)),
            capacity: [0, 1].map(|way: usize| self.ways[way].router.capacity(Instant::ZERO, now)),
            counters: self.counters,
            lateness: &self.lateness,
            busy: Clock::busy(),
            priority: self.priority,
        };
        self.observer.lock().unwrap_or_else(PoisonError::into_inner).sample(&progress);
    }
}
