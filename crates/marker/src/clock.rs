//! Clock of a DRB's reports: the time that a report describes, which is earlier than its arrival where it was delayed.
//!
//! A frame has no time of its own. A DU that reports every 5 or 10 ms over a network with jitter shows SDUs that came since as queued,
//! although the report that says otherwise is on its way. Two bounds tell what is delay, as clocks do that know one-way delays alone:
//!
//! - Reports come at a period. One that comes later than a period after the last was due is late by no more than that; the
//!   earliest of a window says when they are due.
//! - A report was sent after its newest SDU was handed over. It is late by no more than the age of that SDU beyond the least age of a window.
//!
//! Reports that come with transmissions have no period. Their gaps add up to a random walk, whereas jitter does not: it is in one gap and
//! out of the next.

use tidemark_core::{Duration, Instant};

/// Reports more often than this come with transmissions: pauses of a TDD pattern are shorter.
const MIN_PERIOD: u32 = 3_000_000;
/// Standard deviation of the gaps from which on they jitter: turns that a TDD pattern shifts have 0.75 ms.
const MIN_JITTER: f32 = 1e6;
/// A gap of more periods is a pause of the DU, and no delay.
const MAX_LATE: u32 = 4;
/// Gaps that the mean period is of, before which nothing is judged.
const MAX_GAPS: u8 = 64;
/// Reports in a window.
const WINDOW: u8 = 32;
/// Weight of the newest report in the averages.
const NEWEST: f32 = 1.0 / 64.0;
/// Mean square of the lateness over that of the gaps about their mean beyond which the gaps add up: jitter has 2, and up to 4 where reports
/// overtake each other.
const MAX_WANDER: f32 = 5.0;

/// State of the clock, all times in nanoseconds.
pub(crate) struct Clock {
    /// Arrival of the last report.
    last: Instant,
    /// Time at which the last report was due.
    due: Instant,
    /// Mean gap between reports.
    period: u32,
    /// Least lateness in this window.
    earliest: u32,
    /// Least age of the newest SDU of a report, in this window and the one before.
    youngest: [u32; 2],
    /// Mean squares, in periods: of the gaps about their mean, and of the lateness.
    spread: f32,
    wander: f32,
    reports: u8,
    /// Gaps that the mean is of.
    gaps: u8,
    jitters: bool,
    /// Nothing was queued for longer than a period since the last report.
    paused: bool,
}

impl Clock {
    /// A clock that knows no period.
    pub(crate) fn new() -> Self {
        Self {
            last: Instant::ZERO,
            due: Instant::ZERO,
            period: 0,
            earliest: u32::MAX,
            youngest: [u32::MAX; 2],
            spread: 0.0,
            wander: 0.0,
            reports: 0,
            gaps: 1,
            jitters: false,
            paused: true,
        }
    }

    /// A queue begins to stand: periods without a queue bring no reports.
    #[inline]
    pub(crate) fn begin(&mut self, now: Instant) {
        if nanos(now.since(self.last)) > self.period {
            self.paused = true;
            let missed = nanos(now.since(self.due)) / self.period.max(1);
            self.due += Duration::from_nanos(u64::from(missed) * u64::from(self.period));
        }
    }

    /// A report comes, be it stale.
    #[inline]
    pub(crate) fn tick(&mut self, now: Instant) {
        let gap = nanos(now.since(self.last));
        self.last = now;
        if self.paused || self.period == 0 {
            if !self.paused {
                self.period = gap;
            }
            self.due =
                if self.period > 0 { (self.due + Duration::from_nanos(self.period.into())).min(now) } else { now };
            self.paused = false;
            return;
        }
        self.gaps += u8::from(self.gaps < MAX_GAPS);
        let period = i64::from(self.period);
        let beyond = i64::from(gap.min((MAX_LATE + 1) * self.period)) - period;
        self.period = (period + beyond / i64::from(self.gaps)) as u32;
        self.jitters = false;
        if self.period >= MIN_PERIOD && self.gaps == MAX_GAPS {
            self.judge(now, beyond as f32 / period as f32);
        }
    }

    /// Takes in a gap that differs from the mean by so many periods.
    fn judge(&mut self, now: Instant, beyond: f32) {
        self.due = (self.due + Duration::from_nanos(self.period.into())).min(now);
        let mut late = nanos(now.since(self.due));
        if late > MAX_LATE * self.period {
            (self.due, late) = (now, 0);
        }
        let lateness = late as f32 / self.period as f32;
        self.spread += NEWEST * (beyond * beyond - self.spread);
        self.wander += NEWEST * (lateness * lateness - self.wander);
        let deviation = self.spread * self.period as f32 * self.period as f32;
        self.jitters = deviation > MIN_JITTER * MIN_JITTER && self.wander < MAX_WANDER * self.spread;
        self.earliest = self.earliest.min(late);
        self.reports += 1;
        if self.reports == WINDOW {
            self.due += Duration::from_nanos(self.earliest.into());
            (self.earliest, self.reports) = (u32::MAX, 0);
            self.youngest = [u32::MAX, self.youngest[0]];
        }
    }

    /// Time by which the report at `now` came late: one that moved SDUs, the newest of this age, or left the head where it was.
    #[inline]
    pub(crate) fn lateness(&mut self, now: Instant, newest: Option<Duration>, head: Option<Duration>) -> Duration {
        if !self.jitters {
            return Duration::ZERO;
        }
        let mut late = nanos(now.since(self.due));
        if let Some(age) = newest.map(nanos) {
            self.youngest[0] = self.youngest[0].min(age);
            late = late.min(age - self.youngest[0].min(self.youngest[1]));
        } else if let Some(age) = head {
            late = late.min(nanos(age));
        }
        Duration::from_nanos(late.into())
    }

    /// True for reports of a clock that come late, each by another time.
    #[inline]
    pub(crate) fn jitters(&self) -> bool {
        self.jitters
    }
}

/// No more than half a second: that many periods fit into 32 bits.
fn nanos(time: Duration) -> u32 {
    time.as_nanos().min(500_000_000) as u32
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use tidemark_core::Stream;

    use super::*;

    const PERIOD: u64 = 10;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Clock after 200 reports every 10 ms with these delays in turn, and what it said of each turn's lateness in the end.
    fn late(delays: [u64; 5], newest: fn(Duration) -> Option<Duration>) -> (Clock, Vec<Duration>) {
        let (mut clock, mut said) = (Clock::new(), Vec::new());
        for report in 0..200 {
            let delay = ms(delays[report as usize % 5]);
            let now = Instant::from_millis(report * PERIOD) + delay;
            clock.tick(now);
            said.push(clock.lateness(now, newest(delay), Some(ms(50))));
        }
        (clock, said.split_off(195))
    }

    fn is_about(said: Duration, millis: u64) -> bool {
        said.as_nanos().abs_diff(ms(millis).as_nanos()) < 500_000
    }

    #[test]
    fn a_report_is_late_by_its_delay_beyond_the_least() {
        for least in [0, 7] {
            let delays = [0, 8, 2, 12, 4].map(|delay| delay + least);
            // The newest SDU came 1 ms before the report was sent; a report that moved nothing is told by the clock alone.
            for newest in [|delay| Some(delay + ms(1)), |_| None] {
                let (clock, said) = late(delays, newest);
                assert!(clock.jitters());
                assert!(
                    said.iter().zip(delays).all(|(said, delay)| is_about(*said, delay - least)),
                    "{delays:?}: {said:?}"
                );
            }
        }
    }

    #[test]
    fn no_report_is_older_than_what_it_covers() {
        let (_, said) = late([0, 8, 2, 12, 4], |_| Some(ms(3)));
        assert_eq!(said, [Duration::ZERO; 5]);
    }

    #[test]
    fn equal_gaps_and_those_of_a_tdd_pattern_are_no_jitter() {
        for delays in [[5; 5], [0, 1, 0, 1, 1]] {
            let (clock, said) = late(delays, |_| Some(ms(20)));
            assert!(!clock.jitters() && said == [Duration::ZERO; 5], "{delays:?}: {said:?}");
        }
    }

    #[test]
    fn gaps_that_add_up_are_turns_and_reports_of_each_slot_have_no_clock() {
        for (gap, spread) in [(10.0, 0.5), (5.0, 0.3), (40.0, 0.2), (1.0, 0.9)] {
            let (mut clock, mut random) = (Clock::new(), Stream::new(3, 0, "turns"));
            let (mut now, mut jitters) = (Instant::ZERO, 0);
            for report in 0..5_000 {
                now += Duration::from_secs_f64(gap * 1e-3 * (1.0 + spread * (2.0 * random.uniform() - 1.0)));
                clock.tick(now);
                jitters += u32::from(report >= 200 && clock.jitters());
            }
            assert!(jitters < 240, "{gap} ms by {spread}: {jitters} of 4800");
        }
    }

    #[test]
    fn a_pause_is_no_delay() {
        let (mut clock, _) = late([0, 8, 2, 12, 4], |delay| Some(delay + ms(1)));
        let period = clock.period;
        clock.begin(Instant::from_millis(2_995));
        for (at, delay) in [(3_004, 4), (3_010, 0), (3_022, 2)] {
            let now = Instant::from_millis(at);
            clock.tick(now);
            assert!(clock.lateness(now, Some(ms(delay + 1)), None) <= ms(delay), "{at}");
        }
        assert!(clock.period.abs_diff(period) < 500_000);
        // One without a pause in what is queued is the DU's.
        let now = Instant::from_millis(3_200);
        clock.tick(now);
        assert_eq!(clock.lateness(now, Some(ms(150)), None), Duration::ZERO);
    }
}
