//! CoDel on packets that leave the queue. Once the sojourn has stayed above `target` (5 ms) for `interval` (100 ms), a
//! packet is dropped, and the next one after `interval / sqrt(count)`.
//!
//! ```text
//! next drop = last drop + interval / sqrt(count)
//! ```
//!
//! A queue of at most `max_packet` (1514 B, one full frame) does not count. While a queue is held at one length, the share
//! grows with time and not with the length.
//!
//! ![codel](laws/codel.svg)
//!
//! Source: RFC 8289 5; TC-RAN puts it between SDAP and PDCP. In RLC's queue a drop leaves a hole in PDCP's SNs, for which
//! the receiver waits. `rlc.numbering = "on-leaving"` with `rlc.paced` is TC-RAN's queue above PDCP
//! ([RLC and PDCP](../concepts/cell.md#rlc-and-pdcp)).

use tidemark_core::{Bounded, ConfigError, Duration, Instant, Range, bounds};

use crate::law::interface::{Configured, Decides, Departure, Law, Odds, Properties};
use crate::require::require;
use crate::verdict::Class;

/// The laws `codel`, which drops, and `ecn-codel`, which marks ECT packets and drops others.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<CodelConfig>))]
pub struct CodelConfig {
    /// Acceptable sojourn time. Default: 5 ms.
    pub target: Duration,
    /// Time for which the target may be exceeded before the law acts. Default: 100 ms.
    pub interval: Duration,
    /// Size of a queue up to which the law never acts. Default: 1514 bytes, one full frame.
    pub max_packet: tidemark_core::Bytes,
}

impl Default for CodelConfig {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            max_packet: tidemark_core::Bytes(1_514),
        }
    }
}

bounds! { CodelConfig {
    target: Range::above(Duration::ZERO),
    ..interval, max_packet
} }

impl CodelConfig {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        require(self.interval >= self.target, "interval", "must be at least `target`")
    }
}

/// The rule that signals: RFC 8289 5's control law.
const RULE: &str = "control law";

/// The law `codel`.
pub(crate) struct Codel(ControlLaw);

impl Configured for Codel {
    type Config = CodelConfig;

    fn new(config: &CodelConfig) -> Self {
        Self(ControlLaw::new(config, false))
    }
}

impl Law for Codel {
    const PROPERTIES: Properties = Properties {
        name: "codel",
        acts_on: "time that the sojourn stays above a target",
        signals_to: "all, by drops",
        decides: Decides::OnLeaving,
        looks_at_head: false,
        marks_reported: false,
        marks: false,
    };

    fn leave(&mut self, departure: &Departure) -> Odds {
        self.0.leave(departure)
    }
}

/// State of RFC 8289 5, and what it signals with.
///
/// The caller asks once for each packet that leaves, and after a drop asks again for the next at the same time. This repetition is
/// the inner loop of RFC 8289.
pub(crate) struct ControlLaw {
    config: CodelConfig,
    ecn: bool,
    count: u32,
    last_count: u32,
    dropping: bool,
    first_above: Option<Instant>,
    drop_next: Instant,
    /// A packet was dropped within the dropping state: if the next one is over the target too, `drop_next` moves on.
    dropped: bool,
}

impl ControlLaw {
    pub(crate) fn new(config: &CodelConfig, ecn: bool) -> Self {
        Self {
            config: *config,
            ecn,
            count: 0,
            last_count: 0,
            dropping: false,
            first_above: None,
            drop_next: Instant::ZERO,
            dropped: false,
        }
    }

    pub(crate) fn leave(&mut self, departure: &Departure) -> Odds {
        // Below its target for an interval or dropping already: CoDel's one question (RFC 8289 5).
        if !self.is_due(departure) {
            return Odds::NONE;
        }
        // A packet without ECN can't carry the mark: its loss is the signal (RFC 3168 5).
        if self.ecn && departure.class != Class::NotEct { Odds::mark(RULE, 1.0) } else { Odds::drop(RULE, 1.0) }
    }

    /// RFC 8289 5: true if this packet is to be dropped or marked.
    fn is_due(&mut self, departure: &Departure) -> bool {
        let now = departure.now;
        // Neither lies further ahead than an interval, unless the clock stepped back.
        let latest = now + self.config.interval;
        self.first_above = self.first_above.map(|at| at.min(latest));
        self.drop_next = self.drop_next.min(latest);
        let over = self.is_over(departure);
        // While signals go on, their times are set by the control law and not by an interval above the target.
        if self.dropping {
            let dropped = core::mem::take(&mut self.dropped);
            // One packet below the target is enough to stop: the queue has drained to where it should be.
            if !over {
                self.dropping = false;
                return false;
            }
            // RFC 8289 sets the next time only if the packet behind the dropped one is over the target too: this is that packet.
            if dropped {
                self.drop_next = self.control_law(self.drop_next);
            }
            // Between two drops the sender has time to answer: that time shrinks with their number.
            if now < self.drop_next {
                return false;
            }
            self.count += 1;
            // A marked packet leaves and no other is looked at, so that the next time is set at once, as in Linux's CoDel.
            if self.ecn && departure.class != Class::NotEct {
                self.drop_next = self.control_law(self.drop_next);
            } else {
                self.dropped = true;
            }
            return true;
        }
        // Every burst is over the target for a moment: only what lasts for an interval is a queue to act on.
        if !over {
            return false;
        }
        self.dropping = true;
        // Soon after the last dropping state, resume at the rate that it ended with.
        let delta = self.count - self.last_count;
        let recent = now.since(self.drop_next) < self.config.interval * 16;
        // A long pause ends what was learned of the load, and the count begins anew.
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
        true
    }

    /// True once the sojourn has stayed above the target for an interval.
    fn is_over(&mut self, departure: &Departure) -> bool {
        // Behind the packet there is less than a frame: a drop would leave the link idle.
        if departure.sojourn < self.config.target || departure.behind <= self.config.max_packet {
            self.first_above = None;
            return false;
        }
        // A standing queue is one that was above the target for a whole interval (RFC 8289 3.1).
        match self.first_above {
            None => {
                self.first_above = Some(departure.now + self.config.interval);
                false
            }
            Some(first_above) => departure.now >= first_above,
        }
    }

    fn control_law(&self, from: Instant) -> Instant {
        from + self.config.interval.mul_f64(1.0 / libm::sqrt(f64::from(self.count)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use tidemark_core::{Bytes, Stream};

    fn departure(micros: u64, sojourn: Duration, behind: u64, class: Class) -> Departure {
        Departure { now: Instant::from_nanos(micros * 1_000), sojourn, behind: Bytes(behind), class }
    }

    /// RFC 8289's dequeue routine over a queue of its own, in milliseconds and floating point: an independent statement.
    #[derive(Default)]
    struct Reference {
        first_above_time: f64,
        drop_next: f64,
        count: u32,
        lastcount: u32,
        dropping: bool,
    }
    impl Reference {
        fn ok_to_drop(&mut self, now: f64, packet: Option<&(f64, u64)>, bytes_behind: u64) -> bool {
            let Some((enqueued, _)) = packet else {
                self.first_above_time = 0.0;
                return false;
            };
            if now - enqueued < 5.0 || bytes_behind <= 1514 {
                self.first_above_time = 0.0;
                false
            } else if self.first_above_time == 0.0 {
                self.first_above_time = now + 100.0;
                false
            } else {
                now >= self.first_above_time
            }
        }
        /// Takes the next packet to send off the queue; gives how many were dropped before it.
        fn dequeue(&mut self, now: f64, queue: &mut Vec<(f64, u64)>) -> usize {
            let mut drops = 0;
            let pull = |this: &mut Self, queue: &mut Vec<(f64, u64)>| {
                let packet = if queue.is_empty() { None } else { Some(queue.remove(0)) };
                let behind = queue.iter().map(|(_, size)| size).sum();
                let ok = this.ok_to_drop(now, packet.as_ref(), behind);
                (packet, ok)
            };
            let (mut packet, ok) = pull(self, queue);
            if self.dropping {
                if !ok {
                    self.dropping = false;
                }
                while self.dropping && now >= self.drop_next {
                    drops += 1;
                    self.count += 1;
                    let (next, ok) = pull(self, queue);
                    packet = next;
                    if ok {
                        self.drop_next += 100.0 / f64::from(self.count).sqrt();
                    } else {
                        self.dropping = false;
                    }
                }
            } else if ok {
                drops += 1;
                packet = pull(self, queue).0;
                self.dropping = true;
                let delta = self.count - self.lastcount;
                self.count = if delta > 1 && now - self.drop_next < 1600.0 { delta } else { 1 };
                self.lastcount = self.count;
                self.drop_next = now + 100.0 / f64::from(self.count).sqrt();
            }
            let _ = packet;
            drops
        }
    }

    #[test]
    fn codel_agrees_with_rfc_8289_over_random_queues() {
        let mut load = Stream::new(5, 0, "load");
        let (mut total, mut resumed) = (0, 0);
        for run in 0..20 {
            let mut law = ControlLaw::new(&CodelConfig::default(), false);
            let mut reference = Reference::default();
            let mut queue: Vec<(f64, u64)> = Vec::new();
            let mut mirror: Vec<(f64, u64)> = Vec::new();
            for tick in 0..20_000u64 {
                let now = tick as f64;
                // Load swings about the service of one packet a millisecond.
                let swing = if (tick / (1_000 + 100 * run)) % 2 == 0 { 1.15 } else { 0.9 };
                let arrivals = (load.uniform() * 2.0 * swing + 0.5) as usize;
                for _ in 0..arrivals {
                    queue.push((now, 1_500));
                    mirror.push((now, 1_500));
                }
                let expected = reference.dequeue(now, &mut mirror);
                let mut drops = 0;
                while !queue.is_empty() {
                    let (enqueued, _) = queue.remove(0);
                    let behind = queue.len() as u64 * 1_500;
                    let sojourn = Duration::from_millis((now - enqueued) as u64);
                    // Whoever it is from: the law drops.
                    let class = [Class::NotEct, Class::Classic, Class::L4s][run as usize % 3];
                    let odds = law.leave(&departure(tick * 1_000, sojourn, behind, class));
                    if odds.drop.get() == 0.0 {
                        break;
                    }
                    drops += 1;
                }
                assert_eq!(drops, expected, "run {run}, {tick} ms");
                assert_eq!(queue.len(), mirror.len());
                total += drops;
                resumed += u32::from(reference.dropping && reference.lastcount > 1);
            }
        }
        assert!(total > 500 && resumed > 100, "{total} drops, {resumed} in a resumed state");
    }

    #[test]
    fn ecn_codel_marks_at_the_inverse_square_root() {
        // Always over the target: the first mark after 100 ms, then after another 100, 70.7, 57.7, 50 ms...
        let mut law = ControlLaw::new(&CodelConfig::default(), true);
        let marks: Vec<u64> = (0..500_000)
            .step_by(100)
            .filter(|micros| {
                law.leave(&departure(*micros, Duration::from_millis(20), 100_000, Class::L4s))
                    == Odds::mark("control law", 1.0)
            })
            .map(|micros| micros / 1_000)
            .collect();
        assert_eq!(marks, [100, 200, 270, 328, 378, 423, 464]);
    }

    #[test]
    fn a_queue_of_one_full_frame_is_left_alone() {
        for (behind, signals) in [(1_514, 0), (1_515, 7)] {
            let mut law = ControlLaw::new(&CodelConfig::default(), true);
            let at = |micros| departure(micros, Duration::from_millis(20), behind, Class::L4s);
            let signalled = (0..500_000).step_by(100).filter(|micros| law.leave(&at(*micros)) != Odds::NONE);
            assert_eq!(signalled.count(), signals, "{behind} bytes");
        }
    }

    #[test]
    fn a_mark_sets_the_next_time_and_a_drop_only_before_another_packet_over_the_target() {
        // Signals at 100, 200 and 270.7 ms, then one below the target. The next time would be 328.4 ms, and 16 intervals later is 1928.4.
        for (ecn, second) in [(true, 1_970), (false, 2_000)] {
            let mut law = ControlLaw::new(&CodelConfig::default(), ecn);
            let mut signals = 0;
            let mut at = |tenths: u64| {
                let below = signals == 3 && tenths < 5_000;
                let sojourn = Duration::from_millis(if below { 1 } else { 20 });
                let odds = law.leave(&departure(tenths * 100, sojourn, 100_000, Class::L4s));
                signals += u32::from(odds != Odds::NONE);
                odds != Odds::NONE
            };
            assert_eq!((0..5_000).filter(|tenths| at(*tenths)).count(), 3);
            // Over the target for an interval by 1900 ms: a mark goes on at the rate of two, since 1928.4 is still to come.
            let later: Vec<_> = (18_000..20_500).filter(|tenths| at(*tenths)).map(|tenths| tenths / 10).collect();
            assert_eq!(later[..2], [1_900, second], "ECN {ecn}");
        }
    }

    #[test]
    fn ecn_codel_drops_what_it_must_not_mark() {
        let mut law = ControlLaw::new(&CodelConfig::default(), true);
        law.leave(&departure(0, Duration::from_millis(20), 100_000, Class::NotEct));
        let odds = law.leave(&departure(100_000, Duration::from_millis(20), 100_000, Class::NotEct));
        assert_eq!(odds, Odds::drop("control law", 1.0));
    }
}
