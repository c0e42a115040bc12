//! Round robin: the UE that has had the least goes first. A UE does not lose its turn by a moment without data ([`Shares`]).
//!
//! Turns count the share of the carrier that a UE was given, in any number of slots. Special slots and the rest of a slot count by
//! their size.
//!
//! [`Shares`]: crate::du::shares::Shares

use tidemark_core::Duration;

use super::rule::{Candidate, Discipline, Rank, Rule, UplinkOrder};

/// Configuration of round robin, without fields.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundRobinConfig {}

impl Discipline for RoundRobinConfig {
    type Rule = Self;
    const UPLINK: UplinkOrder = UplinkOrder::Turns;

    fn rule(&self, _slot: Duration) -> Self {
        Self {}
    }
}

impl Rule for RoundRobinConfig {
    /// All rank alike, so that turns decide.
    fn rank(&mut self, _candidate: &Candidate, _given: f64) -> Rank {
        Rank::default()
    }
}
