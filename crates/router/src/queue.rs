//! Queues before a link: one queue with any marking law, such a queue for each flow, the two of DualPI2, or those of a switch port.

use std::collections::VecDeque;

use tidemark_core::{BitRate, Bytes, ConfigError, Ecn, FlowId, Inspect, Instant, Packet, Stream};
use tidemark_marker::{DeliveryStatus, Dequeued, DrbMarker, DualQueue, RlcQueue, SnLength, Verdict};

use crate::config::{Discipline, FifoConfig, LeavingRamp, QueueConfig};
use crate::overdue::Overdue;
use crate::sdn_port::SdnPort;

/// A queue discipline at work.
pub(crate) enum Queue<P> {
    Fifo(Box<Fifo<P>>),
    PerFlow(Box<PerFlow<P>>),
    Dual(Box<DualQueue<P>>),
    SdnPort(Box<SdnPort<P>>),
}

/// One queue in order of arrival.
pub(crate) struct Fifo<P> {
    packets: VecDeque<(Instant, Packet<P>)>,
    bytes: Bytes,
    limit: Bytes,
    /// The law sees the link as it sees a bearer: each departure is a report of transmission.
    marker: DrbMarker,
    next_sn: u32,
    ramp: Option<LeavingRamp>,
    overdue: Option<Overdue>,
    /// The ramp's draws.
    marks: Stream,
}

/// A queue for each flow, served by packets in turn.
pub(crate) struct PerFlow<P> {
    config: FifoConfig,
    router: u32,
    seed: u64,
    fifos: Vec<(FlowId, Fifo<P>)>,
    /// Index of the queue whose turn it is.
    turn: usize,
}

/// Every queue numbers its packets as a bearer with long SNs does.
const SN_LENGTH: SnLength = SnLength::Bits18;

impl<P: Inspect> Queue<P> {
    /// Queue of the router with this index. Its random draws depend on the seed.
    pub(crate) fn new(config: &QueueConfig, rate: BitRate, router: u32, seed: u64) -> Result<Self, ConfigError> {
        let stream = |purpose: &str| Stream::new(seed, router, purpose);
        Ok(match config.discipline() {
            Discipline::Fifo(fifo) if fifo.per_flow => {
                Self::PerFlow(Box::new(PerFlow::new(fifo.into_owned(), router, seed)?))
            }
            Discipline::Fifo(fifo) => {
                Self::Fifo(Box::new(Fifo::new(&fifo, stream("router"), stream("router's ramp"))?))
            }
            Discipline::Dual(dual) => Self::Dual(Box::new(DualQueue::new(dual, stream("router"))?)),
            Discipline::SdnPort(port) => Self::SdnPort(Box::new(SdnPort::new(port, rate, stream("router")))),
        })
    }

    /// Takes a packet that arrives.
    ///
    /// # Errors
    /// The packet, if it is dropped.
    pub(crate) fn push(&mut self, now: Instant, packet: Packet<P>) -> Result<(), Packet<P>> {
        match self {
            Self::Fifo(fifo) => fifo.push(now, packet),
            Self::PerFlow(queues) => queues.push(now, packet),
            Self::Dual(dual) => dual.enqueue(now, packet),
            Self::SdnPort(port) => port.push(now, packet),
        }
    }

    /// Gives the next packet to the free link; `None` if none waits.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Dequeued<P>> {
        match self {
            Self::Fifo(fifo) => fifo.pop(now),
            Self::PerFlow(queues) => queues.pop(now),
            Self::Dual(dual) => dual.dequeue(now),
            Self::SdnPort(port) => port.pop(now),
        }
    }

    pub(crate) fn packets(&self) -> Box<dyn Iterator<Item = &Packet<P>> + '_> {
        match self {
            Self::Fifo(fifo) => Box::new(fifo.packets()),
            Self::PerFlow(queues) => Box::new(queues.packets()),
            Self::Dual(dual) => Box::new(dual.packets()),
            Self::SdnPort(port) => Box::new(port.packets()),
        }
    }
}

impl<P: Inspect> PerFlow<P> {
    fn new(config: FifoConfig, router: u32, seed: u64) -> Result<Self, ConfigError> {
        // What can't be used is named at once, not at a flow's first packet.
        DrbMarker::new(&config.marker, SN_LENGTH, Stream::new(seed, router, "router"))?;
        Ok(Self { config, router, seed, fifos: Vec::new(), turn: 0 })
    }

    fn push(&mut self, now: Instant, packet: Packet<P>) -> Result<(), Packet<P>> {
        let flow = packet.flow;
        if let Some((_, fifo)) = self.fifos.iter_mut().find(|(of, _)| *of == flow) {
            return fifo.push(now, packet);
        }
        let stream = |purpose: &str| Stream::new(self.seed, self.router, &format!("{purpose} {}", flow.0));
        let Ok(mut fifo) = Fifo::new(&self.config, stream("router's queue of flow"), stream("router's ramp of flow"))
        else {
            return Err(packet);
        };
        let taken = fifo.push(now, packet);
        self.fifos.push((flow, fifo));
        taken
    }

    fn pop(&mut self, now: Instant) -> Option<Dequeued<P>> {
        let count = self.fifos.len();
        (self.turn..self.turn + count).find_map(|index| {
            let dequeued = self.fifos[index % count].1.pop(now)?;
            self.turn = (index + 1) % count;
            Some(dequeued)
        })
    }

    fn packets(&self) -> impl Iterator<Item = &Packet<P>> {
        self.fifos.iter().flat_map(|(_, fifo)| fifo.packets())
    }
}

impl<P> Fifo<P> {
    fn packets(&self) -> impl Iterator<Item = &Packet<P>> {
        self.packets.iter().map(|(_, packet)| packet)
    }
}

impl<P: Inspect> Fifo<P> {
    fn new(config: &FifoConfig, stream: Stream, marks: Stream) -> Result<Self, ConfigError> {
        Ok(Self {
            packets: VecDeque::new(),
            bytes: Bytes::ZERO,
            limit: config.limit,
            marker: DrbMarker::new(&config.marker, SN_LENGTH, stream)?,
            next_sn: 0,
            ramp: config.ramp,
            overdue: config.overdue.map(Overdue::new),
            marks,
        })
    }

    fn state(&self, now: Instant) -> RlcQueue {
        let head_of_line = self.packets.front().map(|(since, _)| now.since(*since)).unwrap_or_default();
        RlcQueue { backlog: self.bytes, packets: self.packets.len() as u32, head_of_line }
    }

    fn push(&mut self, now: Instant, mut packet: Packet<P>) -> Result<(), Packet<P>> {
        match self.marker.handle_downlink(now, &packet, Some(self.state(now))) {
            Verdict::Pass => {}
            Verdict::Mark => packet.ecn = packet.ecn.marked(),
            Verdict::Drop => return Err(packet),
        }
        if self.bytes + packet.size > self.limit {
            return Err(packet);
        }
        self.marker.handle_pdcp_pdu(now, self.next_sn, packet.size);
        self.next_sn = (self.next_sn + 1) % SN_LENGTH.modulus();
        self.bytes += packet.size;
        self.packets.push_back((now, packet));
        Ok(())
    }

    fn pop(&mut self, now: Instant) -> Option<Dequeued<P>> {
        let arrivals = self.packets.iter().map(|(since, _)| *since);
        let is_overdue = self.overdue.as_mut().is_some_and(|overdue| overdue.takes_front(now, arrivals));
        let (since, mut packet) = self.packets.pop_front()?;
        self.bytes -= packet.size;
        let modulus = SN_LENGTH.modulus();
        let sn = (self.next_sn + modulus - 1 - self.packets.len() as u32 % modulus) % modulus;
        let verdict = self.marker.handle_dequeue(now, &packet, now.since(since), self.state(now));
        self.marker.handle_report(now, &DeliveryStatus { highest_transmitted: Some(sn), ..DeliveryStatus::default() });
        if is_overdue {
            return Some(Dequeued::Drop(packet));
        }
        if packet.ecn == Ecn::Ect1
            && let Some(ramp) = &self.ramp
            && self.marks.chance(ramp.probability(now.since(since)))
        {
            packet.ecn = Ecn::Ce;
        }
        Some(match verdict {
            Verdict::Pass => Dequeued::Send(packet),
            Verdict::Mark => {
                packet.ecn = packet.ecn.marked();
                Dequeued::Send(packet)
            }
            Verdict::Drop => Dequeued::Drop(packet),
        })
    }
}
