//! A law that marks nothing and keeps what a DRB reports to laws.

use std::sync::{Arc, Mutex, MutexGuard};

use tidemark_marker::{Arrival, Decides, Law, LawConfig, Odds, Properties};

/// Reports of a DRB since they were read last.
#[derive(Default)]
pub struct Received {
    /// Sum of the times without a queue, in seconds.
    pub starved: f64,
    /// Length of each outage in seconds.
    pub outages: Vec<f64>,
}

/// The law, whose clones keep the same reports.
#[derive(Clone, Default)]
pub struct Listener(Arc<Mutex<Received>>);

impl Listener {
    /// Configuration of a DRB with this law.
    pub fn config(&self) -> LawConfig {
        let listener = self.clone();
        LawConfig::custom(move || listener.clone())
    }
    /// Reports that the law has.
    pub fn received(&self) -> MutexGuard<'_, Received> {
        self.0.lock().unwrap()
    }
}

impl Law for Listener {
    const PROPERTIES: Properties = Properties {
        name: "listener",
        section: "listener",
        acts_on: "nothing",
        signals_to: "nobody",
        decides: Decides::OnArrival,
        looks_at_head: false,
        reads_starvation: true,
        marks_reported: false,
        marks: false,
    };

    fn arrive(&mut self, _: &Arrival) -> Odds {
        Odds::NONE
    }
    fn starve(&mut self, seconds: f64) {
        self.received().starved += seconds;
    }
    fn outage(&mut self, seconds: f64) {
        self.received().outages.push(seconds);
    }
}
