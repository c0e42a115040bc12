//! What a wired bottleneck is configured with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidemark_cell::channel::TraceConfig;
use tidemark_core::{BitRate, Bytes, Duration, Probability};
use tidemark_marker::{DualQueueConfig, MarkerConfig};

/// A router on the wired path, just before the access network: one link with one queue discipline.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouterConfig {
    /// Its name, by which flows choose it.
    pub name: String,
    /// Rate of its link at the start.
    pub rate: BitRate,
    /// Later rates, in the order of their times. Default: none.
    #[serde(default)]
    pub changes: Vec<RateChange>,
    /// A measured trace of rates instead of `rate` and `changes`. Default: none.
    pub trace: Option<TraceConfig>,
    /// What stands before the link. Default: a FIFO of 1 MB that drops at its tail.
    #[serde(default)]
    pub queue: QueueConfig,
    /// Queuing delays for which the total duration over them is measured, TDQ of the aL4S paper. Default: none.
    #[serde(default)]
    pub tdq: Vec<Duration>,
}

/// A change of a link's rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateChange {
    /// When it begins, from the start of the run.
    pub at: Duration,
    /// The new rate.
    pub rate: BitRate,
    /// How long the rate takes to get there, in a straight line. Default 0 s: at once.
    #[serde(default)]
    pub over: Duration,
}

/// Which queue stands before a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "discipline", rename_all = "kebab-case")]
pub enum QueueConfig {
    /// One queue in order of arrival, which drops at its tail and is marked by any law that a bearer can have.
    Fifo(FifoConfig),
    /// DualPI2's two queues (RFC 9332).
    Dualpi2(DualQueueConfig),
}

/// One queue in order of arrival.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FifoConfig {
    /// Bytes that it holds; an arrival beyond is dropped. Default 1 MB.
    pub limit: Bytes,
    /// The law that marks or drops. Default: none, a drop-tail queue.
    pub marker: MarkerConfig,
    /// Marks packets with ECT(1) as they leave, by their own time in the queue; a law sees the age of the oldest as they
    /// arrive. Default: none.
    pub ramp: Option<LeavingRamp>,
}

/// A probability of marks that rises in a straight line with the time that a packet has waited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeavingRamp {
    /// Up to this nothing is marked.
    pub low: Duration,
    /// From this on everything is.
    pub high: Duration,
}

impl LeavingRamp {
    /// The probability for a packet that has waited so long.
    pub(crate) fn probability(&self, waited: Duration) -> Probability {
        let span = (self.high - self.low).as_secs_f64();
        Probability::new((waited.as_secs_f64() - self.low.as_secs_f64()) / span)
    }
}

impl Default for FifoConfig {
    fn default() -> Self {
        Self { limit: Bytes(1_000_000), marker: MarkerConfig::default(), ramp: None }
    }
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self::Fifo(FifoConfig::default())
    }
}

impl QueueConfig {
    /// The name of what marks in it.
    pub(crate) fn law(&self) -> String {
        match self {
            Self::Fifo(FifoConfig { ramp: Some(_), .. }) => "ramp".into(),
            Self::Fifo(fifo) => crate::summary::tag(&fifo.marker, "law"),
            Self::Dualpi2(_) => "dualpi2".into(),
        }
    }
}

impl RouterConfig {
    /// The first field that cannot be used, and what would be right.
    pub(crate) fn problem(&self) -> Option<(&'static str, String)> {
        let slow = |rate: BitRate| rate < BitRate::from_kbps(10);
        if slow(self.rate) {
            return Some(("rate", "must be at least 10 kbit/s".into()));
        }
        let mut last = Duration::ZERO;
        for change in &self.changes {
            if slow(change.rate) {
                return Some(("changes", "each rate must be at least 10 kbit/s".into()));
            }
            if change.at < last {
                return Some((
                    "changes",
                    format!("the change at {} begins before {last}, when the one before it ends", change.at),
                ));
            }
            last = change.at + change.over;
        }
        match &self.queue {
            QueueConfig::Fifo(fifo) if fifo.limit < Bytes(3_000) => {
                Some(("queue.limit", "must be at least 3000 B, two packets".into()))
            }
            QueueConfig::Fifo(FifoConfig { ramp: Some(ramp), .. }) if ramp.low >= ramp.high => {
                Some(("queue.ramp.high", "must be above low".into()))
            }
            QueueConfig::Fifo(fifo) => fifo.marker.validate().err().map(|error| ("queue.marker", error.to_string())),
            QueueConfig::Dualpi2(dual) => dual.validate().err().map(|error| ("queue", error.to_string())),
        }
    }
}
