//! Times by which packets left later than the pacer wanted.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// Longest time that is told apart, in microseconds.
const MAX_US: u64 = 60_000_000;

/// Distribution in microseconds, to three digits.
#[derive(Clone, Debug)]
pub(crate) struct Lateness(Histogram<u32>);

/// Quantiles in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct LatenessUs {
    p50: u64,
    p90: u64,
    p99: u64,
    p999: u64,
    max: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, MAX_US, 3).expect("three digits up to a minute"))
    }
}

impl Lateness {
    /// Adds the time of a packet.
    pub(crate) fn record(&mut self, late: Duration) {
        self.0.saturating_record(late.as_micros() as u64);
    }

    /// Quantiles so far; `None` without a packet.
    pub(crate) fn quantiles(&self) -> Option<LatenessUs> {
        let at = |share| self.0.value_at_quantile(share);
        (!self.0.is_empty()).then(|| LatenessUs {
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: self.0.max(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_recorded_times() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantiles(), None);
        (1..=100).for_each(|micros| lateness.record(Duration::from_micros(micros)));
        assert_eq!(lateness.quantiles(), Some(LatenessUs { p50: 50, p90: 90, p99: 99, p999: 100, max: 100 }));
        lateness.record(Duration::from_secs(1000));
        assert!(lateness.quantiles().is_some_and(|late| late.max >= MAX_US));
    }
}
