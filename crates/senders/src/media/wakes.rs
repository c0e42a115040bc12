//! Pacing by a clock: packets leave when the sender wakes up, as many at once as the rate allows for the time between
//! two wake-ups (libwebrtc's `PacingController` in its periodic mode).

use tidemark_core::{BitRate, Bytes, Duration, Instant, Stream};

/// Wakes of a sender, and the bytes that it may still send in the present one.
#[derive(Clone, Debug)]
pub(super) struct Wakes {
    interval: Duration,
    next: Instant,
    /// Time of the present wake.
    woken: Option<Instant>,
    /// A packet waits for the next wake.
    waiting: bool,
    budget: f64,
}

impl Wakes {
    /// Wakes at this interval; the phase of the clock is drawn.
    pub(super) fn new(interval: Duration, mut phase: Stream) -> Self {
        let first = Duration::from_nanos((interval.as_nanos() as f64 * phase.uniform()) as u64);
        Self { interval, next: Instant::ZERO + first, woken: None, waiting: false, budget: 0.0 }
    }

    /// Time until which a packet that is ready waits; `None` if it leaves now.
    pub(super) fn wait(&mut self, now: Instant, rate: BitRate) -> Option<Instant> {
        // A wake fills the budget; those that passed unnoticed pay off what was owed, and no more.
        if now >= self.next {
            let passed = 1 + now.since(self.next).as_nanos() / self.interval.as_nanos();
            let bytes = rate.bytes_in(self.interval).as_f64();
            // What is over of a budget is owed, what is left is not kept.
            self.budget = if self.budget < 0.0 { bytes.min(self.budget + passed as f64 * bytes) } else { bytes };
            self.next += Duration::from_nanos(passed * self.interval.as_nanos());
            // A wake with nothing to send has passed.
            self.woken = self.waiting.then_some(now);
        }
        let leaves = self.woken == Some(now) && self.budget > 0.0;
        self.waiting = !leaves;
        (!leaves).then_some(self.next)
    }

    /// Accounts for a packet. The last one of a wake may go beyond its budget.
    pub(super) fn sent(&mut self, size: Bytes) {
        self.budget -= size.as_f64();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wakes() -> Wakes {
        Wakes::new(Duration::from_millis(5), Stream::new(1, 0, "wakes"))
    }

    #[test]
    fn the_rate_is_kept_and_packets_leave_at_wakes_alone() {
        let (mut wakes, rate) = (wakes(), BitRate::from_mbps(12));
        let (mut now, mut times) = (Instant::from_millis(100), Vec::new());
        while now < Instant::from_millis(1100) {
            match wakes.wait(now, rate) {
                Some(next) => now = next,
                None => {
                    wakes.sent(Bytes(1500));
                    times.push(now);
                }
            }
        }
        assert!((998..=1006).contains(&times.len()), "12 Mbit/s are 1000 packets of 1500 B: {}", times.len());
        let phases: std::collections::BTreeSet<_> = times.iter().map(|at| at.as_nanos() % 5_000_000).collect();
        assert_eq!(phases.len(), 1, "five packets a wake, each at the clock's phase");
    }

    #[test]
    fn what_comes_between_two_wakes_waits_and_a_pause_earns_no_credit() {
        let (mut wakes, rate) = (wakes(), BitRate::from_mbps(12));
        let next = wakes.wait(Instant::from_millis(1001), rate).unwrap();
        assert!(next <= Instant::from_millis(1006));
        let mut sent = 0;
        while wakes.wait(next, rate).is_none() {
            wakes.sent(Bytes(1500));
            sent += 1;
        }
        assert_eq!(sent, 5);
    }
}
