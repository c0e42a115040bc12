//! Marking at the UPF. The RAN turns its queue into a percentage by a [`ramp`](#ramp) and reports it to the UPF every
//! `report_interval` (10 ms). The UPF marks that share of the packets until the next report. `report_delay` (10 ms, at most
//! 32 intervals) lies between measuring and the UPF's first mark. While a queue is held at one length, the law is the ramp.
//!
//! ![upf](laws/upf.svg)
//!
//! Source: TS 23.501 5.37.3, TS 29.244 5.38.1; congestion information in hundredths of a percent, 0 to 10000, after
//! TS 38.415 5.5.3. [What the loop's delay costs](../concepts/laws.md#what-the-loop-of-upf-costs).

use tidemark_core::{Bounded, ConfigError, Duration, Instant, Range, bounds};

use crate::law::interface::{Arrival, Configured, Decides, Law, Odds, Properties};
use crate::law::ramp::{Ramp, RampConfig};
use crate::require::require;
use crate::verdict::Class;

/// Reports that may be under way at once.
const PIPELINE: usize = 32;

/// The law `upf`.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<UpfConfig>))]
pub struct UpfConfig {
    /// Ramp by which the RAN turns its queue into a percentage. Default: as in the law `ramp`.
    pub ramp: RampConfig,
    /// Time between two reports to the UPF. Default: 10 ms.
    pub report_interval: Duration,
    /// Time from a measurement to the first mark that results from it: uplink GTP-U, processing in the UPF, and the downlink path
    /// of the marked packet. At most 32 report intervals. Default: 10 ms.
    pub report_delay: Duration,
}

impl Default for UpfConfig {
    fn default() -> Self {
        Self {
            ramp: RampConfig::default(),
            report_interval: Duration::from_millis(10),
            report_delay: Duration::from_millis(10),
        }
    }
}

bounds! { UpfConfig {
    report_interval: Range::between(Duration::from_micros(100), Duration::from_secs(10)),
    ..ramp, report_delay
} }

impl UpfConfig {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.ramp.validate()?;
        require(self.ramp.drop.is_none(), "ramp.drop", "must be left out: the UPF has no RLC queue")?;
        self.check_bounds()?;
        let longest = self.report_interval * PIPELINE as u64;
        require(self.report_delay <= longest, "report_delay", "must be at most 32 times `report_interval`")
    }
}

/// State of the law `upf`.
pub(crate) struct Upf {
    ramp: Ramp,
    interval: Duration,
    delay: Duration,
    /// Reports under way, oldest first: when each takes effect, and its congestion information.
    pipeline: [(Instant, u16); PIPELINE],
    first: usize,
    len: usize,
    next_report: Instant,
    /// The last report, by which the UPF marks.
    held: u16,
}

impl Configured for Upf {
    type Config = UpfConfig;

    fn new(config: &UpfConfig) -> Self {
        Self {
            ramp: Ramp::new(&config.ramp),
            interval: config.report_interval,
            delay: config.report_delay,
            pipeline: [(Instant::ZERO, 0); PIPELINE],
            first: 0,
            len: 0,
            next_report: Instant::ZERO,
            held: 0,
        }
    }
}

impl Law for Upf {
    const PROPERTIES: Properties = Properties {
        name: "upf",
        acts_on: "a ramp's percentage, which the RAN reports late",
        signals_to: "L4S",
        decides: Decides::OnArrival,
        looks_at_head: true,
        marks_reported: false,
        marks: true,
    };

    fn arrive(&mut self, arrival: &Arrival) -> Odds {
        let congestion = self.ramp.update(arrival);
        // Further ahead than any report can be: the clock stepped back.
        if self.next_report > arrival.now + self.interval {
            (self.next_report, self.len) = (arrival.now, 0);
        }
        // No packet came for so long that every report the UPF had in the meantime was of this queue.
        if arrival.now >= self.next_report + self.interval + self.delay {
            (self.held, self.len) = (hundredths(congestion), 0);
        }
        if arrival.now >= self.next_report {
            // The oldest is due: no delay is longer than 32 intervals.
            if self.len == PIPELINE {
                self.take_effect();
            }
            let slot = (self.first + self.len) % PIPELINE;
            self.pipeline[slot] = (arrival.now + self.delay, hundredths(congestion));
            self.len += 1;
            self.next_report = arrival.now + self.interval;
        }
        // A report takes effect after its way to the UPF: several may be under way.
        while self.len > 0 && self.pipeline[self.first].0 <= arrival.now {
            self.take_effect();
        }
        // Marking at the UPF is for L4S traffic alone (TS 23.501 5.37.3).
        if arrival.class == Class::L4s {
            Odds::mark("reported share", f64::from(self.held) / 10_000.0)
        } else {
            Odds::NONE
        }
    }
}

impl Upf {
    fn take_effect(&mut self) {
        self.held = self.pipeline[self.first].1;
        self.first = (self.first + 1) % PIPELINE;
        self.len -= 1;
    }
}

/// A share in hundredths of a percent, as in congestion information.
fn hundredths(congestion: f64) -> u16 {
    (congestion * 10_000.0 + 0.5) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::interface::tests::arrival;

    /// A law without memory in the RAN: the probability of a mark at a time in ms, of a queue in ms.
    fn law() -> impl FnMut(u64, f64) -> f64 {
        let config = UpfConfig { ramp: RampConfig { alpha: 1.0, ..RampConfig::default() }, ..UpfConfig::default() };
        let mut law = Upf::new(&config);
        move |millis, delay_ms| {
            let now = Instant::from_millis(millis);
            law.arrive(&Arrival { now, head_of_line: delay_ms * 1e-3, ..arrival(Class::L4s) }).mark.get()
        }
    }

    #[test]
    fn the_last_report_is_held_and_comes_late() {
        let mut at = law();
        // Queue: 6.2345 ms from 0 ms (24.69 %), 20 ms from 5 ms, empty from 25 ms. Reports at 0, 10, 20, 30 take effect
        // 10 ms later each.
        assert_eq!(at(0, 6.234_5), 0.0);
        assert_eq!(at(5, 20.0), 0.0);
        assert_eq!(at(10, 20.0), 0.2469);
        assert_eq!(at(15, 20.0), 0.2469);
        assert_eq!(at(20, 20.0), 1.0);
        assert_eq!(at(30, 0.0), 1.0);
        assert_eq!(at(39, 0.0), 1.0);
        assert_eq!(at(40, 0.0), 0.0);
    }

    #[test]
    fn every_report_under_way_takes_effect_in_its_turn() {
        // The longest delay that there may be, and none.
        for under_way in [32u64, 0] {
            let ramp = RampConfig { alpha: 1.0, ..RampConfig::default() };
            let report_delay = Duration::from_millis(10 * under_way);
            let mut law = Upf::new(&UpfConfig { ramp, report_delay, ..UpfConfig::default() });
            for report in 0..200 {
                let share = |report: u64| (report % 100) as f64 / 100.0;
                let mut at = |millis| {
                    let (now, head_of_line) = (Instant::from_millis(millis), 0.005 + 0.005 * share(report));
                    law.arrive(&Arrival { now, head_of_line, ..arrival(Class::L4s) }).mark.get()
                };
                let held = report.checked_sub(under_way).map_or(0.0, share);
                // Packets of one instant, and between two reports.
                let marks = [10 * report, 10 * report, 10 * report + 5].map(&mut at);
                assert!(
                    marks.iter().all(|mark| (mark - held).abs() < 1e-9),
                    "{under_way}, {report}: {marks:?}, not {held}"
                );
            }
        }
    }

    #[test]
    fn a_clock_that_steps_back_stops_no_report() {
        let mut at = law();
        for millis in (0..5_000).step_by(5) {
            at(millis, 20.0);
        }
        // The RAN measures anew from here on, and reports it 10 ms later.
        at(100, 0.0);
        assert_eq!([(110, 0.0), (120, 20.0), (130, 20.0)].map(|(millis, delay)| at(millis, delay)), [1.0, 0.0, 1.0]);
    }

    #[test]
    fn classic_flows_are_left_alone() {
        let mut law = Upf::new(&UpfConfig::default());
        for millis in 0..100 {
            for class in [Class::Classic, Class::NotEct] {
                let now = Instant::from_millis(millis);
                assert_eq!(law.arrive(&Arrival { now, head_of_line: 0.1, ..arrival(class) }), Odds::NONE);
            }
        }
    }

    #[test]
    fn what_was_reported_before_a_silence_is_not_held_beyond_it() {
        let mut at = law();
        assert_eq!((at(0, 20.0), at(10, 20.0), at(15, 20.0)), (0.0, 1.0, 1.0));
        // The RAN goes on reporting, of a queue that empties.
        assert_eq!(at(10_000, 0.0), 0.0);
    }
}
