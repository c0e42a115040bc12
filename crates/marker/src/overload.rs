//! Overload protection: flows that ignore marks get drops (RFC 9331 4.3, RFC 9332 4.2.3), and no other flows do.
//!
//! One rule in two stages serves all laws. The first stage watches the DRB, at one report of 16 if reports are frequent. It detects that for
//! some time most packets are marked, or the queue is longer than that of any sender that responds to marks. A longer delay counts more:
//! the time is 4 s at `overload_delay`, and 2 s at twice that delay.
//!
//! Senders that respond can be slow. If the radio falls to a fortieth of its rate, a window waits in the queue for seconds, and each mark
//! with it. But their queue does not grow after the packets under way have come, and it shrinks within a number of round trips. So it is an
//! overload only if the queue grew, or if that many round trips passed.
//!
//! The second stage scores flows, packet by packet, as long as it drops any. A flow may send 8 marked packets in a round trip; a scalable
//! sender in its steady state has 2. Marked packets beyond that are a debt, and a debt above a burst is a probability of a drop. A sender
//! that ignores marks then has the rate of one that responds a quarter as much, and the law keeps the queue at its usual length. Ageing
//! scores of marked bytes are also the queue protection of DOCSIS (RFC 9957 5.2). The rate of a DRB varies more than that of a cable, so
//! here the state of the DRB is checked first.

use tidemark_core::{Duration, Instant, Probability};

/// Name of the rule in the odds of the protection.
pub(crate) const RULE: &str = "unresponsive";
/// Delay below which the protection never acts, with any configuration.
pub(crate) const MIN_DELAY: Duration = Duration::from_millis(50);
/// One report in this many is checked before an overload, if reports are frequent. An overload needs more than one, however rare reports are,
/// because senders respond to the last ones.
pub(crate) const REPORTS: u64 = 16;
/// Reports that come this long after the last are all looked at.
pub(crate) const RARE: Duration = Duration::from_millis(20);
/// Saturated time after which a DRB is overloaded, in seconds at `overload_delay`.
const OVERLOADED_AFTER: f64 = 4.0;
/// Least and greatest multiple of `overload_delay` as which the delay counts. A law may keep the queue short by dropping all flows' packets.
const MIN_WEIGHT: f64 = 0.5;
const MAX_WEIGHT: f64 = 4.0;
/// Largest saturated time that counts. The same time without saturation clears it.
const MAX_SATURATED: f64 = 8.0;
/// Saturated time in which the queue is measured to which senders must respond. Packets that were under way when marks saturated arrive then.
const MEASURED_IN: f64 = 0.5;
/// Multiple of that queue above which it counts as growing. A sender in slow start doubles its window before it learns of a mark.
const GROWN: f64 = 2.0;
/// Fraction of that queue below which senders have responded. BBRv2 goes down to three tenths of its window, and up again, before it stays there.
const ANSWERED: f64 = 0.25;
/// Round trips in a queue that does not grow after which no sender is assumed to respond. Prague takes eleven to a quarter of its window,
/// BBRv2 twenty.
const MAX_ROUNDS: f64 = 32.0;
/// A longer round trip counts as this one, in seconds.
const MAX_ROUND: f64 = 1.0;
/// Largest time between two checks that counts, in seconds: 16 reports of 20 ms. Nothing is known about a silence.
const MAX_STEP: f64 = 0.32;
/// Length of a silence after which the earlier state is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(4);
/// Time without a drop after which the overload is over.
const OVER_AFTER: Duration = Duration::from_secs(4);
/// Round trip without the queue, in seconds: 25 ms, which Prague assumes for all shorter ones.
const PATH: f64 = 0.025;
/// Largest part of the queue's delay that counts as round trip, in seconds. A flow may send 180 kbit/s through any queue, since others may have
/// filled it.
const MAX_DELAY: f64 = 0.5;
/// Bytes of one unit of an account, so that 32 bits last for 20 hours of overload.
const UNIT: f64 = 8.0;
/// Marked units that a flow may send in a round trip: 8 packets of 1500 bytes.
const PER_ROUND: f64 = 8.0 * 1_500.0 / UNIT;
/// Marked packets that a flow may send beyond the allowance: those of a window of 18 until marks have reduced it.
const BURST_PACKETS: u16 = 128;
/// Burst in units.
const BURST: u32 = (BURST_PACKETS as f64 * 1_500.0 / UNIT) as u32;

/// Marked bytes of a flow in overload, in units of 8 bytes. Every flow of the DRB gets the same allowance over time; the account is the
/// total allowance at which all of this flow's bytes are covered. Zero for a flow that sent none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Account(u32);

impl Account {
    /// Account of a flow that sent nothing.
    pub(crate) const EMPTY: Self = Self(0);

    /// Units sent beyond the allowance.
    fn debt(self, allowance: u32) -> u32 {
        // A flow that was silent for 10 hours of overload may seem to be in debt, as deep as any can be.
        if self == Self::EMPTY { 0 } else { (self.0.wrapping_sub(allowance) as i32).clamp(0, 2 * BURST as i32) as u32 }
    }

    fn charge(&mut self, allowance: u32, units: u32) {
        self.0 = allowance.wrapping_add(self.debt(allowance) + units).max(1);
    }
}

/// Stage of the protection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Stage {
    /// Nothing is wrong.
    Calm,
    /// Some of the time was saturated.
    Watching,
    /// Flows are held to their allowance.
    Overloaded,
}

/// State of a DRB when it is checked.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    /// Probability of a mark that the law gave the last packet.
    pub(crate) p: f64,
    /// Bytes queued before a mark; `None` for a law that decides on leaving, whose marks do not wait.
    pub(crate) queued: Option<f64>,
    /// Delay of the queue, in seconds.
    pub(crate) delay: f64,
}

/// Overload protection of a DRB.
#[derive(Debug)]
pub(crate) struct Overload {
    /// `overload_delay` in seconds; `None` without protection.
    limit: Option<f64>,
    /// Saturated time, in seconds at `overload_delay`.
    saturated: f64,
    /// Queued bytes to which senders must respond, and round trips since then.
    to_answer: f64,
    rounds: f64,
    /// True if that queue was longer than `overload_delay`. Senders respond to shorter ones in less time, and a quarter of them is left by chance.
    is_long_to_answer: bool,
    observed: Instant,
    /// End of the overload, unless something is dropped before.
    until: Instant,
    /// Round trip that a flow's allowance is for, in seconds.
    round: f64,
    /// The queue is longer than `overload_delay`.
    is_long: bool,
    /// Units that each flow has been allowed since the DRB was set up, modulo 2^32, with the fraction of the next one.
    allowance: u32,
    fraction: f64,
    /// Account of all flows that are new or not remembered.
    newcomers: Account,
    /// Packets dropped.
    pub(crate) drops: u64,
}

impl Overload {
    /// Protection against queues longer than `delay`; `None` for none.
    pub(crate) fn new(delay: Option<Duration>) -> Self {
        Self {
            limit: delay.map(Duration::as_secs_f64),
            saturated: 0.0,
            to_answer: 0.0,
            rounds: 0.0,
            is_long_to_answer: false,
            observed: Instant::ZERO,
            until: Instant::ZERO,
            round: PATH,
            is_long: false,
            allowance: 1,
            fraction: 0.0,
            newcomers: Account::EMPTY,
            drops: 0,
        }
    }

    /// Forgets the queue. The accounts of flows stay.
    pub(crate) fn clear(&mut self) {
        (self.saturated, self.is_long) = (0.0, false);
    }

    /// Takes another delay from now on.
    pub(crate) fn reconfigure(&mut self, delay: Option<Duration>) {
        self.limit = delay.map(Duration::as_secs_f64);
        self.clear();
    }

    /// Looks for an overload after this many reports.
    pub(crate) fn observe(&mut self, now: Instant, stage: Stage, reports: u64, look: Look) -> Stage {
        // Protection is off: no flow is ever held to an allowance.
        let Some(limit) = self.limit else { return Stage::Calm };
        let since = now.since(self.observed);
        self.observed = now;
        self.is_long = look.delay > limit;
        let step = since.as_secs_f64().min(MAX_STEP);
        // In an overload flows are looked at, not the DRB: it is over when none is dropped for a while.
        if stage == Stage::Overloaded {
            self.round = PATH + look.delay.min(MAX_DELAY);
            self.allow(step);
            // Further ahead it lies only if the clock stepped back.
            self.until = self.until.min(now + OVER_AFTER);
            return if now < self.until { Stage::Overloaded } else { Stage::Calm };
        }
        // More marks than packets without one count as saturated; in a queue above the limit all packets count as marked.
        let excess = 2.0 * if self.is_long { 1.0 } else { look.p } - 1.0;
        // Saturated time begins now: what was before was no concern.
        if stage == Stage::Calm || since > FORGOTTEN_AFTER {
            self.begin(look);
            // One look does not overload a DRB, but the next must know that this one was saturated.
            return if excess > 0.0 { Stage::Watching } else { Stage::Calm };
        }
        // What comes in this time was on its way when marks saturated: it is what senders have to answer.
        if self.saturated < MEASURED_IN {
            self.to_answer = self.to_answer.max(look.queued.unwrap_or_default());
            self.is_long_to_answer |= self.is_long;
        }
        // A queue far above its limit counts for more; time without saturation is forgiven at its own pace.
        let weight = if excess > 0.0 { (look.delay / limit).clamp(MIN_WEIGHT, MAX_WEIGHT) } else { 1.0 };
        let most = OVERLOADED_AFTER * reports as f64 / REPORTS as f64;
        self.saturated = (self.saturated + (excess * step * weight).min(most)).min(MAX_SATURATED);
        // A round trip without saturation asks nothing of anybody.
        if excess > 0.0 {
            self.rounds += step / (PATH + look.delay).min(MAX_ROUND);
        }
        // Senders have answered: what follows is another queue.
        if self.is_long_to_answer && look.queued.is_some_and(|queued| queued < ANSWERED * self.to_answer) {
            self.begin(look);
        }
        // Saturated for long is not enough: senders far away may have answered and not be heard yet.
        if self.saturated > OVERLOADED_AFTER && self.is_unanswered(look) {
            self.until = now + OVER_AFTER;
            self.round = PATH + look.delay.min(MAX_DELAY);
            return Stage::Overloaded;
        }
        // What was saturated a moment ago is watched until it is forgiven.
        if self.saturated > 0.0 { Stage::Watching } else { Stage::Calm }
    }

    /// Begins to count.
    fn begin(&mut self, look: Look) {
        (self.saturated, self.to_answer, self.rounds) = (0.0, look.queued.unwrap_or_default(), 0.0);
        self.is_long_to_answer = self.is_long;
    }

    /// True if senders that respond to marks would have responded by now.
    fn is_unanswered(&self, look: Look) -> bool {
        let grew = |queued| queued > GROWN * self.to_answer;
        !self.is_long_to_answer || self.rounds > MAX_ROUNDS || look.queued.is_none_or(grew)
    }

    /// Probability of a mark that counts for a packet: the law's, or certainty in a queue that is longer than `overload_delay`.
    pub(crate) fn pressure(&self, p: f64) -> f64 {
        if self.is_long { 1.0 } else { p }
    }

    /// Probability of a drop for the `packets`th packet of a flow; `None` for a flow that is not remembered.
    pub(crate) fn odds(&self, flow: Option<&(&mut Account, u16)>) -> Probability {
        let odds = |account: Account| (account.debt(self.allowance) as f64 - f64::from(BURST)) / f64::from(BURST);
        Probability::new(match flow {
            Some((account, packets)) if *packets >= BURST_PACKETS => odds(**account),
            Some((account, _)) => odds(**account).max(odds(self.newcomers)),
            None => odds(self.newcomers),
        })
    }

    /// Adds a packet to its flow's account.
    pub(crate) fn book(
        &mut self,
        now: Instant,
        flow: Option<(&mut Account, u16)>,
        pressure: f64,
        bytes: f64,
        dropped: bool,
    ) {
        let units = (pressure * bytes / UNIT + 0.5) as u32;
        // Flows are free to make up: as long as one is new it has a share of what all new ones may send, and owes it itself besides, dropped
        // or not.
        let is_new = flow.as_ref().is_none_or(|(_, packets)| *packets < BURST_PACKETS);
        if let Some((account, _)) = flow
            && (is_new || !dropped)
        {
            account.charge(self.allowance, units);
        }
        // A drop says that the overload goes on: it is over when there was none for a while.
        if dropped {
            self.drops += 1;
            self.until = now + OVER_AFTER;
        } else if is_new {
            // A packet that was let in used up the newcomers' share; a dropped one did not.
            self.newcomers.charge(self.allowance, units);
        }
    }

    /// Gives each flow its allowance for this many seconds.
    fn allow(&mut self, seconds: f64) {
        self.fraction += PER_ROUND * seconds / self.round;
        let whole = self.fraction as u32;
        self.fraction -= f64::from(whole);
        self.allowance = self.allowance.wrapping_add(whole);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const LIMIT: Duration = Duration::from_millis(250);

    /// Look at a law that decides on leaving.
    fn leaving(p: f64, delay: f64) -> Look {
        Look { p, queued: None, delay }
    }

    /// Time in ms until a queue of these bytes at each time in s is an overload, on a radio of 1 byte a second, with reports every 10 ms.
    fn found_after(queued: impl Fn(f64) -> f64) -> Option<u64> {
        let (mut overload, mut stage) = (Overload::new(Some(LIMIT)), Stage::Calm);
        (0..200_000).step_by(10).find(|millis| {
            let queued = queued(*millis as f64 / 1e3);
            let look = Look { p: f64::from(u8::from(queued > 0.05)), queued: Some(queued), delay: queued };
            stage = overload.observe(Instant::from_millis(*millis), stage, 1, look);
            stage == Stage::Overloaded
        })
    }

    #[test]
    fn a_queue_that_grows_is_an_overload_within_seconds() {
        for (rate, millis) in [(0.5, 2_000), (1.0, 1_420), (9.0, 1_060)] {
            let found = found_after(|seconds| rate * seconds);
            assert!(found.is_some_and(|found| found.abs_diff(millis) < 100), "{rate}: {found:?}");
        }
    }

    #[test]
    fn a_queue_that_nobody_shortens_is_an_overload_after_so_many_round_trips() {
        for (queue, millis) in [(0.25, 4_000), (0.5, 16_800), (1.0, 32_000), (9.0, 32_000)] {
            let found = found_after(|_| queue);
            assert!(found.is_some_and(|found| found.abs_diff(millis) < 100), "{queue} s: {found:?}");
        }
    }

    #[test]
    fn senders_that_shorten_the_queue_however_slowly_are_no_overload() {
        // A round trip is as long as the queue, and marks of the first are answered in the second. CUBIC, and Prague, whose `alpha` begins at 0.
        let cubic = |_: f64| 0.7;
        let prague = |alpha: f64| 1.0 - alpha / 2.0;
        let answers: [(&str, &dyn Fn(f64) -> f64); 2] = [("cubic", &cubic), ("prague", &prague)];
        for (name, left) in answers {
            for first in [0.5, 2.0, 4.0] {
                let found = found_after(|seconds| {
                    let (mut queue, mut alpha, mut at) = (first, 0.0, first);
                    while at < seconds && queue > 0.01 {
                        alpha += (1.0 - alpha) / 16.0;
                        queue *= left(alpha);
                        at += queue;
                    }
                    queue
                });
                assert_eq!(found, None, "{name} from {first} s");
            }
        }
    }

    /// Stages of looks every 250 ms, each at this many bytes queued.
    fn stages(delay: f64, queued: impl IntoIterator<Item = f64>) -> (Overload, Vec<Stage>) {
        let (mut overload, mut stage) = (Overload::new(Some(LIMIT)), Stage::Calm);
        let looks = queued.into_iter().enumerate().map(|(look, queued)| {
            let now = Instant::from_millis(250 * look as u64);
            stage = overload.observe(now, stage, REPORTS, Look { p: 1.0, queued: Some(queued), delay });
            stage
        });
        let stages = looks.collect();
        (overload, stages)
    }

    #[test]
    fn a_queue_grows_once_it_is_twice_as_long_as_in_the_first_half_second() {
        // Two looks are within the first half second that counts, and after the ninth it is more than four.
        let looked = |first: [f64; 3], last: f64| {
            let (_, stages) = stages(0.5, first.into_iter().chain([100.0; 6]).chain([last]));
            assert!(stages[..9].iter().all(|stage| *stage == Stage::Watching), "{stages:?}");
            stages[9]
        };
        for first in [[60.0, 100.0, 150.0], [100.0, 60.0, 150.0]] {
            assert_eq!(looked(first, 200.0), Stage::Watching, "{first:?}");
            assert_eq!(looked(first, 200.5), Stage::Overloaded, "{first:?}");
        }
    }

    #[test]
    fn round_trips_in_a_queue_that_does_not_grow_are_counted() {
        for delay in [1.0 - PATH, 7.0] {
            let (_, stages) = stages(delay, [100.0; 140]);
            assert_eq!(stages.iter().position(|stage| *stage == Stage::Overloaded), Some(129), "{delay} s");
        }
    }

    #[test]
    fn a_queue_below_a_quarter_was_answered_and_the_time_begins_again() {
        let (overload, seen) = stages(0.5, [100.0; 3].into_iter().chain([25.0]));
        assert_eq!((overload.saturated, overload.to_answer, seen[3]), (1.5, 100.0, Stage::Watching));
        let (overload, seen) = stages(0.5, [100.0; 3].into_iter().chain([24.5]));
        assert_eq!((overload.saturated, overload.to_answer, overload.rounds), (0.0, 24.5, 0.0));
        assert_eq!(seen[3], Stage::Calm);
    }

    #[test]
    fn a_short_queue_that_comes_and_goes_is_an_overload_as_one_that_stands() {
        let (_, comes_and_goes) = stages(0.25, (0..40).map(|look| f64::from(look % 2) * 100.0));
        let (_, stands) = stages(0.25, [100.0; 40]);
        let first = |stages: &[Stage]| stages.iter().position(|stage| *stage == Stage::Overloaded);
        assert_eq!((first(&comes_and_goes), first(&stands)), (Some(17), Some(17)));
    }

    #[test]
    fn as_long_without_saturation_as_with_it_is_the_end_but_no_longer_than_8_s() {
        let (mut overload, seen) = stages(0.5, [100.0; 40]);
        assert_eq!((overload.saturated, seen[39]), (MAX_SATURATED, Stage::Watching));
        let mut stage = Stage::Watching;
        let calm = (40..100).find(|look| {
            let now = Instant::from_millis(250 * look);
            stage = overload.observe(now, stage, REPORTS, Look { p: 0.0, queued: Some(100.0), delay: 0.0 });
            stage == Stage::Calm
        });
        assert_eq!(calm, Some(40 + 31));
    }

    /// Reports every 10 ms of a queue of this many seconds that is marked with probability `p`; the time until the overload, in ms.
    fn overloaded_after(p: f64, delay: f64) -> Option<u64> {
        let (mut overload, mut stage) = (Overload::new(Some(LIMIT)), Stage::Calm);
        (0..100_000).step_by(10).find(|millis| {
            stage = overload.observe(Instant::from_millis(*millis), stage, REPORTS, leaving(p, delay));
            stage == Stage::Overloaded
        })
    }

    #[test]
    fn the_longer_the_queue_the_sooner_it_is_an_overload() {
        let is_after = |millis: u64, p, delay| {
            let found = overloaded_after(p, delay);
            assert!(found.is_some_and(|found| found.abs_diff(millis) <= 10), "{p}, {delay} s: {found:?}");
        };
        is_after(4_000, 1.0, 0.25);
        is_after(2_000, 1.0, 0.5);
        // Half and four times of `overload_delay` at most.
        is_after(8_000, 1.0, 0.01);
        is_after(1_000, 1.0, 9.0);
        // Three quarters of the packets marked count half.
        is_after(8_000, 0.75, 0.25);
        // A queue that no sender leaves that answers, whatever the law makes of it.
        is_after(2_000, 0.0, 0.5);
    }

    #[test]
    fn an_overload_takes_more_than_16_reports_however_rare_they_are() {
        for period in [20, 250, 500, 3_000] {
            let (mut overload, mut stage) = (Overload::new(Some(LIMIT)), Stage::Calm);
            let reports = (0..100).take_while(|report| {
                stage = overload.observe(Instant::from_millis(report * period), stage, 1, leaving(1.0, 9.0));
                stage != Stage::Overloaded
            });
            let reports = reports.count();
            assert!(
                (17..=4_000 / 4 / period.min(320) as usize + 17).contains(&reports),
                "{reports} reports every {period} ms"
            );
        }
    }

    #[test]
    fn what_is_marked_on_every_second_packet_is_no_overload() {
        assert_eq!(overloaded_after(0.5, 0.2), None);
        assert_eq!(overloaded_after(0.1, 0.2), None);
    }

    #[test]
    fn time_that_is_not_saturated_takes_off_what_saturated_time_added() {
        let (mut overload, mut stage) = (Overload::new(Some(LIMIT)), Stage::Calm);
        for millis in (0..60_000).step_by(10) {
            let p = f64::from(u8::from(millis % 6_000 < 3_000));
            stage = overload.observe(Instant::from_millis(millis), stage, REPORTS, leaving(p, 0.25));
            assert_ne!(stage, Stage::Overloaded);
        }
    }

    #[test]
    fn a_flow_gets_its_allowance_and_no_more() {
        let mut overload = Overload::new(Some(LIMIT));
        let (mut account, mut sent) = (Account::EMPTY, 0);
        let mut stage = Stage::Overloaded;
        overload.until = Instant::from_millis(4_000);
        // Ten seconds at 1000 packets a second, all marked, with a round trip of 25 + 75 ms: 8 packets in each, and the burst.
        for millis in 0..10_000u64 {
            let now = Instant::from_millis(millis);
            stage = overload.observe(now, stage, 1, leaving(1.0, 0.075));
            let dropped = overload.odds(Some(&(&mut account, u16::MAX))).get() > (millis * 7 % 100) as f64 / 100.0;
            overload.book(now, Some((&mut account, u16::MAX)), 1.0, 1_500.0, dropped);
            sent += u64::from(!dropped);
        }
        let allowed = 10_000 / 100 * 8;
        assert!((allowed..allowed + 2 * u64::from(BURST_PACKETS)).contains(&sent), "{sent} sent, {allowed} allowed");
        assert_eq!(overload.drops, 10_000 - sent);
    }

    #[test]
    fn an_account_outlives_the_wrap_of_the_allowance() {
        for allowance in [1, u32::MAX - 10, u32::MAX] {
            let mut account = Account::EMPTY;
            account.charge(allowance, 100);
            assert_eq!(account.debt(allowance), 100, "{allowance}");
            assert_eq!(account.debt(allowance.wrapping_add(60)), 40);
            assert_eq!(account.debt(allowance.wrapping_add(1_000)), 0);
        }
        // However much is charged, what is owed has a bound.
        let mut account = Account::EMPTY;
        (0..1_000).for_each(|_| account.charge(1, 8_192));
        assert!(account.debt(1) <= 2 * BURST);
    }

    #[test]
    fn without_protection_nothing_is_watched() {
        let mut overload = Overload::new(None);
        let stages = (0..10_000)
            .map(|millis| overload.observe(Instant::from_millis(millis), Stage::Calm, REPORTS, leaving(1.0, 9.0)));
        assert!(stages.into_iter().all(|stage| stage == Stage::Calm));
    }

    /// Looks every 250 ms, which floating point has exactly, at a queue of just `LIMIT`.
    fn look(overload: &mut Overload, stages: &mut (Stage, u64), p: f64) -> Stage {
        stages.1 += 250;
        stages.0 = overload.observe(Instant::from_millis(stages.1), stages.0, REPORTS, leaving(p, 0.25));
        stages.0
    }

    #[test]
    fn four_seconds_are_no_overload_and_anything_more_is_one() {
        let (mut overload, mut stages) = (Overload::new(Some(LIMIT)), (Stage::Calm, 0));
        // The first look begins the time.
        for _ in 0..=16 {
            assert_eq!(look(&mut overload, &mut stages, 1.0), Stage::Watching);
        }
        assert_eq!(look(&mut overload, &mut stages, 1.0), Stage::Overloaded);
        assert_eq!(overload.round, PATH + 0.25);
        // Nothing is dropped: after four seconds it is over.
        for _ in 0..15 {
            assert_eq!(look(&mut overload, &mut stages, 1.0), Stage::Overloaded);
        }
        assert_eq!(look(&mut overload, &mut stages, 1.0), Stage::Calm);
    }

    #[test]
    fn half_of_the_packets_marked_begins_nothing_and_takes_nothing_off() {
        let (mut overload, mut stages) = (Overload::new(Some(LIMIT)), (Stage::Calm, 0));
        assert_eq!(look(&mut overload, &mut stages, 0.5), Stage::Calm);
        for p in [1.0, 1.0, 0.5] {
            assert_eq!(look(&mut overload, &mut stages, p), Stage::Watching);
        }
        // As long without a mark as with them.
        assert_eq!(look(&mut overload, &mut stages, 0.0), Stage::Calm);
    }

    #[test]
    fn a_silence_of_more_than_four_seconds_forgets_what_was_before_it() {
        for (silence, is_forgotten) in [(4_000, false), (4_001, true)] {
            let (mut overload, mut stages) = (Overload::new(Some(LIMIT)), (Stage::Calm, 0));
            (0..10).for_each(|_| _ = look(&mut overload, &mut stages, 1.0));
            stages.1 += silence - 250;
            look(&mut overload, &mut stages, 1.0);
            assert_eq!(overload.saturated == 0.0, is_forgotten, "{silence} ms");
        }
    }

    #[test]
    fn a_handover_and_another_delay_begin_the_time_again() {
        let changes: [fn(&mut Overload); 2] = [Overload::clear, |overload| overload.reconfigure(Some(LIMIT * 2))];
        for change in changes {
            let (mut overload, mut stages) = (Overload::new(Some(LIMIT)), (Stage::Calm, 0));
            overload.observe(Instant::ZERO, Stage::Calm, REPORTS, leaving(1.0, 0.3));
            assert_eq!(overload.pressure(0.25), 1.0, "the queue is long");
            (0..17).for_each(|_| _ = look(&mut overload, &mut stages, 1.0));
            overload.observe(Instant::from_millis(stages.1), stages.0, REPORTS, leaving(1.0, 0.3));
            change(&mut overload);
            assert_eq!(overload.pressure(0.25), 0.25);
            for _ in 0..16 {
                assert_ne!(look(&mut overload, &mut stages, 1.0), Stage::Overloaded);
            }
        }
        let mut overload = Overload::new(Some(LIMIT));
        overload.reconfigure(None);
        assert_eq!(
            overload.observe(Instant::from_millis(9_000), Stage::Watching, REPORTS, leaving(1.0, 9.0)),
            Stage::Calm
        );
    }

    #[test]
    fn odds_grow_with_the_debt_above_a_burst() {
        let mut overload = Overload::new(Some(LIMIT));
        for (bursts, odds) in [(0.5, 0.0), (1.0, 0.0), (1.25, 0.25), (1.5, 0.5), (2.0, 1.0)] {
            let owing = |bursts: f64| {
                let mut account = Account::EMPTY;
                account.charge(overload.allowance, (f64::from(BURST) * bursts) as u32);
                account
            };
            let mut account = owing(bursts);
            overload.newcomers = Account::EMPTY;
            for packets in [0, BURST_PACKETS] {
                assert_eq!(overload.odds(Some(&(&mut account, packets))).get(), odds, "{bursts} bursts");
            }
            // All that are new owe as much: a flow that is none of them pays for itself alone.
            overload.newcomers = account;
            let mut nothing = Account::EMPTY;
            let of = |account: &mut Account, packets| overload.odds(Some(&(account, packets))).get();
            assert_eq!(overload.odds(None).get(), odds);
            assert_eq!(of(&mut nothing, BURST_PACKETS - 1), odds);
            assert_eq!(of(&mut nothing, BURST_PACKETS), 0.0);
        }
    }

    #[test]
    fn a_packet_is_booked_by_its_marked_bytes() {
        // Units of 8 bytes, rounded; whether the flow is new; dropped or not; what it and all new ones owe then.
        for (pressure, bytes, packets, dropped, own, newcomers) in [
            (1.0, 1_504.0, BURST_PACKETS, false, 188, 0),
            (0.5, 1_504.0, BURST_PACKETS, false, 94, 0),
            (0.5, 1_500.0, BURST_PACKETS, false, 94, 0),
            (0.5, 1_495.0, BURST_PACKETS, false, 93, 0),
            (1.0, 1_504.0, BURST_PACKETS, true, 0, 0),
            (1.0, 1_504.0, BURST_PACKETS - 1, false, 188, 188),
            (1.0, 1_504.0, BURST_PACKETS - 1, true, 188, 0),
        ] {
            let (mut overload, mut account) = (Overload::new(Some(LIMIT)), Account::EMPTY);
            overload.book(Instant::ZERO, Some((&mut account, packets)), pressure, bytes, dropped);
            let owed = [account, overload.newcomers].map(|account| account.debt(overload.allowance));
            assert_eq!(owed, [own, newcomers], "{pressure} {bytes} {packets} {dropped}");
            assert_eq!(overload.drops, u64::from(dropped));
        }
    }
}
