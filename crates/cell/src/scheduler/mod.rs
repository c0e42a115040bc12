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
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SchedulerConfig {
    /// In turn.
    #[default]
    RoundRobin,
    /// By the rate that the channel offers over the rate that was had.
    ProportionalFair(ProportionalFairConfig),
    /// The oldest head of line first (the delay-based scheduler of Brunello et al.).
    OldestFirst,
    /// The best channel first.
    MaxRate,
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
    /// The UE to be sent to, out of `ues`, which are in order; `candidate` says `None` of those that have nothing to
    /// send or had their share of this slot.
    pub(crate) fn choose(
        &mut self,
        ues: &[u32],
        whole_slot: bool,
        candidate: impl FnMut(u32) -> Option<Candidate>,
    ) -> Option<Candidate> {
        match self {
            Self::RoundRobin(scheduler) => scheduler.choose(ues, whole_slot, candidate),
            Self::ProportionalFair(scheduler) => {
                best(ues.iter().copied().filter_map(candidate), |candidate| scheduler.metric(candidate))
            }
            Self::OldestFirst => best(ues.iter().copied().filter_map(candidate), oldest_first::metric),
            Self::MaxRate => best(ues.iter().copied().filter_map(candidate), max_rate::metric),
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

/// The candidate with the highest metric; of equals, the one with the lowest number.
fn best(candidates: impl Iterator<Item = Candidate>, mut metric: impl FnMut(&Candidate) -> f64) -> Option<Candidate> {
    let rated = candidates.map(|candidate| (metric(&candidate), candidate));
    rated.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(ue: u32, capacity: f64, wait_ms: u64) -> Candidate {
        Candidate { ue, capacity, head_of_line: Duration::from_millis(wait_ms), offer: Offer::Mcs(0) }
    }
    fn chosen(kind: SchedulerConfig, all: [Candidate; 3]) -> Option<u32> {
        let mut scheduler = Scheduler::new(&kind, Duration::from_micros(500));
        let pick = |ue: u32| Some(all[ue as usize]);
        scheduler.choose(&[0, 1, 2], true, pick).map(|candidate| candidate.ue)
    }

    #[test]
    fn each_scheduler_has_its_own_favourite() {
        let all = [candidate(0, 10.0, 5), candidate(1, 30.0, 1), candidate(2, 20.0, 9)];
        assert_eq!(chosen(SchedulerConfig::RoundRobin, all), Some(0));
        assert_eq!(chosen(SchedulerConfig::MaxRate, all), Some(1));
        assert_eq!(chosen(SchedulerConfig::OldestFirst, all), Some(2));
    }

    #[test]
    fn of_equals_the_first_is_chosen_and_nobody_of_nobody() {
        let all = [candidate(0, 1.0, 1), candidate(1, 1.0, 1), candidate(2, 1.0, 1)];
        for kind in [SchedulerConfig::MaxRate, SchedulerConfig::OldestFirst] {
            assert_eq!(chosen(kind.clone(), all), Some(0));
            let mut scheduler = Scheduler::new(&kind, Duration::from_micros(500));
            assert!(scheduler.choose(&[0], true, |_| None).is_none());
        }
    }
}
