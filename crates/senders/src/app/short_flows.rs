//! Short transfers one after the other, each over a connection of its own: what a click or a message costs.

use tidemark_core::{Bytes, ConfigError, Duration, Instant, Stream};

use super::{Source, Times};

/// Short flows.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShortFlowsConfig {
    /// Time at which the client opens the first connection, from the start of the run. Default 0 s.
    pub start: Duration,
    /// Time from which the client opens no further connection; the last is still completed. Default: never.
    pub stop: Option<Duration>,
    /// Bytes that the server sends over each. Default 14 kB, what fits into an initial window of ten segments.
    pub size: Bytes,
    /// Sizes are drawn evenly between `size` and this. Default: all of one size.
    pub largest: Option<Bytes>,
    /// Time from the arrival of the last byte until the client opens the next connection. Default: exponential with
    /// a mean of 1 s.
    pub think: Times,
    /// The first connection, too, comes after such a time. Default: it opens at the start.
    pub pause_first: bool,
    /// Number of connections. Default: no end.
    pub count: Option<u32>,
}

impl Default for ShortFlowsConfig {
    fn default() -> Self {
        Self {
            start: Duration::ZERO,
            stop: None,
            size: Bytes(14_000),
            largest: None,
            think: Times::Exponential { mean: Duration::from_secs(1) },
            pause_first: false,
            count: None,
        }
    }
}

impl ShortFlowsConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if self.stop.is_some_and(|stop| stop <= self.start) {
            return Err(ConfigError::new("stop", "it must be later than start"));
        }
        if self.size == Bytes::ZERO {
            return Err(ConfigError::new("size", "it must be at least 1 B"));
        }
        if self.largest.is_some_and(|largest| largest < self.size) {
            return Err(ConfigError::new("largest", "it must be at least size"));
        }
        if self.count == Some(0) {
            return Err(ConfigError::new("count", "it must be at least 1, or left out for flows without end"));
        }
        self.think.validate()
    }

    /// Draws the bytes that the server sends over a connection.
    pub(crate) fn draw_size(&self, stream: &mut Stream) -> Bytes {
        let spread = self.largest.map_or(0, |largest| largest.0 - self.size.0);
        Bytes(self.size.0 + (stream.uniform() * (spread as f64 + 1.0)) as u64)
    }
}

/// One of them, as its server sees it: all of it is there at once.
#[derive(Clone, Copy, Debug)]
pub struct OneTransfer(pub Bytes);

impl Source for OneTransfer {
    fn start(&self) -> Instant {
        Instant::ZERO
    }
    fn available(&mut self, _now: Instant, taken: Bytes) -> Bytes {
        self.0 - taken
    }
    fn next_deadline(&self, _now: Instant) -> Option<Instant> {
        None
    }
}
