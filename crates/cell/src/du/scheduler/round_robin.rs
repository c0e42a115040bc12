//! Round robin: whoever has had the least goes first, by turns that a moment without data does not forfeit ([`Shares`]).
//!
//! What counts is how much of the carrier a UE was given, in however many slots: special slots and what others leave of a slot count
//! for what they are.
//!
//! [`Shares`]: crate::du::shares::Shares

use tidemark_core::Duration;

use super::rule::{Candidate, Discipline, Rank, Rule, UplinkOrder};

/// Configuration of round robin, which has nothing to set.
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
