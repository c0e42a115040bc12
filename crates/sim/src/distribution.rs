//! Delays as a histogram: three significant digits, whatever the number of packets.

use hdrhistogram::Histogram;
use serde::Serialize;
use tidemark_core::Duration;

/// The distribution of a delay, in microseconds.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// Counts of 32 bits: many distributions are filled in turn, and each is to stay in the cache.
    histogram: Histogram<u32>,
    sum: u128,
}

/// What a table says of a distribution, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantiles {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
}

impl Default for Distribution {
    fn default() -> Self {
        // Three digits is a legal precision, so this never fails.
        let histogram = Histogram::new(3).unwrap_or_else(|_| unreachable!("three digits are supported"));
        Self { histogram, sum: 0 }
    }
}

impl Distribution {
    /// Counts one delay.
    pub fn record(&mut self, delay: Duration) {
        // `record` lets the histogram grow; it refuses only values above 2^63 us.
        let recorded = self.histogram.record(delay.as_micros().min(u64::MAX / 4));
        debug_assert!(recorded.is_ok());
        self.sum += u128::from(delay.as_nanos());
    }
    /// Adds every delay of another distribution.
    pub fn merge(&mut self, other: &Self) {
        // Auto-resizing histograms of one precision always merge.
        let merged = self.histogram.add(&other.histogram);
        debug_assert!(merged.is_ok());
        self.sum += other.sum;
    }
    /// How many delays were counted.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }
    /// The share of the samples that are above so many milliseconds; `None` without samples.
    pub fn share_above(&self, millis: f64) -> Option<f64> {
        let count = self.count();
        let below = self.histogram.count_between(0, (millis * 1_000.0) as u64);
        (count > 0).then(|| (count - below) as f64 / count as f64)
    }
    /// The delay below which this fraction of the samples lies, in milliseconds; `None` without samples.
    pub fn quantile(&self, fraction: f64) -> Option<f64> {
        self.values_at([fraction].into_iter()).next()
    }
    /// Mean and quantiles; `None` where nothing was measured, which is not a delay of zero.
    pub fn quantiles(&self) -> Option<Quantiles> {
        let mean_nanos = self.sum.checked_div(u128::from(self.count()))?;
        let mut values = self.values_at([0.5, 0.95, 0.99, 0.999].into_iter());
        Some(Quantiles {
            mean: millis(u64::try_from(mean_nanos / 1_000).unwrap_or(u64::MAX)),
            p50: values.next()?,
            p95: values.next()?,
            p99: values.next()?,
            p999: values.next()?,
        })
    }
    /// The values at rising fractions, in milliseconds, found in one pass; none without samples.
    fn values_at(&self, fractions: impl Iterator<Item = f64>) -> impl Iterator<Item = f64> {
        let count = self.count();
        let mut recorded = self.histogram.iter_recorded();
        let (mut passed, mut value) = (0, 0);
        fractions.map_while(move |fraction| {
            let wanted = ((fraction * count as f64).ceil() as u64).clamp(1, count.max(1));
            while passed < wanted {
                let step = recorded.next()?;
                passed += step.count_since_last_iteration();
                value = step.value_iterated_to();
            }
            Some(millis(value))
        })
    }
    /// The cumulative distribution as (milliseconds, fraction), at most some hundred points.
    pub fn cdf(&self) -> Vec<(f64, f64)> {
        const POINTS: u32 = 200;
        // Three times as dense in the last twentieth, where the engineer looks.
        let fraction = |step| {
            let x = f64::from(step) / f64::from(POINTS);
            if x < 0.75 { x / 0.75 * 0.95 } else { 0.95 + (x - 0.75) / 0.25 * 0.05 }
        };
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (value, step) in self.values_at((0..=POINTS).map(fraction)).zip(0..=POINTS) {
            let point = (value, round(fraction(step), 1e4));
            match points.last_mut() {
                Some(last) if last.0 == point.0 => last.1 = point.1,
                _ => points.push(point),
            }
        }
        points
    }
}

fn millis(micros: u64) -> f64 {
    micros as f64 / 1_000.0
}

/// Rounds to a fixed number of decimals, given as their power of ten.
pub(crate) fn round(value: f64, scale: f64) -> f64 {
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_ramp_are_its_values() {
        let mut ramp = Distribution::default();
        for micros in 1..=100_000 {
            ramp.record(Duration::from_micros(micros));
        }
        let q = ramp.quantiles().unwrap();
        for (value, expected) in [(q.mean, 50.0), (q.p50, 50.0), (q.p95, 95.0), (q.p99, 99.0), (q.p999, 99.9)] {
            assert!((value / expected - 1.0).abs() < 0.002, "{value} for {expected}");
        }
        assert_eq!(ramp.cdf().last().unwrap().1, 1.0);
        assert!((ramp.share_above(80.0).unwrap() - 0.2).abs() < 0.002);
    }

    #[test]
    fn what_was_not_measured_is_absent() {
        assert_eq!(Distribution::default().quantiles(), None);
        assert!(Distribution::default().cdf().is_empty());
    }

    #[test]
    fn two_halves_merge_to_the_whole() {
        let (mut whole, mut half) = (Distribution::default(), Distribution::default());
        let mut other = Distribution::default();
        for micros in 0..1000 {
            whole.record(Duration::from_micros(micros));
            if micros % 2 == 0 { &mut half } else { &mut other }.record(Duration::from_micros(micros));
        }
        half.merge(&other);
        assert_eq!(half.quantiles(), whole.quantiles());
    }
}
