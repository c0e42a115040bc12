//! The pacing rate, and the quanta in which segments leave (draft-ietf-ccwg-bbr-06 5.6.2, 5.6.3).

use tidemark_core::{BitRate, Bytes, Duration};

use crate::controller::Sizes;

/// Pacing stays this much below the estimate, so that queues drain.
const MARGIN: f64 = 0.99;

/// Rate at which payload leaves, in bytes a second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacing {
    sizes: Sizes,
    rate: f64,
}

impl Pacing {
    pub(super) fn new(sizes: Sizes) -> Self {
        Self { sizes, rate: 0.0 }
    }

    /// Begins with an initial window in each round trip, times `gain`.
    pub(super) fn begin(&mut self, gain: f64, rtt: Option<Duration>) {
        let rtt = rtt.unwrap_or(Duration::from_millis(1)).max(Duration::from_micros(1));
        self.rate = gain * self.sizes.initial_window / rtt.as_secs_f64();
    }

    /// Follows a bandwidth times `gain`; upwards alone until the pipe `is_full`.
    pub(super) fn update(&mut self, bandwidth: f64, gain: f64, is_full: bool) {
        let rate = bandwidth * gain * MARGIN;
        // Until the bandwidth is known, a low sample must not slow down the search for it.
        if is_full || rate > self.rate {
            self.rate = rate;
        }
    }

    /// Payload that leaves at once: a millisecond's worth, between two segments (one at very low rates) and 64 kB.
    pub(super) fn quantum(&self) -> f64 {
        let mss = self.sizes.mss;
        let min = if self.rate < 150_000.0 { mss } else { 2.0 * mss };
        (self.rate * 1e-3).clamp(min, 65_536.0_f64.max(min))
    }

    /// Quantum in whole bytes.
    pub(super) fn burst(&self) -> Bytes {
        Bytes(self.quantum() as u64)
    }

    /// Rate of IP packets; `None` before there is one.
    pub(super) fn rate(&self) -> Option<BitRate> {
        let Sizes { mss, packet, .. } = self.sizes;
        (self.rate > 0.0).then(|| BitRate::from_bytes_per_sec(self.rate / mss * packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_falls_only_once_the_pipe_has_been_full() {
        let mut pacing = Pacing::new(Sizes { mss: 1000.0, packet: 1050.0, initial_window: 10_000.0 });
        assert_eq!(pacing.rate(), None);
        pacing.begin(2.0, Some(Duration::from_millis(10)));
        assert_eq!(pacing.rate(), Some(BitRate::from_kbps(16_800)), "2 MB/s of payload");
        pacing.update(1e6, 1.0, false);
        assert_eq!(pacing.burst(), Bytes(2000));
        pacing.update(1e5, 1.0, true);
        assert_eq!((pacing.rate(), pacing.burst()), (Some(BitRate::from_bps(831_600)), Bytes(1000)));
    }
}
