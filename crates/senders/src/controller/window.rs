//! Common parts of window-based controllers: slow start, restart after idleness, pacing of a window.

use tidemark_core::{BitRate, Duration};

use super::{Ack, Sizes};

/// A congestion window and its slow start threshold, in bytes of payload, with fractions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Window {
    pub(super) size: f64,
    pub(super) threshold: f64,
}

impl Window {
    pub(super) fn new(sizes: Sizes) -> Self {
        Self { size: sizes.initial_window, threshold: f64::INFINITY }
    }

    pub(super) fn in_slow_start(&self) -> bool {
        self.size < self.threshold
    }

    /// True if the sender used the window, so that more of it makes a difference. In slow start a flight of
    /// half the window is proof enough, since the acknowledgements double it (Linux `tcp_is_cwnd_limited`).
    pub(super) fn is_used(&self, ack: &Ack) -> bool {
        ack.window_limited || self.in_slow_start() && ack.prior_in_flight.as_f64() * 2.0 > self.size
    }

    /// Slow start by `bytes`; what would go beyond the threshold is left and returned.
    pub(super) fn slow_start(&mut self, bytes: f64) -> f64 {
        let grown = self.size + bytes;
        self.size = grown.min(self.threshold.max(self.size));
        grown - self.size
    }

    /// Halves the window for each timeout that the connection was idle, down to the initial window (RFC 9293
    /// 3.8.6 leaves it open; RFC 2861 2, as Linux does it).
    pub(super) fn restart_after_idle(&mut self, sizes: Sizes, idle: Duration, rto: Duration) {
        // For so short a pause the window is still validated.
        if idle <= rto {
            return;
        }
        let restart = self.size.min(sizes.initial_window);
        self.threshold = self.threshold.max(self.size * 0.75);
        let mut left = idle.saturating_sub(rto);
        self.size *= 0.5;
        while left > rto && self.size > restart {
            left -= rto;
            self.size *= 0.5;
        }
        self.size = self.size.max(restart);
    }

    /// Linux' pacing of a window: twice the rate while slow start has far to go, 1.2 times afterwards.
    pub(super) fn linux_pacing(&self, sizes: Sizes, smoothed_rtt: Duration) -> Option<BitRate> {
        let factor = if self.size < self.threshold / 2.0 { 2.0 } else { 1.2 };
        pace(self.size * factor, sizes, smoothed_rtt)
    }
}

/// The rate of IP packets that carries a window of payload in one round trip.
pub(super) fn pace(window: f64, sizes: Sizes, smoothed_rtt: Duration) -> Option<BitRate> {
    if smoothed_rtt.is_zero() {
        return None;
    }
    Some(BitRate::from_bytes_per_sec(window / sizes.mss * sizes.packet / smoothed_rtt.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_halves_the_window_for_each_timeout_down_to_the_initial_one() {
        let sizes = Sizes { mss: 1000.0, packet: 1052.0, initial_window: 10_000.0 };
        let rto = Duration::from_millis(200);
        let after = |idle| {
            let mut window = Window { size: 80_000.0, threshold: 50_000.0 };
            window.restart_after_idle(sizes, Duration::from_millis(idle), rto);
            (window.size, window.threshold)
        };
        assert_eq!(after(199), (80_000.0, 50_000.0));
        assert_eq!(after(201), (40_000.0, 60_000.0));
        assert_eq!(after(700), (10_000.0, 60_000.0));
        assert_eq!(after(100_000), (10_000.0, 60_000.0));
    }

    #[test]
    fn slow_start_stops_at_its_threshold_and_returns_the_rest() {
        let mut window = Window { size: 9_000.0, threshold: 10_000.0 };
        assert_eq!(window.slow_start(3_000.0), 2_000.0);
        assert_eq!(window.size, 10_000.0);
    }
}
