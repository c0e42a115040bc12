//! Scheduler as a configuration, and the rule that it makes.

use tidemark_core::{ConfigError, Duration};
use tidemark_radio::slots::Slot;

use crate::index::DrbIndex;

/// Offer of a channel in a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Offer {
    /// Blocks of this MCS.
    Mcs(u8),
    /// Bytes for the whole carrier.
    Bytes(f64),
}

/// A bearer with data, in a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// Index of the bearer.
    pub(crate) drb: DrbIndex,
    /// Bytes that the whole carrier would take to it in this slot.
    pub(crate) capacity: f64,
    /// Age of the packet at the head of its queue.
    pub(crate) head_of_line: Duration,
    /// Priority level of its most important QoS flow: the lower, the more important.
    pub(crate) priority: u8,
    /// 5QI of its first QoS flow.
    pub(crate) five_qi: u8,
    /// Offer of its channel.
    pub(crate) offer: Offer,
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

/// A rule that chooses among bearers.
pub(crate) trait Rule {
    /// Chooses among candidates, which come in the order of turns: the first of equals is the one whose turn it is.
    fn choose(&mut self, candidates: impl Iterator<Item = Candidate>) -> Option<Candidate>;

    /// Begins a slot in which something can be sent. Those in between have passed without.
    fn begin_slot(&mut self, _slot: Slot) {}

    /// Counts bytes that a bearer was sent in the slot.
    fn served(&mut self, _drb: DrbIndex, _bytes: u32) {}
}

/// The candidate with the highest metric; of equals, the first.
pub(super) fn best<M: PartialOrd>(
    candidates: impl Iterator<Item = Candidate>,
    mut metric: impl FnMut(&Candidate) -> M,
) -> Option<Candidate> {
    let rated = candidates.map(|candidate| (metric(&candidate), candidate));
    rated.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, candidate)| candidate)
}
