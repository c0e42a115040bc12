//! A rate that is on and off in turn: background traffic with random times (exponential, Pareto, log-normal).

use tidemark_core::{BitRate, Bounded, Bytes, ConfigError, Duration, Instant, Range, Stream, bounds};

use super::{Source, check_times};

/// A distribution of times.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<Times>))]
pub enum Times {
    /// Always the same.
    Fixed {
        /// The time.
        mean: Duration,
    },
    /// Memoryless.
    Exponential {
        /// Mean time.
        mean: Duration,
    },
    /// Heavy tail. It has a mean only if the shape is above 1.
    Pareto {
        /// Mean time.
        mean: Duration,
        /// Shape.
        shape: f64,
    },
    /// The logarithm is normal.
    LogNormal {
        /// Mean time.
        mean: Duration,
        /// Standard deviation of the times.
        deviation: Duration,
    },
}

/// No drawn time is longer: a heavy tail must not stop a run's clock.
const LONGEST: f64 = 1e6;
const SHORTEST: Duration = Duration::from_micros(1);

const MEAN: Range<Duration> = Range::at_least(SHORTEST);

bounds! { enum Times {
    Fixed { mean: MEAN, }
    Exponential { mean: MEAN, }
    Pareto { mean: MEAN, shape: Range::inside(1.0, 100.0).because("at 1 and below there is no mean"), }
    LogNormal { mean: MEAN, ..deviation }
} }

impl Times {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()
    }

    /// The next time.
    pub(crate) fn draw(&self, stream: &mut Stream) -> Duration {
        let seconds = match *self {
            Self::Fixed { mean } => mean.as_secs_f64(),
            Self::Exponential { mean } => mean.as_secs_f64() * stream.exponential(),
            Self::Pareto { mean, shape } => {
                let min = mean.as_secs_f64() * (shape - 1.0) / shape;
                min * libm::exp(stream.exponential() / shape)
            }
            Self::LogNormal { mean, deviation } => {
                let (mean, deviation) = (mean.as_secs_f64(), deviation.as_secs_f64());
                log_normal(stream, mean, deviation)
            }
        };
        Duration::from_secs_f64(seconds.min(LONGEST)).max(SHORTEST)
    }
}

/// A log-normal draw by its own mean and standard deviation.
pub(super) fn log_normal(stream: &mut Stream, mean: f64, deviation: f64) -> f64 {
    let ratio = deviation / mean;
    let variance = libm::log1p(ratio * ratio);
    libm::exp(libm::log(mean) - variance / 2.0 + libm::sqrt(variance) * stream.normal())
}

/// On-off traffic.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<OnOffConfig>))]
pub struct OnOffConfig {
    /// Begin, with an on time, from the start of the run. Default 0 s.
    pub start: Duration,
    /// End, from the start of the run. Default: never.
    pub stop: Option<Duration>,
    /// Rate of the payload while on. Default 10 Mbit/s.
    pub rate: BitRate,
    /// Bytes that are written at a time. Default 1200 B.
    pub chunk: Bytes,
    /// Lengths of on times. Default: Pareto with a mean of 1 s and a shape of 1.5.
    pub on: Times,
    /// Lengths of off times. Default: exponential with a mean of 1 s.
    pub off: Times,
}

impl Default for OnOffConfig {
    fn default() -> Self {
        Self {
            start: Duration::ZERO,
            stop: None,
            rate: BitRate::from_mbps(10),
            chunk: Bytes(1200),
            on: Times::Pareto { mean: Duration::from_secs(1), shape: 1.5 },
            off: Times::Exponential { mean: Duration::from_secs(1) },
        }
    }
}

bounds! { OnOffConfig {
    rate: Range::above(BitRate::ZERO),
    chunk: Range::between(Bytes(1), Bytes(65_535)),
    ..start, stop, on, off
} }

impl OnOffConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        check_times(self.start, self.stop)?;
        self.check_bounds()?;
        self.on.validate().map_err(|error| error.within("on"))?;
        self.off.validate().map_err(|error| error.within("off"))
    }
}

/// Writes at a rate while it is on.
#[derive(Clone, Debug)]
pub struct OnOff {
    config: OnOffConfig,
    stream: Stream,
    /// The present on time.
    on: (Instant, Instant),
    /// Written in the on times before.
    before: u64,
}

impl OnOff {
    /// The source that `config` describes.
    pub fn new(config: &OnOffConfig, mut stream: Stream) -> Self {
        let start = Instant::ZERO + config.start;
        let on = (start, start + config.on.draw(&mut stream));
        Self { config: config.clone(), stream, on, before: 0 }
    }

    fn stop(&self) -> Instant {
        self.config.stop.map_or(Instant::FAR, |stop| Instant::ZERO + stop)
    }

    fn written(&self, until: Instant) -> u64 {
        let earned = self.config.rate.bytes_in(until.min(self.on.1).min(self.stop()).since(self.on.0)).0;
        earned / self.config.chunk.0 * self.config.chunk.0
    }
}

impl Source for OnOff {
    fn start(&self) -> Instant {
        Instant::ZERO + self.config.start
    }
    fn available(&mut self, now: Instant, taken: Bytes) -> Bytes {
        while now >= self.on.1 && self.on.1 < self.stop() {
            self.before += self.written(self.on.1);
            let start = self.on.1 + self.config.off.draw(&mut self.stream);
            self.on = (start, start + self.config.on.draw(&mut self.stream));
        }
        Bytes(self.before + self.written(now)) - taken
    }
    fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let next = if now < self.on.0 {
            self.on.0 + self.config.rate.time_to_send(self.config.chunk)
        } else {
            let next = self.written(now) + self.config.chunk.0;
            (self.on.0 + self.config.rate.time_to_send(Bytes(next))).min(self.on.1)
        };
        (next < self.stop()).then_some(next.max(now + SHORTEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(times: Times) -> f64 {
        let mut stream = Stream::new(1, 0, "times");
        (0..200_000).map(|_| times.draw(&mut stream).as_secs_f64()).sum::<f64>() / 200_000.0
    }

    #[test]
    fn means_are_those_asked_for() {
        let second = Duration::from_secs(1);
        assert!((mean(Times::Fixed { mean: second }) - 1.0).abs() < 1e-9);
        assert!((mean(Times::Exponential { mean: second }) - 1.0).abs() < 0.01);
        assert!((mean(Times::Pareto { mean: second, shape: 2.5 }) - 1.0).abs() < 0.02);
        let deviation = Duration::from_millis(1500);
        assert!((mean(Times::LogNormal { mean: second, deviation }) - 1.0).abs() < 0.02);
    }

    #[test]
    fn the_load_is_the_rate_times_the_share_of_on_times() {
        let second = Duration::from_secs(1);
        let config = OnOffConfig {
            on: Times::Exponential { mean: second },
            off: Times::Exponential { mean: second * 3 },
            ..OnOffConfig::default()
        };
        let mut source = OnOff::new(&config, Stream::new(1, 0, "on-off"));
        let (mut now, mut taken) = (Instant::ZERO, Bytes::ZERO);
        while now < Instant::from_millis(4_000_000) {
            taken += source.available(now, taken);
            now = source.next_deadline(now).unwrap();
        }
        let load = taken.as_f64() * 8.0 / now.as_secs_f64();
        assert!((load / 2.5e6 - 1.0).abs() < 0.1, "{load}");
    }
}
