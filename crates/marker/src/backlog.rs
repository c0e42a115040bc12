//! The backlog between reports.
//!
//! A report gives the exact backlog at its arrival. Until the next one the marker sees SDUs arrive, but does not see them leave a DU
//! that reports periodically. So each arrival adds to the backlog, and each report corrects it. If reports show that the queue
//! drains between them ([`drain`](crate::drain)), the backlog also drains like a fluid, at the estimated egress rate. It does so only
//! while the next report may be on its way, because a silent DU that reports changes has transmitted nothing. After that the
//! assumed drain is taken back, and further silence lowers the egress rate.

use tidemark_core::{Duration, Instant};

use crate::egress::Egress;

/// The interval assumed until reports show theirs: the default period of most gNBs.
const FIRST_INTERVAL: Duration = Duration::from_millis(10);
/// Shortest interval that is assumed.
const SHORTEST: Duration = Duration::from_millis(1);

pub(crate) struct Backlog {
    level: f64,
    at: Instant,
    last_report: Instant,
    interval: Duration,
    overdue_after: Duration,
    /// The queue drains between reports.
    drains: bool,
    /// True if everything that no report has covered counts as queued, however old: L4Span's `N_queue` as printed.
    as_printed: bool,
}

impl Backlog {
    pub(crate) fn new(as_printed: bool) -> Self {
        let mut backlog = Self {
            level: 0.0,
            at: Instant::ZERO,
            last_report: Instant::ZERO,
            interval: FIRST_INTERVAL,
            overdue_after: Duration::ZERO,
            drains: !as_printed,
            as_printed,
        };
        backlog.expect(FIRST_INTERVAL);
        backlog
    }

    /// True for L4Span's queue as printed.
    #[inline]
    pub(crate) fn is_as_printed(&self) -> bool {
        self.as_printed
    }

    /// Changes between L4Span's queue as printed and one that drains.
    pub(crate) fn reconfigure(&mut self, as_printed: bool) {
        self.as_printed = as_printed;
        self.drains &= !as_printed;
        self.expect(self.interval);
    }

    /// Begins a queue. Silence counts only from here on.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.last_report = now;
    }

    /// Forgets all reports, because those of this DU carry no information about the queue.
    pub(crate) fn forget_reports(&mut self) {
        self.last_report = Instant::ZERO;
    }

    pub(crate) fn arrive(&mut self, now: Instant, size: u64, egress: Option<Egress>) {
        self.level = self.drained(now, egress) + size as f64;
        self.at = now;
    }

    /// Takes a report that leaves `standing` bytes, which drain until the next report if `drains` is true.
    pub(crate) fn report(&mut self, now: Instant, standing: u64, was_busy: bool, drains: bool) {
        // Reports of an idle DRB may be rare: how often they come is learned from a queue that stood.
        if was_busy {
            let gap = now.since(self.last_report);
            // The longest recent gap, forgetting an eighth of the time that passes, and at most doubling, so that one
            // outage is not taken for the period.
            self.expect(gap.max(self.interval.saturating_sub(gap / 8)).min(self.interval * 2));
        }
        (self.last_report, self.drains) = (now, drains && !self.as_printed);
        self.level = standing as f64;
        self.at = now;
    }

    /// Estimated backlog at `now`, of the `standing` bytes that no report has covered, after this [`silence`](Self::silence).
    pub(crate) fn level(&self, now: Instant, standing: u64, silence: Duration, egress: Option<Egress>) -> f64 {
        if silence.is_zero() { self.drained(now, egress).min(standing as f64) } else { standing as f64 }
    }

    /// Time for which a report has been missing; zero while it may still be on its way.
    pub(crate) fn silence(&self, now: Instant) -> Duration {
        let since = now.since(self.last_report);
        if since > self.overdue_after { since - self.interval } else { Duration::ZERO }
    }

    /// Time since the last report, or since a queue began after it.
    pub(crate) fn report_age(&self, now: Instant) -> Duration {
        now.since(self.last_report)
    }

    /// Time for which the queue has drained, at any rate; zero if it has not.
    pub(crate) fn unknown_drain(&self, now: Instant) -> Duration {
        if self.drains && self.silence(now).is_zero() { self.report_age(now) } else { Duration::ZERO }
    }

    fn drained(&self, now: Instant, egress: Option<Egress>) -> f64 {
        // Such a queue stands until the next report says what left.
        if !self.drains {
            return self.level;
        }
        let rate = egress.map_or(0.0, |egress| egress.rate.as_bytes_per_sec());
        let until = now.min(self.last_report + self.interval);
        (self.level - rate * until.since(self.at).as_secs_f64()).max(0.0)
    }

    /// Takes an interval for the one between reports. No silence is too long for what L4Span prints.
    fn expect(&mut self, interval: Duration) {
        self.interval = interval.max(SHORTEST);
        self.overdue_after = if self.as_printed { Duration::MAX } else { self.interval + self.interval / 2 + SHORTEST };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::BitRate;

    const RATE: Option<Egress> = Some(Egress { rate: BitRate::from_mbps(40), deviation: BitRate::ZERO });

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn level(backlog: &Backlog, at: u64, standing: u64) -> f64 {
        backlog.level(ms(at), standing, backlog.silence(ms(at)), RATE)
    }

    /// A report every 10 ms of a queue that stands at 100 kB, up to `end`.
    fn steady(end: u64) -> Backlog {
        let mut backlog = Backlog::new(false);
        backlog.begin(ms(0));
        for at in (10..=end).step_by(10) {
            backlog.report(ms(at), 100_000, true, true);
        }
        backlog
    }

    #[test]
    fn between_reports_the_backlog_drains_and_fills() {
        let mut backlog = steady(100);
        assert_eq!(level(&backlog, 104, 100_000), 80_000.0);
        backlog.arrive(ms(104), 1_500, RATE);
        assert_eq!(level(&backlog, 106, 101_500), 71_500.0);
        backlog.report(ms(110), 70_000, true, true);
        assert_eq!(level(&backlog, 110, 70_000), 70_000.0);
    }

    #[test]
    fn silence_puts_back_what_was_drained_in_thought() {
        let backlog = steady(100);
        assert_eq!(level(&backlog, 112, 100_000), 50_000.0);
        assert_eq!(backlog.silence(ms(112)), Duration::ZERO);
        assert_eq!(level(&backlog, 120, 100_000), 100_000.0);
        assert_eq!(backlog.silence(ms(120)), Duration::from_millis(10));
    }

    #[test]
    fn silence_counts_from_where_a_queue_begins_to_stand() {
        let mut backlog = steady(100);
        backlog.begin(ms(5_000));
        for (at, age, silence, drain) in [(5_010, 10, 0, 10), (5_016, 16, 0, 16), (5_017, 17, 7, 0)] {
            let millis = [backlog.report_age(ms(at)), backlog.silence(ms(at)), backlog.unknown_drain(ms(at))];
            assert_eq!(millis, [age, silence, drain].map(Duration::from_millis), "at {at} ms");
        }
    }

    #[test]
    fn a_queue_that_leaves_with_reports_alone_stays_between_them() {
        let mut backlog = steady(100);
        backlog.report(ms(110), 100_000, true, false);
        assert_eq!(level(&backlog, 114, 100_000), 100_000.0);
        backlog.arrive(ms(114), 1_500, RATE);
        assert_eq!(level(&backlog, 116, 101_500), 101_500.0);
        assert_eq!(backlog.unknown_drain(ms(114)), Duration::ZERO);
    }

    #[test]
    fn no_more_is_left_than_no_report_has_covered() {
        assert_eq!(level(&steady(100), 100, 60_000), 60_000.0);
    }

    #[test]
    fn a_shorter_gap_shortens_the_period_by_an_eighth_of_it() {
        let mut backlog = steady(100);
        backlog.report(ms(104), 100_000, true, true);
        assert_eq!(backlog.interval, Duration::from_micros(9_500));
        // One that comes while nothing is queued says nothing of the period.
        backlog.report(ms(120), 100_000, false, true);
        assert_eq!(backlog.interval, Duration::from_micros(9_500));
    }

    #[test]
    fn a_report_in_each_slot_is_overdue_after_two_and_a_half_milliseconds() {
        let mut backlog = Backlog::new(false);
        let at = |report: u64| Instant::ZERO + Duration::from_micros(500 * report);
        for report in 1..=400 {
            backlog.report(at(report), 100_000, true, true);
        }
        let silence = |micros| backlog.silence(at(400) + Duration::from_micros(micros));
        assert_eq!(silence(2_500), Duration::ZERO);
        assert_eq!(silence(2_600), Duration::from_micros(1_600));
    }

    #[test]
    fn one_outage_is_not_taken_for_the_report_period() {
        let mut backlog = steady(100);
        backlog.report(ms(600), 100_000, true, true);
        assert_eq!(backlog.interval, Duration::from_millis(20));
        // Reports of a slot come in a bunch and are followed by a pause: the pause stays the period.
        let mut backlog = steady(100);
        for cycle in 0..50 {
            for burst in 0..8 {
                backlog.report(ms(110 + cycle * 12) + Duration::from_micros(burst * 10), 100_000, true, true);
            }
        }
        assert!(backlog.interval >= Duration::from_millis(10), "{:?}", backlog.interval);
    }
}
