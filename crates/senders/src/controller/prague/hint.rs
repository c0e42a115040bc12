//! Prague with a hint: [recommendations](crate::hint) raise the rate, marks limit it.
//!
//! Prague climbs by a segment a round trip, while a radio's rate may double within a second.

use tidemark_core::{BitRate, Bytes, ConfigError, Duration, Instant};

use super::{Prague, PragueConfig};
use crate::config::{EcnMode, TcpConfig};
use crate::control::{CongestionControl, OverTcp, Properties, Transport};
use crate::controller::{Ack, Congestion, Controller, EcnResponse, Sizes};
use crate::hint::{ALLOWANCE, Hint, HintConfig};

/// Rounds of distrust, at most: Prague is back after some ten.
const MAX_DISTRUST: u32 = 64;

/// Configuration of Prague with a hint.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PragueHintConfig {
    /// Recommendations.
    pub hint: HintConfig,
    /// The transport below.
    pub tcp: TcpConfig,
}

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
        self.hint.validate()?;
        self.tcp.validate()
    }
    fn transport(&self) -> Transport<'_> {
        let config = self.clone();
        let controller = move |sizes, _flow, _seed| Box::new(PragueHint::new(&config, sizes)) as _;
        Transport::Tcp(OverTcp { config: &self.tcp, usual_ecn: EcnMode::Accecn, controller: Box::new(controller) })
    }
}

/// Round trip that a climb fills: a queue that nobody marks must not count, or each climb would lead to the next.
fn round_trip(ack: &Ack) -> Duration {
    ack.smoothed_rtt.min(ack.min_rtt + ALLOWANCE)
}

/// The controller.
#[derive(Clone, Debug)]
pub struct PragueHint {
    prague: Prague,
    hint: Hint,
}

impl PragueHint {
    /// A controller at its initial window.
    pub fn new(config: &PragueHintConfig, sizes: Sizes) -> Self {
        let prague = PragueConfig { tcp: config.tcp.clone(), ..PragueConfig::default() };
        Self { prague: Prague::new(&prague, sizes), hint: Hint::new(&config.hint, MAX_DISTRUST) }
    }

    /// Bytes of payload in a window that carries one bit a second of IP packets for a round trip.
    fn window_per_bps(&self, ack: &Ack) -> f64 {
        let sizes = self.prague.sizes;
        sizes.mss / sizes.packet / 8.0 * round_trip(ack).as_secs_f64()
    }

    /// Takes a climb back that marks came for.
    fn take_back(&mut self, ack: &Ack) {
        let sizes = self.prague.sizes;
        let delivered =
            ack.rate.map_or(0.0, |sample| sample.delivered.as_f64() / sample.interval.as_secs_f64().max(1e-6));
        // Marks without a climb on probation are Prague's own matter.
        let Some(before) = self.hint.take_back(self.prague.rounds, delivered * 8.0 / sizes.mss * sizes.packet) else {
            return;
        };
        // What the path delivered in a round trip without a queue, it can be sent again.
        let delivered = delivered * ack.min_rtt.as_secs_f64();
        let window = &mut self.prague.window.size;
        *window = window.min(before.max(delivered));
    }

    /// Goes to the rate that recommendations grant, where nothing speaks against it.
    fn climb(&mut self, ack: &Ack) {
        // Marks, losses and an idle window each say more of the path than a recommendation does.
        if self.prague.congested.is_some() || ack.recovering || !self.prague.window.is_used(ack) {
            return;
        }
        // None is fresh and trusted, or the last climb is on probation still.
        let Some(rate) = self.hint.granted(self.prague.rounds) else { return };
        let target = rate * self.window_per_bps(ack);
        let window = &mut self.prague.window;
        // A recommendation is a reason to grow, never one to slow down: that is for marks.
        if target > window.size {
            self.hint.climb(self.prague.rounds, window.size);
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
        self.hint.expire(ack.now);
        let is_marked = ack.marked_packets > 0;
        // The climb is taken back first, so that the marks reduce the window from before it.
        if is_marked {
            self.take_back(ack);
        }
        self.prague.on_ack(ack);
        self.hint.enter_round(self.prague.rounds);
        // Marks say that there is no room, whatever is recommended.
        if !is_marked {
            self.climb(ack);
        }
    }
    fn on_recommendation(&mut self, now: Instant, rate: BitRate) {
        self.hint.on_recommendation(now, rate);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        // The climb may have caused it: Prague reduces the window from before.
        if let Some(before) = self.hint.cancel() {
            self.prague.window.size = before;
        }
        self.prague.on_congestion(congestion);
    }
    fn on_timeout(&mut self, congestion: &Congestion) {
        self.hint.forget();
        self.prague.on_timeout(congestion);
    }
    fn on_spurious(&mut self, now: Instant) {
        self.prague.on_spurious(now);
    }
    fn on_idle(&mut self, now: Instant, idle: Duration, rto: Duration) {
        self.hint.cancel();
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
        assert_eq!([climbed_in, climbed_in + 1].map(|round| hinted.hint.granted(round).is_some()), [false, true]);
    }
}
