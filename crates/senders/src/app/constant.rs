//! A constant rate: telemetry, a voice stream, background load.

use tidemark_core::{BitRate, Bounded, Bytes, ConfigError, Duration, Instant, Range, bounds};

use super::{Source, check_times};

/// A constant rate.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<ConstantConfig>))]
pub struct ConstantConfig {
    /// Begin, from the start of the run. Default 0 s.
    pub start: Duration,
    /// End, from the start of the run. Default: never.
    pub stop: Option<Duration>,
    /// Rate of the payload. Default 1 Mbit/s.
    pub rate: BitRate,
    /// Bytes that are written at a time. Default 1200 B.
    pub chunk: Bytes,
}

impl Default for ConstantConfig {
    fn default() -> Self {
        Self { start: Duration::ZERO, stop: None, rate: BitRate::from_mbps(1), chunk: Bytes(1200) }
    }
}

bounds! { ConstantConfig {
    rate: Range::above(BitRate::ZERO),
    chunk: Range::between(Bytes(1), Bytes(65_535)),
    ..start, stop
} }

impl ConstantConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        check_times(self.start, self.stop)?;
        self.check_bounds()
    }
}

/// Writes a chunk whenever one is due at the rate.
#[derive(Clone, Debug)]
pub struct Constant {
    start: Instant,
    stop: Instant,
    rate: BitRate,
    chunk: u64,
}

impl Constant {
    /// The source that `config` describes.
    pub fn new(config: &ConstantConfig) -> Self {
        Self {
            start: Instant::ZERO + config.start,
            stop: config.stop.map_or(Instant::FAR, |stop| Instant::ZERO + stop),
            rate: config.rate,
            chunk: config.chunk.0,
        }
    }
}

impl Source for Constant {
    fn start(&self) -> Instant {
        self.start
    }
    fn available(&mut self, now: Instant, taken: Bytes) -> Bytes {
        // The first chunk is there at the start.
        let earned = self.rate.bytes_in(now.min(self.stop).since(self.start)).0;
        let written = if now < self.start { 0 } else { (earned / self.chunk + 1) * self.chunk };
        Bytes(written) - taken
    }
    fn next_deadline(&self, now: Instant) -> Option<Instant> {
        if now < self.start {
            return Some(self.start);
        }
        let earned = self.rate.bytes_in(now.since(self.start)).0;
        let next = self.start + self.rate.time_to_send(Bytes((earned / self.chunk + 1) * self.chunk));
        (next < self.stop).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_come_at_their_times() {
        let config = ConstantConfig { stop: Some(Duration::from_secs(1)), ..ConstantConfig::default() };
        let mut source = Constant::new(&config);
        let (mut now, mut taken, mut times) = (Instant::ZERO, Bytes::ZERO, Vec::new());
        loop {
            let chunk = source.available(now, taken);
            assert!(chunk == Bytes(1200) || chunk == Bytes::ZERO, "{chunk} at {now:?}");
            taken += chunk;
            times.push(now);
            match source.next_deadline(now) {
                Some(next) => now = next,
                None => break,
            }
        }
        assert_eq!(times[1], Instant::from_nanos(9_600_000), "1200 B at 1 Mbit/s");
        assert_eq!(taken, Bytes(1200 * 105), "1 Mbit in a second are 104.2 chunks");
    }
}
