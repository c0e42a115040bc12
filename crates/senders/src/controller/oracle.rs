//! A sender that is told its UE's available rate one control loop late: the limit for a controller that follows the radio.
//!
//! Other controllers learn the capacity from the packets that they send. This one learns it from the gNB, whose
//! recommendations (`anbr` of a UE, exact and over a short window) come back with acknowledgements, through the uplink
//! and the wire. It sends at the newest recommended rate, and its window is what this rate fills in a round trip
//! without a queue. No real sender can do this: the table of TS 38.321 rounds rates, and real recommendations are
//! rarer. While the capacity stays the same for a loop, no sender does better. If the radio fades within a loop, a
//! sender that keeps a queue gets more throughput. After a fall of the capacity the window drains the queue; a rate
//! alone would leave it there.

use tidemark_core::{BitRate, Bounded, Bytes, ConfigError, Duration, Instant, Range, bounds};

use super::{Ack, Congestion, Controller, Sizes};
use crate::config::{EcnMode, TcpConfig};
use crate::control::{CongestionControl, OverTcp, Properties, Transport};

/// Minimum window, in segments, and the minimum rate: a gNB recommends only to a UE to which something is sent.
const MIN_WINDOW: f64 = 2.0;
const MIN_RATE: BitRate = BitRate::from_kbps(100);

/// The oracle's configuration.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<OracleConfig>))]
pub struct OracleConfig {
    /// Time that is added to the least round trip when the window is computed from the recommended rate. Default 10 ms, two periods of the
    /// default TDD pattern: one for a packet and one for its acknowledgement that each just missed a slot.
    pub allowance: Duration,
    /// The transport below.
    pub tcp: TcpConfig,
}

impl Default for OracleConfig {
    fn default() -> Self {
        Self { allowance: Duration::from_millis(10), tcp: TcpConfig::default() }
    }
}

bounds! { OracleConfig {
    allowance: Range::at_most(Duration::from_secs(1)),
    ..tcp
} }

impl CongestionControl for OracleConfig {
    fn properties(&self) -> &'static Properties {
        &Properties { title: "Oracle", follows: "", answers: "recommendations alone", recommended: true }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.tcp.validate()?;
        self.check_bounds()
    }
    fn transport(&self) -> Transport<'_> {
        let config = self.clone();
        let controller = move |sizes, _flow, _seed| Box::new(Oracle::new(&config, sizes)) as _;
        Transport::Tcp(OverTcp { config: &self.tcp, usual_ecn: EcnMode::Off, controller: Box::new(controller) })
    }
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Oracle {
    sizes: Sizes,
    allowance: Duration,
    rate: Option<BitRate>,
    min_rtt: Duration,
}

impl Oracle {
    /// A controller at its initial window, which it has until the first recommendation.
    pub fn new(config: &OracleConfig, sizes: Sizes) -> Self {
        Self { sizes, allowance: config.allowance, rate: None, min_rtt: Duration::ZERO }
    }
}

impl Controller for Oracle {
    fn on_established(&mut self, _now: Instant, _ecn: EcnMode, rtt: Option<Duration>) {
        self.min_rtt = rtt.unwrap_or_default();
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.min_rtt = ack.min_rtt;
    }
    fn on_congestion(&mut self, _congestion: &Congestion) {}
    fn on_timeout(&mut self, _congestion: &Congestion) {}
    fn on_spurious(&mut self, _now: Instant) {}
    fn on_idle(&mut self, _now: Instant, _idle: Duration, _rto: Duration) {}
    fn on_recommendation(&mut self, _now: Instant, rate: BitRate) {
        self.rate = Some(rate);
    }
    fn window(&self) -> Bytes {
        let window = self.rate.map_or(self.sizes.initial_window, |rate| {
            let payload = rate.as_bytes_per_sec() / self.sizes.packet * self.sizes.mss;
            payload * (self.min_rtt + self.allowance).as_secs_f64()
        });
        Bytes(window.max(MIN_WINDOW * self.sizes.mss) as u64)
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        self.rate.map(|rate| rate.max(MIN_RATE))
    }
    fn owns_recovery(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recommendation_worked_by_hand() {
        let sizes = Sizes::of(&TcpConfig::default());
        let mut oracle = Oracle::new(&OracleConfig::default(), sizes);
        assert_eq!((oracle.window(), oracle.pacing_rate()), (Bytes(14_480), None));
        oracle.on_established(Instant::ZERO, EcnMode::Off, Some(Duration::from_millis(40)));
        oracle.on_recommendation(Instant::ZERO, BitRate::from_mbps(24));
        // 24 Mbit/s over 50 ms are 100 packets of 1500 B, with 1448 B each.
        assert_eq!((oracle.window(), oracle.pacing_rate()), (Bytes(144_800), Some(BitRate::from_mbps(24))));
        oracle.on_recommendation(Instant::ZERO, BitRate::ZERO);
        assert_eq!((oracle.window(), oracle.pacing_rate()), (Bytes(2 * 1448), Some(MIN_RATE)));
    }
}
