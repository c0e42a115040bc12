//! Delay of a packet at its UE, estimated by the gNB from buffer status reports: the reported bytes over the rate at which
//! the UE is served (thesis "L4S and ANBR" Fig. 3.6, TR 23.700-60).

use tidemark_core::{Bytes, Duration, Instant};
use tidemark_marker::RlcQueue;

/// Memory of the rate: a few reports, and shorter than a round trip.
const MEMORY: Duration = Duration::from_millis(50);

/// Queue of a bearer at its UE as the gNB estimates it, that of its logical channel group.
#[derive(Debug, Default)]
pub(crate) struct ReportedQueue {
    waiting: Bytes,
    /// Bytes that came and the time they took, both forgotten exponentially.
    bytes: f64,
    seconds: f64,
    last: Option<Instant>,
}

impl ReportedQueue {
    /// Forgets the reports: the bearer goes on in another cell, which has none.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Takes in a block: bytes of the group that it carried, and bytes that its report has waiting behind them.
    pub(crate) fn receive(&mut self, now: Instant, carried: u32, waiting: Bytes) {
        // The time since the last block counts as service only if something waited through it.
        if let Some(last) = self.last.filter(|_| self.waiting > Bytes(0)) {
            let span = now.since(last).as_secs_f64();
            let kept = libm::exp(-span / MEMORY.as_secs_f64());
            self.bytes = self.bytes * kept + f64::from(carried);
            self.seconds = self.seconds * kept + span;
        }
        self.last = Some(now);
        self.waiting = waiting;
    }

    /// Delay of what waits; zero while there is no rate.
    pub(crate) fn delay(&self) -> Duration {
        // Nothing has been served while something waited: no rate, and no delay by it.
        if self.bytes <= 0.0 {
            return Duration::ZERO;
        }
        Duration::from_secs_f64(self.waiting.as_f64() * self.seconds / self.bytes)
    }

    /// Queue as a law sees it.
    pub(crate) fn state(&self) -> RlcQueue {
        let packets = (self.waiting.0 / 1_500) as u32;
        RlcQueue { backlog: self.waiting, packets, head_of_line: self.delay() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_is_what_waits_over_the_rate_of_service() {
        let mut queue = ReportedQueue::default();
        assert_eq!(queue.delay(), Duration::ZERO);
        // 5 kB each 5 ms, 1 MB/s, with 20 kB behind them.
        for step in 0..40 {
            queue.receive(Instant::from_millis(5 * step), 5_000, Bytes(20_000));
        }
        let delay = queue.delay().as_millis_f64();
        assert!((19.0..21.0).contains(&delay), "{delay} ms");
    }
}
