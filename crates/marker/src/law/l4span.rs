//! Marking of L4Span (section 4.2). An L4S packet is marked with the probability that the queue in front of it takes longer
//! than `tau_s`. F1-U reports give the backlog `N` and the egress rate ([how](../concepts/life-of-a-report.md)), with the
//! mean `r` and the deviation `sigma` (Eqs. 3 and 4). `s` is the size of the packet, `Phi` the normal distribution.
//!
//! ```text
//! p_l4s = Phi( ((N + s) / tau_s - r) / sigma )              (Eq. 1; a step where sigma is 0)
//! sojourn = N / r                                            (Eq. 5)
//! ```
//!
//! ![l4span, an L4S flow](laws/l4span.svg)
//!
//! A classic flow is marked with the probability at which its rate matches the radio's. `K` follows from the sender's
//! decrease `beta`.
//!
//! ```text
//! p_classic = ( MSS K / (RTT r) )^2,   K = (1 + beta) / 2 sqrt(2 / (1 - beta^2))      (Eq. 2)
//! ```
//!
//! `RTT` is the handshake's plus the sojourn. Where no handshake was seen it is twice the sojourn, as in the picture. Under
//! Eq. 2 as printed a queue stays at whatever length it has reached. Above `tau_classic` the rate to match falls with the
//! sojourn, so that the queue shrinks; this is the rise to the right.
//!
//! ![l4span, a classic flow](laws/l4span-classic.svg)
//!
//! While one DRB has flows of both classes they are coupled: `p_l4s = (2 / K) sqrt(p_classic)` (section 4.2.3). `shared`
//! has the four cases of Fig. 16. The picture has a flow of each class, packet by packet in turn. With `not_ect = "drop"`
//! what has no ECN is dropped with the probability of a classic flow's mark.
//!
//! ![l4span, an L4S and a classic flow in one DRB](laws/l4span-shared.svg)
//!
//! Source: L4Span, section 4.2. Its Eq. 1 has the inequality the other way round ([errata](../errata.md)). Six additions
//! are not the paper's ([which and why](../concepts/laws.md#what-l4span-adds-to-its-paper)); `as_printed = true` switches
//! them off, in the law and in its estimate.

use tidemark_core::{Bounded, ConfigError, Duration, Range, bounds, normal_cdf};

use crate::law::interface::{Arrival, Configured, Decides, Law, Odds, Properties};
use crate::law::pi2::Marks;
use crate::law::recurrence::Recurrence;
use crate::verdict::Class;

/// Treatment of packets of flows without ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum NotEctRule {
    /// Packets pass unchanged.
    #[default]
    Pass,
    /// Packets are dropped with the marking probability of a classic flow (section 4.4, last paragraph).
    Drop,
}

/// Marking of L4S and classic flows while both are alive in one DRB: the four cases of Fig. 16.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SharedRule {
    /// Classic flows by Eq. 2, L4S flows by `(2/K) sqrt(p_classic)` (section 4.2.3).
    #[default]
    Coupled,
    /// Each class by its own rule, as if alone.
    Separate,
    /// Both classes by the rule for L4S.
    L4s,
    /// Both classes by the rule for classic flows.
    Classic,
}

/// The law `l4span`.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<L4SpanConfig>))]
pub struct L4SpanConfig {
    /// Target sojourn time of L4S flows. Default: 10 ms, the knee of the paper's Fig. 19.
    pub tau_s: Duration,
    /// Multiplicative decrease of classic senders, in `K`. Default: 0.5, as for Reno. CUBIC decreases to 0.7, but
    /// at the rates of a cell it is in its Reno-friendly region, with the mean window of Reno.
    pub beta: f64,
    /// Sojourn time above which classic flows are marked more than by Eq. 2, so that their queue returns to it.
    /// Default: 25 ms, the queue that Reno needs at 50 ms of RTT to keep the radio busy, `(1 - beta) / (2 beta) RTT`. A very
    /// long time gives the equation as printed, under which a queue stays at any length that it has reached.
    pub tau_classic: Duration,
    /// Spacing of marks and drops for classic flows. Default: random, as in the paper. Regular marks never cut a sender twice within two round
    /// trips, after which the radio would run empty.
    pub classic_marks: Marks,
    /// Treatment of flows without ECN. Default: pass.
    pub not_ect: NotEctRule,
    /// Rule for L4S and classic flows in one DRB. Default: coupled.
    pub shared: SharedRule,
    /// True for the paper's equations alone, without the six additions listed in docs/concepts/laws.md. Default: no.
    pub as_printed: bool,
}

impl Default for L4SpanConfig {
    fn default() -> Self {
        Self {
            tau_s: Duration::from_millis(10),
            beta: 0.5,
            tau_classic: Duration::from_millis(25),
            classic_marks: Marks::Random,
            not_ect: NotEctRule::default(),
            shared: SharedRule::default(),
            as_printed: false,
        }
    }
}

bounds! { L4SpanConfig {
    tau_s: Range::between(Duration::from_micros(100), Duration::from_secs(10)),
    beta: Range::inside(0.0, 1.0),
    tau_classic: Range::at_least(Duration::from_micros(100)),
    ..classic_marks, not_ect, shared, as_printed
} }

impl L4SpanConfig {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()
    }
}

/// The rule of Eq. 1, for L4S flows.
const L4S: &str = "l4s sojourn";
/// The rule of Eq. 2, for classic flows.
const CLASSIC: &str = "classic rate";

/// State of the law `l4span`.
pub(crate) struct L4Span {
    tau_s: f64,
    k: f64,
    tau_classic: f64,
    not_ect: NotEctRule,
    shared: SharedRule,
    as_printed: bool,
    /// Sum of the odds of all but L4S packets, if marks are regular.
    classic: Option<Recurrence>,
}

impl Configured for L4Span {
    type Config = L4SpanConfig;

    fn new(config: &L4SpanConfig) -> Self {
        let beta = config.beta;
        Self {
            tau_s: config.tau_s.as_secs_f64(),
            k: (1.0 + beta) / 2.0 * libm::sqrt(2.0 / (1.0 - beta * beta)),
            tau_classic: config.tau_classic.as_secs_f64(),
            not_ect: config.not_ect,
            shared: config.shared,
            as_printed: config.as_printed,
            classic: (config.classic_marks == Marks::Regular).then(Recurrence::default),
        }
    }
}

impl Law for L4Span {
    const PROPERTIES: Properties = Properties {
        name: "l4span",
        acts_on: "predicted sojourn, egress rate",
        signals_to: "L4S, classic, by configuration Not-ECT",
        decides: Decides::OnArrival,
        looks_at_head: false,
        marks_reported: false,
        marks: true,
    };

    fn recurrence(&mut self, class: Class) -> Option<&mut Recurrence> {
        self.classic.as_mut().filter(|_| class != Class::L4s)
    }

    fn arrive(&mut self, arrival: &Arrival) -> Odds {
        let shared = arrival.shared;
        match arrival.class {
            // A scalable sender's window is 2/p segments and a classic one's K/sqrt(p): at these odds they are equal.
            Class::L4s if shared && self.shared == SharedRule::Coupled => {
                Odds::mark("coupled", 2.0 / self.k * libm::sqrt(self.p_classic(arrival)))
            }
            // The operator has both classes marked by one rule.
            Class::L4s if shared && self.shared == SharedRule::Classic => Odds::mark(CLASSIC, self.p_classic(arrival)),
            // Alone, or each by its own rule.
            Class::L4s => Odds::mark(L4S, self.p_l4s(arrival)),
            Class::Classic if shared && self.shared == SharedRule::L4s => Odds::mark(L4S, self.p_l4s(arrival)),
            Class::Classic => Odds::mark(CLASSIC, self.p_classic(arrival)),
            // A mark would not be understood: there is only the drop, which an operator has to want.
            Class::NotEct => match self.not_ect {
                NotEctRule::Pass => Odds::NONE,
                NotEctRule::Drop => Odds::drop(CLASSIC, self.p_classic(arrival)),
            },
        }
    }
}

impl L4Span {
    /// Eq. 1, with its inequality corrected: the probability that the egress rate is too low to drain the backlog,
    /// including the packet at hand, within the threshold. A packet that finds less than one other packet is no queue at
    /// any rate (Th_len of RFC 9332).
    fn p_l4s(&self, arrival: &Arrival) -> f64 {
        // Nothing was transmitted yet: no rate to expect a sojourn by.
        let Some(egress) = arrival.egress else { return 0.0 };
        if arrival.backlog < arrival.size && !self.as_printed {
            return 0.0;
        }
        let needed = (arrival.backlog + arrival.size) / self.tau_s;
        let excess = needed - egress.rate.as_bytes_per_sec();
        let deviation = egress.deviation.as_bytes_per_sec();
        // A rate that never varied leaves nothing to chance: the normal distribution's limit is a step.
        if deviation > 0.0 {
            normal_cdf(excess / deviation)
        } else if excess > 0.0 {
            // Without variation the queue drains in time or it does not.
            1.0
        } else {
            0.0
        }
    }

    /// Eq. 2, clamped to 0..1, with three additions:
    ///
    /// - Eq. 2 does not use the queue. It would go on marking a flow with an empty queue, which is already slower than the
    ///   radio, and punish a sender for having nothing to send. So nothing is marked while less than two segments are
    ///   queued; implementations of RFC 9332 likewise spare a queue of two packets.
    /// - Eq. 2 has no target for the queue. With the sojourn in the RTT, it gives a sender the window that it has now,
    ///   whether the queue is 10 ms or 10 s. So at most `tau_classic` of sojourn counts in the RTT, and above it the rate
    ///   to match is the egress rate times `tau_classic` over the sojourn.
    /// - The rate of a 24.9 ms window falls to zero in every fade, and a classic sender gives up a third or a half of its
    ///   window for one mark. So the rate is averaged over a few round trips, the time in which the sender responds.
    fn p_classic(&self, arrival: &Arrival) -> f64 {
        // The paper's equation alone, for whoever compares with its figures.
        if self.as_printed {
            return self.p_classic_as_printed(arrival);
        }
        // Without an egress rate Eq. 2 has no denominator, and a guess would mark a DRB that just began.
        let Some(average) = arrival.average else { return 0.0 };
        // Under two packets the queue is what is being sent: no sender can make it shorter.
        if arrival.backlog < 2.0 * arrival.segment {
            return 0.0;
        }
        let average = average.as_bytes_per_sec();
        // A queue that nothing leaves: no rate of the sender is low enough.
        if average <= 0.0 {
            return 1.0;
        }
        let sojourn = arrival.backlog / average;
        let counted = sojourn.min(self.tau_classic);
        let rate = average * counted / sojourn;
        // A flow whose handshake was not seen counts as one whose path is as long as its queue.
        let rtt = arrival.rtt.map_or(2.0 * counted, |rtt| rtt.as_secs_f64() + counted);
        self.eq_2(arrival, rtt, rate)
    }

    /// Eq. 2 with the rate of Eq. 4 and the sojourn of Eq. 5, at whatever queue.
    #[cold]
    fn p_classic_as_printed(&self, arrival: &Arrival) -> f64 {
        let Some(egress) = arrival.egress else { return 0.0 };
        let Some(sojourn) = arrival.sojourn() else { return 1.0 };
        let rtt = arrival.rtt.map_or(2.0 * sojourn, |rtt| rtt.as_secs_f64() + sojourn);
        self.eq_2(arrival, rtt, egress.rate.as_bytes_per_sec())
    }

    /// Odds at which a sender with this round trip in seconds has this rate in bytes a second, clamped to 1.
    fn eq_2(&self, arrival: &Arrival, rtt: f64, rate: f64) -> f64 {
        let root = arrival.segment * self.k / (rtt * rate);
        (root * root).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::Egress;
    use tidemark_core::{BitRate, Probability};

    fn law(config: L4SpanConfig) -> L4Span {
        L4Span::new(&config)
    }
    /// A queue behind a radio of 40 Mbit/s (5 MB/s).
    fn arrival(class: Class, backlog: f64, deviation_mbps: u64) -> Arrival {
        let egress = Egress { rate: BitRate::from_mbps(40), deviation: BitRate::from_mbps(deviation_mbps) };
        Arrival {
            backlog,
            egress: Some(egress),
            average: Some(egress.rate),
            ..crate::law::interface::tests::arrival(class)
        }
    }
    fn p(odds: Odds) -> f64 {
        odds.mark.get()
    }

    #[test]
    fn eq_1_worked_by_hand() {
        let mut law = law(L4SpanConfig::default());
        // 5 MB/s for 10 ms: 50000 bytes. At that backlog, half of the packets are marked.
        assert_eq!(p(law.arrive(&arrival(Class::L4s, 48_500.0, 4))), 0.5);
        // Deviation 4 Mbit/s = 0.5 MB/s: one deviation is 5000 bytes in 10 ms. Phi(1) = 0.841345, Phi(-2) = 0.022750.
        assert!((p(law.arrive(&arrival(Class::L4s, 53_500.0, 4))) - 0.841_345).abs() < 1e-6);
        assert!((p(law.arrive(&arrival(Class::L4s, 38_500.0, 4))) - 0.022_750).abs() < 1e-6);
    }

    #[test]
    fn without_deviation_eq_1_is_a_step() {
        let mut law = law(L4SpanConfig::default());
        assert_eq!(p(law.arrive(&arrival(Class::L4s, 48_500.0, 0))), 0.0);
        assert_eq!(p(law.arrive(&arrival(Class::L4s, 48_501.0, 0))), 1.0);
    }

    #[test]
    fn eq_2_worked_by_hand() {
        // beta = 0.5: K = 0.75 sqrt(2 / 0.75) = 1.224745. Backlog 60000 B at 5 MB/s: 12 ms; RTT 38 + 12 = 50 ms.
        // p = (1500 * 1.224745 / (0.05 * 5e6))^2 = (0.00734847)^2 = 5.4e-5.
        let mut reno = law(L4SpanConfig::default());
        assert!((p(reno.arrive(&arrival(Class::Classic, 60_000.0, 4))) - 5.4e-5).abs() < 1e-9);
        // Without a handshake, RTT = 24 ms: p = (1837.117 / 120000)^2 = 2.34375e-4.
        let without = Arrival { rtt: None, ..arrival(Class::Classic, 60_000.0, 4) };
        assert!((p(reno.arrive(&without)) - 2.343_75e-4).abs() < 1e-9);
        // beta = 0.7: K = 0.85 sqrt(2 / 0.51) = 1.683251; p = (0.010099507)^2 = 1.02e-4.
        let mut cubic = law(L4SpanConfig { beta: 0.7, ..L4SpanConfig::default() });
        assert!((p(cubic.arrive(&arrival(Class::Classic, 60_000.0, 4))) - 1.02e-4).abs() < 1e-8);
    }

    #[test]
    fn a_long_queue_of_classic_flows_is_marked_beyond_eq_2() {
        // 500000 B at 5 MB/s: 100 ms, four times 25 ms. RTT 38 + 25 = 63 ms, rate 1.25 MB/s:
        // p = (1837.117 / (0.063 * 1.25e6))^2 = (0.02332847)^2 = 5.442175e-4. As printed: RTT 138 ms, rate 5 MB/s: 7.088847e-6.
        let mut law = law(L4SpanConfig::default());
        assert!((p(law.arrive(&arrival(Class::Classic, 500_000.0, 4))) - 5.442_175e-4).abs() < 1e-9);
        let mut printed =
            L4Span::new(&L4SpanConfig { tau_classic: Duration::from_secs(3_600), ..L4SpanConfig::default() });
        assert!((p(printed.arrive(&arrival(Class::Classic, 500_000.0, 4))) - 7.088_847e-6).abs() < 1e-11);
    }

    #[test]
    fn as_printed_eq_1_marks_by_the_rate_alone_and_spares_no_short_queue() {
        // One byte before a packet of 1500, at 100 kbit/s = 12500 B/s: 150100 B/s are needed, (150100 - 12500) / 6250 = 22 deviations too many.
        let slow = Egress { rate: BitRate::from_kbps(100), deviation: BitRate::from_kbps(50) };
        let found = Arrival { egress: Some(slow), ..arrival(Class::L4s, 1.0, 4) };
        let p = |as_printed| p(law(L4SpanConfig { as_printed, ..L4SpanConfig::default() }).arrive(&found));
        assert_eq!((p(false), p(true)), (0.0, 1.0));
    }

    #[test]
    fn as_printed_eq_2_has_no_time_no_average_and_no_least_queue() {
        let mut printed = law(L4SpanConfig { as_printed: true, ..L4SpanConfig::default() });
        let mut p = |found: Arrival| p(printed.arrive(&found));
        // 100 ms of queue count whole: RTT 138 ms at 5 MB/s, as above.
        assert!((p(arrival(Class::Classic, 500_000.0, 4)) - 7.088_847e-6).abs() < 1e-11);
        // The rate of the last window is a quarter of the average: 60000 B are 48 ms at 1.25 MB/s. RTT 86 ms:
        // (1837.117 / (0.086 * 1.25e6))^2 = 2.920498e-4.
        let slow = Egress { rate: BitRate::from_mbps(10), deviation: BitRate::ZERO };
        let faded = Arrival { egress: Some(slow), ..arrival(Class::Classic, 60_000.0, 4) };
        assert!((p(faded) - 2.920_498e-4).abs() < 1e-9);
        // Less than two segments: RTT 38.2 ms, (1837.117 / (0.0382 * 5e6))^2 = 9.251391e-5. Without a handshake RTT is 0.4 ms, and p 0.843750.
        let short = arrival(Class::Classic, 1_000.0, 4);
        assert!((p(short) - 9.251_391e-5).abs() < 1e-10);
        assert!((p(Arrival { rtt: None, ..short }) - 0.843_75).abs() < 1e-6);
        assert_eq!(p(Arrival { rtt: None, backlog: 0.0, ..short }), 1.0);
    }

    #[test]
    fn in_a_shared_drb_the_pair_is_coupled() {
        // 2/K = 1.632993; sqrt(5.4e-5) = 0.00734847; product 0.012.
        let mut law = law(L4SpanConfig::default());
        let shared = |class| Arrival { shared: true, ..arrival(class, 60_000.0, 4) };
        assert!((p(law.arrive(&shared(Class::L4s))) - 0.012).abs() < 1e-9);
        assert!((p(law.arrive(&shared(Class::Classic))) - 5.4e-5).abs() < 1e-9);
    }

    #[test]
    fn the_other_rules_for_a_shared_drb() {
        let shared = |class| Arrival { shared: true, ..arrival(class, 53_500.0, 4) };
        let own = |rule, class| p(law(L4SpanConfig { shared: rule, ..L4SpanConfig::default() }).arrive(&shared(class)));
        let (l4s, classic) = (own(SharedRule::Separate, Class::L4s), own(SharedRule::Separate, Class::Classic));
        assert!((l4s - 0.841_345).abs() < 1e-6 && classic < 1e-3);
        assert_eq!(own(SharedRule::L4s, Class::Classic), l4s);
        assert_eq!(own(SharedRule::L4s, Class::L4s), l4s);
        assert_eq!(own(SharedRule::Classic, Class::L4s), classic);
        assert_eq!(own(SharedRule::Classic, Class::Classic), classic);
    }

    #[test]
    fn application_limited_flows_are_not_punished() {
        let mut law = law(L4SpanConfig::default());
        let slow = Egress { rate: BitRate::from_kbps(100), deviation: BitRate::from_kbps(50) };
        for class in [Class::L4s, Class::Classic] {
            for egress in [None, Some(slow), arrival(class, 0.0, 4).egress] {
                let average = egress.map(|egress| egress.rate);
                assert_eq!(p(law.arrive(&Arrival { egress, average, ..arrival(class, 1_499.0, 4) })), 0.0);
            }
        }
    }

    #[test]
    fn a_packet_beside_another_is_a_queue_and_of_a_classic_flow_two() {
        let mut law = law(L4SpanConfig::default());
        let slow = Egress { rate: BitRate::from_kbps(100), deviation: BitRate::ZERO };
        let mut marks = |class, backlog| {
            let found = arrival(class, backlog, 0);
            p(law.arrive(&Arrival { egress: Some(slow), average: Some(slow.rate), ..found })) > 0.0
        };
        assert_eq!([1_499.0, 1_500.0].map(|backlog| marks(Class::L4s, backlog)), [false, true]);
        assert_eq!([2_999.0, 3_000.0].map(|backlog| marks(Class::Classic, backlog)), [false, true]);
    }

    #[test]
    fn a_queue_that_nothing_leaves_is_marked_all() {
        let mut law = law(L4SpanConfig::default());
        let stalled = Egress { rate: BitRate::ZERO, deviation: BitRate::ZERO };
        for class in [Class::L4s, Class::Classic] {
            let found = arrival(class, 10_000.0, 0);
            let odds = law.arrive(&Arrival { egress: Some(stalled), average: Some(stalled.rate), ..found });
            assert_eq!(p(odds), 1.0, "{class:?}");
        }
    }

    #[test]
    fn nothing_is_marked_before_there_is_an_estimate() {
        let mut law = law(L4SpanConfig { not_ect: NotEctRule::Drop, ..L4SpanConfig::default() });
        for class in [Class::L4s, Class::Classic, Class::NotEct] {
            let blind = Arrival { egress: None, average: None, ..arrival(class, 1e7, 0) };
            let odds = law.arrive(&blind);
            assert_eq!((odds.mark, odds.drop), (Probability::ZERO, Probability::ZERO));
        }
    }

    #[test]
    fn classic_marks_may_fall_regularly_and_l4s_marks_are_drawn() {
        let regular = L4SpanConfig { classic_marks: Marks::Regular, ..L4SpanConfig::default() };
        let mut regular = law(regular);
        // Each packet has 1 / 16, and each sixteenth sum exceeds 1 once the first mark has left its rest.
        let found = Probability::new(1.0 / 16.0);
        let mut marked = |_| regular.recurrence(Class::Classic).unwrap().add(found).0;
        let marks: alloc::vec::Vec<_> = (0..160).filter(|index| marked(*index)).collect();
        assert!(marks.len() == 9 && marks.windows(2).all(|pair| pair[1] - pair[0] == 16), "{marks:?}");
        assert!(regular.recurrence(Class::NotEct).is_some());
        assert_eq!(regular.recurrence(Class::L4s), None);
        assert_eq!(law(L4SpanConfig::default()).recurrence(Class::Classic), None);
    }

    #[test]
    fn not_ect_is_dropped_only_by_configuration_and_never_marked() {
        let mut pass = law(L4SpanConfig::default());
        assert_eq!(pass.arrive(&arrival(Class::NotEct, 60_000.0, 4)), Odds::NONE);
        let mut drop = law(L4SpanConfig { not_ect: NotEctRule::Drop, ..L4SpanConfig::default() });
        let odds = drop.arrive(&arrival(Class::NotEct, 60_000.0, 4));
        assert!(odds.mark.get() == 0.0 && (odds.drop.get() - 5.4e-5).abs() < 1e-9);
    }
}
