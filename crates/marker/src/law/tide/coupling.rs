//! Coupling of the odds of both classes in a shared queue, by the window of a Prague in a classic flow's place.

use tidemark_core::{Duration, Instant};

/// Square of the factor of the response of Reno: its mean window is `sqrt(3 / 2) / sqrt(p)` segments (RFC 9438 4.3, with beta = 0.5).
const RENO: f64 = 1.5;
/// Factor of the response of CUBIC, in segments over the square roots of a second: its mean window is
/// `1.054 (RTT / 1 s)^(3/4) / p^(3/4)` (RFC 9438 5.1, with C = 0.4 and beta = 0.7).
const CUBIC: f64 = 1.054;
/// Root of 6: Reno's mean window at the odds `(x / 2)^2` is this over `x`.
const ROOT_6: f64 = 2.449_489_742_783_178;

/// Gain of the average of the marked share (draft-briscoe-iccrg-prague-congestion-control).
const GAIN: f64 = 1.0 / 16.0;
/// Round trip in seconds that a Prague with a shorter one behaves as if it had (the same draft).
const REFERENCE: f64 = 0.025;
/// Longest round in seconds: a queue that nothing leaves has no end.
const LONGEST: f64 = 1.0;
/// Least window in segments.
const LEAST: f64 = 2.0;
/// Window at the start, as a part of what the path holds: with more of it classic flows overshoot longer in their slow start
/// (docs/measured/tide.md).
const BEGIN: f64 = 0.25;
/// Time without a packet after which a Prague begins anew.
const PAUSE: Duration = Duration::from_secs(1);

/// Path of a flow.
pub(super) struct Path {
    /// Round trip in seconds, with the queue.
    pub(super) rtt: f64,
    /// Segments that it holds.
    pub(super) segments: f64,
}

/// Prague that sends the packets of a shared queue, marked with the odds of L4S packets, and the classic packets that are to leave their sender its window.
/// The Prague adds a segment a round trip, and takes half of the marked share off where a round has a mark. Packets of both classes are its own: few of one say
/// little of what a sender that fills the queue would meet.
///
/// A packet only adds to sums. The window moves at the end of a round and at a reduction, by the path of the packet at hand.
pub(super) struct Coupling {
    /// Window in segments.
    window: f64,
    /// Moving average of the marked share.
    alpha: f64,
    /// End of the round over which `alpha` is averaged next, with the sum of the odds and the packets of this round.
    round_ends: Instant,
    odds: f64,
    packets: f64,
    /// Odds since the last mark: marks are evenly spaced.
    due: f64,
    /// Time from which a mark reduces the window.
    reducible: Instant,
    /// Time to which the window has grown.
    at: Instant,
    /// Odds that leave Reno the window, and those that leave it CUBIC, over a round trip of a second.
    reno: f64,
    cubic: f64,
    /// Sum of the odds `x` of classic packets, and their number, of which 15 of 16 are kept at the end of a round.
    classic_odds: f64,
    classic_packets: f64,
}

impl Coupling {
    /// Takes in a packet of either class, where L4S packets have the odds `x`.
    #[inline]
    pub(super) fn send(&mut self, now: Instant, x: f64, path: impl Fn() -> Path) {
        self.odds += x;
        self.packets += 1.0;
        self.due += x;
        let mut is_marked = false;
        if self.due > 1.0 {
            self.due -= 1.0;
            is_marked = now >= self.reducible;
        }
        if is_marked || now >= self.round_ends {
            self.turn(now, &path(), is_marked);
        }
    }

    /// Moves the window.
    #[cold]
    #[inline(never)]
    fn turn(&mut self, now: Instant, path: &Path, is_marked: bool) {
        if now.since(self.round_ends) > PAUSE || self.window == 0.0 {
            // It was never marked: the first mark halves its window.
            let window = BEGIN * path.segments;
            *self = Self { window, at: now, ..Self::default() };
        }
        let round = path.rtt.clamp(REFERENCE, LONGEST);
        let increase = now.since(self.at).as_secs_f64() * path.rtt.min(round) / (round * round) * (1.0 - self.alpha);
        self.window = (self.window + increase).min(path.segments);
        self.at = now;
        if now >= self.round_ends {
            if self.packets > 0.0 {
                self.alpha += GAIN * (self.odds / self.packets - self.alpha);
            }
            (self.odds, self.packets) = (0.0, 0.0);
            self.classic_odds *= 1.0 - GAIN;
            self.classic_packets *= 1.0 - GAIN;
            self.round_ends = now + Duration::from_secs_f64(round);
        }
        if is_marked {
            self.window *= 1.0 - self.alpha / 2.0;
            self.reducible = now + Duration::from_secs_f64(round);
        }
        self.window = self.window.max(LEAST);
        (self.reno, self.cubic) = responses(self.window);
    }

    /// Odds of a classic packet where L4S packets have the odds `x`, over a round trip in seconds: in the mean those that leave a CUBIC the window of the Prague, and higher
    /// where the queue is. No more than for the window that `x` would leave for good, so that the first marks are none too many.
    pub(super) fn classic(&mut self, x: f64, rtt: f64) -> f64 {
        self.classic_odds += x;
        self.classic_packets += 1.0;
        if x == 0.0 {
            return 0.0;
        }
        let cubic = rtt * self.cubic;
        let odds = if cubic > self.reno { cubic } else { self.reno };
        let spaced = odds * x * self.classic_packets / self.classic_odds;
        // No cube root for what Reno's response allows already.
        if spaced <= odds || spaced <= squared(x) {
            return spaced;
        }
        let (reno, cubic) = responses(ROOT_6 / x);
        spaced.min(odds.max(reno).max(rtt * cubic))
    }
}

impl Default for Coupling {
    fn default() -> Self {
        Self {
            window: 0.0,
            alpha: 1.0,
            round_ends: Instant::ZERO,
            odds: 0.0,
            packets: 0.0,
            due: 0.0,
            reducible: Instant::ZERO,
            at: Instant::ZERO,
            reno: 0.0,
            cubic: 0.0,
            classic_odds: 0.0,
            classic_packets: 0.0,
        }
    }
}

/// Odds at which a Reno has the window of a scalable sender with the odds `x`, where these stand still (RFC 9332 2.1).
pub(super) fn squared(x: f64) -> f64 {
    (x / 2.0) * (x / 2.0)
}

/// Odds that leave Reno a mean window of so many segments, and those that leave it CUBIC over a round trip of a second, which grow with the round trip.
fn responses(window: f64) -> (f64, f64) {
    let cubic = CUBIC / window;
    (RENO / (window * window), cubic * cube_root(cubic))
}

/// Cube root of a number that is not below 0, to within one part in 10^12: a sixth of the instructions of `libm::cbrt`, which rounds correctly.
fn cube_root(y: f64) -> f64 {
    // A third of the exponent is within 4 %, and each step of Halley's cubes the error.
    let guess = f64::from_bits(y.to_bits() / 3 + 0x2a9f_7893_782d_a1ce);
    let closer = |root: f64| {
        let cube = root * root * root;
        root * ((cube + 2.0 * y) / (2.0 * cube + y))
    };
    closer(closer(guess))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: Path = Path { rtt: 0.1, segments: 100.0 };

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn a_window_worked_by_hand() {
        let mut coupling = Coupling::default();
        let mut send = |millis, x| {
            coupling.send(at(millis), x, || PATH);
            (coupling.window, coupling.alpha)
        };
        // A quarter of the path; the first packet is the one at which the Prague begins, and ends a round without one.
        assert_eq!(send(5_000, 0.0), (25.0, 1.0));
        // A sum of 1 is no mark yet.
        assert_eq!(send(5_050, 1.0), (25.0, 1.0));
        // Both packets of the round have odds of 1, so that alpha stays and nothing grows; the second is the mark that takes a half.
        assert_eq!(send(5_100, 1.0), (12.5, 1.0));
        // Nothing more in this round.
        assert_eq!(send(5_150, 1.0), (12.5, 1.0));
        // A half of 1 and 0: alpha = 1 - 0.5 / 16. It grows from then on, by 0.5 / 16 in a round.
        assert_eq!(send(5_200, 0.0), (12.5, 1.0 - 0.5 / 16.0));
        let (window, alpha) = send(5_300, 0.0);
        assert!((window - 12.5 - 0.5 / 16.0).abs() < 1e-12 && (alpha - 0.96875 * 15.0 / 16.0).abs() < 1e-12);
        // A second after the end of the round it begins.
        assert_eq!(send(6_401, 0.0), (25.0, 1.0));
    }

    #[test]
    fn a_window_has_bounds() {
        let mut coupling = Coupling::default();
        (0..10_000).for_each(|millis| coupling.send(at(millis), 1.0, || PATH));
        assert_eq!(coupling.window, 2.0);
        (10_000..60_000).for_each(|millis| coupling.send(at(millis), 0.0, || PATH));
        assert_eq!(coupling.window, 100.0);
        // A queue that nothing leaves: rounds of a second, not of a day.
        let stalled = || Path { rtt: 1e5, segments: 1e5 };
        (60_000..70_000).for_each(|millis| coupling.send(at(millis), 1.0, stalled));
        assert!(coupling.window < 70.0, "{}", coupling.window);
    }

    #[test]
    fn a_short_path_is_as_one_of_25_ms() {
        let mut coupling = Coupling::default();
        let mut grown = |millis: core::ops::Range<u64>| {
            millis.for_each(|millis| coupling.send(at(millis), 0.0, || Path { rtt: 0.01, segments: 1_000.0 }));
            coupling.window
        };
        let before = grown(0..20_000);
        // 0.01 / 0.025^2 segments a second.
        let in_a_second = grown(20_000..21_000) - before;
        assert!((in_a_second - 16.0).abs() < 1e-3, "{in_a_second}");
    }

    #[test]
    fn odds_that_stand_still_leave_two_to_three_over_them() {
        for x in [0.02, 0.05, 0.1, 0.2] {
            let mut coupling = Coupling::default();
            let (mut now, mut sum, mut sent) = (0.0, 0.0, 0.0);
            while now < 200.0 {
                let instant = Instant::from_nanos((now * 1e9) as u64);
                coupling.send(instant, x, || Path { rtt: 0.1, segments: 1_000.0 });
                let gap = 0.1 / coupling.window;
                now += gap;
                if now > 100.0 {
                    (sum, sent) = (sum + coupling.window * gap, sent + gap);
                }
            }
            let of = sum / sent * x / (1.0 - x);
            assert!((1.9..3.0).contains(&of), "{x}: {of}");
        }
    }

    #[test]
    fn odds_of_classic_packets_worked_by_hand() {
        let begun = || {
            let mut coupling = Coupling::default();
            coupling.send(at(5_000), 0.0, || PATH);
            coupling
        };
        let near = |odds: f64, expected: f64| assert!((odds / expected - 1.0).abs() < 1e-9, "{odds}, not {expected}");
        // 25 segments: 1.5 / 25^2 = 0.0024, more than CUBIC's 0.1 * 0.04216 * 0.348044 = 0.001467. Odds that stand still have no other; three times as high, the mean is 0.2.
        let mut coupling = begun();
        near(coupling.classic(0.1, 0.1), 0.0024);
        near(coupling.classic(0.3, 0.1), 0.0024 * 0.3 / 0.2);
        assert_eq!(coupling.classic(0.0, 0.1), 0.0);
        // Over half a second CUBIC's are five times as high.
        near(coupling.classic(0.4 / 3.0, 0.5), 0.5 * 0.04216 * libm::cbrt(0.04216));
        // After nine packets without odds the mean is a tenth, and the first odds are those of 25 segments all the same.
        let mut coupling = begun();
        (0..9).for_each(|_| assert_eq!(coupling.classic(0.0, 0.1), 0.0));
        near(coupling.classic(0.01, 0.1), 0.0024);
        // Above them the bound is Reno's at 0.2, (0.2 / 2)^2, and over half a second CUBIC's: y = 1.054 * 0.2 / sqrt(6).
        let mut coupling = begun();
        (0..99).for_each(|_| assert_eq!(coupling.classic(0.0, 0.1), 0.0));
        near(coupling.classic(0.2, 0.1), 0.01);
        let y = 1.054 * 0.2 / ROOT_6;
        near(coupling.classic(0.2, 0.5), 0.5 * y * libm::cbrt(y));
    }

    #[test]
    fn a_cube_root_is_close_wherever_odds_are() {
        for exponent in -400..=40 {
            let y = libm::pow(2.0, f64::from(exponent) / 4.0);
            assert!((cube_root(y) / libm::cbrt(y) - 1.0).abs() < 1e-12, "{y}");
        }
        assert_eq!(0.0 * cube_root(0.0), 0.0);
    }
}
