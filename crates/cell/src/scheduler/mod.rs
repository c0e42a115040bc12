//! Who is sent to in a slot.
//!
//! A scheduler chooses among the bearers that have something to send; the cell gives the chosen one the resource blocks that
//! its queue fills, and asks again while blocks are left. Whatever the scheduler, bearers that are owed a guaranteed rate
//! come first.

mod delay_based;
mod max_rate;
mod oldest_first;
mod proportional_fair;
mod round_robin;
mod strict_priority;

use tidemark_core::Duration;

use crate::config::ConfigError;
use crate::ue::Offer;
pub use delay_based::DelayBasedConfig;
use proportional_fair::ProportionalFair;
pub use proportional_fair::ProportionalFairConfig;
use round_robin::RoundRobin;

/// A bearer with data, in a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// Index of the bearer.
    pub(crate) drb: u32,
    /// Bytes that the whole carrier would take to it in this slot.
    pub(crate) capacity: f64,
    /// Age of the packet at the head of its queue.
    pub(crate) head_of_line: Duration,
    /// Priority level of its most important QoS flow: the lower, the more important.
    pub(crate) priority: u8,
    /// 5QI of its first QoS flow.
    pub(crate) five_qi: u8,
    /// What its channel offers.
    pub(crate) offer: Offer,
}

/// What a scheduler is asked in a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    /// Only bearers that are owed a guaranteed rate are candidates.
    pub(crate) only_owed: bool,
    /// The slot is no special one.
    pub(crate) whole_slot: bool,
}

/// A scheduler's configuration.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields))]
#[cfg_attr(feature = "serde", serde(expecting = "a table with its `kind`, as in { kind = \"round-robin\" }"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SchedulerConfig {
    /// In turn.
    RoundRobin {},
    /// By the rate that the channel offers over the rate that was had.
    ProportionalFair(ProportionalFairConfig),
    /// The oldest head of line first.
    OldestFirst {},
    /// The oldest head of line first, and before it queues that are too old (Brunello et al.).
    DelayBased(DelayBasedConfig),
    /// By the priority level of the 5QI; of equals, the oldest head of line first.
    StrictPriority {},
    /// The best channel first.
    MaxRate {},
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        Self::RoundRobin {}
    }
}

impl SchedulerConfig {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::RoundRobin {} | Self::OldestFirst {} | Self::StrictPriority {} | Self::MaxRate {} => Ok(()),
            Self::DelayBased(config) => config.validate(),
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
    DelayBased(DelayBasedConfig),
    StrictPriority,
    MaxRate,
}

impl Scheduler {
    pub(crate) fn new(config: &SchedulerConfig, slot: Duration) -> Self {
        match config {
            SchedulerConfig::RoundRobin {} => Self::RoundRobin(RoundRobin::default()),
            SchedulerConfig::ProportionalFair(config) => Self::ProportionalFair(ProportionalFair::new(config, slot)),
            SchedulerConfig::OldestFirst {} => Self::OldestFirst,
            SchedulerConfig::DelayBased(config) => Self::DelayBased(config.clone()),
            SchedulerConfig::StrictPriority {} => Self::StrictPriority,
            SchedulerConfig::MaxRate {} => Self::MaxRate,
        }
    }
    /// The bearer to be sent, out of `drbs`, which are in order; `candidate` says `None` of those that have nothing to
    /// send or had their share of this slot.
    pub(crate) fn choose(
        &mut self,
        drbs: &[u32],
        pass: Pass,
        candidate: impl FnMut(u32) -> Option<Candidate>,
    ) -> Option<Candidate> {
        match self {
            Self::RoundRobin(scheduler) => scheduler.choose(drbs, pass, candidate),
            Self::ProportionalFair(scheduler) => {
                best(drbs.iter().copied().filter_map(candidate), |candidate| scheduler.metric(candidate))
            }
            Self::OldestFirst => best(drbs.iter().copied().filter_map(candidate), oldest_first::metric),
            Self::DelayBased(config) => {
                best(drbs.iter().copied().filter_map(candidate), |candidate| config.metric(candidate))
            }
            Self::StrictPriority => best(drbs.iter().copied().filter_map(candidate), strict_priority::metric),
            Self::MaxRate => best(drbs.iter().copied().filter_map(candidate), max_rate::metric),
        }
    }
    /// A slot begins in which something can be sent. Those in between have passed without.
    pub(crate) fn begin_slot(&mut self, slot: u64) {
        if let Self::ProportionalFair(scheduler) = self {
            scheduler.begin_slot(slot);
        }
    }
    /// A bearer was sent this many bytes in the slot.
    pub(crate) fn served(&mut self, drb: u32, bytes: u32) {
        if let Self::ProportionalFair(scheduler) = self {
            scheduler.served(drb, bytes);
        }
    }
}

/// The candidate with the highest metric; of equals, the one with the lowest number.
fn best<M: PartialOrd>(
    candidates: impl Iterator<Item = Candidate>,
    mut metric: impl FnMut(&Candidate) -> M,
) -> Option<Candidate> {
    let rated = candidates.map(|candidate| (metric(&candidate), candidate));
    rated.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(drb: u32, capacity: f64, wait_ms: u64) -> Candidate {
        let head_of_line = Duration::from_millis(wait_ms);
        Candidate { drb, capacity, head_of_line, priority: 90, five_qi: 9, offer: Offer::Mcs(0) }
    }
    const PASS: Pass = Pass { only_owed: false, whole_slot: true };

    fn chosen(kind: SchedulerConfig, all: [Candidate; 3]) -> Option<u32> {
        let mut scheduler = Scheduler::new(&kind, Duration::from_micros(500));
        let pick = |drb: u32| Some(all[drb as usize]);
        scheduler.choose(&[0, 1, 2], PASS, pick).map(|candidate| candidate.drb)
    }

    #[test]
    fn each_scheduler_has_its_own_favourite() {
        let all = [candidate(0, 10.0, 5), candidate(1, 30.0, 1), candidate(2, 20.0, 9)];
        assert_eq!(chosen(SchedulerConfig::RoundRobin {}, all), Some(0));
        assert_eq!(chosen(SchedulerConfig::MaxRate {}, all), Some(1));
        assert_eq!(chosen(SchedulerConfig::OldestFirst {}, all), Some(2));
        let mut important = all;
        important[0].priority = 68;
        assert_eq!(chosen(SchedulerConfig::StrictPriority {}, important), Some(0));
        important[1].priority = 68;
        important[1].head_of_line = Duration::from_millis(6);
        assert_eq!(chosen(SchedulerConfig::StrictPriority {}, important), Some(1), "of equals, the older");
    }

    #[test]
    fn the_delay_based_scheduler_lifts_old_queues_of_the_chosen_5qis_before_older_ones() {
        let config = DelayBasedConfig { lifts: vec![80], ..DelayBasedConfig::default() };
        let mut all = [candidate(0, 1.0, 30), candidate(1, 1.0, 9), candidate(2, 1.0, 1)];
        all[1].five_qi = 80;
        assert_eq!(chosen(SchedulerConfig::DelayBased(config.clone()), all), Some(0), "9 ms is below the threshold");
        all[1].head_of_line = Duration::from_millis(11);
        assert_eq!(chosen(SchedulerConfig::DelayBased(config), all), Some(1));
        assert_eq!(chosen(SchedulerConfig::DelayBased(DelayBasedConfig::default()), all), Some(0));
    }

    #[test]
    fn of_equals_the_first_is_chosen_and_nobody_of_nobody() {
        let all = [candidate(0, 1.0, 1), candidate(1, 1.0, 1), candidate(2, 1.0, 1)];
        for kind in [SchedulerConfig::MaxRate {}, SchedulerConfig::OldestFirst {}] {
            assert_eq!(chosen(kind.clone(), all), Some(0));
            let mut scheduler = Scheduler::new(&kind, Duration::from_micros(500));
            assert!(scheduler.choose(&[0], PASS, |_| None).is_none());
        }
    }
}
