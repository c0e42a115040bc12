//! Prague with a hint: marks are the bound, and recommendations of the access network (TS 38.321 5.18.10) the climb.
//!
//! Prague climbs by a segment a round trip, while a radio's rate may double within a second. A recommendation says that there is room. Unless marks say
//! otherwise, the rate goes at once to a share of what all fresh recommendations grant. Such a climb is on probation for two
//! round trips, until what was sent by it is acknowledged, and what was sent a round trip later. A mark before their end takes it back, to
//! what the path has delivered or the window before the climb, whichever is more; without one the window stays. Prague answers marks
//! as ever.
//!
//! A recommendation is of the radio alone, may be late, and may be wrong. One that is older than `fresh` counts for nothing. If marks come while a fresh
//! one still asks for more, they are distrusted for one round trip, then two, four and so on to 64, until a climb holds: behind a
//! bottleneck elsewhere this is Prague.
//!
//! Recommendations don't lower the rate. Going down to them with a mark was tried: they are a loop old, and where the radio fades within it, what
//! was lost by falling with each fade was more than the queue was worth (docs/measured/front.md).

use std::collections::VecDeque;

use tidemark_core::{BitRate, Bounded, Bytes, ConfigError, Duration, Instant, Range, bounds};

use super::{Prague, PragueConfig};
use crate::config::{EcnMode, TcpConfig};
use crate::control::{CongestionControl, OverTcp, Properties, Transport};
use crate::controller::{Ack, Congestion, Controller, EcnResponse, Sizes};

/// Round trips of a probation: the climb comes back with the first, marks for it with the second.
const PROBATION: u32 = 2;
/// Round trips of distrust, at most.
const MAX_DISTRUST: u32 = 64;
/// Time that slots and a short queue may add to the least round trip. 10 ms are two periods of the usual TDD pattern, and `tau_s` of l4span.
const ALLOWANCE: Duration = Duration::from_millis(10);
/// Recommendations that are kept, at most.
const MAX_HINTS: usize = 64;

/// Configuration of Prague with a hint.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<PragueHintConfig>))]
pub struct PragueHintConfig {
    /// Share of a recommendation to which the rate climbs. Default 0.9: the rest is Prague's to find, by a segment a round trip.
    pub share: f64,
    /// Age at which a recommendation counts no more; the rate climbs to the least of those that are younger. Default 100 ms: two windows of
    /// `anbr` by default, and longer than a fade of somebody who walks, so that its peaks are not taken for the rate.
    pub fresh: Duration,
    /// The transport below.
    pub tcp: TcpConfig,
}

impl Default for PragueHintConfig {
    fn default() -> Self {
        Self { share: 0.9, fresh: Duration::from_millis(100), tcp: TcpConfig::default() }
    }
}

bounds! { PragueHintConfig {
    share: Range::above(0.0).and_at_most(1.0),
    fresh: Range::at_most(Duration::from_secs(10)),
    ..tcp
} }

impl CongestionControl for PragueHintConfig {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "Prague over TCP with a hint",
            follows: "",
            answers: "marks in proportion, losses by half; recommendations within what marks allow",
            recommended: true,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.tcp.validate()?;
        self.check_bounds()
    }
    fn transport(&self) -> Transport<'_> {
        let config = self.clone();
        let controller = move |sizes, _flow, _seed| Box::new(PragueHint::new(&config, sizes)) as _;
        Transport::Tcp(OverTcp { config: &self.tcp, usual_ecn: EcnMode::Accecn, controller: Box::new(controller) })
    }
}

/// A climb that marks can still take back.
#[derive(Clone, Copy, Debug)]
struct Climb {
    /// Window before it, in bytes.
    before: f64,
    /// Number of the round with which it stays.
    until: u32,
}

/// Fresh recommendations, the oldest first: their times, and rates of payload in bytes a second.
#[derive(Clone, Debug, Default)]
struct Hints(VecDeque<(Instant, f64)>);

impl Hints {
    fn add(&mut self, now: Instant, rate: f64) {
        if self.0.len() == MAX_HINTS {
            self.0.pop_front();
        }
        self.0.push_back((now, rate));
    }
    fn forget_before(&mut self, oldest: Instant) {
        while self.0.front().is_some_and(|(at, _)| *at < oldest) {
            self.0.pop_front();
        }
    }
    /// Rate that all of them grant.
    fn least(&self) -> Option<f64> {
        self.0.iter().map(|(_, rate)| *rate).reduce(f64::min)
    }
    /// Rate that one of them grants at the most.
    fn largest(&self) -> Option<f64> {
        self.0.iter().map(|(_, rate)| *rate).reduce(f64::max)
    }
}

/// Round trip that a climb fills: a queue that nobody marks must not count, or each climb would lead to the next.
fn round_trip(ack: &Ack) -> Duration {
    ack.smoothed_rtt.min(ack.min_rtt + ALLOWANCE)
}

/// The controller.
#[derive(Clone, Debug)]
pub struct PragueHint {
    share: f64,
    fresh: Duration,
    prague: Prague,
    hints: Hints,
    climb: Option<Climb>,
    /// Rounds of the last distrust, and the round with which it ends.
    distrust: u32,
    distrusted_until: u32,
}

impl PragueHint {
    /// A controller at its initial window.
    pub fn new(config: &PragueHintConfig, sizes: Sizes) -> Self {
        let prague = PragueConfig { tcp: config.tcp.clone(), ..PragueConfig::default() };
        Self {
            share: config.share,
            fresh: config.fresh,
            prague: Prague::new(&prague, sizes),
            hints: Hints::default(),
            climb: None,
            distrust: 0,
            distrusted_until: 0,
        }
    }

    /// Takes a climb back that marks came for, and distrusts a recommendation that still asks for it.
    fn take_back(&mut self, ack: &Ack) {
        let Some(climb) = self.climb.take() else { return };
        let window = &mut self.prague.window.size;
        let asks = self.hints.largest().is_some_and(|rate| rate * round_trip(ack).as_secs_f64() >= *window);
        // What the path delivered in a round trip without a queue, it can be sent again.
        let delivered = ack.rate.map_or(0.0, |sample| {
            sample.delivered.as_f64() / sample.interval.as_secs_f64().max(1e-6) * ack.min_rtt.as_secs_f64()
        });
        *window = window.min(climb.before.max(delivered));
        if asks {
            self.distrust = (self.distrust * 2).clamp(1, MAX_DISTRUST);
            self.distrusted_until = self.prague.rounds.saturating_add(self.distrust);
        }
    }

    /// Goes to the rate that recommendations grant, where nothing speaks against it.
    fn climb(&mut self, ack: &Ack) {
        let rounds = self.prague.rounds;
        let is_open = self.climb.is_none() && self.prague.congested.is_none() && rounds >= self.distrusted_until;
        if !is_open || ack.recovering || !self.prague.window.is_used(ack) {
            return;
        }
        let Some(rate) = self.hints.least() else { return };
        let window = &mut self.prague.window;
        let target = rate * round_trip(ack).as_secs_f64();
        if target > window.size {
            self.climb = Some(Climb { before: window.size, until: rounds.saturating_add(PROBATION) });
            window.size = target;
            window.threshold = target;
        }
    }
}

impl Controller for PragueHint {
    fn on_established(&mut self, now: Instant, ecn: EcnMode, rtt: Option<Duration>) {
        self.prague.on_established(now, ecn, rtt);
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.hints.forget_before(ack.now.before(self.fresh));
        let is_marked = ack.marked_packets > 0;
        if is_marked {
            self.take_back(ack);
        }
        self.prague.on_ack(ack);
        if self.climb.is_some_and(|climb| self.prague.rounds >= climb.until) {
            self.climb = None;
            self.distrust = 0;
        }
        if !is_marked {
            self.climb(ack);
        }
    }
    fn on_recommendation(&mut self, now: Instant, rate: BitRate) {
        let sizes = self.prague.sizes;
        self.hints.add(now, rate.as_bytes_per_sec() / sizes.packet * sizes.mss * self.share);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        if let Some(climb) = self.climb.take() {
            self.prague.window.size = climb.before;
        }
        self.prague.on_congestion(congestion);
    }
    fn on_timeout(&mut self, congestion: &Congestion) {
        self.climb = None;
        self.hints = Hints::default();
        self.prague.on_timeout(congestion);
    }
    fn on_spurious(&mut self, now: Instant) {
        self.prague.on_spurious(now);
    }
    fn on_idle(&mut self, now: Instant, idle: Duration, rto: Duration) {
        self.climb = None;
        self.prague.on_idle(now, idle, rto);
    }
    fn window(&self) -> Bytes {
        self.prague.window()
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        self.prague.pacing_rate()
    }
    fn burst(&self, rate: BitRate) -> Bytes {
        self.prague.burst(rate)
    }
    fn ecn_response(&self) -> EcnResponse {
        EcnResponse::Scalable
    }
    fn alpha(&self) -> Option<f64> {
        self.prague.alpha()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes { mss: 1000.0, packet: 1000.0, initial_window: 10_000.0 };

    /// Acknowledgement of a full window at `ms`; the round is the one of all that was delivered before.
    fn ack(ms: u64, marked: u32) -> Ack {
        Ack {
            now: Instant::from_millis(ms),
            acked: Bytes(1000),
            acked_packets: 1,
            marked: Bytes(u64::from(marked) * 1000),
            marked_packets: marked,
            smoothed_rtt: Duration::from_millis(100),
            min_rtt: Duration::from_millis(40),
            delivered: Bytes(ms * 1000),
            prior_delivered: Bytes(ms * 1000),
            window_limited: true,
            ..Ack::default()
        }
    }

    /// One out of slow start, at 10 kB, and recommendations of 8 and 16 Mbit/s.
    fn recommended() -> PragueHint {
        let mut hinted = PragueHint::new(&PragueHintConfig::default(), SIZES);
        hinted.on_established(Instant::ZERO, EcnMode::Accecn, Some(Duration::from_millis(40)));
        hinted.prague.window.threshold = 10_000.0;
        hinted.on_recommendation(Instant::from_millis(90), BitRate::from_mbps(16));
        hinted.on_recommendation(Instant::from_millis(95), BitRate::from_mbps(8));
        hinted
    }

    #[test]
    fn a_climb_worked_by_hand() {
        let mut hinted = recommended();
        hinted.on_ack(&ack(100, 0));
        // The lower one: 0.9 * 1 MB/s * (40 + 10) ms, whatever the queue of 60 ms.
        assert_eq!(hinted.window(), Bytes(45_000));
        // A mark before its end: back to 10 kB and what one acknowledgement added, halved.
        hinted.on_ack(&ack(101, 1));
        assert_eq!(hinted.window(), Bytes(10_100 / 2));
    }

    #[test]
    fn a_climb_stays_after_two_rounds_without_a_mark() {
        let mut hinted = recommended();
        (100..103).for_each(|ms| hinted.on_ack(&ack(ms, 0)));
        hinted.on_ack(&ack(103, 1));
        assert!((22_000..23_000).contains(&hinted.window().0), "{}", hinted.window());
    }

    #[test]
    fn old_recommendations_and_distrusted_ones_count_for_nothing() {
        let mut hinted = recommended();
        hinted.on_ack(&ack(196, 0));
        assert!(hinted.window() < Bytes(11_000), "{}", hinted.window());
        let mut hinted = recommended();
        hinted.on_ack(&ack(100, 0));
        let climbed_in = hinted.prague.rounds;
        hinted.on_ack(&ack(101, 1));
        assert_eq!((hinted.distrust, hinted.distrusted_until), (1, climbed_in + 1));
    }
}
