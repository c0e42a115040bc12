//! Median of a flow's latest round trips, for display.

use tidemark_core::{Duration, Instant};

/// Round trips that the median is of.
const LEN: usize = 16;
/// Time after which a round trip says nothing about now. STUN asks every few seconds.
const MAX_AGE: Duration = Duration::from_secs(10);

/// The last round trips with the times at which they ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Median {
    trips: [Option<(Instant, Duration)>; LEN],
    count: usize,
}

impl Median {
    /// Adds a round trip that ends now, in place of the oldest.
    pub(super) fn add(&mut self, now: Instant, trip: Duration) {
        self.trips[self.count % LEN] = Some((now, trip));
        self.count += 1;
    }

    /// Median of the round trips of the last ten seconds, the lower one of two; `None` without any.
    pub(super) fn at(&self, now: Instant) -> Option<Duration> {
        let recent = self.trips.iter().flatten().filter(|(at, _)| now.since(*at) <= MAX_AGE);
        let mut trips: Vec<_> = recent.map(|(_, trip)| *trip).collect();
        trips.sort_unstable();
        trips.get(trips.len().saturating_sub(1) / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_of_the_latest_round_trips_and_none_is_older_than_ten_seconds() {
        let mut median = Median::default();
        assert_eq!(median.at(Instant::ZERO), None);
        for ms in 1..=100 {
            median.add(Instant::from_millis(ms), Duration::from_millis(ms));
        }
        assert_eq!(median.at(Instant::from_millis(100)), Some(Duration::from_millis(92)), "of 85 to 100");
        assert_eq!(median.at(Instant::from_millis(10_099)), Some(Duration::from_millis(99)), "of 99 and 100");
        assert_eq!(median.at(Instant::from_millis(10_101)), None);
    }
}
