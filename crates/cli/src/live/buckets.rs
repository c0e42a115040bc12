//! Delays since the start, counted by fixed bounds: a histogram of Prometheus.
//!
//! The recorder counts each delay anyway, and an interval's counts are added here ten times a second. A histogram of the crate
//! prometheus-client, which writes these counts, would take a lock for each packet on the thread that never waits.

use tidemark_core::Duration;

/// Bounds in seconds for times in the RLC queue: close together where laws have their thresholds.
pub(super) const QUEUE: &[f64] = &[
    0.001, 0.002, 0.003, 0.004, 0.006, 0.008, 0.01, 0.012, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.075, 0.1, 0.2, 0.5,
    1.0, 2.0,
];
/// Bounds in seconds for the lateness of slots: from ten microseconds to many slots.
pub(super) const LATENESS: &[f64] =
    &[0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1];

/// Counts of delays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buckets {
    /// Rising bounds in seconds.
    bounds: &'static [f64],
    /// Delays above the bound before and up to the bound itself; the last ones are above every bound.
    counts: Vec<u64>,
    /// Sum of the delays in seconds.
    sum: f64,
}

impl Buckets {
    /// Counts by these bounds in seconds, which rise.
    pub(super) fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, counts: vec![0; bounds.len() + 1], sum: 0.0 }
    }

    /// Adds delays with their numbers.
    pub(super) fn add(&mut self, delays: impl Iterator<Item = (Duration, u64)>) {
        for (delay, count) in delays {
            let seconds = delay.as_nanos() as f64 / 1e9;
            self.counts[self.bounds.partition_point(|bound| *bound < seconds)] += count;
            self.sum += seconds * count as f64;
        }
    }

    /// Number of delays.
    pub(super) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Sum of the delays in seconds.
    pub(super) fn sum(&self) -> f64 {
        self.sum
    }

    /// Each bound in seconds, infinity last, with the number of delays up to it and above the bound before.
    pub(super) fn counts(&self) -> impl Iterator<Item = (f64, u64)> {
        self.bounds.iter().copied().chain([f64::INFINITY]).zip(self.counts.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_counts_at_the_first_bound_that_it_does_not_exceed() {
        let mut buckets = Buckets::new(QUEUE);
        let delay = Duration::from_micros;
        buckets.add([(delay(500), 2), (delay(10_000), 3), (delay(10_001), 1), (delay(9_000_000), 1)].into_iter());
        buckets.add([(delay(500), 1)].into_iter());
        let counted: Vec<_> = buckets.counts().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counted, [(0.001, 3), (0.01, 3), (0.012, 1), (f64::INFINITY, 1)]);
        assert_eq!((buckets.count(), buckets.counts().count()), (8, QUEUE.len() + 1));
        assert!((buckets.sum() - 9.041_501).abs() < 1e-9);
        assert!([QUEUE, LATENESS].iter().all(|bounds| bounds.is_sorted_by(|a, b| a < b)));
    }
}
