//! Margins that SCReAM version 2 leaves for frames that are late or too large.

use tidemark_core::{Bytes, Duration, Instant};

const RATE_ADJUST_GAIN: f64 = 1.0 / 16.0;
const MAX_RATE_ADJUST: f64 = 0.5;
const FRAME_SIZE_DEV_ALPHA: f64 = 1.0 / 64.0;
const MAX_DEVIATION: f64 = 0.2;

/// Shares by which the target rate stays below the window's.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrameSizes {
    rate_adjust: f64,
    deviation: f64,
    last_frame: Instant,
}

impl FrameSizes {
    /// Takes in a frame of `size` at a `target` rate in bits a second, which waits for `queued`; `target_delay` in seconds.
    pub(super) fn on_frame(&mut self, now: Instant, size: Bytes, queued: Duration, target: f64, target_delay: f64) {
        let error = (queued.as_secs_f64() - target_delay / 4.0) / target_delay;
        self.rate_adjust = (self.rate_adjust + error * RATE_ADJUST_GAIN).clamp(0.0, MAX_RATE_ADJUST);
        let period = now.since(self.last_frame).as_secs_f64();
        self.last_frame = now;
        // Two frames at once, or after a pause, tell no frame period.
        if period > 0.0 && period < 1.0 {
            let nominal = target / 8.0 * period;
            let over = ((size.as_f64() - nominal) / nominal.max(1.0)).max(0.0);
            self.deviation += FRAME_SIZE_DEV_ALPHA * (over - self.deviation);
            self.deviation = self.deviation.min(MAX_DEVIATION);
        }
    }

    /// Divisor of the window's rate, `base` and the margins.
    pub(super) fn divisor(&self, base: f64) -> f64 {
        base + self.rate_adjust + self.deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_grow_with_late_and_large_frames_up_to_their_limits() {
        let mut sizes = FrameSizes::default();
        let mut frames = |size, queued| {
            let mut now = Instant::from_millis(10);
            for _ in 0..1000 {
                now += Duration::from_millis(10);
                sizes.on_frame(now, Bytes(size), Duration::from_millis(queued), 8e6, 0.06);
            }
            sizes.divisor(1.0)
        };
        assert_eq!(frames(10_000, 0), 1.0, "as large as the target says, and at once");
        assert_eq!(frames(20_000, 100), 1.7);
    }
}
