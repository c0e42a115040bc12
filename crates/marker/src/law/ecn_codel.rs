//! CoDel that marks: [`codel`](#codel), but for packets that are ECT, which are marked where it drops. The rest is dropped.
//!
//! ![ecn-codel](laws/ecn-codel.svg)
//!
//! Source: RFC 8289 5. A marked packet leaves and no other is looked at, so the next time is set at once, as in Linux'
//! CoDel.

use crate::law::codel::{CodelConfig, ControlLaw};
use crate::law::interface::{Configured, Decides, Departure, Law, Odds, Properties};

/// The law `ecn-codel`.
pub(crate) struct EcnCodel(ControlLaw);

impl Configured for EcnCodel {
    type Config = CodelConfig;

    fn new(config: &CodelConfig) -> Self {
        Self(ControlLaw::new(config, true))
    }
}

impl Law for EcnCodel {
    const PROPERTIES: Properties = Properties {
        name: "ecn-codel",
        acts_on: "time that the sojourn stays above a target",
        signals_to: "all: ECT by marks, others by drops",
        decides: Decides::OnLeaving,
        looks_at_head: false,
        marks_reported: false,
        marks: true,
    };

    fn leave(&mut self, departure: &Departure) -> Odds {
        self.0.leave(departure)
    }
}
