//! Detection of an application that limits the rate: libwebrtc's `AlrDetector`, a budget that fills at a share of the
//! estimate and that sending empties.

use tidemark_core::{Bytes, Instant};

/// Share of the estimate that an application has to use.
const USED: f64 = 0.65;
/// Share of the budget that may be left unused before the application counts as the limit, and the one that ends that.
const BEGINS: f64 = 0.8;
const ENDS: f64 = 0.5;
/// Seconds that the budget holds.
const WINDOW: f64 = 0.5;

/// The detector.
#[derive(Clone, Debug)]
pub(super) struct AlrDetector {
    /// Bytes that it may still send, and bytes a second that fill it.
    left: f64,
    rate: f64,
    last: Option<Instant>,
    since: Option<Instant>,
}

impl AlrDetector {
    pub(super) fn new(estimate: f64) -> Self {
        Self { left: 0.0, rate: USED * estimate / 8.0, last: None, since: None }
    }

    /// A new estimate, in bits a second.
    pub(super) fn set_estimate(&mut self, estimate: f64) {
        self.rate = USED * estimate / 8.0;
        self.left = self.left.clamp(-self.max(), self.max());
    }

    fn max(&self) -> f64 {
        (WINDOW * self.rate).max(1.0)
    }

    pub(super) fn on_sent(&mut self, now: Instant, size: Bytes) {
        // The budget fills with time, of which none has passed at the first packet.
        let Some(last) = self.last.replace(now) else { return };
        let max = self.max();
        self.left = (self.left - size.as_f64()).max(-max);
        self.left = (self.left + self.rate * now.since(last).as_secs_f64()).min(max);
        // Two thresholds, so that a single frame does not change the judgement.
        if self.left > BEGINS * max {
            self.since.get_or_insert(now);
        } else if self.left < ENDS * max {
            self.since = None;
        }
    }

    /// Time since which the application has been the limit.
    pub(super) fn since(&self) -> Option<Instant> {
        self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_that_uses_half_is_the_limit_and_one_that_uses_it_all_is_not() {
        let mut detector = AlrDetector::new(1e6);
        let mut send = |from: u64, size: u64| {
            for tick in from..from + 500 {
                detector.on_sent(Instant::from_millis(tick * 10), Bytes(size));
            }
            detector.since().is_some()
        };
        // 1 Mbit/s are 1250 B in 10 ms.
        assert!(!send(0, 1250));
        assert!(send(500, 600));
        assert!(!send(1000, 1250));
    }
}
