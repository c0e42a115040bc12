//! Delays as a histogram: three significant digits, whatever the number of packets.

use tidemark_core::Duration;

pub use crate::result::Quantiles;
use crate::unit::round;

/// The distribution of a delay, in microseconds.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    counts: Counts,
    /// Steps that are to be counted together: one after the other, each would wait for memory.
    recent: Vec<u32>,
    count: u64,
    sum: u128,
}

/// Count of each step, from the lowest to the highest that occurs. Counts have 32 bits: many distributions are filled in turn,
/// and each is to stay in the cache.
#[derive(Clone, Debug, Default)]
struct Counts {
    lowest: usize,
    of_steps: Vec<u32>,
}

/// Steps that are counted together.
const TOGETHER: usize = 128;
/// Values below it have a step each; above, each doubling has half as many steps, none wider than a thousandth of its
/// values. The steps are those of HdrHistogram at three digits.
const FINE: u64 = 2048;

impl Counts {
    /// Makes room for the steps from `lowest` to `highest`.
    fn reach(&mut self, lowest: usize, highest: usize) {
        if self.of_steps.is_empty() {
            self.lowest = lowest;
        } else if lowest < self.lowest {
            self.of_steps.splice(..0, std::iter::repeat_n(0, self.lowest - lowest));
            self.lowest = lowest;
        }
        if highest >= self.lowest + self.of_steps.len() {
            self.of_steps.resize(highest - self.lowest + 1, 0);
        }
    }
    /// Counts each of these steps.
    #[cold]
    fn settle(&mut self, steps: &[u32]) {
        let (Some(lowest), Some(highest)) = (steps.iter().min(), steps.iter().max()) else { return };
        self.reach(*lowest as usize, *highest as usize);
        for step in steps {
            let count = &mut self.of_steps[*step as usize - self.lowest];
            *count = count.saturating_add(1);
        }
    }
    /// Adds what another counted.
    fn merge(&mut self, other: &Self) {
        let Some(more) = other.of_steps.len().checked_sub(1) else { return };
        self.reach(other.lowest, other.lowest + more);
        let own = self.of_steps[other.lowest - self.lowest..].iter_mut();
        own.zip(&other.of_steps).for_each(|(count, other)| *count = count.saturating_add(*other));
    }
}

/// The step of a value.
fn step_of(micros: u64) -> usize {
    let shift = (u64::BITS - (micros / FINE).leading_zeros()) as usize;
    shift * (FINE as usize / 2) + (micros >> shift) as usize
}
/// The highest value of a step.
fn highest_of(step: usize) -> u64 {
    let half = FINE as usize / 2;
    let shift = (step / half).saturating_sub(1);
    ((step - shift * half + 1) as u64 * (1 << shift)) - 1
}

impl Distribution {
    /// Counts one delay.
    #[inline]
    pub fn record(&mut self, delay: Duration) {
        if self.recent.len() == TOGETHER {
            self.counts.settle(&self.recent);
            self.recent.clear();
        }
        self.recent.push(step_of(delay.as_micros()) as u32);
        self.count += 1;
        self.sum += u128::from(delay.as_nanos());
    }
    /// Adds every delay of another distribution.
    pub fn merge(&mut self, other: &Self) {
        self.counts.settle(&other.recent);
        self.counts.merge(&other.counts);
        self.count += other.count;
        self.sum += other.sum;
    }
    /// Number of delays counted.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// Counted delays in ascending order, each with its count. Each represents delays that are at most a thousandth, or a microsecond,
    /// below it.
    pub fn steps(&self) -> impl Iterator<Item = (Duration, u64)> {
        let Counts { lowest, of_steps } = self.settled();
        let steps = (lowest..).zip(of_steps).filter(|(_, count)| *count > 0);
        steps.map(|(step, count)| (Duration::from_micros(highest_of(step)), u64::from(count)))
    }
    /// The share of the samples that are above this many milliseconds; `None` without samples.
    pub fn share_above(&self, millis: f64) -> Option<f64> {
        let count = self.count();
        let Counts { lowest, of_steps } = self.settled();
        let steps = (step_of((millis * 1_000.0) as u64) + 1).saturating_sub(lowest);
        let below: u64 = of_steps.into_iter().take(steps).map(u64::from).sum();
        (count > 0).then(|| (count - below) as f64 / count as f64)
    }
    /// The delay below which this fraction of the samples lies, in milliseconds; `None` without samples.
    pub fn quantile(&self, fraction: f64) -> Option<f64> {
        self.values_at([fraction].into_iter()).next()
    }
    /// The counts with those of late.
    fn settled(&self) -> Counts {
        let mut counts = self.counts.clone();
        counts.settle(&self.recent);
        counts
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
    /// Standard deviation of the delays in milliseconds, from the counts of their steps; `None` without samples.
    pub fn deviation(&self) -> Option<f64> {
        let count = self.count() as f64;
        let Counts { lowest, of_steps } = self.settled();
        let steps = || (lowest..).zip(&of_steps).map(|(step, count)| (millis(highest_of(step)), f64::from(*count)));
        let mean = steps().map(|(value, count)| value * count).sum::<f64>() / count;
        let squares: f64 = steps().map(|(value, count)| (value - mean) * (value - mean) * count).sum();
        (count > 0.0).then(|| (squares / count).sqrt())
    }
    /// The values at rising fractions, in milliseconds, found in one pass; none without samples.
    fn values_at(&self, fractions: impl Iterator<Item = f64>) -> impl Iterator<Item = f64> {
        let count = self.count();
        let Counts { lowest, of_steps } = self.settled();
        let mut steps = (lowest..).zip(of_steps);
        let (mut passed, mut last) = (0, 0);
        fractions.map_while(move |fraction| {
            let wanted = ((fraction * count as f64).ceil() as u64).clamp(1, count.max(1));
            while passed < wanted {
                let (step, count) = steps.next()?;
                passed += u64::from(count);
                last = step;
            }
            Some(millis(highest_of(last)))
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

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_fraction_has_the_value_that_hdrhistogram_says(values in prop::collection::vec(0u64..20_000_000, 1..200)) {
            let (mut ours, mut theirs) = (Distribution::default(), Histogram::<u32>::new(3).unwrap());
            for micros in values.iter().chain(&[0, 2_047, 2_048, 4_095, 4_096]) {
                ours.record(Duration::from_micros(*micros));
                theirs.record(*micros).unwrap();
            }
            let mut wanted = 0;
            for step in theirs.iter_recorded() {
                wanted += step.count_since_last_iteration();
                let fraction = wanted as f64 / ours.count() as f64 - 1e-9;
                prop_assert_eq!(ours.quantile(fraction), Some(millis(step.value_iterated_to())));
                let above = theirs.len() - wanted;
                let share = ours.share_above(step.value_iterated_to() as f64 / 1_000.0 + 1e-7);
                prop_assert_eq!(share, Some(above as f64 / theirs.len() as f64));
            }
        }
    }

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
        // A uniform distribution's is its width over the root of 12.
        assert!((ramp.deviation().unwrap() - 100.0 / 12f64.sqrt()).abs() < 0.05);
    }

    #[test]
    fn steps_are_the_delays_that_were_counted() {
        let mut delays = Distribution::default();
        [7, 2_000, 7, 100_000].map(Duration::from_micros).into_iter().for_each(|delay| delays.record(delay));
        let steps: Vec<_> = delays.steps().map(|(delay, count)| (delay.as_micros(), count)).collect();
        assert_eq!(steps, [(7, 2), (2_000, 1), (100_031, 1)]);
    }

    #[test]
    fn what_was_not_measured_is_absent() {
        assert_eq!(Distribution::default().quantiles(), None);
        assert!(Distribution::default().cdf().is_empty());
        assert_eq!(Distribution::default().deviation(), None);
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
