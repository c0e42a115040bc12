//! Less is encoded while more is in flight than a round trip and 350 ms hold: libwebrtc's congestion window
//! (`WebRTC-CongestionWindow`, on by default). libwebrtc drops frames in that proportion, this asks for smaller ones.

use std::collections::VecDeque;

use tidemark_core::{Bytes, Duration};

/// Time for which data may wait beyond a round trip.
const QUEUE: f64 = 0.35;
const MIN_WINDOW: f64 = 3000.0;
/// Reports whose longest round trips are remembered.
const REPORTS: usize = 32;

/// The control; bytes and seconds.
#[derive(Clone, Debug)]
pub(super) struct Pushback {
    round_trips: VecDeque<f64>,
    window: Option<f64>,
    in_flight: f64,
    ratio: f64,
}

impl Pushback {
    pub(super) fn new() -> Self {
        Self { round_trips: VecDeque::with_capacity(REPORTS + 1), window: None, in_flight: 0.0, ratio: 1.0 }
    }

    /// A report: how long the oldest of its packets has been away, what is still in flight, and the estimate.
    pub(super) fn on_report(&mut self, longest: Duration, in_flight: Bytes, estimate: f64) {
        self.round_trips.push_back(longest.as_secs_f64());
        // The least of late: the path may have become longer.
        if self.round_trips.len() > REPORTS {
            self.round_trips.pop_front();
        }
        let round_trip = self.round_trips.iter().copied().fold(f64::INFINITY, f64::min);
        let window = estimate / 8.0 * (round_trip + QUEUE);
        self.window = Some(self.window.map_or(window, |before| f64::midpoint(window, before)).max(MIN_WINDOW));
        self.in_flight = in_flight.as_f64();
        self.adapt();
    }

    pub(super) fn on_sent(&mut self, size: Bytes) {
        self.in_flight += size.as_f64();
        self.adapt();
    }

    fn adapt(&mut self) {
        // Before the first report there is no window to fill.
        let Some(window) = self.window else { return };
        let filled = self.in_flight / window;
        // The fuller the window the faster down; back to all at once when it is all but empty.
        self.ratio = if filled > 1.5 {
            self.ratio * 0.9
        } else if filled > 1.0 {
            self.ratio * 0.95
        } else if filled < 0.1 {
            1.0
        } else {
            (self.ratio * 1.05).min(1.0)
        }
        .max(1e-6);
    }

    /// The share of the estimate that is encoded.
    pub(super) fn ratio(&self) -> f64 {
        self.ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_window_stops_the_encoder_and_an_empty_one_lets_it_go() {
        let mut pushback = Pushback::new();
        // 8 Mbit/s, 50 ms: 400 kB.
        pushback.on_report(Duration::from_millis(50), Bytes(300_000), 8e6);
        assert_eq!(pushback.ratio(), 1.0);
        for _ in 0..200 {
            pushback.on_sent(Bytes(1200));
        }
        assert!(pushback.ratio() < 0.01, "{}", pushback.ratio());
        pushback.on_report(Duration::from_millis(50), Bytes(20_000), 8e6);
        assert_eq!(pushback.ratio(), 1.0);
    }
}
