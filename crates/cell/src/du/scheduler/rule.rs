//! Interfaces of a scheduler: its configuration and the rule made from it.

use tidemark_core::{ConfigError, Duration};
use tidemark_radio::slots::Slot;

use crate::output::UeId;

/// Offer of a channel in a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Offer {
    /// Blocks of this MCS.
    Mcs(u8),
    /// Bytes for the whole carrier.
    Bytes(f64),
}

/// A UE with data, in a slot. Of several bearers it shows the one that the rule ranks highest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) ue: UeId,
    /// Bytes that the whole carrier would take to it in this slot.
    pub(crate) capacity: f64,
    /// Age of the packet at the head of the bearer's queue.
    pub(crate) head_of_line: Duration,
    /// Priority level of the bearer's most important QoS flow: the lower, the more important.
    pub(crate) priority: u8,
    /// 5QI of the bearer's first QoS flow.
    pub(crate) five_qi: u8,
    /// Offer of its channel.
    pub(crate) offer: Offer,
}

/// Rank of a UE: a level, and a metric within the level. The greater rank goes first.
///
/// One number, since ranks are compared for each resource block group: above bit 64 the level, below the bits of the metric, which is not
/// negative, so that they have its order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(i128);

impl Rank {
    /// A rank above all of lower levels.
    pub(crate) fn of_level(level: i32, metric: f64) -> Self {
        Self(i128::from(level) << 64 | i128::from(metric.max(0.0).to_bits()))
    }
    /// A rank by a metric alone.
    pub(crate) fn of(metric: f64) -> Self {
        Self::of_level(0, metric)
    }
    /// A rank by how long something waits.
    pub(crate) fn of_age(level: i32, age: Duration) -> Self {
        Self::of_level(level, age.as_nanos() as f64)
    }
}

/// Order in which the uplink grants, beside guaranteed rates, which come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UplinkOrder {
    /// Turns, whatever a UE sends. The gNB knows neither the age nor the rate of what waits in a UE.
    Turns,
    /// One priority level after the other, by turns within each.
    PriorityLevels,
}

/// A scheduler as it is configured.
pub(crate) trait Discipline: Default {
    /// The scheduler at work.
    type Rule: Rule;
    /// Order of the uplink's grants.
    const UPLINK: UplinkOrder;

    /// Makes the rule, for slots of this length.
    fn rule(&self, slot: Duration) -> Self::Rule;

    /// Names the first field that cannot be used.
    fn validate(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// A rule that ranks UEs.
pub(crate) trait Rule {
    /// Ranks a UE that has been given this share of the carrier in the slot so far. The UE with the highest rank is given the next resource
    /// block group; of equals, the UE that has had the least.
    fn rank(&mut self, candidate: &Candidate, given: f64) -> Rank;

    /// Begins a slot in which something can be sent. In the slots since the last such slot nothing could be sent.
    fn begin_slot(&mut self, _slot: Slot) {}

    /// Counts bytes that a UE was sent in the slot.
    fn served(&mut self, _ue: UeId, _bytes: u32) {}
}
