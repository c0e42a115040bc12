//! Tide: evenly spaced marks by the sojourn at the average egress rate, for classic flows and for DRBs that L4S and classic flows share.
//! An L4S flow alone is marked by a step of the sojourn at the egress rate.
//!
//! Nothing is drawn: the odds of packets add up, and each whole is a mark. Random marks now and then cut a classic sender twice within
//! two round trips, and the radio runs empty; a queue that is long enough to outlast that is twice as long.

use tidemark_core::{Bounded, ConfigError, Duration, Range, bounds};

use crate::law::interface::{Arrival, Configured, Decides, Law, Odds, Properties};
use crate::law::recurrence::Recurrence;
use crate::verdict::Class;

/// Factor of the response of CUBIC, in segments over the square roots of a second: its mean window is
/// `1.054 (RTT / 1 s)^(3/4) / p^(3/4)` (RFC 9438 5.1, with C = 0.4 and beta = 0.7).
const CUBIC: f64 = 1.054;

/// The law `tide`.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<TideConfig>))]
pub struct TideConfig {
    /// Sojourn above which every packet of an L4S flow is marked that has the DRB without classic flows. Default: 10 ms, as `l4span` has it.
    pub tau_s: Duration,
    /// Sojourn at which marks of classic and coupled flows begin on a path without delay. Default: 10 ms, two periods of TDD.
    pub begin: Duration,
    /// Share of the flow's handshake round trip that is added to `begin`. Default: 0.28; a Reno that is cut to a half would need all of
    /// it, and one of several a part.
    pub rtt_share: f64,
    /// Sojourn at which coupled packets are all marked, in multiples of the one at which marks begin. Default: 10.
    pub span: f64,
}

impl Default for TideConfig {
    fn default() -> Self {
        Self { tau_s: Duration::from_millis(10), begin: Duration::from_millis(10), rtt_share: 0.28, span: 10.0 }
    }
}

bounds! { TideConfig {
    tau_s: Range::between(Duration::from_micros(100), Duration::from_secs(10)),
    begin: Range::between(Duration::from_micros(100), Duration::from_secs(10)),
    rtt_share: Range::between(0.0, 10.0),
    span: Range::between(1.5, 1_000.0),
} }

impl TideConfig {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()
    }
}

/// State of the law `tide`.
pub(crate) struct Tide {
    tau_s: f64,
    begin: f64,
    rtt_share: f64,
    /// Distance from the sojourn at which marks begin to the one at which coupled packets are all marked, in multiples of the first.
    height: f64,
    /// Sums of the odds of L4S packets and of all others: with one for both, odds that L4S packets add would mark classic ones.
    l4s: Recurrence,
    classic: Recurrence,
}

impl Configured for Tide {
    type Config = TideConfig;

    fn new(config: &TideConfig) -> Self {
        Self {
            tau_s: config.tau_s.as_secs_f64(),
            begin: config.begin.as_secs_f64(),
            rtt_share: config.rtt_share,
            height: config.span - 1.0,
            l4s: Recurrence::default(),
            classic: Recurrence::default(),
        }
    }
}

impl Law for Tide {
    const PROPERTIES: Properties = Properties {
        name: "tide",
        section: "tide",
        acts_on: "predicted sojourn, at the egress rate or its average",
        signals_to: "L4S, classic",
        decides: Decides::OnArrival,
        looks_at_head: false,
        marks_reported: false,
        marks: true,
    };

    fn recurrence(&mut self, class: Class) -> Option<&mut Recurrence> {
        Some(if class == Class::L4s { &mut self.l4s } else { &mut self.classic })
    }

    fn arrive(&mut self, arrival: &Arrival) -> Odds {
        match arrival.class {
            Class::L4s if arrival.shared => Odds::mark("coupled", self.height_of(arrival)),
            Class::L4s => Odds::mark("l4s step", f64::from(u8::from(self.is_late(arrival)))),
            Class::Classic => Odds::mark("classic squared", p_classic(arrival, self.height_of(arrival))),
            Class::NotEct => Odds::NONE,
        }
    }
}

impl Tide {
    /// True if the queue with the packet at hand takes longer than the threshold. A packet that finds less than another before it is no
    /// queue, whatever the rate (RFC 9332's Th_len).
    fn is_late(&self, arrival: &Arrival) -> bool {
        let Some(egress) = arrival.egress else { return false };
        arrival.backlog >= arrival.size
            && arrival.backlog + arrival.size > egress.rate.as_bytes_per_sec() * self.tau_s
    }

    /// Height of the queue between the sojourn at which marks begin, 0, and the one at which coupled packets are all marked, 1. The rate is averaged over a few
    /// round trips, as the answers of classic senders are. Less than two segments is no queue, as for `l4span`.
    fn height_of(&self, arrival: &Arrival) -> f64 {
        let Some(average) = arrival.average else { return 0.0 };
        if arrival.backlog < 2.0 * arrival.segment {
            return 0.0;
        }
        let begin = self.begin + self.rtt_share * arrival.rtt.map_or(0.0, Duration::as_secs_f64);
        // A queue that nothing leaves is as high as there is.
        let sojourn = (arrival.backlog + arrival.size) / average.as_bytes_per_sec().max(1.0);
        ((sojourn - begin) / (begin * self.height)).clamp(0.0, 1.0)
    }
}

/// Odds of a classic packet where a coupled one has the odds `x`: the rates of a scalable sender, `2 / x` segments a round trip, and of a classic one are equal. Reno's are
/// `(x / 2)^2` (RFC 9332 2.1). Beside L4S flows a CUBIC that is out of its Reno-friendly region gets the odds of its own response, where they are larger: with fewer marks it
/// would be faster.
fn p_classic(arrival: &Arrival, x: f64) -> f64 {
    let reno = (x / 2.0) * (x / 2.0);
    match (arrival.shared, arrival.rtt, arrival.average) {
        (true, Some(rtt), Some(average)) => {
            let rtt = rtt.as_secs_f64() + arrival.backlog / average.as_bytes_per_sec().max(1.0);
            let y = CUBIC * x / 2.0;
            reno.max(rtt * y * libm::cbrt(y))
        }
        _ => reno,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::Egress;
    use crate::law::interface::tests::arrival;
    use tidemark_core::BitRate;

    fn p(arrival: &Arrival) -> f64 {
        Tide::new(&TideConfig::default()).arrive(arrival).mark.get()
    }

    #[test]
    fn a_classic_flow_worked_by_hand() {
        // Marks begin at 10 ms + 0.28 * 38 ms = 20.64 ms. (148500 + 1500) B at 5 MB/s: 30 ms.
        // x = (30 - 20.64) / (20.64 * 9) = 0.0503876; (x / 2)^2 = 6.347275e-4.
        assert!((p(&Arrival { backlog: 148_500.0, ..arrival(Class::Classic) }) - 6.347_275e-4).abs() < 1e-9);
        // Without a handshake marks begin at 10 ms: x = 20 / 90, (x / 2)^2 = 0.01234568.
        let without = Arrival { backlog: 148_500.0, rtt: None, ..arrival(Class::Classic) };
        assert!((p(&without) - 0.012_345_68).abs() < 1e-8);
        // 206.4 ms and more: everything, and of classic packets a quarter.
        assert_eq!(p(&Arrival { backlog: 2e6, ..arrival(Class::Classic) }), 0.25);
    }

    #[test]
    fn the_marks_of_a_shared_drb_worked_by_hand() {
        let shared = |class| Arrival { backlog: 148_500.0, shared: true, ..arrival(class) };
        // x as above.
        assert!((p(&shared(Class::L4s)) - 0.050_387_6).abs() < 1e-7);
        // RTT = 38 + 29.7 ms; y = 1.054 * 0.0503876 / 2 = 0.02655426, its cube root 0.298342;
        // 0.0677 * 0.02655426 * 0.298342 = 5.36335e-4, less than Reno's 6.347275e-4.
        assert!((p(&shared(Class::Classic)) - 6.347_275e-4).abs() < 1e-9);
        // Over 106 ms marks begin at 39.68 ms: 300 kB, 60 ms, are x = 20.32 / 357.12 = 0.0568996, Reno 8.09392e-4;
        // y = 0.02998609, cube root 0.310675; RTT = 0.1657: 1.543674e-3.
        let far = Arrival { backlog: 298_500.0, rtt: Some(Duration::from_millis(106)), ..shared(Class::Classic) };
        assert!((p(&far) - 1.543_67e-3).abs() < 1e-7, "{}", p(&far));
        // A CUBIC alone has nobody to be fair to.
        assert!((p(&Arrival { shared: false, ..far }) - 8.093_92e-4).abs() < 1e-8);
    }

    #[test]
    fn an_l4s_flow_alone_has_a_step() {
        // 5 MB/s for 10 ms: 50000 bytes.
        assert_eq!(p(&Arrival { backlog: 48_500.0, ..arrival(Class::L4s) }), 0.0);
        assert_eq!(p(&Arrival { backlog: 48_501.0, ..arrival(Class::L4s) }), 1.0);
    }

    #[test]
    fn a_short_queue_is_none_and_an_unknown_one_too() {
        let slow = Egress { rate: BitRate::from_kbps(100), deviation: BitRate::from_kbps(50) };
        for class in [Class::L4s, Class::Classic, Class::NotEct] {
            for shared in [false, true] {
                let slow = Arrival { egress: Some(slow), average: Some(slow.rate), shared, ..arrival(class) };
                assert_eq!(p(&Arrival { backlog: 1_499.0, ..slow }), 0.0);
                assert_eq!(p(&Arrival { backlog: 1e7, egress: None, average: None, ..slow }), 0.0);
            }
        }
    }

    #[test]
    fn a_queue_that_nothing_leaves_is_as_high_as_there_is() {
        let egress = Some(Egress { rate: BitRate::ZERO, deviation: BitRate::ZERO });
        let stalled = |class, shared| Arrival { egress, average: Some(BitRate::ZERO), shared, ..arrival(class) };
        assert_eq!(p(&stalled(Class::L4s, false)), 1.0);
        assert_eq!(p(&stalled(Class::L4s, true)), 1.0);
        assert_eq!(p(&stalled(Class::Classic, false)), 0.25);
        assert_eq!(p(&stalled(Class::NotEct, true)), 0.0);
    }

    #[test]
    fn marks_of_each_class_are_evenly_spaced() {
        let mut law = Tide::new(&TideConfig::default());
        let mut marked = |class, backlog: f64| {
            let odds = law.arrive(&Arrival { backlog, rtt: None, shared: true, ..arrival(class) });
            law.recurrence(class).unwrap().add(odds.mark).0
        };
        // 55 ms: x = 45 / 90. One of two L4S packets, one of 16 classic ones, by turns.
        let marks: alloc::vec::Vec<_> =
            (0..160).map(|_| [Class::L4s, Class::Classic].map(|class| marked(class, 273_500.0))).collect();
        let at = |column: usize| -> alloc::vec::Vec<_> {
            (0..160).filter(|row| marks[*row][column]).collect()
        };
        assert!(at(0).windows(2).all(|pair| pair[1] - pair[0] == 2) && at(0).len() == 79, "{:?}", at(0));
        assert!(at(1).windows(2).all(|pair| pair[1] - pair[0] == 16) && at(1).len() == 9, "{:?}", at(1));
    }
}
