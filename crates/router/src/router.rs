//! A link and its queue at work.

use tidemark_core::{BitRate, ConfigError, Inspect, Instant, Packet, Stream};
use tidemark_marker::Dequeued;

use crate::config::RouterConfig;
use crate::harq::LinkHarq;
use crate::queue::Queue;
use crate::rate::Profile;

/// Router at work, for packets with a payload of this type.
pub struct Router<P> {
    rate: Profile,
    queue: Queue<P>,
    /// Packet on the link, and the time at which its last bit has left.
    sending: Option<(Instant, Packet<P>)>,
    /// Time at which the link began to send that packet, until the driver takes it.
    begun: Option<Instant>,
    harq: Option<LinkHarq<P>>,
    /// Packets that the queue dropped and the driver has not taken yet.
    dropped: Vec<Packet<P>>,
}

impl<P: Inspect> Router<P> {
    /// Router of this configuration. Its random draws depend on its index and the seed.
    ///
    /// # Errors
    /// A law that can't be used.
    pub fn new(config: &RouterConfig, index: u32, seed: u64) -> Result<Self, ConfigError> {
        Ok(Self {
            rate: Profile::new(config),
            queue: Queue::new(&config.queue, config.rate, index, seed)?,
            sending: None,
            begun: None,
            harq: config.harq.map(|harq| LinkHarq::new(harq, Stream::new(seed, index, "router's HARQ"))),
            dropped: Vec::new(),
        })
    }

    /// Puts a packet into the queue.
    pub fn arrive(&mut self, now: Instant, packet: Packet<P>) {
        if let Err(packet) = self.queue.push(now, packet) {
            self.dropped.push(packet);
        }
        if self.sending.is_none() {
            self.send_next(now);
        }
    }

    /// Time at which the link has sent its packet, or a packet is received after retransmissions; `Instant::FAR` if there is none.
    pub fn next_deadline(&self) -> Instant {
        let sent = self.sending.as_ref().map_or(Instant::FAR, |(until, _)| *until);
        self.harq.as_ref().map_or(sent, |harq| sent.min(harq.next_deadline()))
    }

    /// Gives the packet that the link has sent by `now`, and the time when it had. The link then begins with the next packet. With
    /// retransmissions a packet may come later, so there may be none now although the link has begun with the next.
    pub fn receive(&mut self, now: Instant) -> Option<(Instant, Packet<P>)> {
        let sent = self.sending.take_if(|(until, _)| *until <= now);
        if let Some((until, _)) = &sent {
            self.send_next(*until);
        }
        let Some(harq) = &mut self.harq else { return sent };
        if let Some((until, packet)) = sent {
            harq.hold(until, packet);
        }
        harq.release(now)
    }

    /// Gives the packet that the link began to send since the last [`arrive`](Self::arrive) or [`receive`](Self::receive), and the time.
    pub fn take_begun(&mut self) -> Option<(Instant, &mut Packet<P>)> {
        let at = self.begun.take()?;
        self.sending.as_mut().map(|(_, packet)| (at, packet))
    }

    /// Gives the next packet that the queue dropped.
    pub fn take_dropped(&mut self) -> Option<Packet<P>> {
        self.dropped.pop()
    }

    /// Packets in the queue and on the link.
    pub fn packets(&self) -> impl Iterator<Item = &Packet<P>> {
        let sending = self.sending.iter().map(|(_, packet)| packet).chain(&self.dropped);
        sending.chain(self.harq.iter().flat_map(LinkHarq::packets)).chain(self.queue.packets())
    }

    /// Bytes that the link could have carried between two instants.
    pub fn capacity(&self, from: Instant, to: Instant) -> f64 {
        self.rate.bytes_between(from, to)
    }

    /// Rate of the link.
    pub fn rate(&self, now: Instant) -> BitRate {
        self.rate.at(now)
    }

    fn send_next(&mut self, now: Instant) {
        while let Some(dequeued) = self.queue.pop(now) {
            match dequeued {
                Dequeued::Drop(packet) => self.dropped.push(packet),
                Dequeued::Send(packet) => {
                    self.sending = Some((self.rate.finish(now, packet.size), packet));
                    self.begun = Some(now);
                    return;
                }
            }
        }
    }
}
