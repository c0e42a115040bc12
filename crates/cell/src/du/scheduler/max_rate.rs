//! Maximum rate: the UE with the best channel first, however long others wait.

use tidemark_core::Duration;

use super::rule::{Candidate, Discipline, Rank, Rule, UplinkOrder};

/// Configuration of maximum rate, without fields.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MaxRateConfig {}

impl Discipline for MaxRateConfig {
    type Rule = Self;
    const UPLINK: UplinkOrder = UplinkOrder::Turns;

    fn rule(&self, _slot: Duration) -> Self {
        Self {}
    }
}

impl Rule for MaxRateConfig {
    fn rank(&mut self, candidate: &Candidate, _given: f64) -> Rank {
        Rank::of(candidate.capacity)
    }
}
