//! SCReAM version 1's measurement of one adjustment interval (RFC 8298 4.1.3).

use tidemark_core::Instant;

/// Bytes sent and acknowledged since the interval began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateMeter {
    transmitted: f64,
    acked: f64,
    since: Instant,
}

impl RateMeter {
    pub(super) fn add(&mut self, transmitted: f64, acked: f64) {
        self.transmitted += transmitted;
        self.acked += acked;
    }

    /// Ends an interval of at least `min` seconds; the higher of both rates, in bits a second.
    pub(super) fn end_interval(&mut self, now: Instant, min: f64) -> Option<f64> {
        let interval = now.since(self.since).as_secs_f64();
        if interval < min {
            return None;
        }
        let rate = (self.transmitted * 8.0 / interval).max(self.acked * 8.0 / interval);
        *self = Self { since: now, ..Self::default() };
        Some(rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_gives_the_higher_rate_and_begins_anew() {
        let mut meter = RateMeter::default();
        meter.add(1000.0, 500.0);
        assert_eq!(meter.end_interval(Instant::from_millis(199), 0.2), None);
        meter.add(1000.0, 2500.0);
        assert_eq!(meter.end_interval(Instant::from_millis(250), 0.2), Some(96_000.0));
        assert_eq!(meter.end_interval(Instant::from_millis(500), 0.2), Some(0.0));
    }
}
