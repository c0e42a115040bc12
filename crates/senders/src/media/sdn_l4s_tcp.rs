//! The rate rule of SDN-L4S over TCP: the paper's senders are TCP streams whose receiver writes the share of marked packets into an option.
//!
//! The option here is AccECN's: its counters of marks tell the same share, and the sender divides. The paper leaves
//! TCP's window open. Here it is Reno's, which losses halve, and packets leave at no more than the rule's rate.

use tidemark_core::{BitRate, Bytes, Duration, Instant};

use super::sdn_rule::SdnRule;
use crate::config::EcnMode;
use crate::controller::{Ack, Congestion, Controller, EcnResponse, Reno, RenoConfig, Sizes};

/// The controller.
#[derive(Clone, Debug)]
pub(super) struct SdnL4sTcp {
    rule: SdnRule,
    window: Reno,
    rate: f64,
}

impl SdnL4sTcp {
    /// A controller at its initial window and rate.
    pub(super) fn new(rule: SdnRule, initial: BitRate, sizes: Sizes) -> Self {
        let window = Reno::new(&RenoConfig::default(), sizes);
        Self { rule, window, rate: initial.as_bps() as f64 }
    }
}

impl Controller for SdnL4sTcp {
    fn on_established(&mut self, now: Instant, ecn: EcnMode, rtt: Option<Duration>) {
        self.window.on_established(now, ecn, rtt);
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.rate = self.rule.on_arrivals(ack.now, ack.acked_packets, ack.marked_packets).unwrap_or(self.rate);
        self.window.on_ack(ack);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.window.on_congestion(congestion);
    }
    fn on_timeout(&mut self, congestion: &Congestion) {
        self.window.on_timeout(congestion);
    }
    fn on_spurious(&mut self, now: Instant) {
        self.window.on_spurious(now);
    }
    fn on_idle(&mut self, now: Instant, idle: Duration, rto: Duration) {
        self.window.on_idle(now, idle, rto);
    }
    fn window(&self) -> Bytes {
        self.window.window()
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        Some(BitRate::from_bps_f64(self.rate))
    }
    fn ecn_response(&self) -> EcnResponse {
        EcnResponse::Scalable
    }
}

#[cfg(test)]
mod tests {
    use crate::config::TcpConfig;
    use crate::media::RateLimits;

    use super::*;

    #[test]
    fn marks_set_the_rate_and_losses_the_window() {
        let rates = RateLimits::default();
        let rule = SdnRule::new(0.01, BitRate::from_mbps(1), None, rates);
        let mut controller = SdnL4sTcp::new(rule, rates.initial, Sizes::of(&TcpConfig::default()));
        let ack =
            Ack { acked: Bytes(14_480), acked_packets: 10, marked_packets: 1, window_limited: true, ..Ack::default() };
        controller.on_ack(&ack);
        assert_eq!(controller.pacing_rate(), Some(BitRate::from_mbps(9)), "a tenth is marked");
        assert_eq!(controller.window(), Bytes(28_960), "slow start goes on");
        let congestion = Congestion {
            now: Instant::ZERO,
            signal: crate::controller::Signal::Loss,
            in_flight: Bytes(0),
            delivered: Bytes(0),
        };
        controller.on_congestion(&congestion);
        assert_eq!(controller.window(), Bytes(14_480));
        controller.on_ack(&Ack { acked_packets: 90, marked_packets: 0, recovering: true, ..Ack::default() });
        assert_eq!(
            controller.pacing_rate(),
            Some(rates.max),
            "a hundredth is at the threshold, where the rule asks for 99"
        );
    }
}
