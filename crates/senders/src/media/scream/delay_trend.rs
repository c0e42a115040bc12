//! SCReAM version 1's trend of the queue delay (RFC 8298 4.1.2.3).

use std::collections::VecDeque;

use tidemark_core::{Duration, Instant};

const WEIGHT: f64 = 0.1;
const RISING: f64 = 0.2;
const INTERVAL: Duration = Duration::from_millis(50);
const SAMPLES: usize = 20;

/// Autocorrelation of the delay, times its average; from 0 to 1.
#[derive(Clone, Debug, Default)]
pub(super) struct DelayTrend {
    average: f64,
    /// Delays as shares of the target.
    fractions: VecDeque<f64>,
    at: Instant,
    trend: f64,
    memory: f64,
}

impl DelayTrend {
    /// Takes in a delay as a share of the target; true where it was time for a sample and the delay is rising.
    pub(super) fn update(&mut self, now: Instant, fraction: f64) -> bool {
        // Samples are evenly spaced (RFC 8298 4.1.2.3), since reports are not.
        if now.since(self.at) < INTERVAL {
            return false;
        }
        self.at = now;
        self.average += WEIGHT * (fraction - self.average);
        self.fractions.push_back(fraction);
        // A second of samples: an older rise is over.
        if self.fractions.len() > SAMPLES {
            self.fractions.pop_front();
        }
        let mean = self.fractions.iter().sum::<f64>() / self.fractions.len() as f64;
        let lagged = |lag: usize| -> f64 {
            self.fractions.iter().zip(self.fractions.iter().skip(lag)).map(|(a, b)| (a - mean) * (b - mean)).sum()
        };
        let power = lagged(0);
        // A delay that never changed has no correlation.
        let correlation = if power > 0.0 { lagged(1) / power } else { 0.0 };
        self.trend = (correlation * self.average).clamp(0.0, 1.0);
        self.memory = (0.99 * self.memory).max(self.trend);
        self.is_rising()
    }

    pub(super) fn get(&self) -> f64 {
        self.trend
    }

    pub(super) fn is_rising(&self) -> bool {
        self.trend >= RISING
    }

    /// Largest trend, which fades by a hundredth with each sample.
    pub(super) fn memory(&self) -> f64 {
        self.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_that_climbs_is_a_trend_and_one_that_alternates_is_none() {
        let trend = |fraction: fn(u64) -> f64| {
            let mut trend = DelayTrend::default();
            let rising = (1..=40).filter(|step| trend.update(Instant::from_millis(step * 50), fraction(*step))).count();
            (trend.get(), rising > 0)
        };
        assert!(trend(|step| step as f64 / 20.0).1);
        assert_eq!(trend(|step| (step % 2) as f64), (0.0, false));
        assert_eq!(trend(|_| 0.5), (0.0, false));
    }
}
