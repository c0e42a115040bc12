//! A switch port of SDN-L4S: an L4S and a classic class of HTB, marked in the data plane (sound) or by rules of the
//! controller (literal). The real switches are in `sdn/`.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidemark_core::{
    BitRate, Bounded, Bytes, ConfigError, Duration, Ecn, Instant, Packet, Probability, Range, Stream, bounds,
};
use tidemark_marker::Dequeued;

use crate::config::LIMIT;

/// A switch port under SDN-L4S. All its parameters are set for the initial rate of the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = tidemark_core::bounds::in_schema::<SdnPortConfig>)]
pub struct SdnPortConfig {
    /// Place where packets are marked. Default: the data plane.
    pub marking: SdnMarking,
    /// Share of the link that the L4S class is guaranteed. The classic class has the remainder, and either may use idle
    /// capacity of the other. Default 0.9.
    pub l4s_share: f64,
    /// Size of the L4S queue. Default 100 kB.
    pub l4s_limit: Bytes,
    /// Size of the classic queue. Default 400 kB.
    pub classic_limit: Bytes,
    /// True to put all traffic into the classic queue: the baseline of the paper, without queue management. Default: no.
    pub one_queue: bool,
}

/// Place where the packets of a port are marked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "mode", rename_all = "kebab-case")]
pub enum SdnMarking {
    /// The program at the port, with PI2 in the agent beside the switch.
    Sound(SoundConfig),
    /// Rules that the controller sets.
    Literal(LiteralConfig),
}

/// Marks in the data plane: a virtual queue with a ramp for L4S, PI2 for classic packets, coupled (RFC 9332).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = tidemark_core::bounds::in_schema::<SoundConfig>)]
pub struct SoundConfig {
    /// Share of the link's rate at which the virtual queue drains. Default 0.98.
    pub virtual_rate: f64,
    /// Delay of the virtual queue at which marks begin. Default 800 us.
    pub ramp_low: Duration,
    /// Delay from which every L4S packet is marked. Default 1.2 ms.
    pub ramp_high: Duration,
    /// Target delay of PI2 for the classic queue. Default 15 ms.
    pub target: Duration,
    /// Period in which the agent reads the backlog and updates PI2. Default 16 ms.
    pub period: Duration,
    /// Integral gain in Hz. Default 0.16.
    pub alpha: f64,
    /// Proportional gain in Hz. Default 3.2.
    pub beta: f64,
    /// Coupling factor k. Default 2.
    pub coupling: f64,
}

/// The paper as printed: while the load of a queue is at least q1, a rule marks all L4S packets, or drops all classic packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = tidemark_core::bounds::in_schema::<LiteralConfig>)]
pub struct LiteralConfig {
    /// Threshold of the load, as a share of the queue's size. Default 0.8.
    pub q1: f64,
    /// Period in which the controller reads the loads. Default 100 ms.
    pub period: Duration,
}

impl Default for SdnPortConfig {
    fn default() -> Self {
        Self {
            marking: SdnMarking::Sound(SoundConfig::default()),
            l4s_share: 0.9,
            l4s_limit: Bytes(100_000),
            classic_limit: Bytes(400_000),
            one_queue: false,
        }
    }
}

impl Default for SoundConfig {
    fn default() -> Self {
        Self {
            virtual_rate: 0.98,
            ramp_low: Duration::from_micros(800),
            ramp_high: Duration::from_micros(1_200),
            target: Duration::from_millis(15),
            period: Duration::from_millis(16),
            alpha: 0.16,
            beta: 3.2,
            coupling: 2.0,
        }
    }
}

impl Default for LiteralConfig {
    fn default() -> Self {
        Self { q1: 0.8, period: Duration::from_millis(100) }
    }
}

impl SdnPortConfig {
    /// Checks every field; the error is the first one that cannot be used.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        let checked = match &self.marking {
            SdnMarking::Sound(sound) => sound.validate(),
            SdnMarking::Literal(literal) => literal.check_bounds(),
        };
        checked.map_err(|error| error.within("marking"))
    }
}

impl SoundConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        let Self { ramp_low, ramp_high, .. } = self;
        if ramp_low >= ramp_high {
            return Err(ConfigError::new("ramp_high", format!("must be above ramp_low, {ramp_low}")).found(ramp_high));
        }
        Ok(())
    }
}

/// Time between two looks of agent or controller.
const PERIOD: Range<Duration> = Range::at_least(Duration::from_millis(1));

bounds! { SdnPortConfig {
    l4s_share: Range::inside(0.0, 1.0),
    l4s_limit: LIMIT,
    classic_limit: LIMIT,
    ..marking, one_queue
} }

bounds! { SoundConfig {
    virtual_rate: Range::between(0.5, 1.0),
    period: PERIOD,
    alpha: Range::at_least(0.0).unit("Hz"),
    beta: Range::at_least(0.0).unit("Hz"),
    coupling: Range::at_least(0.0),
    ..ramp_low, ramp_high, target
} }

bounds! { LiteralConfig {
    q1: Range::between(0.0, 1.0),
    period: PERIOD,
} }

const L4S: usize = 0;
const CLASSIC: usize = 1;
/// Bytes that a class may send at once: two packets of Ethernet, or a millisecond at its rate.
const MIN_BURST: f64 = 2.0 * 1_514.0;
const BURST_TIME: f64 = 1e-3;
/// Weight of the newest period in the rate at which the classic queue drains.
const DRAIN_GAIN: f64 = 1.0 / 8.0;

/// A port at work.
pub(crate) struct SdnPort<P> {
    config: SdnPortConfig,
    /// Rate of the link, in bytes a second.
    rate: f64,
    classes: [Class<P>; 2],
    stream: Stream,
    /// Next time at which the agent or the controller reads the queues.
    due: Instant,
    /// Backlog of the virtual queue in seconds, and when it was so.
    virtual_queue: (f64, Instant),
    pi2: Pi2,
    /// Literal: the load of each kind's queue was at q1 at the last look.
    congested: [bool; 2],
}

/// A class of HTB.
struct Class<P> {
    packets: VecDeque<Packet<P>>,
    bytes: Bytes,
    limit: Bytes,
    /// Own rate in bytes a second; what is unused of it, in bytes, and when that was so.
    rate: f64,
    tokens: f64,
    filled_at: Instant,
    /// Bytes sent since the last look, and the rate of that, averaged.
    sent: f64,
    drain: f64,
}

/// PI2 (RFC 9332 A.1) on delays that somebody looks up from time to time.
#[derive(Default)]
struct Pi2 {
    base: f64,
    delay: f64,
}

impl<P> SdnPort<P> {
    pub(crate) fn new(config: &SdnPortConfig, rate: BitRate, stream: Stream) -> Self {
        let rate = rate.as_bytes_per_sec();
        let class = |share: f64, limit| Class::new(rate * share, limit);
        Self {
            config: config.clone(),
            rate,
            classes: [
                class(config.l4s_share, config.l4s_limit),
                class(if config.one_queue { 1.0 } else { 1.0 - config.l4s_share }, config.classic_limit),
            ],
            stream,
            due: Instant::ZERO,
            virtual_queue: (0.0, Instant::ZERO),
            pi2: Pi2::default(),
            congested: [false; 2],
        }
    }

    /// Takes a packet that arrives. It is marked or dropped before HTB, as by the program of a real port.
    ///
    /// # Errors
    /// The packet, if it is dropped.
    pub(crate) fn push(&mut self, now: Instant, mut packet: Packet<P>) -> Result<(), Packet<P>> {
        self.look(now);
        let kind = if packet.ecn.is_l4s() { L4S } else { CLASSIC };
        let congested = match &self.config.marking {
            SdnMarking::Sound(sound) => {
                let probability = if kind == L4S {
                    let delay =
                        virtual_delay(&mut self.virtual_queue, packet.size, sound.virtual_rate * self.rate, now);
                    sound.ramp(delay).max(self.pi2.coupled(sound))
                } else {
                    self.pi2.base * self.pi2.base
                };
                self.stream.chance(Probability::new(probability))
            }
            SdnMarking::Literal(_) => self.congested[kind],
        };
        if congested {
            let literal = matches!(self.config.marking, SdnMarking::Literal(_));
            if kind == CLASSIC && (literal || packet.ecn == Ecn::NotEct) {
                return Err(packet);
            }
            packet.ecn = packet.ecn.marked();
        }
        let queue = self.home(kind);
        self.classes[queue].push(packet)
    }

    /// Gives the next packet to the free link; `None` if none waits.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Dequeued<P>> {
        self.look(now);
        self.classes.iter_mut().for_each(|class| class.fill(now));
        // HTB: classes within their own rate come first, then those that borrow; among equals L4S has the priority.
        let waiting = |class: &Class<P>| !class.packets.is_empty();
        let within = self.classes.iter().position(|class| waiting(class) && class.tokens > 0.0);
        let next = within.or_else(|| self.classes.iter().position(waiting))?;
        self.classes[next].pop().map(Dequeued::Send)
    }

    /// Packets of both queues.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet<P>> {
        self.classes.iter().flat_map(|class| &class.packets)
    }

    /// The queue of a kind of traffic.
    fn home(&self, kind: usize) -> usize {
        if self.config.one_queue { CLASSIC } else { kind }
    }

    /// The looks at the backlogs that are due. Nothing has happened to the queues since the last packet.
    fn look(&mut self, now: Instant) {
        while self.due <= now {
            let loads = [L4S, CLASSIC].map(|kind| {
                let class = &self.classes[self.home(kind)];
                class.bytes.as_f64() / class.limit.as_f64()
            });
            let period = match &self.config.marking {
                SdnMarking::Sound(sound) => {
                    let period = sound.period;
                    let classic = &mut self.classes[CLASSIC];
                    let sent = std::mem::take(&mut classic.sent) / period.as_secs_f64();
                    if classic.bytes > Bytes::ZERO {
                        classic.drain += DRAIN_GAIN * (sent - classic.drain);
                    }
                    let classic = classic.bytes.as_f64() / classic.rate.max(classic.drain);
                    let delay = classic.max(self.classes[L4S].bytes.as_f64() / self.rate);
                    self.pi2.update(sound, delay);
                    period
                }
                SdnMarking::Literal(literal) => {
                    self.congested = loads.map(|load| load >= literal.q1);
                    literal.period
                }
            };
            self.due += period;
        }
    }
}

/// Puts a packet into the virtual queue and gives the delay that it finds there, in seconds.
fn virtual_delay(queue: &mut (f64, Instant), size: Bytes, rate: f64, now: Instant) -> f64 {
    let found = (queue.0 - now.since(queue.1).as_secs_f64()).max(0.0);
    *queue = (found + size.as_f64() / rate, now);
    found
}

impl SoundConfig {
    fn ramp(&self, delay: f64) -> f64 {
        let (low, high) = (self.ramp_low.as_secs_f64(), self.ramp_high.as_secs_f64());
        ((delay - low) / (high - low)).clamp(0.0, 1.0)
    }
}

impl<P> Class<P> {
    fn new(rate: f64, limit: Bytes) -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: Bytes::ZERO,
            limit,
            rate,
            tokens: 0.0,
            filled_at: Instant::ZERO,
            sent: 0.0,
            drain: 0.0,
        }
    }

    fn push(&mut self, packet: Packet<P>) -> Result<(), Packet<P>> {
        if self.bytes + packet.size > self.limit {
            return Err(packet);
        }
        self.bytes += packet.size;
        self.packets.push_back(packet);
        Ok(())
    }

    fn fill(&mut self, now: Instant) {
        let burst = MIN_BURST.max(self.rate * BURST_TIME);
        self.tokens = (self.tokens + self.rate * now.since(self.filled_at).as_secs_f64()).min(burst);
        self.filled_at = now;
    }

    fn pop(&mut self) -> Option<Packet<P>> {
        let packet = self.packets.pop_front()?;
        self.bytes -= packet.size;
        self.sent += packet.size.as_f64();
        // What is borrowed from the other class is not paid back.
        let burst = MIN_BURST.max(self.rate * BURST_TIME);
        self.tokens = (self.tokens - packet.size.as_f64()).max(-burst);
        Some(packet)
    }
}

impl Pi2 {
    fn update(&mut self, sound: &SoundConfig, delay: f64) {
        let target = sound.target.as_secs_f64();
        let change = sound.alpha * (delay - target) + sound.beta * (delay - self.delay);
        self.delay = delay;
        // RFC 9332 A.1: p_C at most 1 / k^2, where p_CL is 1.
        self.base = (self.base + change).clamp(0.0, 1.0 / sound.coupling.max(1.0));
    }

    fn coupled(&self, sound: &SoundConfig) -> f64 {
        (sound.coupling * self.base).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::FlowId;

    use super::*;

    fn packet(ecn: Ecn) -> Packet<()> {
        Packet { flow: FlowId(0), size: Bytes(1_500), ecn, payload: () }
    }

    /// 12 Mbit/s: a packet takes a millisecond.
    fn port(config: &SdnPortConfig) -> SdnPort<()> {
        SdnPort::new(config, BitRate::from_mbps(12), Stream::new(1, 0, "port"))
    }

    fn sent(port: &mut SdnPort<()>, from: u64, count: u64) -> Vec<Ecn> {
        let next = |at: u64| match port.pop(Instant::from_millis(at)) {
            Some(Dequeued::Send(packet)) => packet.ecn,
            _ => panic!("a packet waits"),
        };
        (from..from + count).map(next).collect()
    }

    #[test]
    fn l4s_goes_first_and_leaves_the_classic_class_its_tenth() {
        let marking = SdnMarking::Literal(LiteralConfig { q1: 1.0, ..LiteralConfig::default() });
        let limits = Bytes(10_000_000);
        let mut port = port(&SdnPortConfig { marking, l4s_limit: limits, classic_limit: limits, ..Default::default() });
        for _ in 0..2_000 {
            port.push(Instant::ZERO, packet(Ecn::Ect1)).unwrap();
            port.push(Instant::ZERO, packet(Ecn::NotEct)).unwrap();
        }
        let classic = sent(&mut port, 1, 1_000).into_iter().filter(|ecn| *ecn == Ecn::NotEct).count();
        assert!((95..=105).contains(&classic), "{classic}");
    }

    #[test]
    fn the_virtual_queue_marks_what_comes_faster_than_it_drains() {
        let at = |gap_us: u64| {
            let mut port = port(&SdnPortConfig::default());
            let mut marked = 0;
            for number in 0..1_000 {
                let now = Instant::from_nanos(number * gap_us * 1_000);
                port.push(now, packet(Ecn::Ect1)).unwrap();
                let Some(Dequeued::Send(packet)) = port.pop(now) else { panic!("a packet waits") };
                marked += u32::from(packet.ecn == Ecn::Ce);
            }
            marked
        };
        // A packet takes the virtual queue 1.02 ms: at a gap of 1.1 ms nothing stands, at 1 ms the ramp is passed soon.
        assert_eq!(at(1_100), 0);
        assert!(at(1_000) > 900);
    }

    #[test]
    fn pi2_acts_at_its_period_and_couples_by_the_square() {
        let mut port = port(&SdnPortConfig::default());
        // 60 ms of classic packets, of which nothing leaves.
        for _ in 0..60 {
            port.push(Instant::from_millis(1), packet(Ecn::Ect0)).unwrap();
        }
        assert_eq!(port.pi2.base, 0.0, "nobody has looked yet");
        port.look(Instant::from_millis(17));
        // The class's own rate is a tenth of the link's: 90 kB at 150 kB/s are 600 ms.
        let expected: f64 = 0.16 * (0.6 - 0.015) + 3.2 * 0.6;
        assert!((port.pi2.base - expected.min(0.5)).abs() < 1e-9, "{}", port.pi2.base);
        assert_eq!(port.pi2.coupled(&SoundConfig::default()), 1.0);
        let dropped = (0..1_000).filter(|_| port.push(Instant::from_millis(18), packet(Ecn::NotEct)).is_err()).count();
        // p_C is a quarter, until the queue is full at 266 packets.
        assert!(dropped > 250, "{dropped}");
    }

    #[test]
    fn rules_mark_and_drop_from_one_look_to_the_next() {
        let marking = SdnMarking::Literal(LiteralConfig { q1: 0.5, period: Duration::from_millis(100) });
        let mut port = port(&SdnPortConfig { marking, ..Default::default() });
        for _ in 0..40 {
            port.push(Instant::from_millis(1), packet(Ecn::Ect1)).unwrap();
        }
        // 60 kB of 100: over q1, but the next look is at 100 ms.
        assert_eq!(sent(&mut port, 2, 1), [Ecn::Ect1]);
        port.push(Instant::from_millis(100), packet(Ecn::Ect1)).unwrap();
        assert_eq!(sent(&mut port, 101, 40).last(), Some(&Ecn::Ce));
        port.push(Instant::from_millis(199), packet(Ecn::Ect1)).unwrap();
        assert_eq!(sent(&mut port, 199, 1), [Ecn::Ce], "the rule stands though the queue is empty");
        port.push(Instant::from_millis(200), packet(Ecn::Ect1)).unwrap();
        assert_eq!(sent(&mut port, 200, 1), [Ecn::Ect1]);
    }

    #[test]
    fn in_one_queue_the_load_is_common_and_classic_packets_are_dropped() {
        let marking = SdnMarking::Literal(LiteralConfig { q1: 0.1, period: Duration::from_millis(100) });
        let mut port = port(&SdnPortConfig { marking, one_queue: true, ..Default::default() });
        for _ in 0..30 {
            port.push(Instant::from_millis(1), packet(Ecn::NotEct)).unwrap();
        }
        port.push(Instant::from_millis(100), packet(Ecn::Ect1)).unwrap();
        assert!(port.push(Instant::from_millis(100), packet(Ecn::Ect0)).is_err());
        assert_eq!(sent(&mut port, 101, 31).last(), Some(&Ecn::Ce), "order of arrival");
    }

    #[test]
    fn what_cannot_work_is_refused_by_name() {
        let wrong = |config: SdnPortConfig| config.validate().unwrap_err().field().to_string();
        assert_eq!(wrong(SdnPortConfig { l4s_share: 1.0, ..Default::default() }), "l4s_share");
        assert_eq!(wrong(SdnPortConfig { l4s_limit: Bytes(100), ..Default::default() }), "l4s_limit");
        let sound = SoundConfig { ramp_low: Duration::from_millis(2), ..SoundConfig::default() };
        let marking = SdnMarking::Sound(sound);
        assert_eq!(wrong(SdnPortConfig { marking, ..Default::default() }), "marking.ramp_high");
        let marking = SdnMarking::Literal(LiteralConfig { q1: 1.5, ..LiteralConfig::default() });
        assert_eq!(wrong(SdnPortConfig { marking, ..Default::default() }), "marking.q1");
        assert_eq!(SdnPortConfig::default().validate(), Ok(()));
    }
}
