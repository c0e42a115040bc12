//! CoDel (RFC 8289) on packets that leave the queue, which marks ECT packets and drops others.

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
        section: "codel-and-ecn-codel",
        acts_on: "the same",
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
