//! Pacer of TC-RAN between a queue above PDCP and that of RLC. It keeps RLC's queue at about the bytes sent in one of its periods.
//!
//! Its constants and its estimate are those of the program `oai-tc` (Irazabal and Nikaein, JSAC 42(2)).

use tidemark_core::{Bytes, Duration, Instant};

/// Period in which the queue above is looked at.
const PERIOD: Duration = Duration::from_micros(200);
/// Period in which RLC's queue is looked at, and of which the rate is estimated.
const REPORT_PERIOD: Duration = Duration::from_millis(1);
/// RLC's queue may always be this long, and never longer than the second.
const MIN_QUEUE: f64 = 15_000.0;
const MAX_QUEUE: f64 = 40_000.0;
/// Bytes beyond what the rate gives: two packets.
const EXTRA: f64 = 2_800.0;
/// Weights of the newest sample and of the estimates before it. They sum to 1.117, so that a constant rate is taken for 1.2 times itself.
const NEWEST: f64 = 0.7;
const EARLIER: [f64; 3] = [0.3, 0.09, 0.027];

/// Pacer of one bearer.
#[derive(Debug, Default)]
pub(super) struct Pacer {
    /// Time at which RLC's queue was looked at last, and its IP bytes then.
    looked: Instant,
    queued: f64,
    /// Bytes that went on to it since.
    passed: f64,
    /// Estimates of RLC's rate, in bytes a second, the last first.
    rates: [f64; 3],
}

impl Pacer {
    /// Gives the next time after `now` at which the queue above is checked.
    pub(super) fn next_look(now: Instant) -> Instant {
        Instant::ZERO + PERIOD * (now.as_nanos() / PERIOD.as_nanos() + 1)
    }

    /// Notes the length of RLC's queue, if a period has passed since the last check: the bytes that are gone were sent.
    pub(super) fn look(&mut self, now: Instant, queued: Bytes) {
        let span = now.since(self.looked);
        // RLC reports its queue once a period: until then only what went on to it is known.
        if span < REPORT_PERIOD {
            return;
        }
        let queued = queued.0 as f64;
        let sample = (self.queued + self.passed - queued).max(0.0) / span.as_secs_f64();
        let earlier: f64 = self.rates.iter().zip(EARLIER).map(|(rate, weight)| rate * weight).sum();
        self.rates = [NEWEST * sample + earlier, self.rates[0], self.rates[1]];
        (self.looked, self.queued, self.passed) = (now, queued, 0.0);
    }

    /// True if RLC's queue takes a packet: with a part of it, the queue is no longer than the bytes that RLC sends until the next check.
    pub(super) fn passes(&self, now: Instant, size: Bytes) -> bool {
        let (size, queue) = (size.0 as f64, self.queued + self.passed);
        let since = now.since(self.looked).as_secs_f64();
        let ahead = if since < REPORT_PERIOD.as_secs_f64() / 2.0 { 1.2 } else { 1.5 };
        let limit = (ahead * since * self.rates[0] + EXTRA).max(MIN_QUEUE);
        let part = if self.passed > 0.0 && self.queued > 0.0 { size / 5.0 } else { size / 3.0 };
        queue <= MAX_QUEUE && queue + part <= limit
    }

    /// Counts a packet that went on to RLC's queue.
    pub(super) fn pass(&mut self, size: Bytes) {
        self.passed += size.0 as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 1500 bytes that pass at `micros` after the last look.
    fn passing(pacer: &mut Pacer, micros: u64) -> usize {
        let (now, size) = (Instant::ZERO + Duration::from_micros(micros), Bytes(1_500));
        let passes = |pacer: &mut Pacer| pacer.passes(now, size).then(|| pacer.pass(size));
        std::iter::from_fn(|| passes(pacer)).count()
    }

    #[test]
    fn a_slow_rlc_queue_is_filled_to_15_kb() {
        // Ten packets: after nine, 13500 B and a third of the next are 14000, after ten 15500.
        assert_eq!(passing(&mut Pacer::default(), 800), 10);
        // 6000 B wait: a fifth of the next counts once one has passed, 13500 + 300 after five and 15300 after six.
        let mut pacer = Pacer { queued: 6_000.0, ..Pacer::default() };
        assert_eq!(passing(&mut pacer, 200), 6);
        assert_eq!(passing(&mut pacer, 400), 0, "what passed is counted until RLC's queue is looked at");
    }

    #[test]
    fn a_fast_one_is_filled_to_what_it_sends_until_the_next_look_and_to_40_kb() {
        // A constant rate is taken for 0.7 / (1 - 0.417) of it. At 100 Mbit/s that is 15.01 kB/ms, and 1.5 x 0.8 ms of it with two packets
        // 20.81 kB: 13 x 1500 + 500 is below, 14 x 1500 + 500 above. 1.2 x 0.4 ms are less than 15 kB. 400 Mbit/s have 74.8 kB.
        for (bytes, micros, expected) in [(12_500.0, 800, 14), (12_500.0, 400, 10), (50_000.0, 800, 27)] {
            let mut pacer = Pacer::default();
            for ms in 1..100 {
                pacer.passed = bytes;
                pacer.look(Instant::from_millis(ms), Bytes(0));
            }
            assert!((pacer.rates[0] / (bytes * 1_000.0) - 1.200_7).abs() < 1e-4, "{:?}", pacer.rates);
            assert_eq!(passing(&mut pacer, 99_000 + micros), expected, "{bytes} B/ms");
        }
    }

    #[test]
    fn the_queue_above_is_looked_at_every_200_us_and_rlcs_once_a_millisecond() {
        let at = |micros| Instant::ZERO + Duration::from_micros(micros);
        assert_eq!([0, 199, 200].map(|micros| Pacer::next_look(at(micros))), [at(200), at(200), at(400)]);
        let mut pacer = Pacer { passed: 3_000.0, ..Pacer::default() };
        pacer.look(at(800), Bytes(1_000));
        assert_eq!((pacer.queued, pacer.passed), (0.0, 3_000.0));
        pacer.look(at(1_000), Bytes(1_000));
        // 2000 B were sent: 0.7 of 2 MB/s.
        assert_eq!((pacer.queued, pacer.passed, pacer.rates[0].round()), (1_000.0, 0.0, 1_400_000.0));
    }
}
