//! Short transfers one after the other, each over a connection of its own, as for a click or a message.

use tidemark_core::{Bounded, Bytes, ConfigError, Duration, Instant, Range, Stream, bounds};

use super::{Source, Times, check_times};

/// Short flows.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<ShortFlowsConfig>))]
pub struct ShortFlowsConfig {
    /// Time at which the client opens the first connection, from the start of the run. Default 0 s.
    pub start: Duration,
    /// Time from which the client opens no further connection; the last is still completed. Default: never.
    pub stop: Option<Duration>,
    /// Bytes that the server sends over each connection. Default 14 kB, which fits into an initial window of ten segments.
    pub size: Bytes,
    /// Largest size. Sizes are drawn evenly between `size` and this one. Default: all connections have `size`.
    pub largest: Option<Bytes>,
    /// Time from the arrival of the last byte until the client opens the next connection. Default: exponential with
    /// a mean of 1 s.
    pub think: Times,
    /// True if the first connection also waits for a `think` time. Default: it opens at the start.
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

bounds! { ShortFlowsConfig {
    size: Range::at_least(Bytes(1)),
    count: Range::at_least(1u32).because("left out for flows without end"),
    ..start, stop, largest, think, pause_first
} }

impl ShortFlowsConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        check_times(self.start, self.stop)?;
        self.check_bounds()?;
        match self.largest {
            Some(largest) if largest < self.size => {
                Err(ConfigError::new("largest", format!("must be at least size, {}", self.size)).found(largest))
            }
            _ => self.think.validate().map_err(|error| error.within("think")),
        }
    }

    /// Draws the bytes that the server sends over a connection.
    pub(crate) fn draw_size(&self, stream: &mut Stream) -> Bytes {
        let spread = self.largest.map_or(0, |largest| largest.0 - self.size.0);
        Bytes(self.size.0 + (stream.uniform() * (spread as f64 + 1.0)) as u64)
    }
}

/// One short transfer at its server: all of its data is there at once.
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
