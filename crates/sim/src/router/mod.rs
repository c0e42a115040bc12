//! A wired bottleneck: a link of a rate that may change, and the queue before it.

mod config;
mod path;
mod queue;
mod rate;
mod sdn_port;

use tidemark_core::{Bytes, Ecn, FlowId, Instant, Packet, Stream};
use tidemark_marker::Dequeued;
use tidemark_record::router::RouterRecord;

pub use config::{CodelQueueConfig, DropTailConfig, FifoConfig, LeavingRamp, QueueConfig, RateChange, RouterConfig};
pub use path::RouterPath;
use queue::Queue;
use rate::Profile;
pub use sdn_port::{LiteralConfig, SdnMarking, SdnPortConfig, SoundConfig};

use crate::stamped::Stamped;

/// A router at work.
pub(crate) struct Router {
    rate: Profile,
    queue: Queue<Stamped>,
    /// Packet on the link, and the time at which the link is through with it.
    sending: Option<(Instant, Packet<Stamped>)>,
    /// Packets that the queue dropped and nobody has counted yet.
    dropped: Vec<Packet<Stamped>>,
    pub(crate) record: RouterRecord,
}

impl Router {
    pub(crate) fn new(config: &RouterConfig, index: u32, seed: u64) -> Result<Self, tidemark_core::ConfigError> {
        Ok(Self {
            rate: Profile::new(config),
            queue: Queue::new(
                &config.queue,
                config.rate,
                Stream::new(seed, index, "router"),
                Stream::new(seed, index, "router's ramp"),
            )?,
            sending: None,
            dropped: Vec::new(),
            record: RouterRecord::new(&config.tdq),
        })
    }

    /// A packet reaches the queue.
    pub(crate) fn arrive(&mut self, now: Instant, mut packet: Packet<Stamped>) {
        (packet.payload.at_router, packet.payload.came_marked) = (now, packet.ecn == Ecn::Ce);
        if let Err(packet) = self.queue.push(now, packet) {
            self.dropped.push(packet);
        }
        if self.sending.is_none() {
            self.send_next(now);
        }
    }

    /// Time at which the link is through with its packet.
    pub(crate) fn next(&self) -> Instant {
        self.sending.as_ref().map_or(Instant::FAR, |(until, _)| *until)
    }

    /// The packet that the link is through with at `now`; the next one follows it.
    pub(crate) fn receive(&mut self, now: Instant) -> Option<Packet<Stamped>> {
        let (until, mut packet) = self.sending.take()?;
        if until > now {
            self.sending = Some((until, packet));
            return None;
        }
        let whole = until.since(packet.payload.at_router);
        packet.payload.in_routers += whole;
        self.record.left(packet.size, packet.ecn == Ecn::Ce && !packet.payload.came_marked);
        self.send_next(until);
        Some(packet)
    }

    /// The next packet that the queue dropped.
    pub(crate) fn take_dropped(&mut self) -> Option<Packet<Stamped>> {
        self.dropped.pop()
    }

    /// Bytes of a flow in the queue and on the link.
    pub(crate) fn held(&self, flow: FlowId) -> Bytes {
        let sending = self.sending.iter().map(|(_, packet)| packet).chain(&self.dropped);
        sending.filter(|packet| packet.flow == flow).map(|packet| packet.size).sum::<Bytes>() + self.queue.held(flow)
    }

    /// Bytes that the link could have carried between two instants.
    pub(crate) fn capacity(&self, from: Instant, to: Instant) -> f64 {
        self.rate.bytes_between(from, to)
    }

    /// Ends an interval of the series.
    pub(crate) fn sample(&mut self, now: Instant) {
        self.record.sample(self.rate.at(now));
    }

    fn send_next(&mut self, now: Instant) {
        while let Some(dequeued) = self.queue.pop(now) {
            match dequeued {
                Dequeued::Drop(packet) => self.dropped.push(packet),
                Dequeued::Send(mut packet) => {
                    let waited = now.since(packet.payload.at_router);
                    packet.payload.waited += waited;
                    self.record.began(now, waited);
                    self.sending = Some((self.rate.finish(now, packet.size), packet));
                    return;
                }
            }
        }
    }
}
