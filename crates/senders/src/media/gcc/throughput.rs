//! The acknowledged bit rate: what arrives, by a Bayesian estimate over short windows.

use tidemark_core::{Bytes, Instant};

const FIRST_WINDOW: f64 = 0.5;
const WINDOW: f64 = 0.15;
const SCALE: f64 = 10.0;
/// Larger uncertainty of a sample from hardly any data that is below the estimate.
const SMALL_SCALE: f64 = 25.0;
const SMALL: f64 = 2000.0;
const INITIAL_VARIANCE: f64 = 50.0;
/// Variance that a step of time adds.
const DRIFT: f64 = 5.0;

/// The estimator; in kbit/s inside.
#[derive(Clone, Debug)]
pub(super) struct Throughput {
    window_start: Option<Instant>,
    bytes: f64,
    estimate: Option<f64>,
    variance: f64,
}

impl Throughput {
    pub(super) fn new() -> Self {
        Self { window_start: None, bytes: 0.0, estimate: None, variance: INITIAL_VARIANCE }
    }

    pub(super) fn on_packet(&mut self, arrival: Instant, size: Bytes) {
        let start = *self.window_start.get_or_insert(arrival);
        // The first estimate has nothing to be corrected by, and takes longer.
        let window = if self.estimate.is_none() { FIRST_WINDOW } else { WINDOW };
        let elapsed = arrival.since(start).as_secs_f64();
        // A sample is over a whole window: single packets come in bursts.
        if elapsed >= window {
            self.sample(self.bytes * 8.0 / elapsed / 1000.0);
            self.window_start = Some(arrival);
            self.bytes = 0.0;
        }
        self.bytes += size.as_f64();
    }

    fn sample(&mut self, sample: f64) {
        // The first sample is the estimate.
        let Some(estimate) = self.estimate else {
            self.estimate = Some(sample);
            return;
        };
        // Hardly any data came: the application may have paused, and the path be as good as before.
        let scale = if self.bytes < SMALL && sample < estimate { SMALL_SCALE } else { SCALE };
        let uncertainty = scale * (estimate - sample).abs() / estimate.max(1.0);
        let noise = uncertainty * uncertainty;
        let variance = self.variance + DRIFT;
        self.estimate = Some((noise * estimate + variance * sample) / (noise + variance));
        self.variance = noise * variance / (noise + variance);
    }

    pub(super) fn bits_per_sec(&self) -> Option<f64> {
        self.estimate.map(|kbps| kbps * 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Duration;

    use super::*;

    #[test]
    fn the_estimate_finds_the_rate_and_follows_a_change() {
        let mut throughput = Throughput::new();
        let mut now = Instant::ZERO;
        for (millis, expected) in [(1, 9.6e6), (4, 2.4e6), (2, 4.8e6)] {
            for _ in 0..3000 {
                now += Duration::from_millis(millis);
                throughput.on_packet(now, Bytes(1200));
            }
            let estimate = throughput.bits_per_sec().unwrap();
            assert!((estimate / expected - 1.0).abs() < 0.03, "{estimate} for {expected}");
        }
    }
}
