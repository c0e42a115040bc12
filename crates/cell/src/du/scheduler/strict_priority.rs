//! Strict priority: the bearer with the lowest priority level (TS 23.501 5.7.3.3); of equals, the one whose head of line has
//! waited longest. Who is less important waits for as long as others have something to send.

use std::cmp::Reverse;

use tidemark_core::Duration;

use super::rule::{Candidate, Discipline, Rule, UplinkOrder, best};

/// Configuration of strict priority, which has nothing to set.
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
    fn choose(&mut self, candidates: impl Iterator<Item = Candidate>) -> Option<Candidate> {
        best(candidates, |candidate| (Reverse(candidate.priority), candidate.head_of_line))
    }
}
