//! Wired paths: a constant delay, or one that varies around it; packets keep their order.

use std::collections::VecDeque;

use tidemark_core::{Duration, FlowId, Instant, Packet, Stream};
use tidemark_scenario::JITTER_CUT;

use crate::event::Place;

/// One direction of all wired paths with one delay.
#[derive(Debug)]
pub(crate) struct Wire<P> {
    delay: Duration,
    jitter: Option<(Duration, Stream)>,
    queue: VecDeque<(Instant, Packet<P>)>,
    /// Time at which the next packet comes out.
    next: Instant,
}

impl<P> Wire<P> {
    /// Delays with a standard deviation of `jitter` around `delay`, drawn from `draws`.
    pub(crate) fn new(delay: Duration, jitter: Duration, draws: Stream) -> Self {
        Self { jitter: (!jitter.is_zero()).then_some((jitter, draws)), ..Self::constant(delay) }
    }
    /// Delays of `delay`, all of them.
    pub(crate) fn constant(delay: Duration) -> Self {
        Self { delay, jitter: None, queue: VecDeque::new(), next: Instant::FAR }
    }
    /// True for a wire with jitter.
    pub(crate) fn varies(&self) -> bool {
        self.jitter.is_some()
    }
    /// True for a wire of exactly this delay.
    pub(crate) fn is_constant(&self, delay: Duration) -> bool {
        self.jitter.is_none() && self.delay == delay
    }
    /// Shortest time from sending a packet to its arrival.
    pub(crate) fn least(&self) -> Duration {
        let spread = self.jitter.as_ref().map_or(Duration::ZERO, |(deviation, _)| *deviation * JITTER_CUT);
        self.delay - spread
    }
    /// Sends a packet, and gives the time at which it arrives.
    pub(crate) fn send(&mut self, now: Instant, packet: Packet<P>) -> Instant {
        let at = now + self.draw_delay();
        // Nothing overtakes what is on the way.
        let at = self.queue.back().map_or(at, |(last, _)| at.max(*last));
        self.queue.push_back((at, packet));
        self.next = self.next.min(at);
        at
    }
    fn draw_delay(&mut self) -> Duration {
        let Some((deviation, draws)) = &mut self.jitter else { return self.delay };
        let cut = JITTER_CUT as f64;
        loop {
            let draw = draws.normal();
            if (-cut..=cut).contains(&draw) {
                return self.delay - *deviation * JITTER_CUT + deviation.mul_f64(cut + draw);
            }
        }
    }
    /// Time at which the next packet arrives.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }
    /// The next packet that has arrived at `now`.
    pub(crate) fn receive(&mut self, now: Instant) -> Option<Packet<P>> {
        if self.next > now {
            return None;
        }
        let (_, packet) = self.queue.pop_front()?;
        self.next = self.queue.front().map_or(Instant::FAR, |(at, _)| *at);
        Some(packet)
    }
    /// The same wire without packets, for another shard; of a wire with jitter it is a stand-in, until the wire itself is handed there.
    pub(crate) fn part(&self) -> Self {
        Self::constant(self.delay)
    }
    /// Hands packets of some flows to the same wire of another shard, which stand before or behind those that come out at the same time.
    /// A wire with jitter is one flow's alone.
    pub(crate) fn hand(&mut self, to: &mut Self, place: Place, is_handed: impl Fn(FlowId) -> bool) {
        if self.varies() {
            return;
        }
        let (handed, kept): (Vec<_>, _) = self.queue.drain(..).partition(|(_, packet)| is_handed(packet.flow));
        self.queue = kept.into();
        to.queue = place.merge(to.queue.drain(..), handed, |(at, _)| *at).into();
        [self, to].into_iter().for_each(|wire| wire.next = wire.queue.front().map_or(Instant::FAR, |(at, _)| *at));
    }
    /// Packets on the way.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet<P>> {
        self.queue.iter().map(|(_, packet)| packet)
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{Bytes, Ecn, FlowId};

    use super::*;

    #[test]
    fn a_packet_comes_out_after_the_delay_and_not_before() {
        let mut wire = Wire::new(Duration::from_millis(5), Duration::ZERO, Stream::new(1, 0, "wire"));
        wire.send(Instant::from_millis(1), Packet { flow: FlowId(3), size: Bytes(9), ecn: Ecn::NotEct, payload: () });
        assert_eq!(wire.next(), Instant::from_millis(6));
        assert!(wire.receive(Instant::from_millis(5)).is_none());
        assert_eq!(
            wire.packets().map(|packet| (packet.flow, packet.size)).collect::<Vec<_>>(),
            [(FlowId(3), Bytes(9))]
        );
        assert!(wire.receive(Instant::from_millis(6)).is_some());
        assert_eq!(wire.packets().count(), 0);
    }

    #[test]
    fn delays_vary_within_their_bounds_and_keep_the_order() {
        let millis = Duration::from_millis;
        let mut wire = Wire::new(millis(50), millis(5), Stream::new(1, 0, "wire"));
        let mut delays = Vec::new();
        for number in 0..5000 {
            let sent = Instant::from_millis(number * 100);
            let packet = Packet { flow: FlowId(0), size: Bytes(9), ecn: Ecn::NotEct, payload: number };
            wire.send(sent, packet);
            let at = wire.next();
            assert_eq!(wire.receive(at).unwrap().payload, number);
            delays.push(at.since(sent).as_millis_f64());
        }
        let mean = delays.iter().sum::<f64>() / 5000.0;
        let deviation = (delays.iter().map(|delay| (delay - mean) * (delay - mean)).sum::<f64>() / 5000.0).sqrt();
        assert!(delays.iter().all(|delay| (35.0..=65.0).contains(delay)));
        // A normal cut at three deviations has 0.9866 of its deviation.
        assert!((mean - 50.0).abs() < 0.3 && (deviation / (5.0 * 0.9866) - 1.0).abs() < 0.03, "{mean} {deviation}");
        let mut last = Instant::ZERO;
        for number in 0..200 {
            let packet = Packet { flow: FlowId(0), size: Bytes(9), ecn: Ecn::NotEct, payload: number };
            wire.send(Instant::from_millis(600_000 + number), packet);
        }
        for number in 0..200 {
            let at = wire.next();
            assert!(at >= last);
            last = at;
            assert_eq!(wire.receive(at).unwrap().payload, number);
        }
    }
}
