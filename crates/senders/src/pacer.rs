//! Pacing: bursts of a limited size; the next one leaves when the last one's time at the rate is over.

use tidemark_core::{BitRate, Bytes, Instant};

/// Time at which the next packet may leave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacer {
    next: Instant,
    burst_left: u64,
}

impl Pacer {
    /// Time at which the next packet may leave; `None` if now.
    pub(crate) fn wait(&self, now: Instant) -> Option<Instant> {
        (self.burst_left == 0 && now < self.next).then_some(self.next)
    }

    /// Accounts for a packet. The last one of a burst may go beyond it, so that a burst has one packet at least.
    pub(crate) fn sent(&mut self, now: Instant, size: Bytes, rate: BitRate, burst: Bytes) {
        // A burst ends with its bytes, or with a pause, whose time is not made up for.
        if self.burst_left == 0 || now >= self.next {
            self.burst_left = burst.0;
            self.next = self.next.max(now);
        }
        self.burst_left = self.burst_left.saturating_sub(size.0);
        // Floats because this runs for each packet, and a 128-bit division costs more than all the rest.
        let nanos = size.as_f64() * 8e9 / rate.as_bps().max(1) as f64;
        self.next += tidemark_core::Duration::from_nanos(nanos as u64);
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Duration;

    use super::*;

    #[test]
    fn the_rate_is_kept_and_a_pause_earns_no_credit() {
        let mut pacer = Pacer::default();
        let (rate, burst) = (BitRate::from_mbps(12), Bytes(3000));
        let mut now = Instant::from_millis(500);
        let mut sent = 0;
        let end = now + Duration::from_secs(1);
        while now < end {
            match pacer.wait(now) {
                Some(next) => now = next,
                None => {
                    pacer.sent(now, Bytes(1500), rate, burst);
                    sent += 1;
                }
            }
        }
        assert!((1000..=1002).contains(&sent), "12 Mbit/s are 1000 packets of 1500 B: {sent}");
    }

    #[test]
    fn a_burst_leaves_at_once_and_no_more() {
        let mut pacer = Pacer::default();
        let now = Instant::from_millis(1);
        for _ in 0..2 {
            assert_eq!(pacer.wait(now), None);
            pacer.sent(now, Bytes(1500), BitRate::from_mbps(12), Bytes(3000));
        }
        assert_eq!(pacer.wait(now), Some(now + Duration::from_millis(2)));
    }
}
