//! Ramp between two thresholds, with memory.
//!
//! ```text
//! tmp = clamp((delay - low) / (high - low), 0, 1)
//! p = alpha tmp + (1 - alpha) p            every `interval`
//! ```
//!
//! ![ramp](laws/ramp.svg)
//!
//! Source: Brunello et al., section IV-A, Eqs. 1 and 2, and section V for `low` = 5 ms (`l4sLowTh`) and `high` = 10 ms
//! (`l4sHighTh`). `interval` is their `dT`, 5 ms; `alpha` is 0.25, and 1 is without memory.
//!
//! - `delay` is `head-of-line`: what a DU can report, and between reports what is estimated to be queued
//!   ([how](../concepts/life-of-a-report.md)). With `sojourn` it is Eq. 5's prediction.
//! - Classic flows are left alone, as in the papers that use this law, unless `classic` is set.
//! - `drop` adds head drops, of any flow, as by [`drop-head`](#drop-head): section IV-E has 'no special RLC buffer handling
//!   for L4S other than that ECN marking is added'. It needs the RLC queue, so a CU alone refuses it.

use tidemark_core::{Bounded, ConfigError, Duration, Instant, Range, bounds};

use crate::law::drop_head::{DropHead, DropHeadConfig};
use crate::law::interface::{Arrival, Configured, Decides, Departure, Law, Odds, Properties};
use crate::require::require;
use crate::verdict::Class;

/// Delay that is compared with a threshold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum QueueDelay {
    /// Age of the oldest SDU in the RLC queue, which the DU can report. Across F1-U it is the estimated age between reports.
    #[default]
    HeadOfLine,
    /// Predicted sojourn of the packet: backlog over egress rate. Zero without an estimate.
    Sojourn,
}

impl QueueDelay {
    /// Delay in seconds.
    pub(crate) fn of(self, arrival: &Arrival) -> f64 {
        match self {
            Self::HeadOfLine => arrival.head_of_line,
            Self::Sojourn => arrival.sojourn().unwrap_or(0.0),
        }
    }
}

/// The law `ramp`.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<RampConfig>))]
pub struct RampConfig {
    /// `l4sLowTh`: below it nothing is marked. Default: 5 ms (Brunello section V).
    pub low: Duration,
    /// `l4sHighTh`: above it everything is marked. Default: 10 ms.
    pub high: Duration,
    /// Weight of the newest value in the smoothing; 1 means no memory. Default: 0.25.
    pub alpha: f64,
    /// `dT`, the time between two updates. Default: 5 ms.
    pub interval: Duration,
    /// The delay that is compared with the thresholds. Default: head of line.
    pub delay: QueueDelay,
    /// True to mark classic ECN flows too. Default: no, as in the paper. An operator whose users only have classic ECN
    /// may want to mark them.
    pub classic: bool,
    /// Drops of the oldest packet when it leaves the queue, as in the law `drop-head`. Default: none.
    pub drop: Option<DropHeadConfig>,
}

impl Default for RampConfig {
    fn default() -> Self {
        Self {
            low: Duration::from_millis(5),
            high: Duration::from_millis(10),
            alpha: 0.25,
            interval: Duration::from_millis(5),
            delay: QueueDelay::HeadOfLine,
            classic: false,
            drop: None,
        }
    }
}

bounds! { RampConfig {
    alpha: Range::above(0.0).and_at_most(1.0),
    interval: Range::between(Duration::from_micros(100), Duration::from_secs(1)),
    ..low, high, delay, classic, drop
} }

impl RampConfig {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        require(self.high > self.low, "high", "must be above `low`")?;
        self.drop.map_or(Ok(()), |drop| drop.validate().map_err(|error| error.within("drop")))
    }
}

/// State of the law `ramp`.
pub(crate) struct Ramp {
    low: f64,
    span: f64,
    alpha: f64,
    interval: Duration,
    delay: QueueDelay,
    classic: bool,
    p: f64,
    updated: Option<Instant>,
    drop: Option<DropHead>,
}

impl Configured for Ramp {
    type Config = RampConfig;

    fn new(config: &RampConfig) -> Self {
        let low = config.low.as_secs_f64();
        Self {
            low,
            span: config.high.as_secs_f64() - low,
            alpha: config.alpha,
            interval: config.interval,
            delay: config.delay,
            classic: config.classic,
            p: 0.0,
            updated: None,
            drop: config.drop.as_ref().map(Configured::new),
        }
    }

    fn properties(config: &RampConfig) -> &'static Properties {
        // With drops it needs the queue itself: a packet that left can't be dropped any more.
        if config.drop.is_some() { &WITH_DROPS } else { &Self::PROPERTIES }
    }
}

/// Properties of a ramp with drops: it needs the RLC queue itself.
const WITH_DROPS: Properties = Properties { decides: Decides::OnBoth, marks_reported: false, ..Ramp::PROPERTIES };

impl Law for Ramp {
    const PROPERTIES: Properties = Properties {
        name: "ramp",
        acts_on: "delay between two thresholds, with memory",
        signals_to: "L4S, by configuration classic",
        decides: Decides::OnArrival,
        looks_at_head: true,
        marks_reported: true,
        marks: true,
    };

    fn arrive(&mut self, arrival: &Arrival) -> Odds {
        let p = self.update(arrival);
        // `pMark` follows the queue whoever's packet it is: the class says only whom it is applied to.
        match arrival.class {
            Class::L4s => Odds::mark("l4s ramp", p),
            Class::Classic if self.classic => Odds::mark("classic ramp", p),
            Class::Classic | Class::NotEct => Odds::NONE,
        }
    }

    fn leave(&mut self, departure: &Departure) -> Odds {
        self.drop.as_mut().map_or(Odds::NONE, |rule| rule.leave(departure))
    }
}

impl Ramp {
    /// Updates `pMark` and gives it. Updates that were due while nothing arrived are made now, with the delay that the
    /// arriving packet finds.
    pub(crate) fn update(&mut self, arrival: &Arrival) -> f64 {
        let instantaneous = ((self.delay.of(arrival) - self.low) / self.span).clamp(0.0, 1.0);
        // The first packet is the first update, from a `pMark` of zero.
        let Some(updated) = self.updated else {
            self.updated = Some(arrival.now);
            self.p = self.alpha * instantaneous;
            return self.p;
        };
        let due = arrival.now.since(updated).as_nanos() / self.interval.as_nanos();
        // After so many updates nothing is left of the old value that a probability could show.
        for _ in 0..due.min(1_000) {
            self.p = self.alpha * instantaneous + (1.0 - self.alpha) * self.p;
        }
        // Never ahead of a clock that stepped back.
        self.updated = Some((updated + self.interval * due).min(arrival.now));
        self.p
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::interface::tests::arrival;

    fn at(millis: u64, delay_ms: f64) -> Arrival {
        Arrival { now: Instant::from_millis(millis), head_of_line: delay_ms * 1e-3, ..arrival(Class::L4s) }
    }

    #[test]
    fn brunello_eqs_1_and_2_worked_by_hand() {
        // Thresholds 5 and 10 ms, alpha 0.25, dT 5 ms. tmp: 7.5 ms -> 0.5; 20 ms -> 1 (clamped); 2 ms -> 0.
        let mut ramp = Ramp::new(&RampConfig::default());
        let mut is = |millis, delay, p: f64| {
            let got = ramp.arrive(&at(millis, delay)).mark.get();
            assert!((got - p).abs() < 1e-12, "{millis} ms: {got}, not {p}");
        };
        is(0, 7.5, 0.125);
        is(3, 20.0, 0.125); // no update is due yet
        is(5, 20.0, 0.343_75); // 0.25 + 0.75 * 0.125
        is(10, 2.0, 0.257_812_5); // 0.75 times that
        is(22, 2.0, 0.145_019_531_25); // twice more: 15 and 20 ms went by without a packet
    }

    #[test]
    fn with_alpha_1_the_ramp_has_no_memory() {
        let mut ramp = Ramp::new(&RampConfig { alpha: 1.0, ..RampConfig::default() });
        for (millis, delay, p) in [(0, 20.0, 1.0), (5, 6.0, 0.2), (10, 5.0, 0.0), (15, 10.0, 1.0)] {
            assert!((ramp.arrive(&at(millis, delay)).mark.get() - p).abs() < 1e-12, "{delay} ms");
        }
    }

    #[test]
    fn a_ramp_with_drops_needs_the_rlc_queue() {
        let [alone, drops] =
            [None, Some(DropHeadConfig::default())].map(|drop| RampConfig { drop, ..RampConfig::default() });
        let properties = |config| (Ramp::properties(config).decides, Ramp::properties(config).marks_reported);
        assert_eq!(properties(&alone), (Decides::OnArrival, true));
        assert_eq!(properties(&drops), (Decides::OnBoth, false));
        let disordered = DropHeadConfig { flush_above: Duration::from_millis(99), ..DropHeadConfig::default() };
        let error = RampConfig { drop: Some(disordered), ..drops }.validate().unwrap_err();
        assert_eq!(error.field(), "drop.flush_above");
    }

    #[test]
    fn classic_flows_are_left_alone() {
        let mut ramp = Ramp::new(&RampConfig { alpha: 1.0, ..RampConfig::default() });
        for class in [Class::Classic, Class::NotEct] {
            assert_eq!(ramp.arrive(&Arrival { class, ..at(0, 50.0) }), Odds::NONE);
        }
    }

    #[test]
    fn classic_flows_are_marked_where_that_is_asked_for_and_flows_without_ecn_never() {
        let mut ramp = Ramp::new(&RampConfig { alpha: 1.0, classic: true, ..RampConfig::default() });
        assert_eq!(ramp.arrive(&Arrival { class: Class::Classic, ..at(0, 50.0) }), Odds::mark("classic ramp", 1.0));
        assert_eq!(ramp.arrive(&Arrival { class: Class::NotEct, ..at(5, 50.0) }), Odds::NONE);
    }
}
