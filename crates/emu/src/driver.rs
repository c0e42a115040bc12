//! Loop that gives the cell packets and the time.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use hdrhistogram::Histogram;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tidemark_cell::{CellConfig, Output, UeConfig, UeId};
use tidemark_core::{Duration, Instant, Packet};

use crate::addresses;
use crate::clock::Clock;
use crate::control::{Change, Command, Control, Refusal};
use crate::core::{Core, Incoming, Label};
use crate::datagram::{Datagram, Direction, Reader, Stamped};
use crate::error::Error;
use crate::gnb::Gnb;
use crate::observer::{Counters, DriverEvent, Observer, Progress};
use crate::realtime::{self, Priority};
use crate::tun::{Tun, Written};

/// Packets read from one device before the others have their turn.
const BATCH: usize = 64;
/// Lateness beyond which the cell takes no packets, until it has caught up with the clock.
const MAX_LATENESS: Duration = Duration::from_millis(200);
/// Size of the read buffer, in bytes: more than any packet.
const BUFFER: usize = 65_536;

/// Devices that a cell lies between.
#[derive(Debug)]
pub struct Link {
    /// Number of the live cell, which its addresses follow from.
    pub cell: u32,
    /// Core side of the cell.
    pub core: Core,
    /// The UEs' devices, in the order of their ids.
    pub ues: Vec<Tun>,
    /// One-way delay between the core's device and the gNB.
    pub wire: Duration,
}

/// Configuration of the cell and its UEs.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Configuration of the cell.
    pub cell: CellConfig,
    /// Seed of every random stream.
    pub seed: u64,
    /// Configurations of the UEs, in the order of their ids.
    pub ues: Vec<UeConfig>,
}

/// Driver of a cell: its clock and its devices.
pub struct Driver<O> {
    ports: Ports,
    state: State<O>,
}

struct Ports {
    cell: u32,
    core: Core,
    ues: Vec<Tun>,
    wake: Arc<OwnedFd>,
}

struct State<O> {
    clock: Clock,
    gnb: Gnb,
    reader: Reader,
    /// Listener. While the driver runs, only its thread takes the lock: nobody waits.
    observer: Arc<Mutex<O>>,
    commands: Receiver<Command>,
    /// One-way delay between core and gNB.
    wire: Duration,
    wire_down: VecDeque<(Instant, UeId, Packet<Stamped>)>,
    wire_up: VecDeque<(Instant, (UeId, u8), Packet<Stamped>)>,
    sample_interval: Duration,
    next_sample: Instant,
    sampled: Instant,
    resources: u64,
    uplink_resources: u64,
    lateness: Histogram<u64>,
    counters: Counters,
    priority: Priority,
}

impl<O: Observer> Driver<O> {
    /// Puts a cell between devices. `observer` is shown every event, and the counters once each `sample_interval`;
    /// others that hold it may lock it only while the driver does not run.
    ///
    /// # Errors
    /// A configuration that the cell refuses, or an error of the system.
    pub fn new(
        plan: &Plan,
        link: Link,
        observer: Arc<Mutex<O>>,
        sample_interval: Duration,
    ) -> Result<(Self, Control), Error> {
        let mut secret = [0; 16];
        rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())
            .map_err(Error::errno("random bytes"))?;
        let (control, (commands, wake)) = Control::new()?;
        let listener = Arc::clone(&observer);
        let listener: tidemark_cell::Observer<Stamped> = Box::new(move |at, bearer, event| {
            listener.lock().unwrap_or_else(PoisonError::into_inner).handle_cell(at, bearer, &event);
        });
        let gnb = Gnb::new(plan, &link.core, listener)?;
        let state = State {
            clock: Clock::start(),
            gnb,
            reader: Reader::new(&secret),
            observer,
            commands,
            wire: link.wire,
            wire_down: VecDeque::new(),
            wire_up: VecDeque::new(),
            sample_interval,
            next_sample: Instant::ZERO + sample_interval,
            sampled: Instant::ZERO,
            resources: 0,
            uplink_resources: 0,
            lateness: Histogram::new(3).unwrap_or_else(|_| unreachable!("three digits are supported")),
            counters: Counters::default(),
            priority: Priority::Ordinary,
        };
        Ok((Self { ports: Ports { cell: link.cell, core: link.core, ues: link.ues, wake }, state }, control))
    }

    /// Runs on the calling thread until [`Command::Stop`].
    ///
    /// # Errors
    /// A device that vanished, or an error of the system; the observer has been shown everything up to then.
    pub fn run(mut self) -> Result<(), Error> {
        self.state.priority = realtime::prefer();
        self.state.clock = Clock::start();
        let outcome = self.state.run(&self.ports);
        let now = self.state.clock.now();
        self.state.counters.not_admitted = self.ports.core.not_admitted();
        self.state.sample(now);
        outcome
    }
}

impl<O: Observer> State<O> {
    fn run(&mut self, ports: &Ports) -> Result<(), Error> {
        let mut buffer = vec![0; BUFFER];
        let (cores, wake) = (ports.ues.len(), ports.ues.len() + 1);
        let mut fds: Vec<_> = ports.ues.iter().map(|tun| PollFd::new(tun, PollFlags::IN)).collect();
        fds.push(PollFd::new(&ports.core, PollFlags::IN));
        fds.push(PollFd::from_borrowed_fd(ports.wake.as_fd(), PollFlags::IN));
        loop {
            self.catch_up(self.clock.now(), ports)?;
            let now = self.clock.now();
            let wait = self.next_deadline().since(now);
            let timeout = Timespec {
                tv_sec: (wait.as_nanos() / 1_000_000_000) as i64,
                tv_nsec: (wait.as_nanos() % 1_000_000_000) as i64,
            };
            match poll(&mut fds, Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(errno) => return Err(Error::errno("waiting for packets")(errno)),
            }
            for (index, fd) in fds[..=cores].iter().enumerate() {
                let events = fd.revents();
                if events.contains(PollFlags::IN) {
                    if index == cores {
                        self.read_core(&mut buffer, ports)?;
                    } else {
                        self.read_ue(index, &mut buffer, ports)?;
                    }
                } else if events.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
                    let device = ports.ues.get(index).map_or_else(|| ports.core.name(), |tun| tun.name().into());
                    return Err(Error::DeviceGone { device });
                }
            }
            if !fds[wake].revents().is_empty() {
                let _ = rustix::io::read(&*ports.wake, &mut buffer[..8]);
                while let Ok(command) = self.commands.try_recv() {
                    match command {
                        Command::Stop => return Ok(()),
                        Command::Change(change, reply) => {
                            // A thread that gave up waiting has no use for its answer.
                            let _ = reply.try_send(self.change(change));
                        }
                    }
                }
            }
        }
    }

    /// Reads the packets that wait at a UE's device.
    fn read_ue(&mut self, index: usize, buffer: &mut [u8], ports: &Ports) -> Result<(), Error> {
        for _ in 0..BATCH {
            let Some(length) = ports.ues[index].read(buffer)? else { break };
            let now = self.clock.now();
            // Deadlines that were due before the packet came are served before it.
            let behind = self.catch_up(now, ports)?;
            self.uplink(now, UeId(index as u32), &buffer[..length], behind > MAX_LATENESS);
        }
        Ok(())
    }

    /// Reads the packets that wait on the core side.
    fn read_core(&mut self, buffer: &mut [u8], ports: &Ports) -> Result<(), Error> {
        for _ in 0..BATCH {
            let incoming = ports.core.receive(buffer)?;
            let now = self.clock.now();
            let behind = self.catch_up(now, ports)?;
            if let Core::F1u(f1u) = &ports.core {
                self.gnb.handle_polls(now, f1u);
            }
            match incoming {
                Incoming::Nothing => break,
                Incoming::Other => {}
                Incoming::Unroutable => {
                    self.counters.downlink += 1;
                    self.counters.unroutable += 1;
                }
                Incoming::Packet { ue, range, label } => {
                    self.downlink(now, ue, label, &buffer[range], behind > MAX_LATENESS, ports)?;
                }
            }
        }
        Ok(())
    }

    fn change(&mut self, change: Change) -> Result<Instant, Refusal> {
        let now = self.clock.now();
        self.gnb.change(now, change)?;
        Ok(now)
    }

    fn downlink(
        &mut self,
        now: Instant,
        known: Option<u32>,
        label: Label,
        bytes: &[u8],
        overloaded: bool,
        ports: &Ports,
    ) -> Result<(), Error> {
        let (packet, tuple) = self.reader.packet(bytes, Direction::Down);
        // Messages of the host to its neighbours on the core device, not to the UEs behind it: multicast reports, service discovery.
        if known.is_none() && tuple.is_some_and(|tuple| addresses::is_of_one_link(tuple.destination)) {
            self.reader.recycle(packet.payload);
            return Ok(());
        }
        self.counters.downlink += 1;
        let ue = match (known, ports.ues.len()) {
            (Some(ue), _) => Some(ue),
            (None, 1) => Some(0),
            (None, _) => tuple.and_then(|tuple| addresses::ue_of(ports.cell, tuple.destination)),
        };
        let Some(ue) = ue.filter(|ue| (*ue as usize) < ports.ues.len()).map(UeId) else {
            self.counters.unroutable += 1;
            self.reader.recycle(packet.payload);
            return Ok(());
        };
        let flow = packet.flow;
        self.observe(now, &DriverEvent::FromCore { ue, flow, tuple, bytes });
        if overloaded {
            self.overload(now, ue, packet, None);
            return Ok(());
        }
        let packet = stamped(now, self.counters.downlink, label, packet);
        if self.wire.is_zero() {
            self.enter(now, ue, packet, ports)
        } else {
            self.wire_down.push_back((now + self.wire, ue, packet));
            Ok(())
        }
    }

    /// Hands a packet that has come to the gNB to it.
    fn enter(&mut self, now: Instant, ue: UeId, packet: Packet<Stamped>, ports: &Ports) -> Result<(), Error> {
        self.gnb.handle_downlink(now, ue, packet);
        // In an outage the gNB has nothing else to do for long: packets that it drops are taken out at once.
        self.drain(ports)
    }

    fn uplink(&mut self, now: Instant, ue: UeId, bytes: &[u8], overloaded: bool) {
        self.counters.uplink += 1;
        let (packet, _) = self.reader.packet(bytes, Direction::Up);
        self.observe(now, &DriverEvent::FromUe { ue, bytes });
        if overloaded {
            let up = self.gnb.carries_up(ue, packet.flow);
            self.overload(now, ue, packet, up);
        } else {
            self.gnb.handle_uplink(now, ue, stamped(now, self.counters.uplink, Label::FromUe, packet));
        }
    }

    /// Drops a packet that came in while the machine is too slow for the cell, as a full queue would.
    fn overload(&mut self, now: Instant, ue: UeId, packet: Packet<Datagram>, up: Option<u8>) {
        self.counters.overload += 1;
        self.observe(now, &DriverEvent::Overloaded { ue, flow: packet.flow, up });
        self.reader.recycle(packet.payload);
    }

    /// Serves every deadline up to `now`, each with its own time and in order, so that a late slot stretches no
    /// time. Gives the lateness of the first.
    fn catch_up(&mut self, now: Instant, ports: &Ports) -> Result<Duration, Error> {
        let mut behind = Duration::ZERO;
        loop {
            let due = self.next_deadline();
            if due > now {
                return Ok(behind);
            }
            let late = now.since(due);
            behind = behind.max(late);
            // At one time the cell goes first, as in the simulator.
            if self.gnb.next_deadline() == due {
                // An auto-resizing histogram refuses nothing below 2^63.
                let _ = self.lateness.record(late.as_nanos());
                self.gnb.handle_timeout(due);
                self.drain(ports)?;
                if let Core::F1u(f1u) = &ports.core {
                    self.gnb.send_reports(f1u);
                }
            } else if self.wire_down.front().is_some_and(|(at, ..)| *at == due) {
                if let Some((at, ue, packet)) = self.wire_down.pop_front() {
                    self.enter(at, ue, packet, ports)?;
                }
            } else if self.wire_up.front().is_some_and(|(at, ..)| *at == due) {
                if let Some((_, of, packet)) = self.wire_up.pop_front() {
                    self.depart(of, packet, ports)?;
                }
            } else {
                self.counters.not_admitted = ports.core.not_admitted();
                self.sample(due);
                // Intervals that were slept through are one interval.
                while self.next_sample <= now {
                    self.next_sample += self.sample_interval;
                }
            }
        }
    }

    fn next_deadline(&self) -> Instant {
        let down = self.wire_down.front().map_or(Instant::FAR, |(at, ..)| *at);
        let up = self.wire_up.front().map_or(Instant::FAR, |(at, ..)| *at);
        self.gnb.next_deadline().min(down).min(up).min(self.next_sample)
    }

    /// Hands on the packets that left the cell.
    fn drain(&mut self, ports: &Ports) -> Result<(), Error> {
        while let Some(output) = self.gnb.poll_output() {
            match output {
                Output::Downlink { at, ue, packet, .. } => {
                    let mut packet = unstamped(packet);
                    let bytes = Reader::finish(&mut packet);
                    self.observe(at, &DriverEvent::ToUe { ue, bytes });
                    let written = ports.ues[ue.0 as usize].write(bytes)?;
                    self.count(written);
                    self.reader.recycle(packet.payload);
                }
                Output::Uplink { at, ue, qfi, packet, .. } => match self.wire.is_zero() {
                    true => self.depart((ue, qfi), packet, ports)?,
                    false => self.wire_up.push_back((at + self.wire, (ue, qfi), packet)),
                },
                // The observer has an event of the cell for it.
                Output::Recommendation { .. } | Output::ShortCircuited { .. } => {}
                Output::Dropped { packet, .. } => self.reader.recycle(packet.payload.datagram),
            }
        }
        Ok(())
    }

    fn observe(&self, at: Instant, event: &DriverEvent<'_>) {
        self.observer.lock().unwrap_or_else(PoisonError::into_inner).handle_driver(at, event);
    }

    /// Sends a packet of a UE, in the QoS flow with this QFI, towards the core.
    fn depart(&mut self, (ue, qfi): (UeId, u8), packet: Packet<Stamped>, ports: &Ports) -> Result<(), Error> {
        let mut packet = unstamped(packet);
        let bytes = Reader::finish(&mut packet);
        self.observe(self.clock.now(), &DriverEvent::ToCore { ue, bytes });
        let written = ports.core.send(ue.0, qfi, bytes)?;
        self.count(written);
        self.reader.recycle(packet.payload);
        Ok(())
    }

    fn count(&mut self, written: Written) {
        match written {
            Written::Done => self.counters.forwarded += 1,
            Written::Refused => self.counters.refused += 1,
            // The socket counts it.
            Written::NotAdmitted => {}
        }
    }

    fn sample(&mut self, now: Instant) {
        let (resources, uplink_resources) = self.gnb.resources_between(self.sampled, now);
        self.resources += resources;
        self.uplink_resources += uplink_resources;
        self.sampled = now;
        let ues = (0..).map_while(|ue| self.gnb.ue(now, UeId(ue))).collect::<Vec<_>>();
        let bearers = (0..ues.len()).map(|ue| self.gnb.bearers(UeId(ue as u32))).collect::<Vec<_>>();
        let progress = Progress {
            now,
            ues: &ues,
            bearers: &bearers,
            resources: self.resources,
            uplink_resources: self.uplink_resources,
            lateness: &self.lateness,
            busy: Clock::busy(),
            counters: self.counters,
            priority: self.priority,
        };
        self.observer.lock().unwrap_or_else(PoisonError::into_inner).sample(&progress);
    }
}

fn stamped(arrived: Instant, number: u64, label: Label, packet: Packet<Datagram>) -> Packet<Stamped> {
    let Packet { flow, size, ecn, payload } = packet;
    Packet { flow, size, ecn, payload: Stamped { arrived, number, label, datagram: payload } }
}

fn unstamped(packet: Packet<Stamped>) -> Packet<Datagram> {
    let Packet { flow, size, ecn, payload } = packet;
    Packet { flow, size, ecn, payload: payload.datagram }
}
