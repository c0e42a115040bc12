//! The rate rule of SDN-L4S (sdn in the reproduction's list, Algorithms 1 and 3 with Eqs. 5 and 6): `K (1 / p - 1)` once the
//! share of marked packets is at a threshold, the line rate below it.
//!
//! Read literally, `K` is 1 Mbit/s and `p` counts from the start of the run and never forgets. Both are
//! configurable: `K` is Prague's equilibrium, 2 packets in 25 ms or 0.96 Mbit/s for 1500 B, and a window makes
//! `p` follow the present. The receiver's ToS of 185 would miss marked packets; here it is the codepoint that counts.

use tidemark_core::{BitRate, Bounded, ConfigError, Duration, Ecn, Instant, Range, bounds};

use super::sdn_l4s_tcp::SdnL4sTcp;
use super::sdn_rule::SdnRule;
use super::{Feedback, MediaController, RateLimits, ReportFormat, ReportPolicy};
use crate::config::{EcnMode, TcpConfig};
use crate::control::{CongestionControl, OverTcp, Properties, Transport};

/// The rate rule's configuration.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<SdnL4sConfig>))]
pub struct SdnL4sConfig {
    /// Share of marked packets below which the rate is the largest one: q2. Default 0.01.
    pub threshold: f64,
    /// K of the rule. Default 1 Mbit/s, as published.
    pub constant: BitRate,
    /// Span over which the share of marks is counted. Default: since the start of the run, as published.
    pub window: Option<Duration>,
    /// Limits of the target rate; the largest stands for the line rate.
    pub rates: RateLimits,
    /// TCP for a stream of bytes, as in the paper. Default: none, which means RTP for a video.
    pub tcp: Option<TcpConfig>,
}

impl Default for SdnL4sConfig {
    fn default() -> Self {
        Self { threshold: 0.01, constant: BitRate::from_mbps(1), window: None, rates: RateLimits::default(), tcp: None }
    }
}

bounds! { SdnL4sConfig {
    threshold: Range::inside(0.0, 1.0),
    ..constant, window, rates, tcp
} }

impl SdnL4sConfig {
    fn rule(&self) -> SdnRule {
        SdnRule::new(self.threshold, self.constant, self.window, self.rates)
    }
}

impl CongestionControl for SdnL4sConfig {
    fn properties(&self) -> &'static Properties {
        &Properties { title: "The rate rule of SDN-L4S", follows: "sdn", answers: "marks", recommended: false }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        self.tcp.as_ref().map_or(Ok(()), TcpConfig::validate)?;
        self.rates.validate()
    }
    fn transport(&self) -> Transport<'_> {
        let Some(tcp) = &self.tcp else { return Transport::Rtp(Box::new(|| Box::new(SdnL4s::new(self)))) };
        let (rule, initial) = (self.rule(), self.rates.initial);
        let controller = move |sizes, _flow, _seed| Box::new(SdnL4sTcp::new(rule.clone(), initial, sizes)) as _;
        Transport::Tcp(OverTcp { config: tcp, usual_ecn: EcnMode::Accecn, controller: Box::new(controller) })
    }
}

/// The controller of a video.
#[derive(Clone, Debug)]
pub struct SdnL4s {
    rule: SdnRule,
    rates: RateLimits,
    target: f64,
}

impl SdnL4s {
    /// A controller at its initial rate.
    pub fn new(config: &SdnL4sConfig) -> Self {
        Self { target: config.rates.initial.as_bps() as f64, rates: config.rates, rule: config.rule() }
    }
}

impl MediaController for SdnL4s {
    fn report_policy(&self) -> ReportPolicy {
        let interval = Duration::from_millis(25);
        ReportPolicy { format: ReportFormat::Ccfb, interval, packets: 16, on_marker: true }
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let (arrived, marked, _) = feedback.counts();
        self.target = self.rule.on_arrivals(feedback.now, arrived, marked).unwrap_or(self.target);
    }
    fn on_silence(&mut self, _now: Instant) {
        self.target = self.rates.clamp(self.target * 0.5);
    }
    fn target_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.target)
    }
    fn pacing_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.target)
    }
    fn ecn(&self) -> Ecn {
        Ecn::Ect1
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Bytes;

    use super::*;
    use crate::media::PacketResult;

    #[test]
    fn the_published_share_never_forgets_and_a_window_does() {
        // Ten seconds with a tenth of the packets marked, then ten without: 16 packets in each report of 25 ms.
        let after = |window| {
            let mut controller = SdnL4s::new(&SdnL4sConfig { window, ..SdnL4sConfig::default() });
            let mut rates = Vec::new();
            for report in 0..800u64 {
                let now = Instant::from_millis(report * 25);
                let results: Vec<PacketResult> = (0..16)
                    .map(|index| PacketResult {
                        seq: report * 16 + index,
                        size: Bytes(1248),
                        sent_at: now,
                        received_at: Some(now),
                        ecn: if report < 400 && (report * 16 + index) % 10 == 0 { Ecn::Ce } else { Ecn::Ect1 },
                        probe: None,
                    })
                    .collect();
                controller.on_feedback(&Feedback {
                    now,
                    results: &results,
                    rtt: None,
                    in_flight: Bytes::ZERO,
                    sent: report * 16,
                    outstanding: 0,
                });
                rates.push(controller.target_rate().as_mbps());
            }
            (rates[399], rates[799])
        };
        let (literal, windowed) = (after(None), after(Some(Duration::from_millis(500))));
        assert!((literal.0 - 9.0).abs() < 0.1 && (windowed.0 - 9.0).abs() < 0.5, "{literal:?} {windowed:?}");
        assert!((literal.1 - 19.0).abs() < 0.1, "a twentieth of all packets so far: {literal:?}");
        assert_eq!(windowed.1, 70.0);
    }
}
