//! Wired paths: a constant delay, so that what goes in first comes out first.

use std::collections::VecDeque;

use tidemark_core::{Bytes, Duration, FlowId, Instant, Packet};

/// One direction of all wired paths with one delay.
#[derive(Debug)]
pub(crate) struct Wire<P> {
    pub(crate) delay: Duration,
    queue: VecDeque<(Instant, Packet<P>)>,
}

impl<P> Wire<P> {
    pub(crate) fn new(delay: Duration) -> Self {
        Self { delay, queue: VecDeque::new() }
    }
    pub(crate) fn send(&mut self, now: Instant, packet: Packet<P>) {
        self.queue.push_back((now + self.delay, packet));
    }
    /// When the next packet comes out.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.queue.front().map(|(at, _)| *at)
    }
    /// The next packet that is out at `now`.
    pub(crate) fn receive(&mut self, now: Instant) -> Option<Packet<P>> {
        self.next().filter(|at| *at <= now)?;
        self.queue.pop_front().map(|(_, packet)| packet)
    }
    /// Bytes of a flow on the way.
    pub(crate) fn held(&self, flow: FlowId) -> Bytes {
        self.queue.iter().filter(|(_, packet)| packet.flow == flow).map(|(_, packet)| packet.size).sum()
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Ecn;

    use super::*;

    #[test]
    fn a_packet_comes_out_after_the_delay_and_not_before() {
        let mut wire = Wire::new(Duration::from_millis(5));
        wire.send(Instant::from_millis(1), Packet { flow: FlowId(3), size: Bytes(9), ecn: Ecn::NotEct, payload: () });
        assert_eq!(wire.next(), Some(Instant::from_millis(6)));
        assert!(wire.receive(Instant::from_millis(5)).is_none());
        assert_eq!(wire.held(FlowId(3)), Bytes(9));
        assert!(wire.receive(Instant::from_millis(6)).is_some());
        assert_eq!(wire.held(FlowId(3)), Bytes(0));
    }
}
