//! DualPI2 on the single queue of a DRB: the signalling of RFC 9332 without its second queue. Marks are set at PDCP, on the
//! newest packet, from the age of the oldest.
//!
//! ```text
//! p' += alpha (delay - target) + beta (delay - previous delay)      every `t_update`
//! p_classic = p'^2,   p_l4s = max( native ramp, coupling p' )
//! ```
//!
//! Where `coupling p'` exceeds 1 marks no longer suffice: every class is dropped with `p'^2`, and classic packets are not
//! marked any more. A queue held above its target drives `p'` there, which is why drops take over in the picture.
//!
//! ![dualpi2](laws/dualpi2.svg)
//!
//! Source: RFC 9332 2.5 and appendix A, and Linux' `sch_dualpi2` where they differ. `DualQueue` has both queues, with
//! weighted or time-shifted scheduling, for links on a wire. From the RFC are `target` = 15 ms, `alpha` = 0.16 Hz and
//! `coupling` = 2, its `k`. From Linux are `t_update` = 16 ms and `beta` = 3.2 Hz; the RFC's formula gives 3.0. L4Span is
//! compared with this law (section 6.3.1).
//!
//! - While less than two packets of 1500 bytes are queued `p'` applies to no packet, as in Linux: a drop would leave the
//!   link idle. The RFC has no such rule. On a DRB the two packets are those that the marker estimates in front.
//! - The native ramp is RFC 9332's `laqm`, from `min_th` = 800 us over `range` = 400 us. Linux has a step at 1 ms:
//!   `min_th = "1 ms"` with `range = "0 s"`.
//! - ECT(0) is marked and not dropped, unless `mark_classic` is off.
//! - A `DualQueue`'s weighted scheduler has a credit that is charged for what is sent and not for drops. It begins anew
//!   once both queues are empty.
//!
//! Marks are random, as in Linux. `marks = "regular"` is the RFC's `recur()`: likelihoods add up packet by packet, for L4S
//! packets and for all others apart. Whenever the sum exceeds 1 that packet is marked or dropped, and 1 is taken off. The
//! share of marks is the same, without bunches and gaps. A router's `dualpi2` has it too:
//! `queue = { discipline = "dualpi2", aqm = { marks = "regular" } }`.

use tidemark_core::Probability;

use crate::law::interface::{Arrival, Configured, Decides, Law, Odds, Properties};
use crate::law::pi2::{DualPi2Config, MIN_BACKLOG, Marks, Pi2};
use crate::law::recurrence::Recurrence;
use crate::verdict::Class;

/// State of the law `dualpi2`.
pub(crate) struct DualPi2 {
    config: DualPi2Config,
    pi: Pi2,
    /// Recurrences of L4S packets and of all others, as if each had a queue of its own.
    l4s: Recurrence,
    classic: Recurrence,
}

impl Configured for DualPi2 {
    type Config = DualPi2Config;

    fn new(config: &DualPi2Config) -> Self {
        Self { config: *config, pi: Pi2::new(config), l4s: Recurrence::default(), classic: Recurrence::default() }
    }
}

impl Law for DualPi2 {
    const PROPERTIES: Properties = Properties {
        name: "dualpi2",
        acts_on: "head-of-line delay",
        signals_to: "all",
        decides: Decides::OnArrival,
        looks_at_head: true,
        marks_reported: true,
        marks: true,
    };

    fn recurrence(&mut self, class: Class) -> Option<&mut Recurrence> {
        // With one sum for both, odds that L4S packets add would mark classic ones.
        let queue = if class == Class::L4s { &mut self.l4s } else { &mut self.classic };
        (self.config.marks == Marks::Regular).then_some(queue)
    }

    fn arrive(&mut self, arrival: &Arrival) -> Odds {
        self.pi.update(arrival.now, arrival.head_of_line);
        // So short a queue is none to the controller; L4S packets have their own ramp.
        let is_queue = arrival.backlog >= MIN_BACKLOG as f64;
        match arrival.class {
            Class::Classic | Class::NotEct if !is_queue => Odds::NONE,
            Class::L4s => {
                // A lone packet is never marked for the time that the scheduler takes to get to it (RFC 9332's Th_len).
                let native = if arrival.backlog > 0.0 { self.config.native(arrival.head_of_line) } else { 0.0 };
                let coupled = if is_queue { self.pi.p_cl() } else { 0.0 };
                // Marks no longer suffice: L4S packets are dropped as classic ones are (RFC 9332 4.2.3).
                if is_queue && self.pi.is_overloaded() {
                    return Odds { drop: Probability::new(self.pi.p_c()), ..Odds::mark("overload", coupled) };
                }
                // The larger of the two counts (RFC 9332 A.1), and names the rule.
                Odds::mark(if native > coupled { "l4s ramp" } else { "coupled" }, native.max(coupled))
            }
            // In overload a mark is no longer enough for a classic sender either: its packets are dropped (RFC 9332 4.2.3).
            Class::Classic if self.config.mark_classic && !self.pi.is_overloaded() => {
                Odds::mark("classic squared", self.pi.p_c())
            }
            // A drop means to a classic sender what a mark does (RFC 3168 5), and has the same odds.
            Class::Classic | Class::NotEct => Odds::drop("classic squared", self.pi.p_c()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::interface::tests::arrival;
    use tidemark_core::{Duration, Instant};

    /// The odds of each class after a queue that stood at `delay` for `updates` updates.
    fn after(updates: u64, delay: f64, class: Class) -> Odds {
        let mut law = DualPi2::new(&DualPi2Config::default());
        let mut odds = Odds::NONE;
        for k in 0..=updates {
            let now = Instant::ZERO + Duration::from_millis(16) * k;
            odds = law.arrive(&Arrival { now, head_of_line: delay, backlog: 10_000.0, ..arrival(class) });
        }
        odds
    }

    #[test]
    fn l4s_follows_its_ramp_while_classic_sees_nothing() {
        // At the first packet p' is still 0: native alone. 1.0 ms is halfway up a ramp from 0.8 to 1.2 ms.
        assert!((after(0, 0.001, Class::L4s).mark.get() - 0.5).abs() < 1e-9);
        assert_eq!(after(0, 0.000_8, Class::L4s).mark.get(), 0.0);
        assert!((after(0, 0.001_2, Class::L4s).mark.get() - 1.0).abs() < 1e-9);
        assert_eq!(after(0, 0.001, Class::Classic), Odds::mark("classic squared", 0.0));
    }

    #[test]
    fn the_pair_is_coupled_by_the_square() {
        // One update at 25 ms: p' = 0.0816: classic 0.00665856.
        assert!((after(1, 0.025, Class::Classic).mark.get() - 0.006_658_56).abs() < 1e-9);
        assert!((after(1, 0.025, Class::NotEct).drop.get() - 0.006_658_56).abs() < 1e-9);
    }

    /// A queue of the simulator's, ms every 4 ms.
    fn recorded() -> impl Iterator<Item = f64> {
        let lines = include_str!("../../tests/traces/rlc-queue.csv").lines();
        lines.filter(|line| !line.starts_with('#')).map(|line| line.parse().unwrap())
    }

    #[test]
    fn rfc_9332_appendix_a_step_by_step_over_a_recorded_queue() {
        // In the RFC's words, with Linux's constants; a packet of each class finds each sample of the queue. The time is in ms.
        let (target, tupdate, alpha, beta, k) = (15.0, 16, 0.16, 3.2, 2.0);
        let (min_th, range) = (0.8, 0.4);
        let laplace = |queue: f64| ((queue - min_th) / range).clamp(0.0, 1.0);
        let (mut p_prime, mut prevq, mut overloads, mut ramps) = (0.0f64, 0.0, 0, 0);
        let mut laws =
            [Class::L4s, Class::Classic, Class::NotEct].map(|class| (class, DualPi2::new(&DualPi2Config::default())));
        for (sample, curq) in (0u64..).zip(recorded()) {
            if sample > 0 && sample * 4 % tupdate == 0 {
                p_prime += alpha * (curq - target) / 1e3 + beta * (curq - prevq) / 1e3;
                p_prime = p_prime.clamp(0.0, 1.0);
                prevq = curq;
            }
            let (p_c, p_cl) = (p_prime * p_prime, p_prime * k);
            let saturated = p_cl > 1.0;
            let p_l = laplace(curq).max(p_cl).min(1.0);
            overloads += u32::from(saturated);
            ramps += u32::from(p_l > 0.0 && p_l < 1.0);
            for (class, law) in &mut laws {
                let expected = match class {
                    Class::L4s => (p_l, if saturated { p_c } else { 0.0 }),
                    Class::Classic if !saturated => (p_c, 0.0),
                    Class::Classic | Class::NotEct => (0.0, p_c),
                };
                let now = Instant::from_millis(4 * sample);
                let odds = law.arrive(&Arrival { now, head_of_line: curq / 1e3, backlog: 10_000.0, ..arrival(*class) });
                let found = (odds.mark.get(), odds.drop.get());
                assert!(
                    (found.0 - expected.0).abs() < 1e-9 && (found.1 - expected.1).abs() < 1e-9,
                    "{sample}: {class:?} {found:?}, not {expected:?}"
                );
            }
        }
        // The trace leads through every branch.
        assert!(overloads > 0 && ramps > 20, "{overloads} overloads, {ramps} on the ramp");
    }

    #[test]
    fn regular_marks_fall_on_every_second_packet_at_one_half() {
        use crate::{DrbMarker, LawConfig, MarkerConfig, RlcQueue, SnLength, Verdict};
        use tidemark_core::{Bytes, Ecn, FlowId, Packet, Stream};
        let law = LawConfig::Dualpi2(DualPi2Config { marks: Marks::Regular, ..DualPi2Config::default() });
        let config = MarkerConfig::with_law(law);
        let mut marker = DrbMarker::new(&config, SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
        // Halfway up the ramp of L4S packets, and at no classic probability, for ever.
        let rlc = RlcQueue { backlog: Bytes(9_000), packets: 6, head_of_line: Duration::from_millis(1) };
        let mut verdict = |count: u32, ecn| {
            let packet = Packet { flow: FlowId(count % 2), size: Bytes(1_500), ecn, payload: () };
            let verdict = marker.handle_downlink(Instant::from_millis(u64::from(count)), &packet, Some(rlc));
            marker.handle_pdcp_pdu(Instant::from_millis(u64::from(count)), count, Bytes(1_500));
            assert!(
                count == 0 || ecn == Ecn::Ect0 || (marker.estimate(Instant::ZERO).probability.get() - 0.5).abs() < 1e-9
            );
            verdict
        };
        // The first finds nothing; then 0.5, 1.0, which is not above 1, 1.5 -> 0.5. Classic packets between them have a sum of their own.
        for count in (0..200).step_by(2) {
            let marked = count >= 6 && count % 4 == 2;
            assert_eq!(verdict(count, Ecn::Ect1), if marked { Verdict::Mark } else { Verdict::Pass }, "{count}");
            assert_eq!(verdict(count + 1, Ecn::Ect0), Verdict::Pass);
        }
    }

    #[test]
    fn a_queue_of_less_than_two_packets_is_signalled_to_by_the_l4s_ramp_alone() {
        for class in [Class::L4s, Class::Classic, Class::NotEct] {
            let mut law = DualPi2::new(&DualPi2Config::default());
            let mut at = |millis, backlog, head_of_line| {
                let now = Instant::from_millis(millis);
                law.arrive(&Arrival { now, head_of_line, backlog, ..arrival(class) })
            };
            (0..100).for_each(|k| {
                at(16 * k, 10_000.0, 0.1);
            });
            assert!(at(1_600, 3_000.0, 0.1).drop.get() > 0.25, "{class:?}");
            let odds = at(1_600, 2_999.0, 0.1);
            assert_eq!((odds.mark.get(), odds.drop.get()), (f64::from(u8::from(class == Class::L4s)), 0.0));
            assert_eq!(at(1_600, 2_999.0, 0.000_5).mark.get(), 0.0, "{class:?}");
            // Nor by that where the packet is alone.
            assert_eq!(at(1_600, 0.0, 0.1).mark.get(), 0.0, "{class:?}");
        }
    }

    #[test]
    fn a_mark_names_the_likelier_of_ramp_and_coupling() {
        let mut law = DualPi2::new(&DualPi2Config::default());
        let mut rule = |millis, head_of_line| {
            let found =
                Arrival { now: Instant::from_millis(millis), head_of_line, backlog: 10_000.0, ..arrival(Class::L4s) };
            law.arrive(&found).rule
        };
        assert_eq!(rule(0, 0.001), "l4s ramp");
        rule(16, 0.03);
        assert_eq!(rule(17, 0.000_5), "coupled");
    }

    #[test]
    fn overload_drops_every_class_and_marks_no_classic_packet() {
        for class in [Class::L4s, Class::Classic, Class::NotEct] {
            let odds = after(400, 0.1, class);
            assert!(odds.drop.get() > 0.25, "{class:?}: {odds:?}");
            assert_eq!(odds.mark.get(), if class == Class::L4s { 1.0 } else { 0.0 });
        }
    }
}
