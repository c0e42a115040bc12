//! Queues before a link: one queue with any of the marking laws, DualPI2's two, or those of a switch's port.

use std::collections::VecDeque;

use tidemark_core::{BitRate, Bytes, Ecn, FlowId, Inspect, Instant, Packet, Stream};
use tidemark_marker::{DeliveryStatus, Dequeued, DrbMarker, DualQueue, RlcQueue, SnLength, Verdict};

use crate::config::{Discipline, LeavingRamp, QueueConfig};
use crate::overdue::Overdue;
use crate::sdn_port::SdnPort;

/// A queue discipline at work.
pub(crate) enum Queue<P> {
    Fifo(Box<Fifo<P>>),
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

/// Every queue numbers its packets as a bearer with long SNs does.
const SN_LENGTH: SnLength = SnLength::Bits18;

impl<P: Inspect> Queue<P> {
    pub(crate) fn new(
        config: &QueueConfig,
        rate: BitRate,
        stream: Stream,
        marks: Stream,
    ) -> Result<Self, tidemark_core::ConfigError> {
        Ok(match config.discipline() {
            Discipline::Fifo(fifo) => Self::Fifo(Box::new(Fifo {
                packets: VecDeque::new(),
                bytes: Bytes::ZERO,
                limit: fifo.limit,
                marker: DrbMarker::new(&fifo.marker, SN_LENGTH, stream)?,
                next_sn: 0,
                ramp: fifo.ramp,
                overdue: fifo.overdue.map(Overdue::new),
                marks,
            })),
            Discipline::Dual(dual) => Self::Dual(Box::new(DualQueue::new(dual, stream)?)),
            Discipline::SdnPort(port) => Self::SdnPort(Box::new(SdnPort::new(port, rate, stream))),
        })
    }

    /// A packet arrives.
    ///
    /// # Errors
    /// The packet, where it is dropped.
    pub(crate) fn push(&mut self, now: Instant, packet: Packet<P>) -> Result<(), Packet<P>> {
        match self {
            Self::Fifo(fifo) => fifo.push(now, packet),
            Self::Dual(dual) => dual.enqueue(now, packet),
            Self::SdnPort(port) => port.push(now, packet),
        }
    }

    /// The link is free; `None` when nothing waits.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Dequeued<P>> {
        match self {
            Self::Fifo(fifo) => fifo.pop(now),
            Self::Dual(dual) => dual.dequeue(now),
            Self::SdnPort(port) => port.pop(now),
        }
    }

    pub(crate) fn held(&self, flow: FlowId) -> Bytes {
        let size = |packet: &Packet<P>| if packet.flow == flow { packet.size } else { Bytes::ZERO };
        match self {
            Self::Fifo(fifo) => fifo.packets.iter().map(|(_, packet)| size(packet)).sum(),
            Self::Dual(dual) => dual.packets().map(size).sum(),
            Self::SdnPort(port) => port.held(flow),
        }
    }
}

impl<P: Inspect> Fifo<P> {
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
