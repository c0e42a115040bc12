//! SCReAM version 2's optional reaction to a queue delay that varies (the draft's REDUCE_JITTER).

const GAIN: f64 = 1.0 / 16.0;
const DEVIATION_GAIN: f64 = 1.0 / 32.0;
/// A variation of this many seconds stops what it scales.
const THRESHOLD: f64 = 0.01;

/// The variation of the queue delay, between slow envelopes of its highs and lows; in seconds.
#[derive(Clone, Debug)]
pub(super) struct Jitter {
    high: f64,
    low: f64,
    deviation: f64,
}

impl Jitter {
    pub(super) fn new() -> Self {
        Self { high: 0.0, low: 0.0, deviation: 0.0 }
    }

    /// A report's queue delay; at most `target` counts.
    pub(super) fn on_delay(&mut self, delay: f64, target: f64) {
        self.high = self.high.max(delay).min(target);
        self.low = self.low.min(delay);
    }

    /// Once in each round trip or 25 ms.
    pub(super) fn end_interval(&mut self) {
        self.high *= 1.0 - GAIN;
        self.low += GAIN * (self.high - self.low);
        self.deviation += DEVIATION_GAIN * (self.high - self.low - self.deviation);
    }

    /// 1 for a steady delay, 0 for one that varies by 10 ms.
    pub(super) fn scale(&self) -> f64 {
        (1.0 - self.deviation / THRESHOLD).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_delay_is_no_jitter_and_a_varying_one_is() {
        let scale = |delays: [f64; 2]| {
            let mut jitter = Jitter::new();
            for interval in 0..2000 {
                jitter.on_delay(delays[interval / 2 % 2], 0.06);
                jitter.end_interval();
            }
            jitter.scale()
        };
        assert!(scale([0.0005, 0.0005]) > 0.9);
        assert!(scale([0.0, 0.004]) < 0.9);
        assert_eq!(scale([0.0, 0.03]), 0.0);
    }
}
