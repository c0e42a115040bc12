//! Oldest first: the UE whose head of line has waited longest.

use tidemark_core::Duration;

use super::rule::{Candidate, Discipline, Rank, Rule, UplinkOrder};

/// Configuration of oldest first, without fields.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OldestFirstConfig {}

impl Discipline for OldestFirstConfig {
    type Rule = Self;
    const UPLINK: UplinkOrder = UplinkOrder::Turns;

    fn rule(&self, _slot: Duration) -> Self {
        Self {}
    }
}

impl Rule for OldestFirstConfig {
    fn rank(&mut self, candidate: &Candidate, _given: f64) -> Rank {
        Rank::of_age(0, candidate.head_of_line)
    }
}
