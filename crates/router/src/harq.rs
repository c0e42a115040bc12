//! Retransmissions for a router that models a radio link: they delay packets by whole round trips and keep their order.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidemark_core::{Duration, Instant, Packet, Range, Stream, bounds};

/// Delays by HARQ, as documented for `sch_janz` (`janz/qdisc.md` of the public sch_jens): a tenth of the packets come 8 ms later,
/// a tenth of those 16 ms later, and so on. They do not reduce the rate of the link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = tidemark_core::bounds::in_schema::<LinkHarqConfig>)]
pub struct LinkHarqConfig {
    /// Share of transmissions that fail. Default 0.1, the usual target.
    pub error_rate: f64,
    /// Time of a retransmission. Default 8 ms, as in `sch_janz`.
    pub round_trip: Duration,
    /// Largest number of retransmissions of a packet. Default 5, as in `sch_janz`.
    pub limit: u32,
}

impl Default for LinkHarqConfig {
    fn default() -> Self {
        Self { error_rate: 0.1, round_trip: Duration::from_millis(8), limit: 5 }
    }
}

bounds! { LinkHarqConfig {
    error_rate: Range::at_least(0.0).and_below(1.0),
    round_trip: Range::at_most(Duration::from_secs(1)),
    limit: Range::between(1u32, 100),
} }

/// Packets that the link has sent and the receiver still holds to keep the order.
pub(crate) struct LinkHarq<P> {
    config: LinkHarqConfig,
    draws: Stream,
    held: VecDeque<(Instant, Packet<P>)>,
}

impl<P> LinkHarq<P> {
    pub(crate) fn new(config: LinkHarqConfig, draws: Stream) -> Self {
        Self { config, draws, held: VecDeque::new() }
    }

    /// Takes a packet that was first transmitted at `now`. None overtakes another.
    pub(crate) fn hold(&mut self, now: Instant, packet: Packet<P>) {
        let fails = |_: &u32| self.draws.uniform() < self.config.error_rate;
        let retransmissions = (0..self.config.limit).take_while(fails).count() as u64;
        let decoded = now + self.config.round_trip * retransmissions;
        let release = self.held.back().map_or(decoded, |(before, _)| decoded.max(*before));
        self.held.push_back((release, packet));
    }

    /// Time at which the next packet is released; far away where there is none.
    pub(crate) fn next_deadline(&self) -> Instant {
        self.held.front().map_or(Instant::FAR, |(release, _)| *release)
    }

    /// Gives the next packet that is due, and its time.
    pub(crate) fn release(&mut self, now: Instant) -> Option<(Instant, Packet<P>)> {
        (self.next_deadline() <= now).then(|| self.held.pop_front()).flatten()
    }

    /// Packets that are held.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet<P>> {
        self.held.iter().map(|(_, packet)| packet)
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{Bytes, Ecn, FlowId};

    use super::*;

    #[test]
    fn a_tenth_comes_8_ms_later_and_none_overtakes_another() {
        let mut harq = LinkHarq::new(LinkHarqConfig::default(), Stream::new(1, 0, "harq"));
        let mut delays = Vec::new();
        for number in 0..10_000u64 {
            let now = Instant::from_millis(number * 100);
            harq.hold(now, Packet { flow: FlowId(0), size: Bytes(1), ecn: Ecn::Ect1, payload: () });
            let (release, _) = harq.release(Instant::FAR).unwrap();
            delays.push(release.since(now).as_millis_f64());
        }
        let share = |ms: f64| delays.iter().filter(|delay| **delay >= ms).count() as f64 / delays.len() as f64;
        assert!((share(8.0) - 0.1).abs() < 0.01 && (share(16.0) - 0.01).abs() < 0.004, "{}", share(8.0));
        for number in 0..100 {
            let now = Instant::from_millis(2_000_000 + number);
            harq.hold(now, Packet { flow: FlowId(number as u32), size: Bytes(1), ecn: Ecn::Ect1, payload: () });
        }
        let released: Vec<_> = std::iter::from_fn(|| harq.release(Instant::FAR)).collect();
        assert!(released.is_sorted_by_key(|(release, _)| *release));
        assert!(released.is_sorted_by_key(|(_, packet)| packet.flow.0));
    }
}
