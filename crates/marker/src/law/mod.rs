//! Marking laws: one file each, one enum over them.
//!
//! A law is asked when a packet arrives and when one leaves the RLC queue, and answers with the odds of a mark
//! and of a drop. What becomes of them depends on the packet's ECN field and is decided once, in
//! [`DrbMarker`](crate::DrbMarker).

mod codel;
mod dualpi2;
mod l4span;
mod pi2;
mod ramp;
mod upf;

pub use codel::{CodelConfig, DropHeadConfig};
pub use l4span::{L4SpanConfig, NotEctRule, SharedRule};
pub use pi2::{DualPi2Config, Marks};
pub(crate) use pi2::{Pi2, Recurrence};
pub use ramp::{QueueDelay, RampConfig, StepConfig};
pub use upf::UpfConfig;

use alloc::boxed::Box;

use tidemark_core::{BitRate, Bytes, ConfigError, Duration, Instant, Probability};

use crate::egress::Egress;
use crate::verdict::Class;
use codel::{Codel, DropHead};
use dualpi2::DualPi2;
use l4span::L4Span;
use ramp::Ramp;
use upf::Upf;

/// Which law marks, with its parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LawConfig {
    /// Nothing is marked or dropped.
    None {},
    /// L4Span: marks by the predicted sojourn time (L4Span section 4.2).
    L4span(L4SpanConfig),
    /// A ramp between two delays, with memory (Brunello et al. section IV-A).
    Ramp(RampConfig),
    /// Everything above one delay.
    Step(StepConfig),
    /// DualPI2 on the DRB's single queue (RFC 9332).
    Dualpi2(DualPi2Config),
    /// CoDel that drops where packets leave the queue (RFC 8289).
    Codel(CodelConfig),
    /// CoDel that marks what is ECT where packets leave the queue, and drops the rest.
    EcnCodel(CodelConfig),
    /// Drops the oldest packet above a delay (Brunello et al. section IV-B).
    DropHead(DropHeadConfig),
    /// Marks at the UPF, by the percentage that the RAN reports.
    Upf(UpfConfig),
}

impl Default for LawConfig {
    fn default() -> Self {
        Self::None {}
    }
}

impl LawConfig {
    /// Checks the law's own fields.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::None {} => Ok(()),
            Self::L4span(config) => config.validate(),
            Self::Ramp(config) => config.validate(),
            Self::Step(_) => Ok(()),
            Self::Dualpi2(config) => config.validate(),
            Self::Codel(config) | Self::EcnCodel(config) => config.validate(),
            Self::DropHead(config) => config.validate(),
            Self::Upf(config) => config.validate(),
        }
    }

    /// True for laws that decide where packets leave the RLC queue, which only a cell with that queue can ask; the others decide on
    /// arrival at the CU.
    pub fn decides_on_leaving(&self) -> bool {
        matches!(self, Self::Codel(_) | Self::EcnCodel(_) | Self::DropHead(_))
    }
}

/// What a law sees when a packet arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub now: Instant,
    /// Size of the packet at hand in bytes.
    pub size: f64,
    /// Bytes thought to stand before it.
    pub backlog: f64,
    /// Age of the oldest standing SDU in seconds.
    pub head_of_line: f64,
    /// Egress rate and deviation; `None` while there is no estimate.
    pub egress: Option<Egress>,
    /// Egress rate over a few round trips, through outages.
    pub average: Option<BitRate>,
    /// Class of its flow.
    pub class: Class,
    /// Largest packet of its flow in bytes.
    pub segment: f64,
    /// Handshake round trip of its flow.
    pub rtt: Option<Duration>,
    /// Both L4S and classic flows are alive in the DRB.
    pub shared: bool,
}

impl Arrival {
    /// Eq. 5: how long the standing queue takes to leave; `None` without an estimate.
    pub(crate) fn sojourn(&self) -> Option<f64> {
        let rate = self.egress?.rate.as_bytes_per_sec();
        (rate > 0.0).then(|| self.backlog / rate)
    }
}

/// What a law sees when a packet leaves the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub now: Instant,
    /// How long it stood.
    pub sojourn: Duration,
    /// Bytes that stay behind it.
    pub behind: Bytes,
    /// Class that the packet itself shows: the law may mark anything but Not-ECT.
    pub class: Class,
}

/// Answer of a law to a packet: chances of a drop, and, of what is not dropped, of a mark.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Odds {
    /// Chance of a mark, for a packet that is not dropped.
    pub mark: Probability,
    /// Chance of a drop.
    pub drop: Probability,
    /// Short name of the law's rule that gave the chances, such as "coupled"; empty where no rule applies to the packet.
    pub rule: &'static str,
}

impl Odds {
    /// Neither a mark nor a drop, by no rule.
    pub const NONE: Self = Self { mark: Probability::ZERO, drop: Probability::ZERO, rule: "" };

    /// A mark with probability `p`, which is clamped to 0..1, by the rule of this name.
    #[inline]
    pub fn mark(rule: &'static str, p: f64) -> Self {
        Self { mark: Probability::new(p), drop: Probability::ZERO, rule }
    }

    /// A drop with probability `p`, which is clamped to 0..1, by the rule of this name.
    #[inline]
    pub fn drop(rule: &'static str, p: f64) -> Self {
        Self { mark: Probability::ZERO, drop: Probability::new(p), rule }
    }
}

/// The law of one DRB with its state.
pub(crate) enum Law {
    None,
    L4Span(L4Span),
    Ramp(Ramp),
    Step(StepConfig),
    /// Boxed for its size: markers lie where UEs lie, and the other laws are small.
    DualPi2(Box<DualPi2>),
    Codel(Codel),
    DropHead(DropHead),
    /// Boxed for its pipeline of reports, which no other law has.
    Upf(Box<Upf>),
}

impl Law {
    pub(crate) fn new(config: &LawConfig) -> Self {
        match config {
            LawConfig::None {} => Self::None,
            LawConfig::L4span(config) => Self::L4Span(L4Span::new(config)),
            LawConfig::Ramp(config) => Self::Ramp(Ramp::new(config)),
            LawConfig::Step(config) => Self::Step(*config),
            LawConfig::Dualpi2(config) => Self::DualPi2(Box::new(DualPi2::new(config))),
            LawConfig::Codel(config) => Self::Codel(Codel::new(config, false)),
            LawConfig::EcnCodel(config) => Self::Codel(Codel::new(config, true)),
            LawConfig::DropHead(config) => Self::DropHead(DropHead::new(config)),
            LawConfig::Upf(config) => Self::Upf(Box::new(Upf::new(config))),
        }
    }

    /// A packet arrives at the CU.
    pub(crate) fn arrive(&mut self, arrival: &Arrival) -> Odds {
        match self {
            Self::None | Self::Codel(_) | Self::DropHead(_) => Odds::NONE,
            Self::L4Span(law) => law.arrive(arrival),
            Self::Ramp(law) => law.arrive(arrival),
            Self::Step(config) => ramp::step(config, arrival),
            Self::DualPi2(law) => law.arrive(arrival),
            Self::Upf(law) => law.arrive(arrival),
        }
    }

    /// The first segment of a packet leaves the RLC queue.
    pub(crate) fn leave(&mut self, departure: &Departure) -> Odds {
        match self {
            Self::Codel(law) => law.leave(departure),
            Self::DropHead(law) => law.leave(departure),
            Self::None | Self::L4Span(_) | Self::Ramp(_) | Self::Step(_) | Self::DualPi2(_) | Self::Upf(_) => {
                Odds::NONE
            }
        }
    }

    /// Name of the law, as a scenario has it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::L4Span(_) => "l4span",
            Self::Ramp(_) => "ramp",
            Self::Step(_) => "step",
            Self::DualPi2(_) => "dualpi2",
            Self::Codel(law) => law.name(),
            Self::DropHead(_) => "drop-head",
            Self::Upf(_) => "upf",
        }
    }

    /// True for laws that decide where packets leave the RLC queue.
    pub(crate) fn decides_on_leaving(&self) -> bool {
        matches!(self, Self::Codel(_) | Self::DropHead(_))
    }

    /// True for laws that look at the age of the oldest SDU.
    pub(crate) fn looks_at_head(&self) -> bool {
        matches!(self, Self::Ramp(_) | Self::Step(_) | Self::DualPi2(_) | Self::Upf(_))
    }

    /// The sum that decides for packets of a class where marks are regular; without one they are drawn.
    #[inline]
    pub(crate) fn recurrence(&mut self, class: Class) -> Option<&mut Recurrence> {
        if let Self::DualPi2(law) = self { law.recurrence(class) } else { None }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A full packet that finds 60 kB behind a radio of 40 Mbit/s, half a second into the run.
    pub(crate) fn arrival(class: Class) -> Arrival {
        Arrival {
            now: Instant::from_millis(500),
            size: 1_500.0,
            backlog: 60_000.0,
            head_of_line: 0.012,
            egress: Some(Egress { rate: BitRate::from_mbps(40), deviation: BitRate::from_mbps(4) }),
            average: Some(BitRate::from_mbps(40)),
            class,
            segment: 1_500.0,
            rtt: Some(Duration::from_millis(38)),
            shared: false,
        }
    }

    /// Every law that decides on arrival, in a form without memory.
    fn memoryless() -> [LawConfig; 5] {
        let ramp = RampConfig { alpha: 1.0, ..RampConfig::default() };
        let sojourn = RampConfig { delay: QueueDelay::Sojourn, ..ramp };
        [
            LawConfig::L4span(L4SpanConfig::default()),
            LawConfig::Ramp(ramp),
            LawConfig::Ramp(sojourn),
            LawConfig::Step(StepConfig::default()),
            LawConfig::Dualpi2(DualPi2Config::default()),
        ]
    }

    #[test]
    fn eq_5_worked_by_hand() {
        // 60000 B at 40 Mbit/s, which is 5000 B a millisecond: 12 ms. Without a rate there is nothing to divide by.
        assert!((arrival(Class::L4s).sojourn().unwrap() - 0.012).abs() < 1e-12);
        let stalled = Some(Egress { rate: BitRate::ZERO, deviation: BitRate::ZERO });
        for egress in [None, stalled] {
            assert_eq!(Arrival { egress, ..arrival(Class::L4s) }.sojourn(), None);
        }
    }

    proptest::proptest! {
        #[test]
        fn every_law_marks_l4s_flows_more_as_the_queue_grows(a in 0u64..400_000, b in 0u64..400_000, deviation in 0u64..40) {
            for config in memoryless() {
                let p = |backlog: u64| {
                    let found = Arrival {
                        backlog: backlog as f64,
                        head_of_line: backlog as f64 / 5e6,
                        egress: Some(Egress {
                            rate: BitRate::from_mbps(40),
                            deviation: BitRate::from_mbps(deviation),
                        }),
                        ..arrival(Class::L4s)
                    };
                    Law::new(&config).arrive(&found).mark.get()
                };
                proptest::prop_assert!(p(a.min(b)) <= p(a.max(b)), "{:?}", config);
            }
        }
    }
}
