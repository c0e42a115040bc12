//! The rate of a link over time.

use std::sync::Arc;

use tidemark_core::{BitRate, Bytes, Duration, Instant};
use tidemark_radio::channel::Trace;

use crate::config::RouterConfig;

/// Resolution of a rate that moves.
const STEP: Duration = Duration::from_millis(1);

/// The rate of a link as a function of time.
#[derive(Clone, Debug)]
pub(crate) enum Profile {
    /// Pieces that begin one after the other; the last has no end.
    Pieces(Vec<Piece>),
    /// Measured rates.
    Trace(Arc<Trace>),
}

/// A rate that moves in a straight line from one value to another and stays there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    start: Instant,
    from: f64,
    to: f64,
    over: Duration,
}

impl Profile {
    pub(crate) fn new(config: &RouterConfig) -> Self {
        if let Some(trace) = config.trace.as_ref().and_then(|trace| trace.content.clone()) {
            return Self::Trace(trace);
        }
        let mut rate = config.rate.as_bytes_per_sec();
        let mut pieces = vec![Piece { start: Instant::ZERO, from: rate, to: rate, over: Duration::ZERO }];
        for change in &config.changes {
            let to = change.rate.as_bytes_per_sec();
            pieces.push(Piece { start: Instant::ZERO + change.at, from: rate, to, over: change.over });
            rate = to;
        }
        Self::Pieces(pieces)
    }

    /// Bytes that the link carries between two instants.
    pub(crate) fn bytes_between(&self, from: Instant, to: Instant) -> f64 {
        match self {
            Self::Trace(trace) => trace.bytes_between(from, to),
            Self::Pieces(pieces) => {
                let ends = pieces.iter().skip(1).map(|piece| piece.start).chain([Instant::FAR]);
                let part = |(piece, end): (&Piece, Instant)| {
                    let (begin, end) = (from.max(piece.start), to.min(end));
                    if begin < end { piece.bytes_until(end) - piece.bytes_until(begin) } else { 0.0 }
                };
                pieces.iter().zip(ends).map(part).sum()
            }
        }
    }

    /// The rate at this instant; for a trace, that of the next millisecond.
    pub(crate) fn at(&self, now: Instant) -> BitRate {
        match self {
            Self::Trace(_) => BitRate::from_bytes_per_sec(self.bytes_between(now, now + STEP) / STEP.as_secs_f64()),
            Self::Pieces(pieces) => {
                let index = pieces.partition_point(|piece| piece.start <= now).saturating_sub(1);
                BitRate::from_bytes_per_sec(pieces[index].rate_at(now))
            }
        }
    }

    /// Time at which the last bit of a packet has left if the first leaves at `start`; `Instant::FAR` if a trace stays at zero.
    pub(crate) fn finish(&self, start: Instant, size: Bytes) -> Instant {
        // An hour without a byte is for ever.
        const MAX_STEPS: u32 = 3_600_000;
        let (mut now, mut left) = (start, size.as_f64());
        for _ in 0..MAX_STEPS {
            let carried = self.bytes_between(now, now + STEP);
            if carried >= left {
                return now + Duration::from_secs_f64(STEP.as_secs_f64() * left / carried);
            }
            left -= carried;
            now += STEP;
        }
        Instant::FAR
    }
}

impl Piece {
    fn rate_at(&self, now: Instant) -> f64 {
        let past = now.since(self.start);
        if past >= self.over {
            return self.to;
        }
        self.from + (self.to - self.from) * past.as_secs_f64() / self.over.as_secs_f64()
    }
    /// Bytes from its start on.
    fn bytes_until(&self, end: Instant) -> f64 {
        let past = end.since(self.start);
        let moving = past.min(self.over);
        let mean = (self.from + self.rate_at(self.start + moving)) / 2.0;
        let moved = if self.over.is_zero() { 0.0 } else { mean * moving.as_secs_f64() };
        moved + self.to * (past - moving).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{QueueConfig, RateChange};

    fn profile(changes: Vec<RateChange>) -> Profile {
        Profile::new(&RouterConfig {
            name: "r".into(),
            rate: BitRate::from_mbps(8),
            changes,
            harq: None,
            delay: Duration::ZERO,
            trace: None,
            queue: QueueConfig::default(),
            tdq: Vec::new(),
            recommends: false,
        })
    }
    fn second(seconds: u64) -> Instant {
        Instant::from_millis(seconds * 1_000)
    }

    #[test]
    fn a_packet_of_1000_bytes_takes_a_millisecond_at_8_mbit_a_second() {
        let constant = profile(Vec::new());
        assert_eq!(constant.finish(second(3), Bytes(1_000)), second(3) + Duration::from_millis(1));
        assert_eq!(constant.finish(second(3), Bytes(10_000)), second(3) + Duration::from_millis(10));
    }

    #[test]
    fn a_ramp_carries_the_area_below_it() {
        // 1 MB/s until 2 s, then in 2 s down to 0.5 MB/s.
        let over = Duration::from_secs(2);
        let falling = profile(vec![RateChange { at: over, rate: BitRate::from_mbps(4), over }]);
        assert!((falling.bytes_between(second(1), second(5)) - (1e6 + 1.5e6 + 0.5e6)).abs() < 1.0);
        assert_eq!(falling.at(second(3)), BitRate::from_mbps(6));
        assert_eq!(falling.at(second(9)), BitRate::from_mbps(4));
    }

    #[test]
    fn a_packet_that_meets_a_change_takes_both_rates() {
        // 500 B go at 1 B/us until the change, 500 B at half of that after it.
        let change = RateChange { at: Duration::from_micros(500), rate: BitRate::from_mbps(4), over: Duration::ZERO };
        let finish = profile(vec![change]).finish(Instant::ZERO, Bytes(1_000));
        // Within a step the rate is taken as even: a microsecond or so.
        assert!(finish.since(Instant::ZERO) > Duration::from_millis(1), "{finish:?}");
        assert!(finish.since(Instant::ZERO) <= Duration::from_micros(1_600), "{finish:?}");
    }
}
