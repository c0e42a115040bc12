//! Estimate of a bearer's possible rate, from its rate in a window.

use tidemark_core::{BitRate, Bytes, Duration, Instant};
use tidemark_wire::mac::{BitRateIndex, Direction, RecommendedBitRate};

use super::{AnbrConfig, AnbrEstimate};

/// Counters of a bearer and of its cell at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) at: Instant,
    /// IP bytes of the bearer: sent for the first time, or on the way up received.
    pub(crate) sent: u64,
    /// Resource blocks x symbols that the bearer took; on the way up, that its UE took, whose blocks carry all its bearers.
    pub(crate) taken: u64,
    /// Resource blocks x symbols that the whole cell took.
    pub(crate) taken_by_all: u64,
}

/// The estimate of one direction of one bearer.
#[derive(Clone, Debug)]
pub(crate) struct Estimator {
    config: AnbrConfig,
    direction: Direction,
    /// Beginning of the window; `None` while nothing is sent.
    begun: Option<Counts>,
    rate: Option<BitRate>,
    /// Time from which the UE may send the next query.
    query_allowed: Instant,
    /// True if a query waits for that time.
    query_waits: bool,
}

impl Estimator {
    /// `None` where this direction gets no recommendations.
    pub(crate) fn new(config: &AnbrConfig, direction: Direction) -> Option<Self> {
        let new = || Self {
            config: config.clone(),
            direction,
            begun: None,
            rate: None,
            query_allowed: Instant::ZERO,
            query_waits: false,
        };
        config.direction.covers(direction).then(new)
    }

    /// Resets MAC at a handover: its timers stop, and a waiting query is cancelled (TS 38.321 5.12).
    pub(crate) fn reset(&mut self) {
        self.begun = None;
        (self.query_allowed, self.query_waits) = (Instant::ZERO, false);
    }

    /// Asks for a query; gives the first time at which it may go. `None` where one waits already.
    pub(crate) fn ask(&mut self, now: Instant) -> Option<Instant> {
        let waits = std::mem::replace(&mut self.query_waits, true);
        (!waits).then(|| self.query_allowed.max(now))
    }
    /// Starts bitRateQueryProhibitTimer, since the query that waited goes.
    pub(crate) fn query_sent(&mut self, now: Instant) {
        self.query_waits = false;
        self.query_allowed = now + self.config.query_prohibit;
    }

    /// Counts at the beginning of the window; `None` while nothing is sent.
    pub(crate) fn begun(&self) -> Option<Counts> {
        self.begun
    }
    /// Begins a window; gives its end.
    pub(crate) fn begin_window(&mut self, counts: Counts) -> Instant {
        self.begun = Some(counts);
        counts.at + self.config.window
    }
    /// Closes the window without another one: nothing was sent in it, and nothing waits.
    pub(crate) fn close_window(&mut self) {
        self.begun = None;
    }
    /// True if recommendations go without a query.
    pub(crate) fn is_unsolicited(&self) -> bool {
        self.config.unsolicited
    }

    /// The window ends. `fair` are resource blocks x symbols that the bearer could have taken.
    pub(crate) fn end_window(&mut self, begun: Counts, now: Counts, fair: f64) {
        let span = now.at.since(begun.at);
        let sent = (now.sent - begun.sent) as f64;
        let taken = (now.taken - begun.taken) as f64;
        let bytes = match self.config.estimate {
            // What its own share carried tells what a fair share would have carried.
            AnbrEstimate::Capacity if taken > 0.0 => sent * fair.max(taken) / taken,
            // Without a transmission there is no telling what a resource block carries.
            AnbrEstimate::Capacity | AnbrEstimate::Delivered => sent,
        };
        // A window of no time has no rate; the one before stands.
        if span > Duration::ZERO {
            self.rate = Some(BitRate::from_bytes_per_sec(bytes / span.as_secs_f64()));
        }
    }

    /// Rate to recommend with `queued` in the queue; `None` before the end of the first window.
    pub(crate) fn recommended(&self, queued: Bytes) -> Option<BitRate> {
        let rate = self.rate?;
        let Some(target) = self.config.queue_target else { return Some(rate) };
        let too_much = queued.as_f64() - rate.as_bytes_per_sec() * target.as_secs_f64();
        let correction = too_much / self.config.queue_horizon.as_secs_f64();
        Some(BitRate::from_bytes_per_sec((rate.as_bytes_per_sec() - correction).max(0.0)))
    }

    /// The rate for the UE where it gets the rate itself, beside the control element.
    pub(crate) fn exact(&self, rate: BitRate) -> Option<BitRate> {
        self.config.exact.then_some(rate)
    }

    /// The control element that recommends at most `rate` for a logical channel.
    pub(crate) fn element(&self, lcid: u8, rate: BitRate) -> RecommendedBitRate {
        let plain = BitRateIndex::at_most(rate);
        let factor = self.config.multiplier.on_wire().factor();
        let multiple = BitRateIndex::at_most(BitRate::from_bps(rate.as_bps() / factor));
        let value = |index: BitRateIndex, factor| index.rate().map_or(0, |rate| rate.as_bps() * factor);
        let multiplied = value(multiple, factor) > value(plain, 1);
        let bit_rate = if multiplied { multiple } else { plain };
        RecommendedBitRate { lcid, direction: self.direction, bit_rate, multiplied }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(ms: u64, sent: u64, taken: u64) -> Counts {
        Counts { at: Instant::from_millis(ms), sent, taken, taken_by_all: taken }
    }
    /// 100 kB in 40 ms, 20 Mbit/s, on half of what it could have taken.
    fn estimator(config: AnbrConfig) -> Estimator {
        let mut estimator = Estimator::new(&config, Direction::Downlink).unwrap();
        estimator.end_window(counts(40, 5_000, 100), counts(80, 105_000, 600), 1_000.0);
        estimator
    }

    #[test]
    fn resources_that_could_be_had_count_at_the_rate_of_those_that_were_used() {
        let delivered = AnbrConfig { estimate: AnbrEstimate::Delivered, ..AnbrConfig::default() };
        assert_eq!(estimator(delivered).recommended(Bytes(0)), Some(BitRate::from_mbps(20)));
        assert_eq!(estimator(AnbrConfig::default()).recommended(Bytes(0)), Some(BitRate::from_mbps(40)));
        assert_eq!(Estimator::new(&AnbrConfig::default(), Direction::Downlink).unwrap().recommended(Bytes(0)), None);
    }

    #[test]
    fn a_queue_above_its_target_lowers_the_rate_and_an_empty_one_raises_it() {
        let config = AnbrConfig {
            estimate: AnbrEstimate::Delivered,
            queue_target: Some(Duration::from_millis(10)),
            ..AnbrConfig::default()
        };
        let estimator = estimator(config);
        let mbps = |queued| estimator.recommended(Bytes(queued)).unwrap().as_mbps();
        // 10 ms of 20 Mbit/s are 25 kB. As many too many take 100 ms of 2 Mbit/s to drain.
        assert!((mbps(25_000) - 20.0).abs() < 1e-6);
        assert!((mbps(50_000) - 18.0).abs() < 1e-6);
        assert!((mbps(0) - 22.0).abs() < 1e-6);
        assert_eq!(mbps(10_000_000), 0.0);
    }

    #[test]
    fn a_rate_is_rounded_down_to_the_finer_of_table_and_multiple() {
        let estimator = Estimator::new(&AnbrConfig::default(), Direction::Downlink).unwrap();
        let multiplier = estimator.config.multiplier.on_wire();
        for kbps in (10..200_000).step_by(37) {
            let rate = BitRate::from_kbps(kbps);
            let element = estimator.element(4, rate);
            let recommended = element.rate(Some(multiplier)).unwrap();
            assert!(recommended <= rate, "{kbps}");
            // From 100 kbit/s on, a step of the table is at most a fifth of the lower rate, and so is one of a multiple.
            if kbps >= 100 {
                assert!(recommended.as_bps() * 6 >= rate.as_bps() * 5, "{kbps}: {recommended}");
            }
        }
        assert!(estimator.element(4, BitRate::from_mbps(30)).multiplied);
        assert!(!estimator.element(4, BitRate::from_mbps(2)).multiplied);
    }
}
