//! Strict priority: the UE with the bearer of the lowest priority level (TS 23.501 5.7.3.3) first; of equals, the one whose head of line
//! has waited longest. Less important UEs wait as long as others have something to send.

use tidemark_core::Duration;

use super::rule::{Candidate, Discipline, Rank, Rule, UplinkOrder};

/// Configuration of strict priority, without fields.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StrictPriorityConfig {}

impl Discipline for StrictPriorityConfig {
    type Rule = Self;
    const UPLINK: UplinkOrder = UplinkOrder::PriorityLevels;

    fn rule(&self, _slot: Duration) -> Self {
        Self {}
    }
}

impl Rule for StrictPriorityConfig {
    fn rank(&mut self, candidate: &Candidate, _given: f64) -> Rank {
        Rank::of_age(-i32::from(candidate.priority), candidate.head_of_line)
    }
}
