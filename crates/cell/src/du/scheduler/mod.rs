//! Choice of the bearers that are sent something in a slot.
//!
//! A scheduler chooses among the bearers that have something to send; the cell gives the chosen one the resource blocks that
//! its queue fills, and asks once more while blocks are left. Whatever the scheduler, bearers that are owed a guaranteed rate
//! come first.

mod delay_based;
mod max_rate;
mod oldest_first;
mod proportional_fair;
mod round_robin;
mod rule;
mod strict_priority;

use tidemark_core::{ConfigError, Duration, Stream};

use crate::index::DrbIndex;
use tidemark_radio::slots::Slot;

use round_robin::Turns;
pub(crate) use rule::{Candidate, Offer, UplinkOrder};
use rule::{Discipline, Rule};

/// Service of a bearer in a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    pub(crate) drb: DrbIndex,
    /// True if the bearer was chosen among those that are owed a guaranteed rate.
    pub(crate) is_due: bool,
    /// Share of a slot of the kind that carries the most.
    pub(crate) share: f64,
    pub(crate) bytes: u32,
}

/// Makes of the lines below the configuration, its list, its names, and the rule at work.
macro_rules! schedulers {
    ($($name:literal $module:ident::$config:ident as $variant:ident, $doc:literal;)*) => {
        $(pub use $module::$config;)*

        /// A scheduler's configuration.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(tag = "kind"))]
        #[cfg_attr(feature = "serde", serde(expecting = "a table with its `kind`, as in { kind = \"round-robin\" }"))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum SchedulerConfig {
            $(
                #[doc = $doc]
                #[cfg_attr(feature = "serde", serde(rename = $name))]
                $variant($config),
            )*
        }

        impl SchedulerConfig {
            /// Lists every scheduler, with its defaults.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$variant($config::default())),*]
            }

            /// Name in a scenario.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            pub(crate) fn uplink_order(&self) -> UplinkOrder {
                match self {
                    $(Self::$variant(_) => $config::UPLINK,)*
                }
            }

            pub(crate) fn validate(&self) -> Result<(), ConfigError> {
                match self {
                    $(Self::$variant(config) => config.validate(),)*
                }
            }

            fn rule(&self, slot: Duration) -> AnyRule {
                match self {
                    $(Self::$variant(config) => AnyRule::$variant(config.rule(slot)),)*
                }
            }
        }

        /// One of the rules, at work.
        #[derive(Clone, Debug)]
        enum AnyRule {
            $($variant(<$config as Discipline>::Rule),)*
        }

        impl Rule for AnyRule {
            fn choose(&mut self, candidates: impl Iterator<Item = Candidate>) -> Option<Candidate> {
                match self {
                    $(Self::$variant(rule) => rule.choose(candidates),)*
                }
            }
            fn begin_slot(&mut self, slot: Slot) {
                match self {
                    $(Self::$variant(rule) => rule.begin_slot(slot),)*
                }
            }
            fn served(&mut self, drb: DrbIndex, bytes: u32) {
                match self {
                    $(Self::$variant(rule) => rule.served(drb, bytes),)*
                }
            }
        }
    };
}

schedulers! {
    "round-robin" round_robin::RoundRobinConfig as RoundRobin, "In turn.";
    "proportional-fair" proportional_fair::ProportionalFairConfig as ProportionalFair, "By the rate that the channel offers over the rate that was had.";
    "oldest-first" oldest_first::OldestFirstConfig as OldestFirst, "The oldest head of line first.";
    "delay-based" delay_based::DelayBasedConfig as DelayBased, "The oldest head of line first, and before it queues that are too old (Brunello et al.).";
    "strict-priority" strict_priority::StrictPriorityConfig as StrictPriority, "By the priority level of the 5QI; of equals, the oldest head of line first.";
    "max-rate" max_rate::MaxRateConfig as MaxRate, "The best channel first.";
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        Self::RoundRobin(RoundRobinConfig {})
    }
}

/// A scheduler at work: a rule, and the turns by which it goes or decides between equals.
#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
    rule: AnyRule,
    turns: Turns,
    /// Turns among what is due. If that took a turn among all, the turn would go to whoever follows them each time, and never
    /// reach the others.
    due: Turns,
    draws: Stream,
}

impl Scheduler {
    pub(crate) fn new(config: &SchedulerConfig, slot: Duration, draws: Stream) -> Self {
        Self { rule: config.rule(slot), turns: Turns::default(), due: Turns::default(), draws }
    }
    /// The bearer to be sent, out of `drbs`, which are in order; `candidate` gives `None` for those that have nothing to
    /// send, had their share of this slot, or are owed nothing where `only_owed`.
    pub(crate) fn choose(
        &mut self,
        drbs: &[DrbIndex],
        only_owed: bool,
        candidate: impl FnMut(DrbIndex) -> Option<Candidate>,
    ) -> Option<Candidate> {
        let turns = if only_owed { &mut self.due } else { &mut self.turns };
        let chosen = self.rule.choose(turns.order(drbs, &mut self.draws).filter_map(candidate));
        if chosen.is_none() {
            turns.open();
        }
        chosen
    }
    /// A slot begins in which something can be sent. Those in between have passed without.
    pub(crate) fn begin_slot(&mut self, slot: Slot) {
        self.rule.begin_slot(slot);
    }
    /// A bearer was chosen and sent something in the slot.
    pub(crate) fn served(&mut self, Served { drb, is_due, share, bytes }: Served) {
        let turns = if is_due { &mut self.due } else { &mut self.turns };
        turns.served(drb, share);
        self.rule.served(drb, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Key;

    fn candidate(drb: u32, capacity: f64, wait_ms: u64) -> Candidate {
        let head_of_line = Duration::from_millis(wait_ms);
        Candidate { drb: DrbIndex(drb), capacity, head_of_line, priority: 90, five_qi: 9, offer: Offer::Mcs(0) }
    }

    fn scheduler(kind: &SchedulerConfig) -> Scheduler {
        Scheduler::new(kind, Duration::from_micros(500), Stream::new(1, 0, "turn"))
    }
    fn chosen(kind: SchedulerConfig, all: [Candidate; 3]) -> Option<DrbIndex> {
        let mut scheduler = scheduler(&kind);
        let pick = |drb: DrbIndex| Some(all[drb.position()]);
        scheduler.choose(&[0, 1, 2].map(DrbIndex), false, pick).map(|candidate| candidate.drb)
    }

    #[test]
    fn each_scheduler_has_its_own_favourite() {
        let all = [candidate(0, 10.0, 5), candidate(1, 30.0, 1), candidate(2, 20.0, 9)];
        assert_eq!(chosen(SchedulerConfig::RoundRobin(Default::default()), all), Some(DrbIndex(0)));
        assert_eq!(chosen(SchedulerConfig::MaxRate(Default::default()), all), Some(DrbIndex(1)));
        assert_eq!(chosen(SchedulerConfig::OldestFirst(Default::default()), all), Some(DrbIndex(2)));
        let mut important = all;
        important[0].priority = 68;
        assert_eq!(chosen(SchedulerConfig::StrictPriority(Default::default()), important), Some(DrbIndex(0)));
        important[1].priority = 68;
        important[1].head_of_line = Duration::from_millis(6);
        assert_eq!(
            chosen(SchedulerConfig::StrictPriority(Default::default()), important),
            Some(DrbIndex(1)),
            "of equals, the older"
        );
    }

    #[test]
    fn the_delay_based_scheduler_lifts_old_queues_of_the_chosen_5qis_before_older_ones() {
        let config = DelayBasedConfig { lifts: vec![80], ..DelayBasedConfig::default() };
        let mut all = [candidate(0, 1.0, 30), candidate(1, 1.0, 9), candidate(2, 1.0, 1)];
        all[1].five_qi = 80;
        assert_eq!(
            chosen(SchedulerConfig::DelayBased(config.clone()), all),
            Some(DrbIndex(0)),
            "9 ms is below the threshold"
        );
        all[1].head_of_line = Duration::from_millis(11);
        assert_eq!(chosen(SchedulerConfig::DelayBased(config), all), Some(DrbIndex(1)));
        assert_eq!(chosen(SchedulerConfig::DelayBased(DelayBasedConfig::default()), all), Some(DrbIndex(0)));
    }

    #[test]
    fn the_delay_based_scheduler_puts_priority_first_only_by_configuration() {
        let config = DelayBasedConfig { lifts: vec![9], priority_first: true, ..DelayBasedConfig::default() };
        // The web's queue is old enough to be lifted; the videos' are younger and not lifted.
        let mut all = [candidate(0, 1.0, 30), candidate(1, 1.0, 4), candidate(2, 1.0, 2)];
        for video in &mut all[1..] {
            (video.five_qi, video.priority) = (80, 68);
        }
        assert_eq!(chosen(SchedulerConfig::DelayBased(config.clone()), all), Some(DrbIndex(1)), "of videos, the older");
        let delay_alone = DelayBasedConfig { priority_first: false, ..config };
        assert_eq!(chosen(SchedulerConfig::DelayBased(delay_alone), all), Some(DrbIndex(0)));
    }

    #[test]
    fn equals_are_chosen_by_turns_and_nobody_of_nobody() {
        let pick = |drb: DrbIndex| Some(candidate(drb.0, 1.0, 1));
        for kind in SchedulerConfig::all() {
            let mut scheduler = scheduler(&kind);
            let turns = (0..6).filter_map(|slot| {
                scheduler.begin_slot(Slot(slot));
                let drb = scheduler.choose(&[0, 1, 4].map(DrbIndex), false, pick)?.drb;
                scheduler.served(Served { drb, is_due: false, share: 1.0, bytes: 1_000 });
                Some(drb)
            });
            assert_eq!(turns.collect::<Vec<_>>(), [0, 1, 4, 0, 1, 4].map(DrbIndex), "{kind:?}");
            assert!(scheduler.choose(&[DrbIndex(0)], false, |_| None).is_none());
        }
    }

    #[test]
    fn what_is_due_takes_no_turn_among_all_and_goes_by_turns_itself() {
        let mut scheduler = scheduler(&SchedulerConfig::RoundRobin(Default::default()));
        let mut turn = |drbs: &[DrbIndex], is_due| {
            let drb = scheduler.choose(drbs, is_due, |drb| Some(candidate(drb.0, 1.0, 1)))?.drb;
            scheduler.served(Served { drb, is_due, share: 1.0, bytes: 1_000 });
            Some(drb)
        };
        // In each slot one of 1 and 2 is owed something, and then another one has what is left.
        let turns: Vec<_> =
            (0..6).map(|_| (turn(&[1, 2].map(DrbIndex), true), turn(&[3, 4, 5].map(DrbIndex), false))).collect();
        assert_eq!(
            turns,
            [(1, 3), (2, 4), (1, 5), (2, 3), (1, 4), (2, 5)].map(|(a, b)| (Some(DrbIndex(a)), Some(DrbIndex(b))))
        );
    }

    #[test]
    fn every_scheduler_has_a_name_of_its_own_and_is_described() {
        let (all, page) = (SchedulerConfig::all(), include_str!("../../../../../docs/reference/cell.md"));
        for (index, scheduler) in all.iter().enumerate() {
            assert_eq!(scheduler.validate(), Ok(()));
            assert!(all[..index].iter().all(|other| other.name() != scheduler.name()), "{} twice", scheduler.name());
            let row =
                page.lines().find(|line| line.starts_with("| `") && line.contains(&format!("`{}`", scheduler.name())));
            assert!(row.is_some(), "docs/reference/cell.md has no row for `{}`", scheduler.name());
        }
    }
}
