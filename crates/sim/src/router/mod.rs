//! A wired bottleneck: a link of a rate that may change, and the queue before it.

mod config;
mod path;
mod queue;
mod rate;
mod sdn_port;

use tidemark_core::{BitRate, Bytes, Ecn, FlowId, Instant, Packet, Stream};
use tidemark_marker::Dequeued;
use tidemark_record::Recorder;
use tidemark_record::event::Event;

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
    /// Number in the recorder.
    number: usize,
}

impl Router {
    pub(crate) fn new(config: &RouterConfig, index: u32, seed: u64) -> Result<Self, tidemark_core::ConfigError> {
        Ok(Self {
            number: index as usize,
            rate: Profile::new(config),
            queue: Queue::new(
                &config.queue,
                config.rate,
                Stream::new(seed, index, "router"),
                Stream::new(seed, index, "router's ramp"),
            )?,
            sending: None,
            dropped: Vec::new(),
        })
    }

    /// A packet reaches the queue.
    pub(crate) fn arrive(&mut self, now: Instant, mut packet: Packet<Stamped>, recorder: &mut Recorder) {
        (packet.payload.at_router, packet.payload.came_marked) = (now, packet.ecn == Ecn::Ce);
        if let Err(packet) = self.queue.push(now, packet) {
            self.dropped.push(packet);
        }
        if self.sending.is_none() {
            self.send_next(now, recorder);
        }
    }

    /// Time at which the link is through with its packet.
    pub(crate) fn next(&self) -> Instant {
        self.sending.as_ref().map_or(Instant::FAR, |(until, _)| *until)
    }

    /// The packet that the link is through with at `now`; the next one follows it.
    pub(crate) fn receive(&mut self, now: Instant, recorder: &mut Recorder) -> Option<Packet<Stamped>> {
        let (until, mut packet) = self.sending.take()?;
        if until > now {
            self.sending = Some((until, packet));
            return None;
        }
        let whole = until.since(packet.payload.at_router);
        packet.payload.in_routers += whole;
        let marked = packet.ecn == Ecn::Ce && !packet.payload.came_marked;
        recorder.handle(until, Event::RouterSent { router: self.number, size: packet.size, marked });
        self.send_next(until, recorder);
        Some(packet)
    }

    /// The next packet that the queue dropped.
    pub(crate) fn take_dropped(&mut self, now: Instant, recorder: &mut Recorder) -> Option<Packet<Stamped>> {
        let packet = self.dropped.pop()?;
        recorder.handle(now, Event::RouterDropped { router: self.number });
        Some(packet)
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

    /// Rate of the link.
    pub(crate) fn rate(&self, now: Instant) -> BitRate {
        self.rate.at(now)
    }

    fn send_next(&mut self, now: Instant, recorder: &mut Recorder) {
        while let Some(dequeued) = self.queue.pop(now) {
            match dequeued {
                Dequeued::Drop(packet) => self.dropped.push(packet),
                Dequeued::Send(mut packet) => {
                    let waited = now.since(packet.payload.at_router);
                    packet.payload.waited += waited;
                    recorder.handle(now, Event::RouterBegan { router: self.number, waited });
                    self.sending = Some((self.rate.finish(now, packet.size), packet));
                    return;
                }
            }
        }
    }
}
