//! The egress rate of a DRB and its uncertainty (L4Span section 4.3.3, Eqs. 3 and 4).
//!
//! The paper assumes a report for every transmission. Real gNBs send one every 5 or 10 ms, which covers many SNs
//! with one arrival time. The equations are therefore applied as follows:
//!
//! - A report is one sample: its bytes left during the span since the previous report. Of the oldest sample, the window of
//!   Eq. 3 uses the part of its span that lies inside. Without that, a 24.9 ms window would hold three whole reports
//!   of 10 ms and read a fifth too high. With a report for every transmission the spans are short, and this is Eq. 3.
//! - Eq. 4 averages the `r_i`, weighted by their time. Weights by SDU would count an observation once for each SDU that it
//!   moved, and favour fast times. `sigma` is the standard deviation under the same weights.
//! - Time counts only while there is a queue. Idle gaps do not measure capacity, and are left out of the spans and of
//!   the window. A sample during which the queue may have run empty is a lower bound, like application-limited samples
//!   in BBR: it can raise the estimate, never lower it. It does not show how the radio varies, and is left out of
//!   `sigma`: otherwise a flow that doubles its rate each round trip would be marked for its own growth.
//! - There is also a slow average over the same time, for laws whose senders respond over several round trips.
//! - There is no estimate until half a window of samples exists.
//! - If a queue begins and nothing was measured for a window, the window describes another time, at worst an outage. Until
//!   half a window of the new queue is measured, the best rate of the last second of measuring is used. That is too
//!   high for at most half a window. A stale low rate would instead keep marking a flow that sends too little to
//!   correct it.
//!
//! [`EgressTime::All`] takes the equations literally: all time counts, with or without a queue, each report is an `r_i`, and all
//! have the same weight.

use alloc::boxed::Box;
use core::hint::black_box;
use core::ptr::from_ref;

use tidemark_core::{BitRate, Duration, Instant, share};

/// Time over which the egress rate is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EgressTime {
    /// Time with a queue. Idle gaps do not measure capacity.
    #[default]
    Busy,
    /// All time: Eqs. 3 and 4 of L4Span as printed. A DRB with little to send then has a low rate.
    All,
}

/// Samples closer together than this fraction of the window are merged, which bounds the ring.
const MERGE: u64 = 64;
const RING: usize = 72;
/// A longer span, 18 minutes, is a clock that jumped; with this and the limit on rates the sums fit.
const MAX_SPAN: u64 = 1 << 40;
/// An inconclusive sample is taken over at least this span: a burst that fits into one slot says little of the rate
/// at which slots come.
const MIN_BOUND_SPAN: u64 = 1_000_000;
/// Time constant of the slow average under a standing queue: a few round trips.
const AVERAGE_OVER: f64 = 200e6;
/// Time under a standing queue after which a better rate is forgotten.
const BEST_LASTS: u64 = 1_000_000_000;

/// An egress rate with its standard deviation over the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Egress {
    /// `r_hat` of Eq. 4.
    pub rate: BitRate,
    /// `sigma`: standard deviation of the `r_i` in the window.
    pub deviation: BitRate,
}

#[derive(Clone, Copy, Default)]
struct Sample {
    /// Busy time at its end, in nanoseconds since the DRB was set up.
    end: u64,
    /// Busy time that it covers, in nanoseconds.
    span: u64,
    bytes: u64,
    /// `r_i` of Eq. 3 at its end, in bytes a second.
    rate: u64,
    /// False if it may measure the application instead of the radio.
    conclusive: bool,
}

#[repr(C)]
pub(crate) struct EgressEstimator {
    ring: Box<[Sample; RING]>,
    first: usize,
    len: usize,
    /// Busy time observed since the window was last begun.
    clock: u64,
    /// Time at which a sample was last taken into the window.
    taken: Instant,
    best: Egress,
    /// Busy time observed since the DRB was set up.
    seen: u64,
    bytes: u64,
    /// Bytes a second; `smoothed` is the same, rounded.
    average: f64,
    /// A pointer, since only reports need them and markers lie where UEs lie.
    sums: Box<BothSums>,
    // What a packet needs of the estimator, at the end, beside what it needs of the rest.
    window: u64,
    current: Option<Egress>,
    smoothed: BitRate,
}

/// Sums over all samples of the window for the mean, and over those that show what the radio gave for the variance.
#[derive(Default)]
struct BothSums {
    all: Sums,
    conclusive: Sums,
    /// Sums over the conclusive ones.
    squares: u128,
    time: EgressTime,
}

impl EgressEstimator {
    /// An estimator with windows of `tau_c`.
    pub(crate) fn new(tau_c: Duration, time: EgressTime) -> Self {
        Self {
            window: tau_c.as_nanos().max(1),
            ring: Box::new([Sample::default(); RING]),
            first: 0,
            len: 0,
            clock: 0,
            taken: Instant::ZERO,
            bytes: 0,
            sums: Box::new(BothSums { time, ..BothSums::default() }),
            current: None,
            best: Egress::default(),
            average: 0.0,
            smoothed: BitRate::ZERO,
            seen: 0,
        }
    }

    /// Reads what a sample will need.
    #[inline]
    pub(crate) fn warm(&self) {
        black_box(self.ring[self.first].end);
        black_box(self.ring[self.index(self.len)].end);
        black_box(self.sums.squares);
    }

    /// Addresses of the lines that a sample reads and writes; a sample may lie in two.
    pub(crate) fn addresses(&self) -> [*const u8; 6] {
        let ends = |begin: *const u8, len: usize| [begin, begin.wrapping_add(len - 1)];
        let sample = |at: usize| ends(from_ref(&self.ring[self.index(at)]).cast(), size_of::<Sample>());
        let ([a, b], [c, d]) = (sample(0), sample(self.len));
        let [e, f] = ends(from_ref(&*self.sums).cast(), size_of::<BothSums>());
        [a, b, c, d, e, f]
    }

    /// The estimate as of the last sample.
    pub(crate) fn current(&self) -> Option<Egress> {
        self.current
    }

    /// The egress rate over a few round trips, through outages; `None` where there is no estimate.
    pub(crate) fn average(&self) -> Option<BitRate> {
        self.current.map(|_| self.smoothed)
    }

    /// Length of a window in nanoseconds.
    pub(crate) fn window(&self) -> Duration {
        Duration::from_nanos(self.window)
    }

    /// Time that the estimate is measured over.
    #[inline]
    pub(crate) fn time(&self) -> EgressTime {
        self.sums.time
    }

    /// Begins a queue.
    pub(crate) fn begin(&mut self, now: Instant) {
        // The window describes another time: the best of the last second is too high for half a window at most.
        if now.since(self.taken).as_nanos() > self.window && self.current.is_some() && self.time() == EgressTime::Busy {
            self.empty();
            self.current = Some(self.best);
        }
    }

    /// Takes in that `bytes` left between `since` and `now`, during which there was a queue. Where `conclusive` is false, the queue may
    /// have been empty for a part of that time.
    pub(crate) fn observe(&mut self, since: Instant, now: Instant, bytes: u64, conclusive: bool) {
        let mut span = now.since(since).as_nanos().min(MAX_SPAN);
        // A lower bound raises the estimate or says nothing (see above).
        if !conclusive {
            span = span.max(MIN_BOUND_SPAN);
            let bound = per_second(bytes, span);
            // Less than is known already: a bound below the estimate teaches nothing.
            if self.current.is_none_or(|current| bound <= current.rate.as_bytes_per_sec() as u64) {
                return;
            }
        }
        // Bytes in no time give no rate; with a sample before them they are part of that.
        if span == 0 && self.len == 0 {
            return;
        }
        self.add_to_average(span, bytes);
        let mut sample = Sample { end: 0, span, bytes, rate: 0, conclusive };
        // Short samples are merged, which bounds the ring however often the DU reports.
        if self.len > 0 && (span == 0 || self.newest().span < self.window / MERGE) {
            let merged = self.newest();
            self.len -= 1;
            self.forget(merged);
            sample.span += merged.span;
            sample.bytes += merged.bytes;
            sample.conclusive &= merged.conclusive;
        }
        self.clock += span;
        sample.end = self.clock;
        let start = self.clock.saturating_sub(self.window);
        // A full ring gives up its oldest sample early: a shorter window is better than a wrong sum.
        while self.len > 0 && (self.ring[self.first].end <= start || self.len == RING) {
            let oldest = self.ring[self.first];
            self.first = self.index(1);
            self.len -= 1;
            self.forget(oldest);
        }
        // The first sample is its own window.
        let oldest = if self.len > 0 { self.ring[self.first] } else { sample };
        let outside = oldest.bytes - inside(oldest, start);
        sample.rate = per_second(self.bytes + sample.bytes - outside, self.window.min(self.clock));
        self.remember(sample);
        self.taken = now;
        // Half a window: less would be the rate of a slot or two.
        if self.clock >= self.window / 2 {
            let current = self.evaluate();
            let best = self.best.rate.as_bps();
            let faded = BitRate::from_bps(best - share(best, span.min(BEST_LASTS), BEST_LASTS));
            // A better rate fades with the time that is measured, so that a better radio is not remembered for ever.
            if current.rate >= faded {
                self.best = current;
            } else {
                self.best.rate = faded;
            }
            self.current = Some(current);
        }
    }

    /// Takes in that a report at `now` had `bytes` leave: Eqs. 3 and 4 over all time. Reports closer together than a 64th of the window are one.
    #[cold]
    pub(crate) fn observe_report(&mut self, now: Instant, bytes: u64) {
        // Nothing left: there is no `r_i` to average.
        if bytes == 0 {
            return;
        }
        let at = now.as_nanos().max(self.clock);
        // Nothing is known of the time before the first.
        self.add_to_average(if self.clock == 0 { self.window } else { at - self.clock }, bytes);
        self.clock = at;
        let mut sample = Sample { end: at, span: 1, bytes, rate: 0, conclusive: true };
        // Reports of one slot come within microseconds: as samples of their own they would fill the ring.
        if self.len > 0 && at - self.newest().end < self.window / MERGE {
            let merged = self.newest();
            self.len -= 1;
            self.forget(merged);
            // The time of the first, or a report in each slot would be one without an end.
            (sample.end, sample.bytes) = (merged.end, bytes + merged.bytes);
        }
        let start = at.saturating_sub(self.window);
        // Full, it gives up its oldest sample early, as above.
        while self.len > 0 && (self.ring[self.first].end <= start || self.len == RING) {
            let oldest = self.ring[self.first];
            self.first = self.index(1);
            self.len -= 1;
            self.forget(oldest);
        }
        sample.rate = per_second(self.bytes + sample.bytes, self.window);
        self.remember(sample);
        self.current = Some(self.evaluate());
    }

    /// Forgets all that was measured.
    pub(crate) fn clear(&mut self) {
        self.empty();
        (self.current, self.best) = (None, Egress::default());
        (self.average, self.smoothed, self.seen) = (0.0, BitRate::ZERO, 0);
    }

    fn empty(&mut self) {
        (self.first, self.len, self.clock, self.bytes) = (0, 0, 0, 0);
        *self.sums = BothSums { time: self.sums.time, ..BothSums::default() };
    }

    fn add_to_average(&mut self, span: u64, bytes: u64) {
        self.seen = self.seen.saturating_add(span);
        // The plain mean at first, then one that fades.
        let over = AVERAGE_OVER.min(self.seen as f64).max(1.0);
        let weight = (span as f64 / over).min(1.0);
        self.average += bytes as f64 * 1e9 / over.max(span as f64) - weight * self.average;
        self.smoothed = BitRate::from_bytes_per_sec(self.average);
    }

    fn evaluate(&self) -> Egress {
        Egress {
            rate: BitRate::from_bps((self.sums.all.mean() as u64).saturating_mul(8)),
            deviation: BitRate::from_bytes_per_sec(libm::sqrt(as_f64(self.sums.variance()))),
        }
    }

    /// Index in the ring of the sample that is this many behind the oldest.
    fn index(&self, behind: usize) -> usize {
        let index = self.first + behind;
        if index < RING { index } else { index - RING }
    }
    fn newest(&self) -> Sample {
        self.ring[self.index(self.len - 1)]
    }
    fn remember(&mut self, sample: Sample) {
        let index = self.index(self.len);
        self.ring[index] = sample;
        self.len += 1;
        self.bytes += sample.bytes;
        self.sums.add(sample);
    }
    fn forget(&mut self, sample: Sample) {
        self.bytes -= sample.bytes;
        self.sums.subtract(sample);
    }
}

/// Sums over samples, each weighted by the nanoseconds that it stands for; in integers, so that nothing drifts as samples
/// come and go.
#[derive(Clone, Copy, Default)]
struct Sums {
    weight: u64,
    rates: u128,
}

impl Sums {
    fn add(&mut self, sample: Sample) {
        self.weight += sample.span;
        self.rates += product(sample.span, sample.rate);
    }
    fn subtract(&mut self, sample: Sample) {
        self.weight -= sample.span;
        self.rates -= product(sample.span, sample.rate);
    }
    /// Mean in bytes a second.
    fn mean(&self) -> u128 {
        divided(self.rates, self.weight.max(1))
    }
}

impl BothSums {
    fn add(&mut self, sample: Sample) {
        self.all.add(sample);
        // A bound says how fast at least: it counts in the rate and not in the deviation.
        if sample.conclusive {
            self.conclusive.add(sample);
            self.squares += product(sample.span, sample.rate) * u128::from(sample.rate);
        }
    }
    fn subtract(&mut self, sample: Sample) {
        self.all.subtract(sample);
        // What did not enter the deviation must not be taken out of it.
        if sample.conclusive {
            self.conclusive.subtract(sample);
            self.squares -= product(sample.span, sample.rate) * u128::from(sample.rate);
        }
    }
    /// `E[(r - m)^2]` about the rounded mean; the last term is what the rounding moved.
    fn variance(&self) -> u128 {
        let mean = self.conclusive.mean();
        divided(self.squares, self.conclusive.weight.max(1)).saturating_sub(mean * mean)
    }
}

fn product(span: u64, rate: u64) -> u128 {
    u128::from(span) * u128::from(rate)
}

/// The bytes of a sample that left after `start`, were they spread evenly over its span.
fn inside(sample: Sample, start: u64) -> u64 {
    let kept = sample.end.saturating_sub(start);
    if kept >= sample.span { sample.bytes } else { share(sample.bytes, kept, sample.span) }
}

/// Narrow where it can be.
fn divided(sum: u128, by: u64) -> u128 {
    match u64::try_from(sum) {
        Ok(narrow) => u128::from(narrow / by),
        Err(_) => sum / u128::from(by),
    }
}

/// Saturating at the square of 2^32 bytes a second, far above any radio.
fn as_f64(value: u128) -> f64 {
    u64::try_from(value).unwrap_or(u64::MAX) as f64
}

/// Saturating at 2^40 bytes a second, far above any radio, so that the squares fit.
fn per_second(bytes: u64, nanos: u64) -> u64 {
    share(bytes, 1_000_000_000, nanos.max(1)).min(1 << 40)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator() -> EgressEstimator {
        EgressEstimator::new(Duration::from_millis(20), EgressTime::Busy)
    }
    /// Reports at these milliseconds with these bytes, all under a standing queue.
    fn feed(estimator: &mut EgressEstimator, from: u64, samples: &[(u64, u64)]) {
        let mut last = from;
        for (at, bytes) in samples {
            estimator.observe(Instant::from_millis(last), Instant::from_millis(*at), *bytes, true);
            last = *at;
        }
    }

    #[test]
    fn eq_3_and_4_worked_by_hand() {
        // Window 20 ms, a report every 5 ms. Bytes: 5000, 5000, 10000, 10000, 20000.
        // r at 5 ms: 5000 B / 5 ms = 1.0 MB/s; 10 ms: 10000 / 10 = 1.0; 15 ms: 20000 / 15 = 1.333333;
        // 20 ms: 30000 / 20 = 1.5; 25 ms: (5000 + 10000 + 10000 + 20000) / 20 = 2.25 MB/s.
        // In the last window (5, 25]: 1.0, 1.333333, 1.5, 2.25: mean 1.520833 MB/s, and deviations from it
        // 0.520833, 0.1875, 0.020833, 0.729167: mean square 0.209635, root 0.457860 MB/s.
        let mut estimator = estimator();
        feed(&mut estimator, 0, &[(5, 5_000), (10, 5_000), (15, 10_000), (20, 10_000), (25, 20_000)]);
        let egress = estimator.current().unwrap();
        assert!((egress.rate.as_bytes_per_sec() - 1_520_833.0).abs() < 2.0, "{egress:?}");
        assert!((egress.deviation.as_bytes_per_sec() - 457_860.0).abs() < 2.0, "{egress:?}");
    }

    #[test]
    fn eq_3_and_4_over_all_time_worked_by_hand() {
        // Window 20 ms. Bytes: 5000 at 5 ms, 10000 at 10 ms, nothing until 28 ms, then 6000.
        // r at 5 ms: 5000 B / 20 ms = 0.25 MB/s; at 10 ms 15000 / 20 = 0.75: mean 0.5, deviation 0.25.
        // At 28 ms (8, 28] holds 10000 + 6000: 0.8. Mean of 0.75 and 0.8: 0.775, deviation 0.025.
        let mut all = EgressEstimator::new(Duration::from_millis(20), EgressTime::All);
        let mut after = |at, bytes| {
            all.observe_report(Instant::from_millis(at), bytes);
            let egress = all.current().unwrap();
            [egress.rate, egress.deviation].map(|rate| (rate.as_bytes_per_sec() / 1e3).round())
        };
        after(5, 5_000);
        assert_eq!(after(10, 10_000), [500.0, 250.0]);
        assert_eq!(after(28, 6_000), [775.0, 25.0]);
        // A report 0.2 ms later is a part of that: (8, 28.2] holds 18000 B, 0.9 MB/s.
        all.observe_report(Instant::from_nanos(28_200_000), 2_000);
        assert_eq!(all.current().unwrap().rate.as_bytes_per_sec().round(), 825_000.0);
        // The next queue finds what the last one left.
        all.begin(Instant::from_millis(9_000));
        assert_eq!(all.current().unwrap().rate.as_bytes_per_sec().round(), 825_000.0);
    }

    #[test]
    fn a_constant_rate_is_read_without_bias_at_any_report_period() {
        for period in [1, 3, 5, 7, 10, 15, 40] {
            let mut estimator = EgressEstimator::new(Duration::from_micros(24_900), EgressTime::Busy);
            let samples: alloc::vec::Vec<_> = (1..50).map(|k| (k * period, period * 5_000)).collect();
            feed(&mut estimator, 0, &samples);
            let egress = estimator.current().unwrap();
            assert!((egress.rate.as_mbps() - 40.0).abs() < 0.01, "{period} ms: {egress:?}");
            assert!(egress.deviation.as_mbps() < 0.01, "{period} ms: {egress:?}");
        }
    }

    #[test]
    fn a_report_for_every_transmission_in_a_slot_is_one_sample() {
        let mut estimator = estimator();
        for slot in 1..100u64 {
            let at = Instant::from_millis(slot);
            estimator.observe(Instant::from_millis(slot - 1), at, 1_250, true);
            for _ in 0..3 {
                estimator.observe(at, at, 1_250, true);
            }
        }
        let egress = estimator.current().unwrap();
        assert!((egress.rate.as_mbps() - 40.0).abs() < 0.5, "{egress:?}");
    }

    #[test]
    fn a_sample_that_is_merged_with_a_lower_bound_is_one() {
        let mut estimator = estimator();
        let steady: alloc::vec::Vec<_> = (1..11).map(|k| (k * 5, 25_000)).collect();
        feed(&mut estimator, 0, &steady);
        let at = |millis| Instant::from_millis(millis);
        // A burst that emptied the queue, and the rest of it by a report at the same time.
        estimator.observe(at(50), at(55), 50_000, false);
        estimator.observe(at(55), at(55), 10_000, true);
        let egress = estimator.current().unwrap();
        assert!(egress.rate.as_mbps() > 41.0, "{egress:?}");
        assert_eq!(egress.deviation, BitRate::ZERO, "only what the radio gave varies");
    }

    #[test]
    fn nothing_is_estimated_before_half_a_window() {
        let mut estimator = estimator();
        feed(&mut estimator, 0, &[(5, 1_000)]);
        assert_eq!(estimator.current(), None);
        feed(&mut estimator, 5, &[(10, 1_000)]);
        assert!(estimator.current().is_some());
    }

    #[test]
    fn idle_gaps_are_not_read_as_low_capacity() {
        let mut estimator = estimator();
        feed(&mut estimator, 0, &[(10, 50_000), (20, 50_000), (30, 50_000)]);
        let before = estimator.current().unwrap();
        // An application that sends one packet every 10 ms: each is gone at the next report.
        for k in 1..100u64 {
            let since = Instant::from_millis(100 + 10 * k);
            estimator.observe(since, since + Duration::from_millis(6), 1_500, false);
        }
        assert_eq!(estimator.current(), Some(before));
        // A faster burst than the estimate does count.
        estimator.observe(Instant::from_millis(2_000), Instant::from_millis(2_005), 50_000, false);
        assert!(estimator.current().unwrap().rate > before.rate);
    }

    #[test]
    fn an_outage_is_forgotten_when_the_next_queue_begins() {
        let mut estimator = estimator();
        feed(&mut estimator, 0, &[(10, 50_000), (20, 50_000), (30, 50_000), (130, 1_500)]);
        assert!(estimator.current().unwrap().rate < BitRate::from_mbps(1));
        // What stood drains at once: a lower bound, of hardly anything.
        estimator.observe(Instant::from_millis(130), Instant::from_millis(135), 100, false);
        estimator.begin(Instant::from_millis(140));
        assert!(estimator.current().unwrap().rate < BitRate::from_mbps(1), "the outage was a moment ago");
        estimator.begin(Instant::from_millis(156));
        // 40 Mbit/s, less a tenth for the tenth of a second that said otherwise, and a little for the last 5 ms.
        let best = estimator.current().unwrap().rate.as_mbps();
        assert!((best - 40.0 * 0.9 * 0.995).abs() < 0.01, "{best}");
        // The new queue is measured afresh.
        feed(&mut estimator, 156, &[(161, 5_000)]);
        assert_eq!(estimator.current().unwrap().rate.as_mbps(), best);
        feed(&mut estimator, 161, &[(166, 5_000)]);
        assert!((estimator.current().unwrap().rate.as_mbps() - 8.0).abs() < 0.1);
    }

    #[test]
    fn the_average_spans_an_outage_that_the_window_does_not() {
        let mut estimator = estimator();
        let samples: alloc::vec::Vec<_> = (1..=20).map(|k| (10 * k, 50_000)).collect();
        feed(&mut estimator, 0, &samples);
        assert!((estimator.average().unwrap().as_mbps() - 40.0).abs() < 0.01);
        // 50 ms without service take a quarter of 200 ms away.
        feed(&mut estimator, 200, &[(250, 0)]);
        assert!((estimator.average().unwrap().as_mbps() - 30.0).abs() < 0.01);
        assert_eq!(estimator.current().unwrap().rate, BitRate::ZERO);
    }

    #[test]
    fn an_outage_lowers_the_rate_at_once() {
        let mut estimator = estimator();
        feed(&mut estimator, 0, &[(10, 50_000), (20, 50_000), (30, 50_000), (130, 1_500)]);
        // 1500 bytes in 100 ms: Eq. 3 over the last 20 ms gives 15 kB/s, and it stands alone in the window.
        let egress = estimator.current().unwrap();
        assert!((egress.rate.as_bytes_per_sec() - 15_000.0).abs() < 2.0, "{egress:?}");
    }

    #[test]
    fn a_storm_of_reports_stays_within_the_ring() {
        let mut estimator = estimator();
        for k in 0..100_000u64 {
            let at = Instant::from_nanos(k * 1_000);
            estimator.observe(at, at + Duration::from_micros(1), 5, true);
        }
        assert!((estimator.current().unwrap().rate.as_mbps() - 40.0).abs() < 1.0);
    }

    #[test]
    fn rates_are_bytes_over_seconds_and_saturate() {
        for (bytes, nanos, rate) in [
            (1_000, 1_000_000, 1_000_000),
            (7, 2_000_000_000, 3),
            (9, 0, 9_000_000_000),
            // Products of more than 64 bits.
            (20_000_000_000, 1_000_000_000, 20_000_000_000),
            (20_000_000_000, 3_000_000_000, 6_666_666_666),
            (u64::MAX, u64::MAX, 1_000_000_000),
            (u64::MAX, 1, 1 << 40),
            (2_000, 1, 1 << 40),
        ] {
            assert_eq!(per_second(bytes, nanos), rate, "{bytes} B in {nanos} ns");
        }
    }

    #[test]
    fn an_estimator_that_was_cleared_is_as_a_new_one() {
        let (mut cleared, mut new) = (estimator(), estimator());
        assert_eq!(cleared.window(), Duration::from_millis(20));
        feed(&mut cleared, 0, &[(5, 90_000), (10, 10), (15, 90_000), (20, 10)]);
        assert!(cleared.current().is_some() && cleared.average().is_some());
        cleared.clear();
        assert_eq!((cleared.current(), cleared.average()), (None, None));
        for estimator in [&mut cleared, &mut new] {
            feed(estimator, 40, &[(45, 5_000), (50, 6_000), (55, 7_000)]);
        }
        assert_eq!((cleared.current(), cleared.average()), (new.current(), new.average()));
    }

    #[test]
    fn a_sample_lies_where_its_addresses_say() {
        let mut estimator = estimator();
        for step in 0..200u64 {
            let [oldest, _, next, next_end, sums, sums_end] = estimator.addresses();
            let [first, end] =
                [&estimator.ring[0], &estimator.ring[RING - 1]].map(|sample| from_ref(sample).cast::<u8>());
            let ring = first..=end.wrapping_add(size_of::<Sample>() - 1);
            assert!([oldest, next, next_end].iter().all(|address| ring.contains(address)));
            assert_eq!(oldest, from_ref(&estimator.ring[estimator.first]).cast());
            let begin = from_ref(&*estimator.sums).cast::<u8>();
            assert_eq!((sums, sums_end), (begin, begin.wrapping_add(size_of::<BothSums>() - 1)));
            assert_eq!(next_end, next.wrapping_add(size_of::<Sample>() - 1));
            let (from, to) = (Instant::from_millis(step), Instant::from_millis(step + 1));
            estimator.observe(from, to, 1_000, true);
            let newest = (estimator.first + estimator.len - 1) % RING;
            assert_eq!(next, from_ref(&estimator.ring[newest]).cast());
        }
    }
}
