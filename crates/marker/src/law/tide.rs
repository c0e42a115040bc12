//! Tide: evenly spaced marks by the sojourn at the average egress rate, for classic flows and for DRBs that L4S and classic flows share.
//! An L4S flow alone is marked by a step of the sojourn at the egress rate.
//!
//! Nothing is drawn: the odds of packets add up, and each whole is a mark. Random marks now and then cut a classic sender twice within
//! two round trips, and the radio runs empty; a queue that is long enough to outlast that is twice as long.

use tidemark_core::{BitRate, Bounded, ConfigError, Duration, Instant, Range, bounds};

use crate::drain::OUTAGE;
use crate::five_qi::Characteristics;
use crate::law::interface::{Arrival, Configured, Decides, Law, Odds, Properties};
use crate::law::recurrence::Recurrence;
use crate::mode::Mode;
use crate::starvation::CellLoad;
use crate::verdict::Class;

mod coupling;
mod link;

use coupling::{Coupling, Path, squared};
use link::Link;

/// Steepness of the odds, in multiples of those at which one sender fills the radio: these are reached a tenth above the sojourn at which
/// marks begin.
const NEED: f64 = 10.0;
/// Time between two steps of the thresholds.
const STEP: Duration = Duration::from_millis(10);
/// Shortest thresholds of a DRB whose mode is throughput first, of L4S flows and of others: with these Prague, CUBIC and Reno have 0.97 of their unmarked rate and more, walking, driving and
/// still (docs/measured/live.md).
const THROUGHPUT_FIRST: (Duration, Duration) = (Duration::from_millis(40), Duration::from_millis(15));
/// Longest thresholds of a DRB whose mode is delay first, as a part of the packet delay budget: at half of it the queue's 99th percentile stays below the budget of
/// 10 ms (5 ms have 9; docs/measured/tide.md).
const OF_BUDGET: u64 = 2;
/// Longest time that a step is taken for, in seconds: a longer one had no packets.
const LONGEST_STEP: f64 = 0.1;
/// Time after a mark for which an empty queue is put down to it: some round trips. What runs empty later has nothing to send.
const ANSWER: Duration = Duration::from_secs(1);
/// Bounds of the steered thresholds, in multiples of those that are configured.
const OF_TAU: (f64, f64) = (0.1, 4.0);
const OF_BEGIN: (f64, f64) = (0.4, 1.5);

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
    /// Share of the growth of the queue in the longest recent outage that is added to `begin`. The growth is the outage, or `begin` and the
    /// round trip where these are shorter: no more is under way. Default: 1, since a sender that no mark has told to can't help it.
    pub outage_share: f64,
    /// Share of the round trip by which marks begin later while the rate is low, for each part that its mean over `steer_over` lies above it; two parts at most. It
    /// counts where it is longer than the two shares above. Default: 1, a window that fills the path at the mean rate.
    pub dip_share: f64,
    /// Sojourn at which coupled packets are all marked, in multiples of the one at which marks begin. Default: 10.
    pub span: f64,
    /// Share of the time for which the cell may have room and the DRB nothing to send: the thresholds steer themselves to it, `tau_s` between a tenth and four
    /// times itself and the start of classic and coupled marks between 0.4 and 1.5 times. Default: none, the thresholds stay.
    pub throughput_loss: Option<f64>,
    /// Time in which a threshold that costs nothing falls to `1 / e`, as does the longest recent outage, and over which the rate has its mean. Default: 10 s, some hundred round trips.
    pub steer_over: Duration,
    /// Aim of the DRB, in place of thresholds that somebody has to choose. `throughput-first` lengthens `tau_s` to 40 ms and `begin` to 15 ms, but where `throughput_loss`
    /// steers them. `delay-first` shortens both to half of the packet delay budget of the DRB's 5QI, and steers nothing. `by-5qi` is one of the two. Default: none.
    pub mode: Option<Mode>,
}

impl Default for TideConfig {
    fn default() -> Self {
        Self {
            tau_s: Duration::from_millis(10),
            begin: Duration::from_millis(10),
            rtt_share: 0.28,
            outage_share: 1.0,
            dip_share: 1.0,
            span: 10.0,
            throughput_loss: None,
            steer_over: Duration::from_secs(10),
            mode: None,
        }
    }
}

bounds! { TideConfig {
    tau_s: Range::between(Duration::from_micros(100), Duration::from_secs(10)),
    begin: Range::between(Duration::from_micros(100), Duration::from_secs(10)),
    rtt_share: Range::between(0.0, 10.0),
    outage_share: Range::between(0.0, 10.0),
    dip_share: Range::between(0.0, 10.0),
    span: Range::between(1.5, 1_000.0),
    throughput_loss: Range::between(0.000_1, 0.5),
    steer_over: Range::between(Duration::from_millis(100), Duration::from_secs(3_600)),
    ..mode
} }

impl TideConfig {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        if self.mode == Some(Mode::DelayFirst) && self.throughput_loss.is_some() {
            return Err(ConfigError::new(
                "throughput_loss",
                "leave it out: with `delay-first` nothing is steered by it",
            ));
        }
        Ok(())
    }

    /// Configuration for a DRB whose first QoS flow has this 5QI, 0 where nobody knows it: with thresholds and aims in place of a mode.
    pub(crate) fn for_five_qi(self, five_qi: u8) -> Self {
        let Some(mode) = self.mode else { return self };
        match mode.of(five_qi) {
            Mode::DelayFirst => {
                let longest = Characteristics::of(five_qi).map_or(Duration::MAX, |row| row.delay_budget / OF_BUDGET);
                let (tau_s, begin) = (self.tau_s.min(longest), self.begin.min(longest));
                Self { tau_s, begin, throughput_loss: None, mode: None, ..self }
            }
            Mode::ThroughputFirst | Mode::ByFiveQi if self.throughput_loss.is_some() => Self { mode: None, ..self },
            Mode::ThroughputFirst | Mode::ByFiveQi => {
                let (tau_s, begin) = THROUGHPUT_FIRST;
                Self { tau_s: self.tau_s.max(tau_s), begin: self.begin.max(begin), mode: None, ..self }
            }
        }
    }
}

/// State of the law `tide`.
pub(crate) struct Tide {
    tau_s: f64,
    begin: f64,
    rtt_share: f64,
    outage_share: f64,
    dip_share: f64,
    /// Inverse of the distance from the sojourn at which marks begin to the one at which coupled packets are all marked, in multiples of the first.
    slope: f64,
    link: Link,
    steering: Option<Steering>,
    /// Scales of `tau_s` and of the sojourn at which marks begin.
    tau_scale: f64,
    begin_scale: f64,
    coupling: Coupling,
    /// Sums of the odds of L4S packets and of all others: with one for both, odds that L4S packets add would mark classic ones.
    l4s: Recurrence,
    classic: Recurrence,
}

impl Configured for Tide {
    type Config = TideConfig;

    fn new(config: &TideConfig) -> Self {
        let config = config.for_five_qi(0);
        Self {
            tau_s: config.tau_s.as_secs_f64(),
            begin: config.begin.as_secs_f64(),
            rtt_share: config.rtt_share,
            outage_share: config.outage_share,
            dip_share: config.dip_share,
            slope: 1.0 / (config.span - 1.0),
            link: Link::new(config.steer_over),
            steering: config.throughput_loss.map(|loss| Steering::new(loss, config.steer_over)),
            tau_scale: 1.0,
            begin_scale: 1.0,
            coupling: Coupling::default(),
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
        reads_starvation: true,
        marks_reported: false,
        marks: true,
    };

    fn starve(&mut self, seconds: f64) {
        if let Some(steering) = &mut self.steering {
            steering.starved += seconds;
        }
    }

    fn outage(&mut self, seconds: f64) {
        self.link.outage(seconds);
    }

    fn join(&mut self, cell: &CellLoad) {
        self.link.join(cell);
    }

    fn recurrence(&mut self, class: Class) -> Option<&mut Recurrence> {
        Some(if class == Class::L4s { &mut self.l4s } else { &mut self.classic })
    }

    fn arrive(&mut self, arrival: &Arrival) -> Odds {
        self.link.step(arrival.now, arrival.average);
        if let Some(growth) = self.steering.as_mut().and_then(|steering| steering.step(arrival)) {
            let alone = arrival.class == Class::L4s && !arrival.shared;
            let (scale, bounds) = if alone { (&mut self.tau_scale, OF_TAU) } else { (&mut self.begin_scale, OF_BEGIN) };
            *scale = (*scale * growth).clamp(bounds.0, bounds.1);
        }
        let odds = self.odds(arrival);
        if let Some(steering) = &mut self.steering
            && odds.mark.get() > 0.0
        {
            steering.marked = Some(arrival.now);
        }
        odds
    }
}

/// Steering of a threshold by what it costs.
struct Steering {
    /// Share of the time that may be lost.
    loss: f64,
    over: f64,
    /// Time of the last step, and the starvation since then, in seconds.
    at: Instant,
    starved: f64,
    marked: Option<Instant>,
}

impl Steering {
    fn new(loss: f64, over: Duration) -> Self {
        Self { loss, over: over.as_secs_f64(), at: Instant::ZERO, starved: 0.0, marked: None }
    }

    /// Factor of the threshold, every 10 ms while marks are answered: `1 + (lost / loss - dt) / over`.
    fn step(&mut self, arrival: &Arrival) -> Option<f64> {
        let past = arrival.now.since(self.at);
        if past < STEP {
            return None;
        }
        let (dt, lost) = (past.as_secs_f64(), self.starved);
        (self.at, self.starved) = (arrival.now, 0.0);
        let is_answered = self.marked.is_some_and(|marked| arrival.now.since(marked) < ANSWER);
        let dt = dt.min(LONGEST_STEP);
        is_answered.then(|| (1.0 + (lost.clamp(-dt, dt) / self.loss - dt) / self.over).clamp(0.5, 2.0))
    }
}

/// Average rate and handshake as numbers, which a packet's odds take several times.
struct Seen {
    /// Rate over a few round trips in bytes a second, 1 at least.
    rate: f64,
    /// Round trip of the flow's handshake in seconds, 0 where none was seen.
    rtt: f64,
}

impl Seen {
    #[inline(always)]
    fn of(arrival: &Arrival) -> Self {
        Self {
            rate: arrival.average.map_or(0.0, BitRate::as_bytes_per_sec).max(1.0),
            rtt: arrival.rtt.map_or(0.0, Duration::as_secs_f64),
        }
    }
}

/// Lesser of two numbers. `f64::min` looks for NaN besides, which takes four times as many instructions.
#[inline]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// Greater of two numbers, as [`lesser`].
#[inline]
fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

impl Tide {
    /// Odds at the thresholds as they are.
    fn odds(&mut self, arrival: &Arrival) -> Odds {
        match arrival.class {
            Class::NotEct => Odds::NONE,
            Class::L4s if !arrival.shared => Odds::mark("l4s step", f64::from(u8::from(self.is_late(arrival)))),
            Class::L4s | Class::Classic => {
                let seen = Seen::of(arrival);
                let x = self.height_of(arrival, &seen);
                if arrival.shared {
                    self.shared_odds(arrival, &seen, x)
                } else {
                    Odds::mark("classic squared", squared(x))
                }
            }
        }
    }

    /// Odds at the height `x` of a queue of both classes.
    #[inline]
    fn shared_odds(&mut self, arrival: &Arrival, seen: &Seen, x: f64) -> Odds {
        // Without a handshake nobody knows the path.
        if arrival.rtt.is_some()
            && let Some(average) = arrival.average
        {
            let rtt = || seen.rtt + arrival.backlog / seen.rate;
            self.coupling.send(arrival.now, x, || Path {
                rtt: rtt(),
                segments: average.as_bytes_per_sec() * rtt() / arrival.segment,
            });
            if arrival.class == Class::Classic {
                return Odds::mark("beside l4s", self.coupling.classic(x, rtt()));
            }
        }
        match arrival.class {
            Class::Classic => Odds::mark("classic squared", squared(x)),
            _ => Odds::mark("coupled", x),
        }
    }

    /// True if the queue with the packet at hand takes longer than the threshold. A packet that finds less than another before it is no
    /// queue, whatever the rate (RFC 9332's Th_len).
    fn is_late(&self, arrival: &Arrival) -> bool {
        let Some(egress) = arrival.egress else { return false };
        arrival.backlog >= arrival.size
            && arrival.backlog + arrival.size > egress.rate.as_bytes_per_sec() * self.tau_s * self.tau_scale
    }

    /// Sojourn in seconds at which marks begin on a path with this round trip, of a queue that was not served for so long.
    fn begin_of(&self, rtt: f64, unserved: Duration) -> f64 {
        let mut outage = self.link.longest_outage();
        // The present outage is one before it is over: a mark would be for packets that nobody could hold back any more.
        if unserved > OUTAGE {
            outage = outage.max(unserved.as_secs_f64());
        }
        // What is under way in an outage arrives, and is not acknowledged: nothing follows it.
        let growth = lesser(outage, self.begin + rtt);
        let mut added = self.rtt_share * rtt + self.outage_share * growth;
        // A window that fills the path at the mean rate is too long while the rate is lower, and takes seconds to come back once it was cut.
        if self.link.dip() > 0.0 {
            added = added.max(self.dip_share * self.link.dip() * rtt);
        }
        self.begin + added * self.link.share_of_cell()
    }

    /// Height of the queue between the sojourn at which marks begin, 0, and the one at which coupled packets are all marked, 1. The rate is averaged over a few
    /// round trips, as the answers of classic senders are. Less than two segments is no queue, as for `l4span`.
    #[inline(always)]
    fn height_of(&self, arrival: &Arrival, seen: &Seen) -> f64 {
        if arrival.average.is_none() || arrival.backlog < 2.0 * arrival.segment {
            return 0.0;
        }
        let begin = self.begin_scale * self.begin_of(seen.rtt, arrival.now.since(arrival.served));
        let queued = arrival.backlog + arrival.size;
        let window = seen.rate * seen.rtt + queued;
        let steepness = greater(self.slope, NEED * 2.0 * arrival.segment / window);
        // A queue that nothing leaves is as high as there is.
        ((queued / seen.rate / begin - 1.0) * steepness).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::Egress;
    use crate::law::interface::tests::arrival;
    use crate::starvation::Starvation;

    fn p(arrival: &Arrival) -> f64 {
        Tide::new(&TideConfig::default()).arrive(arrival).mark.get()
    }

    #[test]
    fn a_classic_flow_worked_by_hand() {
        // Marks begin at 10 ms + 0.28 * 38 ms = 20.64 ms. (148500 + 1500) B at 5 MB/s: 30 ms.
        // x = (30 - 20.64) / (20.64 * 9) = 0.0503876; (x / 2)^2 = 6.347275e-4.
        assert!((p(&Arrival { backlog: 148_500.0, ..arrival(Class::Classic) }) - 6.347_275e-4).abs() < 1e-9);
        // Without a handshake marks begin at 10 ms and 150000 B are under way: x = (30 / 10 - 1) * 10 * 3000 / 150000 = 0.4.
        let without = Arrival { backlog: 148_500.0, rtt: None, ..arrival(Class::Classic) };
        assert!((p(&without) - 0.04).abs() < 1e-12);
        // 206.4 ms and more: everything, and of classic packets a quarter.
        assert_eq!(p(&Arrival { backlog: 2e6, ..arrival(Class::Classic) }), 0.25);
    }

    #[test]
    fn marks_begin_later_after_outages_and_sooner_beside_others_worked_by_hand() {
        let mut law = Tide::new(&TideConfig::default());
        let mut begin = |outage: f64, rtt: f64| {
            law.link = Link::new(Duration::from_secs(10));
            law.outage(outage);
            (law.begin_of(rtt, Duration::ZERO) * 1e6).round()
        };
        // 10 ms + 0.28 * 38 ms + the outage; of a longer one 48 ms, which are under way at most; 10 ms where no handshake was seen.
        assert_eq!(begin(0.030, 0.038), 50_640.0);
        assert_eq!(begin(0.100, 0.038), 68_640.0);
        assert_eq!(begin(9.0, 0.038), 68_640.0);
        assert_eq!(begin(0.100, 0.0), 20_000.0);
        // With four queues in the cell half of what is added: 10 + (10.64 + 48) / 2 ms.
        let cell = CellLoad::default();
        let mut drbs = [(); 4].map(|()| Starvation::new());
        for drb in &mut drbs {
            drb.join(&cell);
            drb.begin(Instant::ZERO);
        }
        law.join(&cell);
        law.arrive(&Arrival { now: Instant::from_millis(200), ..arrival(Class::Classic) });
        law.outage(0.1);
        let begin = law.begin_of(0.038, Duration::ZERO);
        assert!((begin - 0.039_32).abs() < 1e-12, "{begin}");
    }

    #[test]
    fn marks_begin_later_in_an_outage_worked_by_hand() {
        let law = Tide::new(&TideConfig::default());
        let begin = |millis: u64| (law.begin_of(0.106, Duration::from_millis(millis)) * 1e6).round();
        // 10 ms + 0.28 * 106 ms, the outage, and 116 ms of it at most; 50 ms are none.
        assert_eq!([50, 60, 90, 500].map(begin), [39_680.0, 99_680.0, 129_680.0, 155_680.0]);
        // 400 kB at 5 MB/s, 80 ms: a mark for a queue that is served, none for one that is not.
        let now = Instant::from_millis(500);
        let p = |unserved: u64| {
            let served = Instant::from_millis(500 - unserved);
            let rtt = Some(Duration::from_millis(106));
            p(&Arrival { now, served, rtt, backlog: 400_000.0, ..arrival(Class::Classic) })
        };
        assert!(p(50) > 0.0);
        assert_eq!(p(51), 0.0);
    }

    #[test]
    fn marks_begin_later_while_the_rate_is_low_worked_by_hand() {
        let mut law = Tide::new(&TideConfig::default());
        let mut begin = |millis: u64, mbps: u64| {
            law.link.step(Instant::from_millis(millis), Some(BitRate::from_mbps(mbps)));
            (law.begin_of(0.106, Duration::ZERO) * 1e3).round()
        };
        // 10 + 0.28 * 106 ms at 80 Mbit/s, and at 70: a mean of 79.9 is 0.14 above it.
        assert_eq!([begin(1_000, 80), begin(1_010, 70)], [40.0, 40.0]);
        // At 40 Mbit/s the mean of 79.5 is 0.988 above it: 10 + 0.988 * 106 ms. At 1 Mbit/s 10 + 2 * 106.
        assert_eq!([begin(1_020, 40), begin(1_030, 1)], [115.0, 222.0]);
    }

    #[test]
    fn odds_are_steeper_where_windows_are_short() {
        // A sixteenth of the rate: 312500 B/s. 9375 B are 30 ms; 11875 + 9375 B are under way, 7.083333 pairs of segments.
        // x = (30 / 20.64 - 1) * 10 / 7.083333 = 0.6402189; (x / 2)^2 = 0.1024701.
        let slow = Some(BitRate::from_kbps(2_500));
        let found = Arrival { backlog: 7_875.0, average: slow, ..arrival(Class::Classic) };
        assert!((p(&found) - 0.102_470_1).abs() < 1e-6, "{}", p(&found));
    }

    #[test]
    fn the_marks_of_a_shared_drb_worked_by_hand() {
        let shared = |class| Arrival { backlog: 148_500.0, shared: true, ..arrival(class) };
        // x as above.
        assert!((p(&shared(Class::L4s)) - 0.050_387_6).abs() < 1e-7);
        // RTT = 38 + 29.7 ms, 225.6667 segments; a Prague begins with 56.41667, and Reno has as much at 1.5 / 56.41667^2.
        // CUBIC's: y = 1.054 / 56.41667 = 0.01868242, its cube root 0.265345; 0.0677 * 0.01868242 * 0.265345 = 3.35608e-4, which is less.
        assert!((p(&shared(Class::Classic)) - 4.712_77e-4).abs() < 1e-9);
        // Over 106 ms 300 kB, 60 ms, are above 39.68 ms. RTT = 0.1657, W = 138.0833; y = 0.007633072, cube root 0.196894: 2.490319e-4.
        let far = Arrival { backlog: 298_500.0, rtt: Some(Duration::from_millis(106)), ..shared(Class::Classic) };
        assert!((p(&far) - 2.490_32e-4).abs() < 1e-9, "{}", p(&far));
        // Without a handshake there is no path. A CUBIC alone has nobody to be fair to: x = 20.32 / 357.12 = 0.0568996, (x / 2)^2 = 8.09392e-4.
        assert!((p(&Arrival { rtt: None, ..shared(Class::Classic) }) - 0.04).abs() < 1e-12);
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
        let at = |column: usize| -> alloc::vec::Vec<_> { (0..160).filter(|row| marks[*row][column]).collect() };
        assert!(at(0).windows(2).all(|pair| pair[1] - pair[0] == 2) && at(0).len() == 79, "{:?}", at(0));
        assert!(at(1).windows(2).all(|pair| pair[1] - pair[0] == 16) && at(1).len() == 9, "{:?}", at(1));
    }

    #[test]
    fn a_packet_beside_another_is_a_queue_and_of_a_classic_flow_two() {
        let slow = Egress { rate: BitRate::from_kbps(100), deviation: BitRate::ZERO };
        let marks = |class, backlog| {
            p(&Arrival { backlog, egress: Some(slow), average: Some(slow.rate), ..arrival(class) }) > 0.0
        };
        assert_eq!([1_499.0, 1_500.0].map(|backlog| marks(Class::L4s, backlog)), [false, true]);
        assert_eq!([2_999.0, 3_000.0].map(|backlog| marks(Class::Classic, backlog)), [false, true]);
    }

    #[test]
    fn a_mode_becomes_thresholds_by_the_5qi() {
        let by_five_qi = TideConfig { mode: Some(Mode::ByFiveQi), ..TideConfig::default() };
        // Half of 10, 50 and 100 ms, and never longer than they were.
        for (five_qi, millis) in [(80, 5), (84, 10), (3, 10), (1, 10)] {
            let long = Duration::from_millis(millis);
            let expected = TideConfig { tau_s: long, begin: long, ..TideConfig::default() };
            assert_eq!(by_five_qi.for_five_qi(five_qi), expected);
            let steered = TideConfig { throughput_loss: Some(0.03), ..by_five_qi };
            assert_eq!(steered.for_five_qi(five_qi), expected);
        }
        let [long, early] = [40, 15].map(Duration::from_millis);
        for five_qi in [0, 6, 8, 9, 200] {
            let expected = TideConfig { tau_s: long, begin: early, ..TideConfig::default() };
            assert_eq!(by_five_qi.for_five_qi(five_qi), expected);
            let longer = TideConfig { tau_s: long * 2, ..by_five_qi };
            assert_eq!(longer.for_five_qi(five_qi), TideConfig { tau_s: long * 2, ..expected });
            // Who steers has thresholds that find themselves.
            let steered = TideConfig { throughput_loss: Some(0.03), ..by_five_qi };
            assert_eq!(steered.for_five_qi(five_qi), TideConfig { mode: None, ..steered });
        }
        assert_eq!(TideConfig::default().for_five_qi(80), TideConfig::default());
        let both = TideConfig { mode: Some(Mode::DelayFirst), throughput_loss: Some(0.03), ..TideConfig::default() };
        assert_eq!(both.validate().unwrap_err().field(), "throughput_loss");
    }

    #[test]
    fn steered_thresholds_are_those_that_mark() {
        let mut law = Tide::new(&TideConfig::default());
        // 5 MB/s for twice 10 ms: 100000 bytes.
        law.tau_scale = 2.0;
        let l4s = |backlog| Arrival { backlog, ..arrival(Class::L4s) };
        assert_eq!([98_500.0, 98_501.0].map(|backlog| law.arrive(&l4s(backlog)).mark.get()), [0.0, 1.0]);
        // Marks begin at 0.5 * 20.64 ms = 10.32 ms: 30 ms are x = 19.68 / (10.32 * 9) = 0.2118863, (x / 2)^2 = 0.01122395.
        law.begin_scale = 0.5;
        let odds = law.arrive(&Arrival { backlog: 148_500.0, ..arrival(Class::Classic) });
        assert!((odds.mark.get() - 0.011_223_95).abs() < 1e-8, "{odds:?}");
    }

    #[test]
    fn a_step_of_the_thresholds_worked_by_hand() {
        // Milliseconds since the last step and since the last mark, seconds lost, share that may be, seconds to fall in.
        for (past, marked, lost, loss, over, expected) in [
            // 1 + (0.002 / 0.01 - 0.01) / 10, and for all of the time at most: 1 + (0.01 / 0.01 - 0.01) / 10, either way.
            (10, 5, 0.002, 0.01, 10, Some(1.019)),
            (10, 5, 0.5, 0.01, 10, Some(1.099)),
            (10, 5, -0.5, 0.01, 10, Some(0.899)),
            // Half a second without a packet counts as 0.1 s.
            (500, 5, 0.05, 0.01, 10, Some(1.49)),
            (500, 5, 0.0, 0.01, 10, Some(0.99)),
            // Neither doubled nor halved at once.
            (500, 5, 0.1, 0.01, 1, Some(2.0)),
            (500, 5, -0.1, 0.01, 1, Some(0.5)),
            (9, 5, 0.002, 0.01, 10, None),
            (10, 999, 0.002, 0.01, 10, Some(1.019)),
            (10, 1_000, 0.002, 0.01, 10, None),
        ] {
            let mut steering = Steering::new(loss, Duration::from_secs(over));
            let now = Instant::from_millis(2_000);
            let before = |millis: u64| Instant::from_millis(2_000 - millis);
            (steering.at, steering.marked, steering.starved) = (before(past), Some(before(marked)), lost);
            let step = steering.step(&Arrival { now, ..arrival(Class::L4s) });
            let same = match (step, expected) {
                (Some(step), Some(expected)) => (step - expected).abs() < 1e-9,
                (step, expected) => step == expected,
            };
            assert!(same, "{past} ms, {marked} ms, {lost} s: {step:?}, not {expected:?}");
            // What was lost counts once, whether marks are answered or not.
            let left = if past < 10 { lost } else { 0.0 };
            assert_eq!((steering.starved, steering.at == now), (left, past >= 10));
        }
    }

    /// Scales of `tau_s` and of where marks begin after so many seconds of marked packets every 10 ms, with this share of starvation.
    fn steered(loss: Option<f64>, class: Class, seconds: u64, share: f64) -> (f64, f64) {
        let mut law = Tide::new(&TideConfig { throughput_loss: loss, ..TideConfig::default() });
        for step in 0..=seconds * 100 {
            let now = Instant::from_millis(step * 10);
            law.starve(share * 0.010);
            law.arrive(&Arrival { now, backlog: 1e7, ..arrival(class) });
        }
        (law.tau_scale, law.begin_scale)
    }

    #[test]
    fn thresholds_fall_while_they_cost_nothing_and_rise_with_what_they_cost() {
        let e = core::f64::consts::E;
        let near = |(tau, begin): (f64, f64), of_tau: f64, of_begin: f64| {
            assert!((tau / of_tau - 1.0).abs() < 0.005 && (begin / of_begin - 1.0).abs() < 0.005, "{tau}, {begin}");
        };
        near(steered(Some(0.03), Class::L4s, 10, 0.0), 1.0 / e, 1.0);
        near(steered(Some(0.03), Class::Classic, 5, 0.0), 1.0, 1.0 / e.sqrt());
        near(steered(Some(0.03), Class::L4s, 10, 0.06), e, 1.0);
        // What may be lost leaves them where they are, and bounds hold them.
        near(steered(Some(0.03), Class::L4s, 60, 0.03), 1.0, 1.0);
        near(steered(Some(0.03), Class::L4s, 60, 0.5), OF_TAU.1, 1.0);
        near(steered(Some(0.03), Class::Classic, 60, 0.0), 1.0, OF_BEGIN.0);
        near(steered(None, Class::L4s, 60, 0.5), 1.0, 1.0);
    }

    #[test]
    fn a_queue_that_no_mark_emptied_steers_nothing() {
        let mut law = Tide::new(&TideConfig { throughput_loss: Some(0.01), ..TideConfig::default() });
        for step in 0..1_000 {
            let now = Instant::from_millis(step * 10);
            law.starve(0.005);
            law.arrive(&Arrival { now, backlog: 3_000.0, ..arrival(Class::L4s) });
        }
        assert_eq!((law.tau_scale, law.begin_scale), (1.0, 1.0));
    }
}
