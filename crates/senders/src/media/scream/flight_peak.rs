//! The largest flight of late.

use tidemark_core::Instant;

/// Largest flight of this round trip and the one before, in bytes: a pause between frames is no sign of an unused window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlightPeak {
    peaks: [f64; 2],
    since: Instant,
}

impl FlightPeak {
    pub(super) fn update(&mut self, now: Instant, in_flight: f64, smoothed_rtt: f64) {
        // The peak of this round trip and of the one before: a new round trip has seen little so far.
        if now.since(self.since).as_secs_f64() > smoothed_rtt {
            self.peaks = [0.0, self.peaks[0]];
            self.since = now;
        }
        self.peaks[0] = self.peaks[0].max(in_flight);
    }

    pub(super) fn get(&self) -> f64 {
        self.peaks[0].max(self.peaks[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_remembered_for_one_to_two_round_trips() {
        let mut peak = FlightPeak::default();
        let mut after = |ms, in_flight| {
            peak.update(Instant::from_millis(ms), in_flight, 0.02);
            peak.get()
        };
        assert_eq!(after(100, 5000.0), 5000.0);
        assert_eq!(after(121, 1000.0), 5000.0);
        assert_eq!(after(142, 1000.0), 1000.0);
    }
}
