//! BBR: paces at a measured bandwidth and limits its flight by a measured bandwidth-delay product.
//!
//! What all versions have in common is here: the bandwidth filter, round counting, the estimate of
//! aggregated acknowledgements, and the quanta in which segments leave.

mod bounded;
mod policer;
mod v1;
mod v2;
mod v3;

use std::collections::VecDeque;

use tidemark_core::{BitRate, Bytes, Duration, Instant};

pub use bounded::BoundedBbr;
pub use v1::{BbrV1, BbrV1Config};
pub use v2::BbrV2Config;
pub use v3::BbrV3Config;

use super::{Ack, Sizes};

/// Pacing stays this much below the estimate, so that queues drain (all versions).
const PACING_MARGIN: f64 = 0.99;
/// The flight that keeps a path going, in segments.
const MIN_WINDOW: f64 = 4.0;
/// `PROBE_RTT` lasts so long at the least.
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// A bandwidth that grows by less in three rounds is full.
const FULL_BW_GROWTH: f64 = 1.25;
const FULL_BW_ROUNDS: u32 = 3;
/// The minimum round-trip time is forgotten after so long.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);

/// The largest of the values of the last `window` ticks of a counter.
#[derive(Clone, Debug)]
struct WindowedMax {
    window: u64,
    /// Falling values with rising ticks; at most one for each tick in the window.
    values: VecDeque<(u64, f64)>,
}

impl WindowedMax {
    fn new(window: u64) -> Self {
        Self { window, values: VecDeque::with_capacity(window as usize + 1) }
    }
    fn update(&mut self, tick: u64, value: f64) {
        while self.values.front().is_some_and(|(then, _)| then + self.window <= tick) {
            self.values.pop_front();
        }
        while self.values.back().is_some_and(|(_, other)| *other <= value) {
            self.values.pop_back();
        }
        if self.values.back().is_none_or(|(then, _)| *then < tick) {
            self.values.push_back((tick, value));
        }
    }
    fn get(&self) -> f64 {
        self.values.front().map_or(0.0, |(_, value)| *value)
    }
}

/// Counts round trips by what had been delivered when acknowledged segments were sent.
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    next: Bytes,
    count: u64,
    /// True if this acknowledgement begins a round.
    begins: bool,
}

impl Rounds {
    fn on_ack(&mut self, ack: &Ack) {
        self.begins = ack.acked > Bytes::ZERO && ack.prior_delivered >= self.next;
        if self.begins {
            self.next = ack.delivered;
            self.count += 1;
        }
    }
    /// The next round begins when what is sent from now on is acknowledged.
    fn restart(&mut self, delivered: Bytes) {
        self.next = delivered;
    }
}

/// Bytes by which acknowledgements run ahead of the bandwidth: `extra_acked`, the largest of two windows of five rounds.
#[derive(Clone, Debug, Default)]
struct Aggregation {
    epoch: Instant,
    acked: f64,
    extra: [f64; 2],
    rounds: u32,
}

impl Aggregation {
    const ROUNDS: u32 = 5;

    fn restart(&mut self, now: Instant) {
        self.epoch = now;
        self.acked = 0.0;
    }
    fn on_ack(&mut self, ack: &Ack, round_begins: bool, bandwidth: f64, window: f64) {
        if round_begins {
            self.rounds += 1;
            if self.rounds >= Self::ROUNDS {
                self.rounds = 0;
                self.extra = [0.0, self.extra[0]];
            }
        }
        let mut expected = bandwidth * ack.now.since(self.epoch).as_secs_f64();
        if self.acked <= expected {
            self.restart(ack.now);
            expected = 0.0;
        }
        self.acked += ack.acked.as_f64();
        self.extra[0] = self.extra[0].max((self.acked - expected).min(window));
    }
    fn extra(&self) -> f64 {
        self.extra[0].max(self.extra[1])
    }
}

/// Payload that leaves at once: a millisecond's worth, between two segments (one at very low rates) and 64 kB.
fn quantum(bytes_per_sec: f64, sizes: Sizes) -> f64 {
    let min = if bytes_per_sec < 150_000.0 { sizes.mss } else { 2.0 * sizes.mss };
    (bytes_per_sec * 1e-3).clamp(min, 65_536.0_f64.max(min))
}

/// A rate of payload as a rate of IP packets.
fn wire_rate(bytes_per_sec: f64, sizes: Sizes) -> Option<BitRate> {
    (bytes_per_sec > 0.0).then(|| BitRate::from_bytes_per_sec(bytes_per_sec / sizes.mss * sizes.packet))
}

/// The delivery rate of an acknowledgement in bytes a second; `None` over less than the least round trip.
fn sample(ack: &Ack) -> Option<(f64, bool)> {
    let rate = ack.rate.filter(|rate| rate.interval >= ack.min_rtt || ack.min_rtt == Duration::MAX)?;
    Some((rate.delivered.as_f64() / rate.interval.as_secs_f64(), rate.app_limited))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_returns_the_largest_of_its_window() {
        let mut filter = WindowedMax::new(3);
        let mut history = Vec::new();
        for (tick, value) in [(0, 5.0), (0, 7.0), (0, 6.0), (1, 3.0), (2, 4.0), (3, 1.0), (4, 2.0), (9, 0.5)] {
            filter.update(tick, value);
            history.push((tick, value));
            let expected =
                history.iter().filter(|(then, _)| then + 3 > tick).map(|(_, value)| *value).fold(0.0, f64::max);
            assert_eq!(filter.get(), expected, "at {tick}");
            assert!(filter.values.len() <= 3);
        }
    }
}
