//! Rates of what is coded, sent and acknowledged: means of the last eight intervals of 50 ms.

use tidemark_core::{Duration, Instant};

const INTERVAL: Duration = Duration::from_millis(50);
const INTERVALS: usize = 8;

/// Bytes of the interval under way, and bits a second of those before it.
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    bytes: f64,
    rates: [f64; INTERVALS],
}

impl Meter {
    fn end_interval(&mut self, seconds: f64, index: usize) {
        self.rates[index] = self.bytes * 8.0 / seconds;
        self.bytes = 0.0;
    }

    fn rate(&self) -> f64 {
        self.rates.iter().sum::<f64>() / INTERVALS as f64
    }
}

/// The three meters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rates {
    coded: Meter,
    sent: Meter,
    acked: Meter,
    since: Instant,
    index: usize,
}

impl Rates {
    pub(super) fn coded(&mut self, now: Instant, bytes: f64) {
        self.advance(now);
        self.coded.bytes += bytes;
    }

    pub(super) fn sent(&mut self, now: Instant, bytes: f64) {
        self.advance(now);
        self.sent.bytes += bytes;
    }

    pub(super) fn acked(&mut self, now: Instant, bytes: f64) {
        self.advance(now);
        self.acked.bytes += bytes;
    }

    fn advance(&mut self, now: Instant) {
        let past = now.since(self.since);
        // Rates are of whole intervals: frames come in bursts.
        if past > INTERVAL {
            self.since = now;
            for meter in [&mut self.coded, &mut self.sent, &mut self.acked] {
                meter.end_interval(past.as_secs_f64(), self.index);
            }
            self.index = (self.index + 1) % INTERVALS;
        }
    }

    pub(super) fn coded_rate(&self) -> f64 {
        self.coded.rate()
    }

    /// The higher of the rates sent and acknowledged.
    pub(super) fn highest(&self) -> f64 {
        self.sent.rate().max(self.acked.rate())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_rate_is_known_after_400_ms() {
        let mut rates = Rates::default();
        let mut after = |from: u64, to: u64| {
            for ms in from..to {
                rates.sent(Instant::from_millis(ms), 1_000.0);
                rates.acked(Instant::from_millis(ms), 500.0);
            }
            (rates.highest() / 1e5).round()
        };
        // 8 Mbit/s; intervals end with the first packet after 50 ms, so four of them in 204 ms.
        assert_eq!(after(0, 206), 40.0);
        assert_eq!(after(206, 1_000), 80.0);
        assert_eq!(rates.coded_rate(), 0.0);
    }
}
