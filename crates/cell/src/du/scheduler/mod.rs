//! Choice of the UEs to which a slot sends.
//!
//! The rule of a scheduler ranks the UEs that have something to send. The highest is given a resource block group and is ranked again,
//! as long as groups are left. With any scheduler, UEs with a bearer that is owed a guaranteed rate come first. When a block is filled,
//! logical channel prioritisation decides how much of each bearer is sent.

mod delay_based;
mod max_rate;
mod oldest_first;
mod proportional_fair;
mod round_robin;
mod rule;
mod sharing;
mod strict_priority;

use tidemark_core::{ConfigError, Duration, Stream};

use super::shares::Shares;
use crate::output::UeId;
use tidemark_radio::slots::Slot;

pub(crate) use rule::{Candidate, Offer, Rank, UplinkOrder};
use rule::{Discipline, Rule};
use sharing::Sharing;
pub(crate) use sharing::{Contender, Need, Remaining};

/// Makes of the lines below the configuration, its list, its names, and the rule at work.
// `"max-rate" max_rate::MaxRateConfig as MaxRate, "The best channel first.";` becomes
//
//     pub use max_rate::MaxRateConfig;
//     #[serde(tag = "kind")]
//     pub enum SchedulerConfig { #[serde(rename = "max-rate")] MaxRate(MaxRateConfig) }
//     impl SchedulerConfig {
//         pub fn all() -> Vec<Self> { vec![Self::MaxRate(MaxRateConfig::default())] }
//         pub fn name(&self) -> &'static str { match self { Self::MaxRate(_) => "max-rate" } }
//         pub(crate) fn uplink_order(&self) -> UplinkOrder { match self { Self::MaxRate(_) => MaxRateConfig::UPLINK } }
//     }
//     enum AnyRule { MaxRate(<MaxRateConfig as Discipline>::Rule) }
//     impl Rule for AnyRule { fn begin_slot(&mut self, slot: Slot) { match self { Self::MaxRate(rule) => rule.begin_slot(slot) } } }
macro_rules! schedulers {
    ($($name:literal $module:ident::$config:ident as $variant:ident, $doc:literal;)*) => {
        $(pub use $module::$config;)*

        /// Configuration of a scheduler.
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
            /// Lists every scheduler with its defaults.
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

        impl AnyRule {
            /// Hands out what is left of a slot. The rule is looked up once a slot and not at each rank, since ranking is done for each
            /// resource block group.
            fn hand_out(
                &mut self,
                sharing: &mut Sharing,
                turns: &mut Shares,
                contenders: &mut [Contender],
                remaining: &mut Remaining,
                need: impl FnMut(&Candidate, u32) -> Option<Need>,
            ) {
                match self {
                    $(Self::$variant(rule) => sharing.hand_out((rule, turns), contenders, remaining, need),)*
                }
            }
        }

        impl Rule for AnyRule {
            fn rank(&mut self, candidate: &Candidate, given: f64) -> Rank {
                match self {
                    $(Self::$variant(rule) => rule.rank(candidate, given),)*
                }
            }
            fn begin_slot(&mut self, slot: Slot) {
                match self {
                    $(Self::$variant(rule) => rule.begin_slot(slot),)*
                }
            }
            fn served(&mut self, ue: UeId, bytes: u32) {
                match self {
                    $(Self::$variant(rule) => rule.served(ue, bytes),)*
                }
            }
        }
    };
}

schedulers! {
    "round-robin" round_robin::RoundRobinConfig as RoundRobin, "UEs in turn.";
    "proportional-fair" proportional_fair::ProportionalFairConfig as ProportionalFair, "By the rate that the channel offers, relative to the past rate.";
    "oldest-first" oldest_first::OldestFirstConfig as OldestFirst, "The oldest head of line first.";
    "delay-based" delay_based::DelayBasedConfig as DelayBased, "Queues older than a threshold first, then the oldest head of line (Brunello et al.).";
    "strict-priority" strict_priority::StrictPriorityConfig as StrictPriority, "By the priority level of the 5QI; of equals, the oldest head of line first.";
    "max-rate" max_rate::MaxRateConfig as MaxRate, "The best channel first.";
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        Self::ProportionalFair(ProportionalFairConfig::default())
    }
}

/// A scheduler at work: a rule, and the turns that decide between UEs of equal rank.
#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
    rule: AnyRule,
    sharing: Sharing,
    turns: Shares,
    /// Turns among what is due. If that took a turn among all, the turn would go to whoever follows them each time, and never
    /// reach the others.
    due: Shares,
    draws: Stream,
}

impl Scheduler {
    /// A scheduler of slots of this length, of `prbs` resource blocks that are handed out in groups of `group`.
    pub(crate) fn new(config: &SchedulerConfig, slot: Duration, (prbs, group): (u32, u32), draws: Stream) -> Self {
        // A UE that had nothing to send for a moment may have a slot before others: a turn of round robin by whole slots, which whoever
        // has a queue waited for there as well.
        let turns = Shares::new(Sharing::whole(prbs), Sharing::whole(prbs));
        Self { rule: config.rule(slot), sharing: Sharing::new(prbs, group), due: turns.clone(), turns, draws }
    }
    /// Hands out what is left of a slot. Contenders are in the order of UEs; with `is_due` they are those that are owed a guaranteed rate.
    pub(crate) fn share(
        &mut self,
        contenders: &mut [Contender],
        remaining: &mut Remaining,
        is_due: bool,
        need: impl FnMut(&Candidate, u32) -> Option<Need>,
    ) {
        // What is due takes no turn among all.
        let turns = if is_due { &mut self.due } else { &mut self.turns };
        turns.begin(contenders.len(), |position| contenders[position].candidate.ue, &mut self.draws);
        self.rule.hand_out(&mut self.sharing, turns, contenders, remaining, need);
    }
    /// Ranks a UE by a bearer, before it is given anything.
    pub(crate) fn rank(&mut self, candidate: &Candidate) -> Rank {
        self.rule.rank(candidate, 0.0)
    }
    /// Begins a slot in which something can be sent. In the slots since the last such slot nothing could be sent.
    pub(crate) fn begin_slot(&mut self, slot: Slot) {
        self.rule.begin_slot(slot);
    }
    /// Counts bytes that a UE was sent in the slot.
    pub(crate) fn served(&mut self, ue: UeId, bytes: u32) {
        self.rule.served(ue, bytes);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Resource blocks of the carrier and of a group.
    const CARRIER: (u32, u32) = (51, 4);

    fn candidate(ue: u32, capacity: f64, wait_ms: u64) -> Candidate {
        let head_of_line = Duration::from_millis(wait_ms);
        Candidate { ue: UeId(ue), capacity, head_of_line, priority: 90, five_qi: 9, offer: Offer::Mcs(0) }
    }
    fn equals(ues: u32) -> Vec<Candidate> {
        (0..ues).map(|ue| candidate(ue, 1_000.0, 1)).collect()
    }

    fn scheduler(kind: &SchedulerConfig) -> Scheduler {
        Scheduler::new(kind, Duration::from_micros(500), CARRIER, Stream::new(1, 0, "turn"))
    }
    /// A slot with candidates that need this many resource blocks each; what each is given.
    fn slot(scheduler: &mut Scheduler, all: &[Candidate], needs: &[u32], prbs: u32, blocks: u32) -> Vec<u32> {
        let mut contenders: Vec<_> =
            all.iter().map(|candidate| Contender::new(*candidate, Contender::weight(1.0))).collect();
        let mut remaining = Remaining { prbs, blocks };
        scheduler.share(&mut contenders, &mut remaining, false, |candidate, free| {
            let position = all.iter().position(|other| other.ue == candidate.ue)?;
            (free > 0).then_some(Need { least: 1, all: needs[position] })
        });
        let given: Vec<_> = contenders.iter().map(|contender| contender.prbs).collect();
        assert_eq!(given.iter().sum::<u32>() + remaining.prbs, prbs);
        given
    }
    /// UE that goes first where each could use the whole carrier.
    fn first(kind: SchedulerConfig, all: [Candidate; 3]) -> u32 {
        let given = slot(&mut scheduler(&kind), &all, &[51; 3], 4, 16);
        given.iter().position(|prbs| *prbs > 0).unwrap() as u32
    }

    #[test]
    fn each_scheduler_has_its_own_favourite() {
        let all = [candidate(0, 10.0, 5), candidate(1, 30.0, 1), candidate(2, 20.0, 9)];
        assert_eq!(first(SchedulerConfig::RoundRobin(Default::default()), all), 0);
        assert_eq!(first(SchedulerConfig::MaxRate(Default::default()), all), 1);
        assert_eq!(first(SchedulerConfig::ProportionalFair(Default::default()), all), 1);
        assert_eq!(first(SchedulerConfig::OldestFirst(Default::default()), all), 2);
        let mut important = all;
        important[0].priority = 68;
        assert_eq!(first(SchedulerConfig::StrictPriority(Default::default()), important), 0);
        important[1].priority = 68;
        important[1].head_of_line = Duration::from_millis(6);
        assert_eq!(first(SchedulerConfig::StrictPriority(Default::default()), important), 1, "of equals, the older");
    }

    #[test]
    fn the_delay_based_scheduler_lifts_old_queues_of_the_chosen_5qis_before_older_ones() {
        let config = DelayBasedConfig { lifts: vec![80], ..DelayBasedConfig::default() };
        let mut all = [candidate(0, 1.0, 30), candidate(1, 1.0, 9), candidate(2, 1.0, 1)];
        all[1].five_qi = 80;
        assert_eq!(first(SchedulerConfig::DelayBased(config.clone()), all), 0, "9 ms is below the threshold");
        all[1].head_of_line = Duration::from_millis(11);
        assert_eq!(first(SchedulerConfig::DelayBased(config), all), 1);
        assert_eq!(first(SchedulerConfig::DelayBased(DelayBasedConfig::default()), all), 0);
    }

    #[test]
    fn the_delay_based_scheduler_puts_priority_first_only_by_configuration() {
        let config = DelayBasedConfig { lifts: vec![9], priority_first: true, ..DelayBasedConfig::default() };
        // The web's queue is old enough to be lifted; the videos' are younger and not lifted.
        let mut all = [candidate(0, 1.0, 30), candidate(1, 1.0, 4), candidate(2, 1.0, 2)];
        for video in &mut all[1..] {
            (video.five_qi, video.priority) = (80, 68);
        }
        assert_eq!(first(SchedulerConfig::DelayBased(config.clone()), all), 1, "of videos, the older");
        let delay_alone = DelayBasedConfig { priority_first: false, ..config };
        assert_eq!(first(SchedulerConfig::DelayBased(delay_alone), all), 0);
    }

    #[test]
    fn equals_share_a_slot_by_groups_under_every_scheduler() {
        for kind in SchedulerConfig::all() {
            let mut scheduler = scheduler(&kind);
            scheduler.begin_slot(Slot(0));
            // Thirteen groups, the last of which is smaller.
            assert_eq!(slot(&mut scheduler, &equals(3), &[51; 3], 51, 16), [19, 16, 16], "{kind:?}");
            assert_eq!(slot(&mut scheduler, &[], &[], 51, 16), [0; 0]);
        }
    }

    #[test]
    fn a_group_is_cut_to_what_its_ue_needs_and_the_others_have_the_rest() {
        let mut scheduler = scheduler(&SchedulerConfig::RoundRobin(Default::default()));
        assert_eq!(slot(&mut scheduler, &equals(3), &[6, 51, 1], 51, 16), [6, 44, 1]);
    }

    #[test]
    fn no_more_ues_than_the_limit_have_a_slot_and_the_others_are_next() {
        let mut scheduler = scheduler(&SchedulerConfig::RoundRobin(Default::default()));
        assert_eq!(slot(&mut scheduler, &equals(4), &[51; 4], 51, 2), [27, 24, 0, 0]);
        assert_eq!(slot(&mut scheduler, &equals(4), &[51; 4], 51, 2), [0, 0, 27, 24]);
        // Who is first is drawn once all had what they needed.
        assert_eq!(slot(&mut scheduler, &equals(2), &[1; 2], 51, 2), [1, 1]);
        let given = slot(&mut scheduler, &equals(4), &[1; 4], 51, 3);
        let left_out = given.iter().position(|prbs| *prbs == 0).unwrap();
        assert_eq!(slot(&mut scheduler, &equals(4), &[51; 4], 51, 1)[left_out], 51);
    }

    /// Until a UE has no more to send, whoever ranks highest by its age or its channel has all of the slot.
    #[test]
    fn a_rank_that_does_not_change_has_all_it_needs() {
        let all = [candidate(0, 10.0, 5), candidate(1, 30.0, 1), candidate(2, 20.0, 9)];
        let given = |kind| slot(&mut scheduler(&kind), &all, &[30; 3], 51, 16);
        assert_eq!(given(SchedulerConfig::MaxRate(Default::default())), [0, 30, 21]);
        assert_eq!(given(SchedulerConfig::OldestFirst(Default::default())), [21, 0, 30]);
    }

    #[test]
    fn what_is_due_takes_no_turn_among_all_and_goes_by_turns_itself() {
        let mut scheduler = scheduler(&SchedulerConfig::RoundRobin(Default::default()));
        let mut whole = |ues: &[u32], is_due| {
            let candidates = ues.iter().map(|ue| Contender::new(candidate(*ue, 1.0, 1), Contender::weight(1.0)));
            let (mut contenders, mut remaining) = (candidates.collect::<Vec<_>>(), Remaining { prbs: 51, blocks: 1 });
            scheduler.share(&mut contenders, &mut remaining, is_due, |_, _| Some(Need { least: 1, all: 100 }));
            contenders.iter().find(|contender| contender.prbs > 0).map(|contender| contender.candidate.ue.0)
        };
        // In each slot one of 1 and 2 is owed something, and then another one has what is left.
        let turns: Vec<_> = (0..6).map(|_| (whole(&[1, 2], true), whole(&[3, 4, 5], false))).collect();
        assert_eq!(turns, [(1, 3), (2, 4), (1, 5), (2, 3), (1, 4), (2, 5)].map(|(a, b)| (Some(a), Some(b))));
    }

    /// A UE that asks for less than an equal share has all that it asks for, in bursts that are more than its share of a slot too.
    #[test]
    fn bursts_that_ask_for_less_than_a_share_are_served_whatever_others_have() {
        let mut scheduler = scheduler(&SchedulerConfig::RoundRobin(Default::default()));
        let (all, mut queue, mut longest) = (equals(4), 0, 0);
        for slots in 0..1_000 {
            // 10 a slot, which come in bursts, of 12.75 that are its share.
            queue += if slots % 4 == 0 { 40 } else { 0 };
            let given = match queue {
                0 => slot(&mut scheduler, &all[1..], &[51; 3], 51, 16),
                _ => slot(&mut scheduler, &all, &[queue, 51, 51, 51], 51, 16),
            };
            queue -= if queue > 0 { given[0] } else { 0 };
            longest = longest.max(if slots < 20 { 0 } else { queue });
        }
        // A burst is less than a slot: once as much has been put by, it is through at once.
        assert_eq!(longest, 0);
    }

    /// Slots carry less by turns, as special slots do, and the turns of two UEs have the same period. A third one asks for little in every
    /// slot.
    #[test]
    fn who_asks_for_little_in_every_slot_spoils_nobodys_turn() {
        let mut scheduler = scheduler(&SchedulerConfig::RoundRobin(Default::default()));
        let mut had = [0; 3];
        for number in 0..1_000 {
            let given = slot(&mut scheduler, &equals(3), &[1, 51, 51], if number % 2 == 0 { 51 } else { 20 }, 2);
            had.iter_mut().zip(given).for_each(|(had, given)| *had += given);
        }
        assert_eq!(had[0], 1_000);
        assert!(had[1].abs_diff(had[2]) <= 51, "{had:?}");
    }

    proptest! {
        /// No more is handed out than there is, and nothing is idle while somebody needs it and may have a block.
        #[test]
        fn a_slot_is_handed_out_as_far_as_it_is_needed(
            kind in prop::sample::select(SchedulerConfig::all()),
            needs in prop::collection::vec(0u32..60, 1..40),
            capacities in prop::collection::vec(1.0f64..5_000.0, 40),
            prbs in 0u32..=51,
            blocks in 0u32..20,
        ) {
            let mut scheduler = scheduler(&kind);
            let all: Vec<_> = (0..).zip(&needs).map(|(ue, need)| candidate(ue, capacities[ue as usize], (*need).into())).collect();
            for number in 0..20 {
                scheduler.begin_slot(Slot(number));
                let given = slot(&mut scheduler, &all, &needs, prbs, blocks);
                for (ue, given) in all.iter().zip(&given) {
                    scheduler.served(ue.ue, *given * 70);
                }
                prop_assert!(given.iter().zip(&needs).all(|(given, need)| given <= need));
                let served = given.iter().filter(|given| **given > 0).count() as u32;
                prop_assert!(served <= blocks);
                let (handed, wanted) = (given.iter().sum::<u32>(), needs.iter().sum::<u32>());
                let waits = given.iter().zip(&needs).any(|(given, need)| given < need && (*given > 0 || served < blocks));
                prop_assert!(handed == prbs.min(wanted) || !waits, "{:?} of {:?}", given, needs);
            }
        }
    }

    #[test]
    fn every_scheduler_has_a_name_of_its_own_and_is_described() {
        let (all, page) = (SchedulerConfig::all(), include_str!("../../../../../docs/concepts/cell.md"));
        for (index, scheduler) in all.iter().enumerate() {
            assert_eq!(scheduler.validate(), Ok(()));
            assert!(all[..index].iter().all(|other| other.name() != scheduler.name()), "{} twice", scheduler.name());
            let row =
                page.lines().find(|line| line.starts_with("| `") && line.contains(&format!("`{}`", scheduler.name())));
            assert!(row.is_some(), "docs/concepts/cell.md has no row for `{}`", scheduler.name());
        }
    }
}
