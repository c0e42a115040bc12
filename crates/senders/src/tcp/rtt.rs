//! Round-trip time and retransmission timeout (RFC 6298, with Linux' lower limit).

use tidemark_core::Duration;

/// Timeout before the first sample (RFC 6298 2.1).
const INITIAL_RTO: Duration = Duration::from_secs(1);
/// Linux' `TCP_RTO_MAX`; RFC 6298 2.5 allows any limit of 60 s or more.
const MAX_RTO: Duration = Duration::from_secs(120);

/// The estimator.
#[derive(Clone, Debug)]
pub(super) struct RttEstimator {
    smoothed: Option<Duration>,
    variation: Duration,
    min: Duration,
    floor: Duration,
    /// Doublings since the last sample (RFC 6298 5.5).
    backoff: u32,
    /// Timeout that follows from all of these.
    rto: Duration,
}

impl RttEstimator {
    pub(super) fn new(floor: Duration) -> Self {
        let (variation, min) = (Duration::ZERO, Duration::MAX);
        Self { smoothed: None, variation, min, floor, backoff: 0, rto: INITIAL_RTO }
    }

    /// RFC 6298 2.2 and 2.3.
    pub(super) fn sample(&mut self, rtt: Duration) {
        self.min = self.min.min(rtt);
        self.backoff = 0;
        match self.smoothed {
            None => {
                self.smoothed = Some(rtt);
                self.variation = rtt / 2;
            }
            Some(smoothed) => {
                let deviation = rtt.saturating_sub(smoothed).max(smoothed.saturating_sub(rtt));
                self.variation = Duration::from_nanos((3 * self.variation.as_nanos() + deviation.as_nanos()) / 4);
                self.smoothed = Some(Duration::from_nanos((7 * smoothed.as_nanos() + rtt.as_nanos()) / 8));
            }
        }
        self.update();
    }

    pub(super) fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// The least sample; `Duration::MAX` without any.
    pub(super) fn min(&self) -> Duration {
        self.min
    }

    /// The timeout.
    pub(super) fn rto(&self) -> Duration {
        self.rto
    }

    pub(super) fn back_off(&mut self) {
        self.backoff += 1;
        self.update();
    }

    /// New data was acknowledged: the path works again.
    pub(super) fn reset_backoff(&mut self) {
        // Most acknowledgements find nothing to take back.
        if self.backoff > 0 {
            self.backoff = 0;
            self.update();
        }
    }

    /// `SRTT + max(floor, 4 RTTVAR)` as in Linux, doubled for each expiry in a row.
    fn update(&mut self) {
        let rto = self.smoothed.map_or(INITIAL_RTO, |smoothed| smoothed + (self.variation * 4).max(self.floor));
        self.rto = (rto * (1 << self.backoff.min(16))).min(MAX_RTO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_follows_rfc_6298() {
        let mut rtt = RttEstimator::new(Duration::ZERO);
        assert_eq!(rtt.rto(), Duration::from_secs(1));
        rtt.sample(Duration::from_millis(100));
        assert_eq!(rtt.rto(), Duration::from_millis(300), "R + 4 R/2");
        rtt.sample(Duration::from_millis(180));
        // RTTVAR = 3/4 50 + 1/4 80 = 57.5 ms, SRTT = 7/8 100 + 1/8 180 = 110 ms.
        assert_eq!(rtt.smoothed(), Some(Duration::from_millis(110)));
        assert_eq!(rtt.rto(), Duration::from_millis(340));
        rtt.back_off();
        assert_eq!(rtt.rto(), Duration::from_millis(680));
        rtt.sample(Duration::from_millis(110));
        assert!(rtt.rto() < Duration::from_millis(340), "a sample ends the back-off");
    }

    #[test]
    fn a_steady_path_keeps_linux_lower_limit() {
        let mut rtt = RttEstimator::new(Duration::from_millis(200));
        for _ in 0..100 {
            rtt.sample(Duration::from_millis(40));
        }
        assert_eq!(rtt.rto(), Duration::from_millis(240));
        for _ in 0..40 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), MAX_RTO);
    }
}
