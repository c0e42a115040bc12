//! Marking laws: each has its own file and a row in [`laws!`].
//!
//! A law is asked when a packet arrives or leaves the RLC queue, and answers with the odds of a mark and of a drop.
//! [`DrbMarker`](crate::DrbMarker) applies them, depending on the packet's ECN field.

mod custom;
mod interface;
mod pi2;
mod recurrence;

use alloc::boxed::Box;
use alloc::vec::Vec;

use tidemark_core::{ConfigError, Duration};

use crate::verdict::Class;
use custom::AnyLaw;
pub use custom::CustomLaw;
use interface::Configured;
pub use interface::{Arrival, Decides, Departure, Law, Odds, Properties};
pub use pi2::{DualPi2Config, Marks};
pub(crate) use pi2::{MIN_BACKLOG, Pi2};
pub use recurrence::Recurrence;

/// The law that does nothing.
const NONE: Properties = Properties {
    name: "none",
    acts_on: "nothing",
    signals_to: "nobody",
    decides: Decides::Never,
    looks_at_head: false,
    marks_reported: true,
    marks: false,
};

/// Declares each law of this crate but `none` by one row: file, variant of [`LawConfig`] with the configuration, type of the state,
/// types of the configuration's fields, and a sentence for the schema. The variant in kebab case is the name in a scenario.
// `step: Step(StepConfig) => step::Step, [StepConfig], "A step.";` becomes
//
//     mod step;
//     pub use step::{StepConfig};
//     pub enum LawConfig { None {}, Step(StepConfig), Custom(CustomLaw) }
//     pub(crate) enum ActiveLaw { None, Step(step::Step), Custom(Box<dyn AnyLaw>) }
//     impl LawConfig {
//         pub fn all() -> Vec<Self> { vec![Self::None {}, Self::Step(StepConfig::default())] }
//         pub fn validate(&self) -> Result<(), ConfigError> { match self { Self::Step(config) => config.validate(), .. } }
//     }
//     impl ActiveLaw {
//         fn arrive(&mut self, arrival: &Arrival) -> Odds { match self { Self::Step(law) => Law::arrive(law, arrival), .. } }
//     }
macro_rules! laws {
    ($($file:ident: $law:ident($config:ident) => $state:ty, [$($public:ident),*], $text:tt;)*) => {
        $(
            mod $file;
            #[allow(unused_imports)] // a law whose configuration is another file's has nothing to export
            pub use $file::{$($public),*};
        )*

        /// The marking law, with its parameters.
        #[derive(Clone, Copy, PartialEq, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum LawConfig {
            /// No mark and no drop.
            None {},
            $(#[doc = $text] $law($config),)*
            /// A law of another crate.
            #[cfg_attr(feature = "serde", serde(skip_deserializing))]
            #[cfg_attr(feature = "schema", schemars(skip))]
            Custom(CustomLaw),
        }

        impl LawConfig {
            /// Every law that a scenario can name, with its defaults, in the order of the reference.
            pub fn all() -> Vec<Self> {
                alloc::vec![Self::None {}, $(Self::$law($config::default())),*]
            }

            /// Checks the law's own fields.
            ///
            /// # Errors
            /// The first field that can't be used.
            pub fn validate(&self) -> Result<(), ConfigError> {
                match self {
                    Self::None {} | Self::Custom(_) => Ok(()),
                    $(Self::$law(config) => config.validate(),)*
                }
            }

            /// Properties of the law.
            pub fn properties(&self) -> &'static Properties {
                match self {
                    Self::None {} => &NONE,
                    $(Self::$law(config) => <$state as Configured>::properties(config),)*
                    Self::Custom(law) => law.properties(),
                }
            }
        }

        /// The law of one DRB with its state.
        pub(crate) enum ActiveLaw {
            None,
            $($law($state),)*
            Custom(Box<dyn AnyLaw>),
        }

        impl ActiveLaw {
            pub(crate) fn new(config: &LawConfig) -> Self {
                match config {
                    LawConfig::None {} => Self::None,
                    $(LawConfig::$law(config) => Self::$law(Configured::new(config)),)*
                    LawConfig::Custom(law) => Self::Custom(law.build()),
                }
            }

            /// A packet arrives at the CU.
            pub(crate) fn arrive(&mut self, arrival: &Arrival) -> Odds {
                match self {
                    Self::None => Odds::NONE,
                    $(Self::$law(law) => Law::arrive(law, arrival),)*
                    Self::Custom(law) => AnyLaw::arrive(&mut **law, arrival),
                }
            }

            /// The first segment of a packet leaves the RLC queue.
            pub(crate) fn leave(&mut self, departure: &Departure) -> Odds {
                match self {
                    Self::None => Odds::NONE,
                    $(Self::$law(law) => Law::leave(law, departure),)*
                    Self::Custom(law) => AnyLaw::leave(&mut **law, departure),
                }
            }

            /// The sum that decides for packets of a class where marks are regular; without one they are drawn.
            #[inline]
            pub(crate) fn recurrence(&mut self, class: Class) -> Option<&mut Recurrence> {
                match self {
                    Self::None => None,
                    $(Self::$law(law) => Law::recurrence(law, class),)*
                    Self::Custom(law) => AnyLaw::recurrence(&mut **law, class),
                }
            }
        }
    };
}

// A boxed state is one that is large or that few laws have: markers lie where UEs lie, and most laws are small.
laws! {
    l4span: L4span(L4SpanConfig) => l4span::L4Span, [L4SpanConfig, NotEctRule, SharedRule], "L4Span: marks by the predicted sojourn time (L4Span section 4.2).";
    ramp: Ramp(RampConfig) => Box<ramp::Ramp>, [QueueDelay, RampConfig], "A marking probability that rises between two delays, with memory (Brunello et al. section IV-A).";
    step: Step(StepConfig) => step::Step, [StepConfig], "Marks every L4S packet above one delay.";
    dualpi2: Dualpi2(DualPi2Config) => Box<dualpi2::DualPi2>, [], "DualPI2 on the DRB's single queue (RFC 9332).";
    codel: Codel(CodelConfig) => codel::Codel, [CodelConfig], "CoDel that drops where packets leave the queue (RFC 8289).";
    ecn_codel: EcnCodel(CodelConfig) => ecn_codel::EcnCodel, [], "CoDel that marks ECT packets and drops others where packets leave the queue (RFC 8289).";
    drop_head: DropHead(DropHeadConfig) => drop_head::DropHead, [DropHeadConfig], "Drops the oldest packet above a delay (Brunello et al. section IV-B).";
    tide: Tide(TideConfig) => tide::Tide, [TideConfig], "Evenly spaced marks for both classes, from one measure of the queue.";
    upf: Upf(UpfConfig) => Box<upf::Upf>, [UpfConfig], "Marks at the UPF, by the percentage that the RAN reports.";
}

impl Default for LawConfig {
    fn default() -> Self {
        Self::None {}
    }
}

impl LawConfig {
    /// A law of another crate, for programs that embed the marker or the simulator. `make` creates its state for each marker.
    ///
    /// ```
    /// use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet, Stream};
    /// use tidemark_marker::{
    ///     Arrival, Class, Decides, DrbMarker, Law, LawConfig, MarkerConfig, Odds, Properties, RlcQueue, SnLength, Verdict,
    /// };
    ///
    /// /// Marks L4S packets by the square of the queue's age over a limit.
    /// struct Square {
    ///     limit: Duration,
    /// }
    ///
    /// impl Law for Square {
    ///     const PROPERTIES: Properties = Properties {
    ///         name: "square",
    ///         acts_on: "head-of-line delay",
    ///         signals_to: "L4S",
    ///         decides: Decides::OnArrival,
    ///         looks_at_head: true,
    ///         marks_reported: true,
    ///         marks: true,
    ///     };
    ///
    ///     fn arrive(&mut self, arrival: &Arrival) -> Odds {
    ///         if arrival.class != Class::L4s {
    ///             return Odds::NONE;
    ///         }
    ///         let ratio = arrival.head_of_line / self.limit.as_secs_f64();
    ///         Odds::mark("square", ratio * ratio)
    ///     }
    /// }
    ///
    /// let config = MarkerConfig::with_law(LawConfig::custom(|| Square { limit: Duration::from_millis(10) }));
    /// let mut marker = DrbMarker::new(&config, SnLength::Bits18, Stream::new(1, 0, "mark"))?;
    /// let packet = Packet { flow: FlowId(0), size: Bytes(1_500), ecn: Ecn::Ect1, payload: () };
    /// let rlc = RlcQueue { backlog: Bytes(60_000), packets: 40, head_of_line: Duration::from_millis(12) };
    /// let outcome = marker.decide_downlink(Instant::ZERO, &packet, Some(rlc)).unwrap();
    /// assert_eq!((outcome.verdict, outcome.odds.rule), (Verdict::Mark, "square"));
    /// # Ok::<(), tidemark_marker::ConfigError>(())
    /// ```
    pub fn custom<L: Law>(make: impl Fn() -> L + Send + Sync + 'static) -> Self {
        Self::Custom(CustomLaw::new(make))
    }

    /// A law like [`custom`](Self::custom), with properties that differ from those of its type. It is for a type that implements many
    /// laws, such as an interpreter.
    pub fn custom_with<L: Law>(properties: &'static Properties, make: impl Fn() -> L + Send + Sync + 'static) -> Self {
        Self::Custom(CustomLaw::with_properties(properties, make))
    }

    /// The law for a DRB whose first QoS flow has this 5QI; 0 stands for an unknown one.
    pub(crate) fn for_five_qi(self, five_qi: u8) -> Self {
        match self {
            Self::Tide(config) => Self::Tide(config.for_five_qi(five_qi)),
            other => other,
        }
    }

    /// Keys and values of the target delays for a DRB whose first QoS flow has this 5QI (0: unknown); none for a law of
    /// another crate.
    pub fn thresholds(&self, five_qi: u8) -> impl Iterator<Item = (&'static str, Duration)> {
        let (first, second) = match (*self).for_five_qi(five_qi) {
            Self::None {} | Self::Custom(_) => (None, None),
            Self::L4span(config) => (Some(("tau_s", config.tau_s)), Some(("tau_classic", config.tau_classic))),
            Self::Ramp(ramp) | Self::Upf(UpfConfig { ramp, .. }) => {
                (Some(("low", ramp.low)), Some(("high", ramp.high)))
            }
            Self::Step(config) => (Some(("threshold", config.threshold)), None),
            Self::Dualpi2(config) => (Some(("min_th", config.min_th)), Some(("target", config.target))),
            Self::Codel(config) | Self::EcnCodel(config) => (Some(("target", config.target)), None),
            Self::DropHead(config) => (Some(("above", config.above)), None),
            Self::Tide(config) => (Some(("tau_s", config.tau_s)), None),
        };
        first.into_iter().chain(second)
    }

    /// Key and value of the head-of-line delay above which every L4S packet is marked: that of a step, or the end of a ramp.
    pub fn l4s_step(&self) -> Option<(&'static str, Duration)> {
        match self {
            Self::Step(config) if config.delay == QueueDelay::HeadOfLine => Some(("threshold", config.threshold)),
            Self::Ramp(config) if config.delay == QueueDelay::HeadOfLine => Some(("high", config.high)),
            Self::Dualpi2(config) => Some(("min_th", config.min_th + config.range)),
            _ => None,
        }
    }

    /// True for `l4span` without additions to the paper, in the law and in the estimate.
    pub(crate) fn is_as_printed(&self) -> bool {
        matches!(self, Self::L4span(config) if config.as_printed)
    }

    /// Names of the laws for which `wanted` holds, in the order of the reference.
    pub fn names(wanted: impl Fn(&Properties) -> bool) -> Vec<&'static str> {
        Self::all().iter().map(Self::properties).filter(|law| wanted(law)).map(|law| law.name).collect()
    }

    /// True for laws that decide when packets leave the RLC queue. Only a cell with that queue can use them. The others decide on
    /// arrival at the CU.
    pub fn decides_on_leaving(&self) -> bool {
        self.properties().decides.on_leaving()
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::BitRate;

    use super::interface::tests::arrival;
    use super::*;
    use crate::egress::Egress;

    /// Laws that mark on arrival, in a form without memory.
    fn memoryless() -> Vec<LawConfig> {
        let ramp = RampConfig { alpha: 1.0, ..RampConfig::default() };
        let mut laws = LawConfig::all();
        laws.retain(|law| law.properties().marks && law.properties().decides == Decides::OnArrival);
        for law in &mut laws {
            match law {
                LawConfig::Ramp(config) => *config = ramp,
                LawConfig::Upf(config) => config.ramp = ramp,
                _ => {}
            }
        }
        laws.push(LawConfig::Ramp(RampConfig { delay: QueueDelay::Sojourn, ..ramp }));
        laws
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
                    ActiveLaw::new(&config).arrive(&found).mark.get()
                };
                proptest::prop_assert!(p(a.min(b)) <= p(a.max(b)), "{:?}", config);
            }
        }
    }
}
