//! Who is sent to in a slot.
//!
//! A scheduler chooses among the UEs that have something to send; the cell gives the chosen one the resource blocks that
//! its queue fills, and asks again while blocks are left.

mod max_rate;
mod oldest_first;
mod proportional_fair;
mod round_robin;

use tidemark_core::Duration;

use crate::config::ConfigError;
use crate::ue::Offer;
use proportional_fair::ProportionalFair;
pub use proportional_fair::ProportionalFairConfig;
use round_robin::RoundRobin;

/// A UE with data, in a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// Index of the UE.
    pub(crate) ue: u32,
    /// Bytes that the whole carrier would take to it in this slot.
    pub(crate) capacity: f64,
    /// Age of the packet at the head of its queue.
    pub(crate) head_of_line: Duration,
    /// What its channel offers.
    pub(crate) offer: Offer,
}

/// A scheduler's configuration.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SchedulerConfig {
    /// In turn.
    RoundRobin,
    /// By the rate that the channel offers over the rate that was had.
    ProportionalFair(ProportionalFairConfig),
    /// The oldest head of line first (the delay-based scheduler of Brunello et al.).
    OldestFirst,
    /// The best channel first.
    MaxRate,
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        Self::RoundRobin
    }
}

impl SchedulerConfig {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::RoundRobin | Self::OldestFirst | Self::MaxRate => Ok(()),
            Self::ProportionalFair(config) => config.validate(),
        }
    }
}

/// A scheduler at work.
#[derive(Clone, Debug)]
pub(crate) enum Scheduler {
    RoundRobin(RoundRobin),
    ProportionalFair(ProportionalFair),
    OldestFirst,
    MaxRate,
}

impl Scheduler {
    pub(crate) fn new(config: &SchedulerConfig, slot: Duration) -> Self {
        match config {
            SchedulerConfig::RoundRobin => Self::RoundRobin(RoundRobin::default()),
            SchedulerConfig::ProportionalFair(config) => Self::ProportionalFair(ProportionalFair::new(config, slot)),
            SchedulerConfig::OldestFirst => Self::OldestFirst,
            SchedulerConfig::MaxRate => Self::MaxRate,
        }
    }
    /// Position of the chosen candidate; `None` if there are none. Candidates come in the order of their UEs.
    pub(crate) fn choose(&mut self, candidates: &[Candidate], whole_slot: bool) -> Option<usize> {
        match self {
            Self::RoundRobin(scheduler) => scheduler.choose(candidates, whole_slot),
            Self::ProportionalFair(scheduler) => scheduler.choose(candidates),
            Self::OldestFirst => oldest_first::choose(candidates),
            Self::MaxRate => max_rate::choose(candidates),
        }
    }
    /// A UE was sent this many bytes in the slot.
    pub(crate) fn served(&mut self, ue: u32, bytes: u32) {
        if let Self::ProportionalFair(scheduler) = self {
            scheduler.served(ue, bytes);
        }
    }
    /// The slot is over.
    pub(crate) fn end_slot(&mut self) {
        if let Self::ProportionalFair(scheduler) = self {
            scheduler.end_slot();
        }
    }
}
