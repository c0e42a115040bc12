//! Round-trip time of a media stream, as reports tell it.

use tidemark_core::Duration;

/// Weight of a new round-trip time is one in this many.
const GAIN: u64 = 8;

/// Newest, smoothed and least round-trip time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrip {
    sample: Option<Duration>,
    smoothed: Option<Duration>,
    min: Option<Duration>,
}

impl RoundTrip {
    /// Takes a measured round-trip time.
    pub(super) fn update(&mut self, rtt: Duration) {
        self.sample = Some(rtt);
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
        self.smoothed =
            Some(self.smoothed.map_or(rtt, |smoothed| {
                Duration::from_nanos(((GAIN - 1) * smoothed.as_nanos() + rtt.as_nanos()) / GAIN)
            }));
    }

    /// Newest round-trip time, once.
    pub(super) fn take_sample(&mut self) -> Option<Duration> {
        self.sample.take()
    }

    /// Smoothed round-trip time.
    pub(super) fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// Least round-trip time so far.
    pub(super) fn min(&self) -> Option<Duration> {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_sample_moves_the_smoothed_time_by_an_eighth() {
        let mut rtt = RoundTrip::default();
        assert_eq!((rtt.smoothed(), rtt.min()), (None, None));
        rtt.update(Duration::from_millis(40));
        rtt.update(Duration::from_millis(80));
        assert_eq!((rtt.smoothed(), rtt.min()), (Some(Duration::from_millis(45)), Some(Duration::from_millis(40))));
        assert_eq!((rtt.take_sample(), rtt.take_sample()), (Some(Duration::from_millis(80)), None));
    }
}
