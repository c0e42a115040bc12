//! A rate that is guaranteed or must not be exceeded, as a token bucket.

use tidemark_core::{BitRate, Duration, Instant};

/// Bytes that a rate has brought and that have not been used.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    rate: BitRate,
    /// Credit does not grow beyond this.
    depth: f64,
    credit: f64,
    updated: Instant,
}

impl Meter {
    /// A bucket that fills at `rate` and holds the bytes of a `span`, so that a burst which must pass within the span passes at once.
    pub(super) fn new(rate: BitRate, span: Duration) -> Self {
        let depth = rate.bytes_in(span).as_f64();
        Self { rate, depth, credit: depth, updated: Instant::ZERO }
    }
    /// True if there is credit left.
    pub(super) fn has_credit(&mut self, now: Instant) -> bool {
        let since = now.since(self.updated);
        self.updated = now.max(self.updated);
        self.credit = (self.credit + self.rate.as_bytes_per_sec() * since.as_secs_f64()).min(self.depth);
        self.credit > 0.0
    }
    /// Bytes of credit that are left.
    pub(super) fn left(&mut self, now: Instant) -> u32 {
        if self.has_credit(now) { self.credit as u32 } else { 0 }
    }
    /// Takes credit for what was sent, as far as there is any.
    pub(super) fn use_up(&mut self, bytes: u32) {
        self.credit = (self.credit - f64::from(bytes)).max(0.0);
    }
    /// Takes credit for what was sent; a block that was begun with credit may overdraw it.
    pub(super) fn sent(&mut self, bytes: u32) {
        self.credit -= f64::from(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_time_no_more_passes_than_the_rate_and_one_depth() {
        let mut meter = Meter::new(BitRate::from_mbps(8), Duration::from_millis(10));
        let mut passed = 0u64;
        for ms in 0..1_000 {
            while meter.has_credit(Instant::from_millis(ms)) {
                meter.sent(1_500);
                passed += 1_500;
            }
        }
        // 8 Mbit/s are 1000 bytes a millisecond.
        assert!((1_000_000..1_013_000).contains(&passed), "{passed}");
    }
}
