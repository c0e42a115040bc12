//! Marking laws: one file each, one enum over them.
//!
//! A law is asked when a packet arrives and when one leaves the RLC queue, and answers with the odds of a mark
//! and of a drop. What becomes of them depends on the packet's ECN field and is decided once, in
//! [`DrbMarker`](crate::DrbMarker).

mod l4span;

pub use l4span::{L4SpanConfig, NotEctRule, SharedRule};

use tidemark_core::{Duration, Instant, Probability};

use crate::config::ConfigError;
use crate::egress::Egress;
use crate::report::RlcQueue;
use crate::verdict::Class;
use l4span::L4Span;

/// Which law marks, with its parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LawConfig {
    /// Nothing is marked or dropped.
    None {},
    /// L4Span: marks by the predicted sojourn time (L4Span section 4.2).
    L4span(L4SpanConfig),
}

impl Default for LawConfig {
    fn default() -> Self {
        Self::None {}
    }
}

impl LawConfig {
    /// Checks the law's own fields.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::None {} => Ok(()),
            Self::L4span(config) => config.validate(),
        }
    }
}

/// What a law sees when a packet arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// Size of the packet at hand in bytes.
    pub size: f64,
    /// Bytes thought to stand before it.
    pub backlog: f64,
    /// Egress rate and deviation; `None` while there is no estimate.
    pub egress: Option<Egress>,
    /// Class of its flow.
    pub class: Class,
    /// Largest packet of its flow in bytes.
    pub segment: f64,
    /// Handshake round trip of its flow.
    pub rtt: Option<Duration>,
    /// Both L4S and classic flows are alive in the DRB.
    pub shared: bool,
}

impl Arrival {
    /// Eq. 5: how long the standing queue takes to leave; `None` without an estimate.
    pub(crate) fn sojourn(&self) -> Option<f64> {
        let rate = self.egress?.rate.as_bytes_per_sec();
        (rate > 0.0).then(|| self.backlog / rate)
    }
}

/// What a law makes of a packet: chances of a drop, and, of what is not dropped, of a mark.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Odds {
    pub mark: Probability,
    pub drop: Probability,
}

impl Odds {
    pub(crate) const NONE: Self = Self { mark: Probability::ZERO, drop: Probability::ZERO };

    pub(crate) fn mark(p: f64) -> Self {
        Self { mark: Probability::new(p), drop: Probability::ZERO }
    }
    pub(crate) fn drop(p: f64) -> Self {
        Self { mark: Probability::ZERO, drop: Probability::new(p) }
    }
}

/// The law of one DRB with its state.
pub(crate) enum Law {
    None,
    L4Span(L4Span),
}

impl Law {
    pub(crate) fn new(config: &LawConfig) -> Self {
        match config {
            LawConfig::None {} => Self::None,
            LawConfig::L4span(config) => Self::L4Span(L4Span::new(config)),
        }
    }

    /// A packet arrives at the CU.
    pub(crate) fn arrive(&mut self, arrival: &Arrival) -> Odds {
        match self {
            Self::None => Odds::NONE,
            Self::L4Span(law) => law.arrive(arrival),
        }
    }

    /// The first segment of a packet leaves the RLC queue.
    pub(crate) fn leave(&mut self, _now: Instant, _class: Class, _sojourn: Duration, _rlc: RlcQueue) -> Odds {
        match self {
            Self::None | Self::L4Span(_) => Odds::NONE,
        }
    }
}
