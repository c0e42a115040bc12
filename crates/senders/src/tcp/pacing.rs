//! Pacing at the controller's rate, where the controller has one.

use tidemark_core::{BitRate, Bytes, Instant};

use crate::controller::Controller;
use crate::pacer::Pacer;

/// Pacer with the controller's last answer: its rate of IP packets, and the bytes that may leave back to back.
#[derive(Clone, Debug, Default)]
pub(super) struct Pacing {
    pacer: Pacer,
    answer: Option<(BitRate, Bytes)>,
}

impl Pacing {
    /// Takes the controller's present answer.
    #[inline]
    pub(super) fn ask(&mut self, controller: &dyn Controller) {
        self.answer = controller.pacing_rate().map(|rate| (rate, controller.burst(rate)));
    }

    /// Rate, where there is one.
    pub(super) fn rate(&self) -> Option<BitRate> {
        self.answer.map(|(rate, _)| rate)
    }

    /// Time at which the next packet may leave; `None` if it may now, always so without a rate.
    #[inline]
    pub(super) fn wait(&self, now: Instant) -> Option<Instant> {
        if self.answer.is_some() { self.pacer.wait(now) } else { None }
    }

    /// Takes into account that a packet of this size leaves.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Instant, size: Bytes) {
        if let Some((rate, burst)) = self.answer {
            self.pacer.sent(now, size, rate, burst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TcpConfig;
    use crate::controller::{Reno, RenoConfig, Sizes};
    use tidemark_core::Duration;

    #[test]
    fn a_controller_without_a_rate_lets_everything_go() {
        let sizes = Sizes::of(&TcpConfig::default());
        let now = Instant::from_millis(1);
        for pacing in [false, true] {
            let mut controller = Reno::new(&RenoConfig { pacing, ..RenoConfig::default() }, sizes);
            controller.on_established(now, crate::EcnMode::Off, Some(Duration::from_millis(20)));
            let mut paced = Pacing::default();
            paced.ask(&controller);
            assert_eq!(paced.rate().is_some(), pacing);
            for _ in 0..10 {
                paced.on_sent(now, Bytes(1500));
            }
            assert_eq!(paced.wait(now).is_some(), pacing);
        }
    }
}
