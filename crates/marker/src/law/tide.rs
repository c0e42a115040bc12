//! Tide: evenly spaced marks for both classes, from one measure of the queue, its height `h`. Marks begin where the queue
//! takes as long as the threshold to leave. At a tenth above that there are as many marks as hold one sender to the radio's
//! rate.
//!
//! ![Share of packets that tide marks against the queue](laws/tide.svg)
//!
//! ```text
//! h = Q / (r begin) - 1,   W = r_avg RTT + N
//! x = clamp(h max(20 MSS / W, 1/9), 0, 1)
//! L4S flow alone          p = x,         Q = N_min, r = r_egress, begin = tau_s
//! L4S beside classic      p = x,         Q = N,     r = r_avg,    begin = tau_s + classic_margin
//! classic, alone or not   p = max( x^2 / 4, R (1.054 x / sqrt(6))^(4/3) ),   the same Q, r and begin
//! ```
//!
//! `N` is the backlog before the packet. `N_min` is the least backlog of the last one to two rounds; a round lasts `RTT`
//! and seven reports at least. `r_avg` is the rate averaged over a few round trips, and `RTT` is 38 ms. `R` is the round
//! trip of the flow's handshake, 38 ms where it was not seen, with the wait `Q / r`. Except for an L4S flow alone, `x` is
//! multiplied by `(RTT + Q / r) / R` before it is clamped: windows in proportion to the round trips give equal rates.
//!
//! - **An L4S flow alone** is marked for the queue that has lasted a round trip. What is gone within one is a burst, the
//!   turn of another UE, a fade or a late report: no cut could have kept it away (RFC 8289 3.1).
//! - **A classic flow** is marked for all of the queue: it cuts its rate seldom, and fills the queue between two cuts.
//! - **A classic packet's odds** leave Reno or CUBIC, whichever takes more, the window that a Prague has at `x`
//!   (RFC 9332 2.1).
//! - **Marks are evenly spaced.** The odds of a class add up, and the packet that takes the sum to 1 is marked. No number
//!   is drawn.
//!
//! Nothing is marked
//!
//! - without an estimate: no report yet, none for `report_timeout`, or reports whose SNs do not match;
//! - if the packet is Not-ECT;
//! - where the queue takes less than `begin` to leave: an empty one is never marked, however slow the radio;
//! - of an L4S flow alone whose queue was that short within the last round or two.
//!
//! Source: this project. [Where its constants come from, and modes](../concepts/laws.md#where-the-constants-of-tide-come-from);
//! [how it was chosen](../decisions/53-tide-where-nobody-names-a-law.md).

mod standing;

use tidemark_core::{BitRate, Bounded, ConfigError, Duration, Range, bounds};

use crate::five_qi::Characteristics;
use crate::law::interface::{Arrival, Configured, Decides, Law, Odds, Properties};
use crate::law::recurrence::Recurrence;
use crate::mode::Mode;
use crate::verdict::Class;
use standing::Standing;

/// Slope of the odds above the threshold, times the window in segments. Prague holds its window at two marks per round trip, and a tenth
/// above the threshold gives these.
const STEEPNESS: f64 = 20.0;
/// Least steepness: at ten times the threshold every packet is marked, with any window.
const MIN_STEEPNESS: f64 = 1.0 / 9.0;
/// Factor of CUBIC's odds, `1.054 / sqrt(6)`: its mean window is `1.054 (RTT / 1 s)^(3/4) / p^(3/4)` segments (RFC 9438 5.1, with C = 0.4 and
/// beta = 0.7), Reno's at the odds `(x / 2)^2` is `sqrt(6) / x` (RFC 9438 4.3, with beta = 0.5).
const CUBIC: f64 = 0.430_294;
/// Round trip without the queue, assumed for every DRB: that of the nearer server in L4Span's section 6. The mean of its flows' handshakes is no
/// better (docs/measured/gate.md).
const ROUND_TRIP: Duration = Duration::from_millis(38);
/// Threshold of a DRB whose mode is throughput first: the queue at which SCReAM slows down by itself (docs/measured/senders.md).
const THROUGHPUT_FIRST: Duration = Duration::from_millis(30);
/// Longest threshold of a DRB whose mode is delay first, as a fraction of the packet delay budget. The other half is left for the radio.
const OF_BUDGET: u64 = 2;

/// The law `tide`.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<TideConfig>))]
pub struct TideConfig {
    /// Sojourn at which marks begin. Default: 10 ms, two periods of TDD.
    pub tau_s: Duration,
    /// Sojourn added to `tau_s` while classic flows use the DRB. Default: 5.7 ms, 0.15 of a round trip of 38 ms. That is half of CUBIC's window
    /// reduction at a mark, and so the swing of the queue about its mean.
    pub classic_margin: Duration,
    /// Aim of the DRB, instead of a threshold. `throughput-first` lengthens the threshold to 30 ms, `delay-first` shortens it to half of the packet
    /// delay budget of the DRB's 5QI, and `by-5qi` chooses one of the two. Default: none.
    pub mode: Option<Mode>,
}

impl Default for TideConfig {
    fn default() -> Self {
        Self { tau_s: Duration::from_millis(10), classic_margin: Duration::from_micros(5_700), mode: None }
    }
}

bounds! { TideConfig {
    tau_s: Range::between(Duration::from_micros(100), Duration::from_secs(10)),
    classic_margin: Range::between(Duration::ZERO, Duration::from_secs(10)),
    ..mode
} }

impl TideConfig {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()
    }

    /// Configuration for a DRB whose first QoS flow has this 5QI (0: unknown), with a threshold instead of a mode.
    pub(crate) fn for_five_qi(self, five_qi: u8) -> Self {
        // Without a mode the configured threshold holds.
        let Some(mode) = self.mode else { return self };
        // A delay-first DRB keeps its threshold within the 5QI's delay budget (TS 23.501 table 5.7.4-1).
        let tau_s = match mode.of(five_qi) {
            Mode::DelayFirst => {
                let longest = Characteristics::of(five_qi).map_or(Duration::MAX, |row| row.delay_budget / OF_BUDGET);
                self.tau_s.min(longest)
            }
            Mode::ThroughputFirst | Mode::ByFiveQi => self.tau_s.max(THROUGHPUT_FIRST),
        };
        Self { tau_s, mode: None, ..self }
    }
}

/// State of the law `tide`: sums of the odds of L4S packets and of all others. With one sum for both, the odds of L4S packets would
/// mark classic ones.
pub(crate) struct Tide {
    /// Waits in seconds at which marks begin: without classic flows in the DRB, and with them.
    begin: f64,
    begin_shared: f64,
    standing: Standing,
    l4s: Recurrence,
    classic: Recurrence,
}

impl Configured for Tide {
    type Config = TideConfig;

    fn new(config: &TideConfig) -> Self {
        let config = config.for_five_qi(0);
        let begin = config.tau_s.as_secs_f64();
        Self {
            begin,
            begin_shared: begin + config.classic_margin.as_secs_f64(),
            standing: Standing::default(),
            l4s: Recurrence::default(),
            classic: Recurrence::default(),
        }
    }
}

impl Law for Tide {
    const PROPERTIES: Properties = Properties {
        name: "tide",
        acts_on: "predicted sojourn of the backlog or its standing part",
        signals_to: "L4S, classic",
        decides: Decides::OnArrival,
        looks_at_head: false,
        marks_reported: false,
        marks: true,
    };

    fn recurrence(&mut self, class: Class) -> Option<&mut Recurrence> {
        // Each class has a sum of its own, so that marks are even for both.
        Some(if class == Class::L4s { &mut self.l4s } else { &mut self.classic })
    }

    fn arrive(&mut self, arrival: &Arrival) -> Odds {
        self.standing.arrive(arrival, ROUND_TRIP);
        // An L4S flow alone has its ramp; beside classic ones it is coupled to them, or it would have their share.
        match arrival.class {
            Class::NotEct => Odds::NONE,
            Class::L4s if !arrival.shared => Odds::mark("l4s alone", self.alone(arrival)),
            Class::L4s => Odds::mark("coupled", self.shared(arrival).0),
            Class::Classic => {
                let (x, rtt) = self.shared(arrival);
                Odds::mark("classic", classic(x, rtt))
            }
        }
    }
}

impl Tide {
    /// Height of the queue in a DRB without classic flows.
    fn alone(&self, arrival: &Arrival) -> f64 {
        let Some(egress) = arrival.egress else { return 0.0 };
        height(arrival, wait(self.standing.least(), egress.rate), self.begin)
    }

    /// Odds of an L4S packet in a DRB with classic flows, and the round trip of the packet's flow including the queue, in seconds. The rate is averaged
    /// over a few round trips, because classic senders respond over a few round trips.
    fn shared(&self, arrival: &Arrival) -> (f64, f64) {
        let Some(average) = arrival.average else { return (0.0, 0.0) };
        let wait = wait(arrival.backlog, average);
        let x = height(arrival, wait, self.begin_shared);
        // Windows in proportion to the round trips are equal rates.
        let rtt = arrival.rtt.unwrap_or(ROUND_TRIP).as_secs_f64() + wait;
        ((x * (ROUND_TRIP.as_secs_f64() + wait) / rtt).clamp(0.0, 1.0), rtt)
    }
}

/// Time in seconds in which the radio sends the backlog. This excludes the packet at hand: one that finds no backlog is no queue, however slow the
/// radio.
fn wait(backlog: f64, rate: BitRate) -> f64 {
    backlog / rate.as_bytes_per_sec().max(1.0)
}

/// Height of a wait above `begin`, in multiples of `begin`, times the steepness; negative below it. Dividing by the window in segments makes
/// the marks per round trip of one sender the same at any rate.
fn height(arrival: &Arrival, wait: f64, begin: f64) -> f64 {
    let under_way = arrival.average.map_or(0.0, BitRate::as_bytes_per_sec) * ROUND_TRIP.as_secs_f64();
    let steepness = STEEPNESS * arrival.segment / (under_way + arrival.backlog);
    (wait / begin - 1.0) * steepness.max(MIN_STEEPNESS)
}

/// Odds that give Reno or CUBIC, whichever needs more, the window that Prague has at the odds `x`.
fn classic(x: f64, rtt: f64) -> f64 {
    let cubic = CUBIC * x;
    (x * x / 4.0).max(rtt * cubic * f64::from(libm::cbrtf(cubic as f32)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::Egress;
    use crate::law::interface::tests::arrival;

    fn odds(arrival: &Arrival) -> f64 {
        Tide::new(&TideConfig::default()).arrive(arrival).mark.get()
    }

    /// Odds after an arrival that found this many bytes.
    fn odds_after(least: f64, arrival: &Arrival) -> f64 {
        let mut law = Tide::new(&TideConfig::default());
        law.arrive(&Arrival { backlog: least, ..*arrival });
        law.arrive(arrival).mark.get()
    }

    #[test]
    fn an_l4s_flow_alone_worked_by_hand() {
        // 5 MB/s over 38 ms: 190000 bytes under way. 60000 B take 12 ms, a fifth above 10 ms.
        // The window is 190000 + 60000 bytes: the steepness is 20 * 1500 / 250000 = 0.12, the odds 0.024.
        let found = arrival(Class::L4s);
        assert!((odds_after(60_000.0, &found) - 0.024).abs() < 1e-9, "{}", odds_after(60_000.0, &found));
        // A backlog of any length is no queue where a round trip ago there was none.
        assert_eq!(odds_after(0.0, &Arrival { backlog: 2e6, ..found }), 0.0);
        // Marks begin at 50000 bytes.
        assert_eq!(odds_after(50_000.0, &found), 0.0);
        assert!(odds_after(50_100.0, &found) > 0.0);
        // Ten times the threshold marks all.
        assert_eq!(odds(&Arrival { backlog: 5e5, ..found }), 1.0);
    }

    #[test]
    fn classic_and_coupled_packets_worked_by_hand() {
        // Marks begin at 10 + 0.15 * 38 = 15.7 ms. 150000 B take 30 ms: 0.9108280 above it, at a steepness of at least a ninth.
        // The window is 190000 + 150000 bytes: 20 * 1500 / 340000 = 0.0882353, less than that. x = 0.1012031.
        let at = |class, shared| Arrival { backlog: 150_000.0, shared, ..arrival(class) };
        let x = 0.101_203_1;
        assert!((odds(&at(Class::L4s, true)) - x).abs() < 1e-7, "{}", odds(&at(Class::L4s, true)));
        // Reno's: x^2 / 4 = 0.00256052. CUBIC's at 68 ms: y = 1.054 x / sqrt(6) = 0.0435472; 0.068 y^(4/3) = 0.00104. Alone or not.
        for shared in [false, true] {
            assert!((odds(&at(Class::Classic, shared)) - x * x / 4.0).abs() < 1e-8);
        }
        // Over half a second CUBIC takes more: 200 ms are 11.7388535 above 15.7, 1.3043171 by the steepness of a ninth. By the flow's round trip,
        // 700 ms where 238 ms count, it is 0.4434678, and y = 0.1908215.
        let far = Arrival { backlog: 1e6, rtt: Some(Duration::from_millis(500)), ..arrival(Class::Classic) };
        let expected = 0.7 * 0.190_821_5 * libm::cbrt(0.190_821_5);
        assert!((odds(&far) / expected - 1.0).abs() < 1e-5, "{} of {expected}", odds(&far));
        assert_eq!(odds(&at(Class::NotEct, true)), 0.0);
    }

    #[test]
    fn a_flow_over_a_shorter_path_is_marked_more_for_the_same_rate() {
        let shared = |rtt: Option<u64>| {
            let rtt = rtt.map(Duration::from_millis);
            odds(&Arrival { backlog: 150_000.0, shared: true, rtt, ..arrival(Class::L4s) })
        };
        // 38 + 30 ms count: of a flow with 10 + 30 the odds are 1.7 times as high, and over 106 + 30 half as high.
        let usual = shared(Some(38));
        assert!((shared(Some(10)) / usual - 1.7).abs() < 1e-9);
        assert!((shared(Some(106)) / usual - 0.5).abs() < 1e-9);
        assert_eq!(shared(None), usual);
    }

    #[test]
    fn an_empty_queue_is_none_however_slow_the_radio_and_an_unknown_one_too() {
        let slow = BitRate::from_kbps(10);
        for (class, shared) in
            [(Class::L4s, false), (Class::L4s, true), (Class::Classic, true), (Class::Classic, false)]
        {
            for rate in [slow, BitRate::ZERO] {
                let egress = Some(Egress { rate, deviation: BitRate::ZERO });
                assert_eq!(odds(&Arrival { backlog: 0.0, egress, average: Some(rate), shared, ..arrival(class) }), 0.0);
            }
            let unknown = Arrival { backlog: 1e7, egress: None, average: None, shared, ..arrival(class) };
            assert_eq!(odds(&unknown), 0.0);
        }
    }

    #[test]
    fn a_queue_that_nothing_leaves_is_as_high_as_there_is() {
        let egress = Some(Egress { rate: BitRate::ZERO, deviation: BitRate::ZERO });
        let stalled = |class, shared| Arrival { egress, average: Some(BitRate::ZERO), shared, ..arrival(class) };
        assert_eq!(odds(&stalled(Class::L4s, false)), 1.0);
        assert_eq!(odds(&stalled(Class::L4s, true)), 1.0);
        assert!(odds(&stalled(Class::Classic, false)) >= 0.25);
    }

    #[test]
    fn marks_of_each_class_are_evenly_spaced() {
        let mut law = Tide::new(&TideConfig { classic_margin: Duration::ZERO, ..TideConfig::default() });
        let mut marked = |class, backlog: f64| {
            let odds = law.arrive(&Arrival { backlog, shared: true, ..arrival(class) });
            law.recurrence(class).unwrap().add(odds.mark).0
        };
        // 55 ms: x = 45 / 90. One of two L4S packets, one of 16 classic ones, by turns.
        let marks: alloc::vec::Vec<_> =
            (0..160).map(|_| [Class::L4s, Class::Classic].map(|class| marked(class, 275_000.0))).collect();
        let at = |column: usize| -> alloc::vec::Vec<_> { (0..160).filter(|row| marks[*row][column]).collect() };
        assert!(at(0).windows(2).all(|pair| pair[1] - pair[0] == 2) && at(0).len() == 79, "{:?}", at(0));
        assert!(at(1).windows(2).all(|pair| pair[1] - pair[0] == 16) && at(1).len() == 9, "{:?}", at(1));
    }

    #[test]
    fn a_mode_becomes_a_threshold_by_the_5qi() {
        let by_five_qi = TideConfig { mode: Some(Mode::ByFiveQi), ..TideConfig::default() };
        let threshold = |config: TideConfig, five_qi| {
            let config = config.for_five_qi(five_qi);
            assert_eq!(config.mode, None);
            config.tau_s.as_nanos() / 1_000_000
        };
        // Half of 10, 50 and 100 ms, and never longer than it was.
        for (five_qi, millis) in [(80, 5), (84, 10), (3, 10), (1, 10)] {
            assert_eq!(threshold(by_five_qi, five_qi), millis);
        }
        for five_qi in [0, 6, 8, 9, 200] {
            assert_eq!(threshold(by_five_qi, five_qi), 30);
            let longer = TideConfig { tau_s: Duration::from_millis(50), ..by_five_qi };
            assert_eq!(threshold(longer, five_qi), 50);
        }
        assert_eq!(TideConfig::default().for_five_qi(80), TideConfig::default());
    }
}
