//! What the law `tide` keeps of the last round trips: how long one is, and the least queue in it.

use tidemark_core::{Duration, Instant};

use crate::law::interface::Arrival;

/// Bytes over which the round trip of a DRB is averaged: some hundred packets, so that the flows which fill the queue make it.
const AVERAGED_OVER: f64 = 200_000.0;
/// Round trip in seconds of a DRB in which no handshake was seen: that of the nearer server of L4Span's section 6.
const UNKNOWN: f64 = 0.038;

/// Round trips of a DRB.
pub(super) struct Rounds {
    /// Mean of the flows' handshakes by bytes, in seconds.
    mean: f64,
    /// Least backlog that an arrival found in the round before and in this one, in bytes.
    least: [f64; 2],
    /// End of this round.
    end: Instant,
}

impl Default for Rounds {
    fn default() -> Self {
        Self { mean: UNKNOWN, least: [f64::INFINITY; 2], end: Instant::ZERO }
    }
}

impl Rounds {
    /// Takes an arrival. Between two of them the backlog only falls, so that each finds the least since the one before.
    #[inline]
    pub(super) fn arrive(&mut self, arrival: &Arrival) {
        if let Some(handshake) = arrival.rtt {
            self.mean += (handshake.as_secs_f64() - self.mean) * arrival.size / AVERAGED_OVER;
        }
        if arrival.now > self.end {
            self.least = [self.least[1], arrival.backlog];
            self.end = arrival.now + Duration::from_secs_f64(self.mean);
        }
        self.least[1] = lesser(self.least[1], arrival.backlog);
    }

    /// Round trip of the flows in seconds.
    #[inline]
    pub(super) fn round_trip(&self) -> f64 {
        self.mean
    }

    /// Least backlog in bytes of the last one to two round trips: what neither a burst nor a fade of that length has left.
    #[inline]
    pub(super) fn least_backlog(&self) -> f64 {
        lesser(self.least[0], self.least[1])
    }
}

/// Lesser of two numbers. `f64::min` looks for NaN besides, which takes four times as many instructions.
#[inline]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::interface::tests::arrival;
    use crate::verdict::Class;

    #[test]
    fn the_least_backlog_is_that_of_the_last_round_or_two() {
        let mut rounds = Rounds::default();
        let mut least = |at: u64, backlog: f64| {
            let now = Instant::from_millis(1_000 + at);
            rounds.arrive(&Arrival { now, backlog, rtt: None, ..arrival(Class::L4s) });
            rounds.least_backlog()
        };
        // A queue that has just begun has not stood.
        assert_eq!([(0, 0.0), (1, 90_000.0), (38, 90_000.0)].map(|(at, backlog)| least(at, backlog)), [0.0; 3]);
        // Without a handshake a round is 38 ms. The one that ends at 41 ms had an empty queue, the next ones have none below 30 kB.
        assert_eq!(least(41, 50_000.0), 0.0);
        assert_eq!(least(60, 30_000.0), 0.0);
        assert_eq!(least(82, 70_000.0), 30_000.0);
        assert_eq!(least(100, 80_000.0), 30_000.0);
        assert_eq!(least(123, 60_000.0), 60_000.0);
        // What falls below counts at once.
        assert_eq!(least(124, 10_000.0), 10_000.0);
    }

    #[test]
    fn the_round_trip_is_the_mean_of_handshakes_by_bytes() {
        let mut rounds = Rounds::default();
        assert_eq!(rounds.round_trip(), 0.038);
        let mut packet = |millis, size| {
            rounds.arrive(&Arrival { size, rtt: Some(Duration::from_millis(millis)), ..arrival(Class::L4s) });
            rounds.round_trip() * 1e3
        };
        // 2000 of 200000 bytes: a hundredth of the way from 38 to 138 ms.
        assert!((packet(138, 2_000.0) - 39.0).abs() < 1e-9);
        // Three parts of the bytes over 106 ms and one over 10: 82 ms.
        let mean = (0..2_000).fold(0.0, |_, round| packet(if round % 4 == 0 { 10 } else { 106 }, 1_500.0));
        assert!((81.0..83.0).contains(&mean), "{mean}");
    }
}
