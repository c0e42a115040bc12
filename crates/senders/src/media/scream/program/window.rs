//! Congestion window of the program of 2021.

use tidemark_core::{Duration, Instant};

use super::Congestion;

const BETA_LOSS: f64 = 0.8;
const GAIN_UP: f64 = 1.0;
const GAIN_DOWN: f64 = 2.0;
const RISING: f64 = 0.2;
const FLIGHT_HEADROOM: f64 = 1.25;
/// Factor of the measured rate that the acknowledged bytes of an update count up to: what comes in one burst after a pause is no sign of room.
const ACKED_HEADROOM: f64 = 1.25;
/// Rate below which the acknowledged bytes of an update count as two packets.
const LOW_RATE: f64 = 100_000.0;
/// Least peak that limits the window.
const MIN_PEAK: f64 = 5_000.0;
const POST_CONGESTION: f64 = 0.1;
const RESUME_FAST_START: Duration = Duration::from_millis(250);
const SLOT: Duration = Duration::from_secs(1);
const SLOTS: usize = 5;
/// Size that packets have before one was sent.
const FIRST_MSS: f64 = 1_200.0;

/// Observations that an update goes by; sizes in bytes, the rate in bits a second.
pub(super) struct Update {
    pub(super) now: Instant,
    /// Seconds since the last one.
    pub(super) span: f64,
    /// Bytes newly acknowledged, lost ones among them.
    pub(super) acked: f64,
    pub(super) in_flight: f64,
    /// Flight before the report.
    pub(super) flight_before: f64,
    /// Distance of the queue delay to the target, as a share of it.
    pub(super) off_target: f64,
    pub(super) trend: f64,
    pub(super) rate: f64,
    pub(super) congestion: Option<Congestion>,
    /// Share of the window that marks take away.
    pub(super) reduction: f64,
}

/// The window.
#[derive(Clone, Debug)]
pub(super) struct Window {
    cwnd: f64,
    mss: f64,
    in_fast_start: bool,
    last_congestion: Option<Instant>,
    /// From 0 at a congestion to 1 after 100 ms.
    post_congestion: f64,
    used: f64,
    flights: Flights,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            cwnd: 2.0 * FIRST_MSS,
            mss: FIRST_MSS,
            in_fast_start: true,
            last_congestion: None,
            post_congestion: 1.0,
            used: 0.0,
            flights: Flights::default(),
        }
    }
}

impl Window {
    pub(super) fn on_sent(&mut self, _now: Instant, size: f64) {
        self.mss = self.mss.max(size);
        self.cwnd = self.cwnd.max(2.0 * self.mss);
    }

    pub(super) fn observe_flight(&mut self, now: Instant, flight: f64) {
        self.flights.observe(now, flight);
    }

    pub(super) fn update(&mut self, update: &Update) {
        self.used = (update.flight_before / self.cwnd).min(1.0);
        // A burst of acknowledgements after a pause is no sign of room; at low rates two packets keep growth going.
        let acked = if update.rate > LOW_RATE {
            update.acked.min(ACKED_HEADROOM * update.rate * update.span / 8.0)
        } else {
            2.0 * self.mss
        };
        // The delay rises: the path has shown its limit.
        if update.trend >= RISING {
            self.in_fast_start = false;
        }
        match update.congestion {
            Some(congestion) => {
                // A loss is answered by a fixed part, marks by what their share says.
                self.cwnd *= if congestion == Congestion::Loss { BETA_LOSS } else { 1.0 - update.reduction };
                self.last_congestion = Some(update.now);
                self.in_fast_start = false;
                self.post_congestion = 0.0;
            }
            None => {
                let past = self.last_congestion.map_or(f64::INFINITY, |last| update.now.since(last).as_secs_f64());
                self.post_congestion = (past / POST_CONGESTION).min(1.0);
                self.steer(update, acked);
            }
        }
        // Before the first congestion the flight is still on its way up, and no bound for the window.
        if self.last_congestion.is_some() {
            let peak = FLIGHT_HEADROOM * self.flights.peak(update.in_flight, update.trend);
            // A stream that sends next to nothing has no flight to measure a window by.
            if peak > MIN_PEAK {
                self.cwnd = self.cwnd.min(peak);
            }
        }
        self.cwnd = self.cwnd.max(2.0 * self.mss);
        // A delay that rises puts off the next fast start as a congestion would.
        if update.trend > RISING {
            self.last_congestion = Some(update.now);
        } else if !self.in_fast_start
            && self.last_congestion.is_none_or(|last| update.now.since(last) > RESUME_FAST_START)
        {
            // The program restarts this clock, and with it the slow growth of the first 100 ms.
            self.in_fast_start = true;
            self.last_congestion = Some(update.now);
        }
    }

    /// Growth, or the fall above the delay target.
    fn steer(&mut self, update: &Update, acked: f64) {
        let is_used = |margin: f64| update.in_flight * margin + update.acked > self.cwnd;
        // No limit was seen of late: growth does not ask for the delay.
        if self.in_fast_start {
            // A window that nobody uses proves nothing about the path.
            if is_used(1.5) {
                self.cwnd += self.post_congestion * acked;
            }
        } else if update.off_target > 0.0 {
            // The nearer to the delay target the slower.
            if is_used(1.2) {
                self.cwnd += GAIN_UP * update.off_target * acked * self.mss / self.cwnd;
            }
        } else {
            let fall = -GAIN_DOWN * update.off_target * update.acked * self.mss / self.cwnd;
            self.cwnd -= fall.min(self.cwnd / 4.0);
            self.last_congestion = Some(update.now);
        }
    }

    /// Bytes that may be in flight: a packet more while the delay is below its target.
    pub(super) fn bytes(&self, below_target: bool) -> f64 {
        self.cwnd + if below_target { self.mss } else { 0.0 }
    }

    /// Share of the window that was in flight at the last update.
    pub(super) fn used(&self) -> f64 {
        self.used
    }

    pub(super) fn post_congestion(&self) -> f64 {
        self.post_congestion
    }

    pub(super) fn is_in_fast_start(&self) -> bool {
        self.in_fast_start
    }

    pub(super) fn was_congested(&self) -> bool {
        self.last_congestion.is_some()
    }
}

/// Flights of the last five seconds: the highest of each, and its mean.
#[derive(Clone, Copy, Debug, Default)]
struct Flights {
    highest: [f64; SLOTS],
    means: [f64; SLOTS],
    now: f64,
    sum: f64,
    count: u32,
    index: usize,
    since: Instant,
}

impl Flights {
    fn observe(&mut self, now: Instant, flight: f64) {
        // Peaks and means are kept by the second, for five of them.
        if now.since(self.since) > SLOT {
            self.highest[self.index] = self.now;
            // A second without a report has no mean.
            self.means[self.index] = if self.count > 0 { self.sum / f64::from(self.count) } else { 0.0 };
            self.index = (self.index + 1) % SLOTS;
            (self.now, self.sum, self.count, self.since) = (0.0, 0.0, 0, now);
        }
        self.now = self.now.max(flight);
        self.sum += flight;
        self.count += 1;
    }

    /// The highest flight, nearer to the highest mean the more the delay rises.
    fn peak(&self, in_flight: f64, trend: f64) -> f64 {
        let highest = self.highest.iter().copied().fold(self.now, f64::max);
        let mean = self.means.iter().copied().fold(in_flight, f64::max);
        highest * (1.0 - trend) + mean * trend
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An update 10 ms after the last, of a window that is used, at half of the delay target.
    fn update(at: u64) -> Update {
        Update {
            now: Instant::from_millis(at),
            span: 0.01,
            acked: 10_000.0,
            in_flight: 90_000.0,
            flight_before: 100_000.0,
            off_target: 0.5,
            trend: 0.0,
            rate: 16e6,
            congestion: None,
            reduction: 0.2,
        }
    }

    fn window() -> Window {
        let mut window = Window { cwnd: 100_000.0, ..Window::default() };
        window.observe_flight(Instant::ZERO, 100_000.0);
        window
    }

    #[test]
    fn worked_by_hand() {
        let mut window = window();
        // Fast start: all of what was acknowledged.
        window.update(&update(0));
        assert_eq!((window.cwnd, window.used()), (110_000.0, 1.0));
        // Marks take a fifth, and growth begins anew from there.
        window.update(&Update { congestion: Some(Congestion::Mark), ..update(1_000) });
        assert_eq!((window.cwnd, window.post_congestion(), window.is_in_fast_start()), (88_000.0, 0.0, false));
        // 0.5 * 10000 * 1200 / 88000 = 68.1818.
        window.update(&update(1_050));
        assert!((window.cwnd - 88_068.18).abs() < 0.01 && window.post_congestion() == 0.5);
        // 251 ms after the marks it is fast again; a loss takes a fifth, too.
        window.update(&update(1_251));
        assert!(window.is_in_fast_start());
        let before = window.cwnd;
        window.update(&Update { congestion: Some(Congestion::Loss), ..update(1_300) });
        assert!((window.cwnd - 0.8 * before).abs() < 1e-9);
    }

    #[test]
    fn a_window_that_was_cut_is_no_larger_than_the_flight_with_its_headroom() {
        let mut window = window();
        window.cwnd = 400_000.0;
        window.update(&Update { congestion: Some(Congestion::Mark), ..update(10) });
        assert_eq!(window.cwnd, 125_000.0);
    }

    #[test]
    fn above_the_delay_target_the_window_falls_by_a_quarter_at_most() {
        let mut window = window();
        window.in_fast_start = false;
        // 2 * 0.5 * 10000 * 1200 / 100000 = 120.
        window.update(&Update { off_target: -0.5, ..update(10) });
        assert_eq!(window.cwnd, 99_880.0);
        window.update(&Update { off_target: -500.0, acked: 90_000.0, ..update(20) });
        assert_eq!(window.cwnd, 99_880.0 * 0.75);
    }

    #[test]
    fn a_burst_after_a_pause_counts_as_what_the_rate_lets_through() {
        let mut window = window();
        // 1.25 * 16 Mbit/s for 10 ms: 25000 bytes.
        window.update(&Update { acked: 80_000.0, ..update(10) });
        assert_eq!(window.cwnd, 125_000.0);
    }
}
