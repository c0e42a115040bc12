//! Configuration of one DRB's marker.

use tidemark_core::{Bounded, ConfigError, Duration, Range, bounds};

use crate::egress::EgressTime;
use crate::law::LawConfig;
use crate::overload;

/// The marker of one DRB: its law, and the estimator and tables that all laws share.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[cfg_attr(feature = "serde", serde(expecting = "a table with its `law`, as in { law = \"l4span\" }"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<MarkerConfig>))]
pub struct MarkerConfig {
    /// The marking law, named by `law`, with its own fields beside it. Default: `none`.
    // Unknown keys are refused by the law: whatever is not a field of this struct is handed to it.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub law: LawConfig,
    /// Length of both windows of the egress estimate: half a channel coherence time. Default: 24.9 ms, measured
    /// at 3.5 GHz and 70 km/h (L4Span section 5).
    pub tau_c: Duration,
    /// Time over which the egress rate is measured. Default: `busy`, only while there is a queue. `all` is L4Span's Eqs. 3 and 4 as
    /// printed, which give a DRB with little to send a low rate.
    pub egress_time: EgressTime,
    /// SDUs in the RLC queue that are counted one by one.
    /// Any further SDUs are only counted in sum. Default: 16384, the default RLC limit of gNBs.
    pub profile_capacity: u32,
    /// Flows of this DRB that are remembered at the same time. Default: 64. A UE has
    /// few long flows, and these are kept before short ones.
    pub flow_capacity: u32,
    /// A DRB with a queue asks for a report when the last one is older than this. Default: 20 ms, twice the longest
    /// default period of gNBs.
    pub poll_after: Duration,
    /// Time without any report after which the state of the queue is unknown and nothing is marked. Default: 1 s, a hundred times the
    /// default period of gNBs.
    pub report_timeout: Duration,
    /// Marks of TCP flows are written into uplink acknowledgements instead of downlink packets (L4Span section 4.4).
    /// Default: off.
    pub short_circuit: bool,
    /// Flows that ignore marks get drops. Default: on, as RFC 9331 4.3 and RFC 9332 4.2.3 require. No packet of a sender that responds
    /// to marks is dropped.
    pub overload_protection: bool,
    /// Delay that a sender which responds to marks never keeps up for seconds, under any law. Overload protection measures saturated time
    /// against it, and begins sooner the longer the queue. Default: 250 ms, more than CUBIC's queue under any law that marks it.
    pub overload_delay: Duration,
}

impl Default for MarkerConfig {
    fn default() -> Self {
        Self {
            law: LawConfig::default(),
            tau_c: Duration::from_micros(24_900),
            egress_time: EgressTime::Busy,
            profile_capacity: 16_384,
            flow_capacity: 64,
            poll_after: Duration::from_millis(20),
            report_timeout: Duration::from_secs(1),
            short_circuit: false,
            overload_protection: true,
            overload_delay: Duration::from_millis(250),
        }
    }
}

bounds! { MarkerConfig {
    tau_c: Range::between(Duration::from_millis(1), Duration::from_secs(10)),
    profile_capacity: Range::powers_of_two(64u32, 16_384),
    flow_capacity: Range::powers_of_two(8u32, 1_024),
    poll_after: Range::above(Duration::ZERO),
    report_timeout: Range::above(Duration::ZERO),
    overload_delay: Range::between(overload::MIN_DELAY, Duration::from_secs(10)),
    ..law, egress_time, short_circuit, overload_protection
} }

impl MarkerConfig {
    /// A marker with this law and the defaults for everything else.
    pub fn with_law(law: LawConfig) -> Self {
        Self { law, ..Self::default() }
    }

    /// The marker of a DRB whose first QoS flow has this 5QI (TS 23.501 table 5.7.4-1), or 0 if unknown. A law with a
    /// [`Mode`](crate::Mode) gets the thresholds of that service.
    pub fn for_five_qi(&self, five_qi: u8) -> Self {
        Self { law: self.law.for_five_qi(five_qi), ..self.clone() }
    }

    /// Time that the egress rate is measured over, by the field or by a law that has it as printed.
    pub(crate) fn measured_time(&self) -> EgressTime {
        if self.law.is_as_printed() { EgressTime::All } else { self.egress_time }
    }

    /// Delay that overload protection weighs by; `None` without protection.
    pub(crate) fn overload_limit(&self) -> Option<Duration> {
        self.overload_protection.then_some(self.overload_delay)
    }

    /// Checks every field; the error names the first that cannot be used.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        self.law.validate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_the_field_and_what_would_be_right() {
        let wrong = MarkerConfig { profile_capacity: 1000, ..MarkerConfig::default() };
        let error = wrong.validate().unwrap_err();
        assert_eq!(error.field(), "profile_capacity");
        assert!(alloc::format!("{error}").contains("power of two"));
        assert!(MarkerConfig::default().validate().is_ok());
    }
}
