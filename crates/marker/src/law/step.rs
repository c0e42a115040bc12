//! Step: every L4S packet is marked while the delay exceeds a threshold. Classic flows are not marked.
//!
//! ```text
//! p = 1 where delay > threshold, else 0
//! ```
//!
//! ![step](laws/step.svg)
//!
//! Source: the usual marking of L4S queues on wires, with the usual `threshold` of 1 ms. The slots of a radio are enough to
//! fill the queue above 1 ms now and then. `delay` is as for [`ramp`](#ramp).

use tidemark_core::{ConfigError, Duration};

use crate::law::interface::{Arrival, Configured, Decides, Law, Odds, Properties};
use crate::law::ramp::QueueDelay;
use crate::verdict::Class;

/// The law `step`: marks every L4S packet while the delay exceeds a threshold.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepConfig {
    /// Delay above which every L4S packet is marked. Default: 1 ms, the usual threshold of wired L4S queues.
    pub threshold: Duration,
    /// The delay that is compared with the threshold. Default: head of line.
    pub delay: QueueDelay,
}

impl Default for StepConfig {
    fn default() -> Self {
        Self { threshold: Duration::from_millis(1), delay: QueueDelay::HeadOfLine }
    }
}

impl StepConfig {
    /// Checks every field. All values can be used.
    ///
    /// # Errors
    /// None.
    pub fn validate(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// The law `step`, which has no state.
pub(crate) struct Step(StepConfig);

impl Configured for Step {
    type Config = StepConfig;

    fn new(config: &StepConfig) -> Self {
        Self(*config)
    }
}

impl Law for Step {
    const PROPERTIES: Properties = Properties {
        name: "step",
        acts_on: "delay above one threshold",
        signals_to: "L4S",
        decides: Decides::OnArrival,
        looks_at_head: true,
        marks_reported: true,
        marks: true,
    };

    fn arrive(&mut self, arrival: &Arrival) -> Odds {
        // A classic sender gives up a third or a half of its window for one mark: its queue needs more than this threshold.
        if arrival.class != Class::L4s {
            return Odds::NONE;
        }
        let exceeded = self.0.delay.of(arrival) > self.0.threshold.as_secs_f64();
        Odds::mark("l4s step", f64::from(u8::from(exceeded)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::interface::tests::arrival;

    fn odds(class: Class, delay_ms: f64) -> Odds {
        let mut law = Step::new(&StepConfig::default());
        law.arrive(&Arrival { head_of_line: delay_ms * 1e-3, ..arrival(class) })
    }

    #[test]
    fn the_step_is_one_above_its_threshold() {
        assert_eq!(odds(Class::L4s, 1.0), Odds::mark("l4s step", 0.0));
        assert_eq!(odds(Class::L4s, 1.001), Odds::mark("l4s step", 1.0));
    }

    #[test]
    fn classic_flows_are_left_alone() {
        assert_eq!([Class::Classic, Class::NotEct].map(|class| odds(class, 50.0)), [Odds::NONE; 2]);
    }
}
