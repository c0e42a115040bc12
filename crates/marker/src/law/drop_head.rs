//! Head drop: above `above` (100 ms) the oldest packet is dropped and the next is sent. Above `flush_above` (500 ms)
//! packets are dropped until one is below it.
//!
//! ![drop-head](laws/drop-head.svg)
//!
//! Source: Brunello et al., section IV-B.

use tidemark_core::{Bounded, ConfigError, Duration, Range, bounds};

use crate::law::interface::{Configured, Decides, Departure, Law, Odds, Properties};
use crate::require::require;

/// The law `drop-head` (Brunello et al. section IV-B).
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<DropHeadConfig>))]
pub struct DropHeadConfig {
    /// Delay above which the oldest packet is dropped and the next one sent. Default: 100 ms.
    pub above: Duration,
    /// Delay above which packets are dropped until one is below it. Default: 500 ms.
    pub flush_above: Duration,
}

impl Default for DropHeadConfig {
    fn default() -> Self {
        Self { above: Duration::from_millis(100), flush_above: Duration::from_millis(500) }
    }
}

bounds! { DropHeadConfig {
    above: Range::above(Duration::ZERO),
    ..flush_above
} }

impl DropHeadConfig {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        require(self.flush_above >= self.above, "flush_above", "must be at least `above`")
    }
}

/// State of the law `drop-head`.
pub(crate) struct DropHead {
    config: DropHeadConfig,
    dropped: bool,
}

impl Configured for DropHead {
    type Config = DropHeadConfig;

    fn new(config: &DropHeadConfig) -> Self {
        Self { config: *config, dropped: false }
    }
}

impl Law for DropHead {
    const PROPERTIES: Properties = Properties {
        name: "drop-head",
        acts_on: "sojourn",
        signals_to: "all, by drops",
        decides: Decides::OnLeaving,
        looks_at_head: false,
        marks_reported: false,
        marks: false,
    };

    fn leave(&mut self, departure: &Departure) -> Odds {
        let above = departure.sojourn > self.config.above;
        let flush = departure.sojourn > self.config.flush_above;
        // Between the limits one packet is sent for each dropped: a sender answers one loss a round trip, and the others only cost it
        // retransmissions.
        self.dropped = flush || (above && !self.dropped);
        let rule = if flush { "flush" } else { "oldest" };
        if self.dropped { Odds::drop(rule, 1.0) } else { Odds::NONE }
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{Bytes, Instant, Probability};

    use super::*;
    use crate::verdict::Class;

    #[test]
    fn head_drop_takes_one_above_100_ms_and_all_above_500() {
        let mut law = DropHead::new(&DropHeadConfig::default());
        let mut dropped = |millis| {
            let (now, sojourn) = (Instant::ZERO, Duration::from_millis(millis));
            let departure = Departure { now, sojourn, behind: Bytes(9_000), class: Class::Classic };
            law.leave(&departure).drop == Probability::ONE
        };
        assert!(!dropped(100));
        assert!(dropped(150) && !dropped(150), "one, then the next is sent");
        assert!(dropped(150) && !dropped(90));
        assert!(dropped(700) && dropped(600) && dropped(501) && !dropped(500));
    }
}
