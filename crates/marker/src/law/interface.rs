//! The interface of a marking law: the events that it gets, the odds that it answers, and its properties.

use alloc::boxed::Box;

use tidemark_core::{BitRate, Bytes, Duration, Instant, Probability};

use crate::egress::Egress;
use crate::law::recurrence::Recurrence;
use crate::verdict::Class;

/// A marking law with its state. It answers each packet with [`Odds`]. The marker applies them to the packet's ECN field, draws and
/// counts.
///
/// [`LawConfig::custom`](crate::LawConfig::custom) gives a law of another crate to a marker, a gNB or a simulator.
pub trait Law: Send + 'static {
    /// Properties of the law, for callers that do not run it.
    const PROPERTIES: Properties;

    /// Answers a packet that arrives at the CU; with [`Odds::NONE`] if the law does not signal to its flow.
    fn arrive(&mut self, _arrival: &Arrival) -> Odds {
        Odds::NONE
    }

    /// Answers a packet whose first segment leaves the RLC queue, for laws that decide [`OnLeaving`](Decides::OnLeaving).
    fn leave(&mut self, _departure: &Departure) -> Odds {
        Odds::NONE
    }

    /// The sum of odds that decides for packets of a class if marks are regular; without one, marks are drawn.
    fn recurrence(&mut self, _class: Class) -> Option<&mut Recurrence> {
        None
    }
}

/// Properties of a law.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Properties {
    /// Name in a scenario, in kebab case.
    pub name: &'static str,
    /// Measure of the queue that the law acts on.
    pub acts_on: &'static str,
    /// Flows that the law signals to.
    pub signals_to: &'static str,
    /// Event at which the law is asked.
    pub decides: Decides,
    /// True if the law uses the age of the oldest SDU, for which the marker must search if it cannot see the RLC queue.
    pub looks_at_head: bool,
    /// True if the law can mark by a UE's reported uplink buffer, which has an age but no F1-U reports.
    pub marks_reported: bool,
    /// True if the law marks packets; otherwise it drops them or does nothing.
    pub marks: bool,
}

/// Event at which a law is asked for its odds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decides {
    /// No event: the law does nothing.
    Never,
    /// A packet arrives at the CU.
    OnArrival,
    /// A packet leaves the RLC queue. Only a cell with that queue sees this.
    OnLeaving,
    /// Both: packets that arrive are marked, packets that leave the RLC queue are dropped.
    OnBoth,
}

impl Decides {
    /// True for a law that is asked when packets leave the RLC queue.
    pub fn on_leaving(self) -> bool {
        matches!(self, Self::OnLeaving | Self::OnBoth)
    }
}

/// State of the queue and the flow at the arrival of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Time of the arrival.
    pub now: Instant,
    /// Size of the packet at hand in bytes.
    pub size: f64,
    /// Estimated bytes queued in front of the packet.
    pub backlog: f64,
    /// Age of the oldest SDU in the queue in seconds. Zero if the RLC queue is not seen and the law does not use the age.
    pub head_of_line: f64,
    /// Egress rate and deviation; `None` while there is no estimate.
    pub egress: Option<Egress>,
    /// Egress rate over a few round trips, through outages.
    pub average: Option<BitRate>,
    /// Class of the packet, or of its flow for a packet with CE.
    pub class: Class,
    /// Largest packet of the flow in bytes.
    pub segment: f64,
    /// Handshake round trip of the flow.
    pub rtt: Option<Duration>,
    /// True while both L4S and classic flows are alive in the DRB.
    pub shared: bool,
    /// Reports of the DU so far.
    pub reports: u64,
}

impl Arrival {
    /// Time in seconds in which the queue drains (L4Span Eq. 5); `None` without an estimate.
    pub fn sojourn(&self) -> Option<f64> {
        let rate = self.egress?.rate.as_bytes_per_sec();
        (rate > 0.0).then(|| self.backlog / rate)
    }
}

/// State of the queue as a packet leaves it.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Time of the departure.
    pub now: Instant,
    /// Time for which the packet was queued.
    pub sojourn: Duration,
    /// Bytes that stay behind the packet.
    pub behind: Bytes,
    /// Class from the packet's own ECN field. The law may mark any packet but Not-ECT.
    pub class: Class,
}

/// Answer of a law to a packet: the probability of a drop, and that of a mark if it is not dropped.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Odds {
    /// Probability of a mark, for a packet that is not dropped.
    pub mark: Probability,
    /// Probability of a drop.
    pub drop: Probability,
    /// Short name of the law's rule that gave the probabilities, such as "coupled"; empty if no rule applies to the packet.
    pub rule: &'static str,
}

impl Odds {
    /// No mark and no drop, by no rule.
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

    /// Probability of a mark or a drop, whichever is likelier.
    #[inline]
    pub(crate) fn likelier(&self) -> Probability {
        if self.mark > self.drop { self.mark } else { self.drop }
    }
}

/// A law with a configuration that a scenario can name.
pub(crate) trait Configured: Law {
    type Config;
    fn new(config: &Self::Config) -> Self;

    /// Properties of the law with this configuration.
    fn properties(_config: &Self::Config) -> &'static Properties {
        &Self::PROPERTIES
    }
}

impl<L: Law> Law for Box<L> {
    const PROPERTIES: Properties = L::PROPERTIES;

    fn arrive(&mut self, arrival: &Arrival) -> Odds {
        (**self).arrive(arrival)
    }
    fn leave(&mut self, departure: &Departure) -> Odds {
        (**self).leave(departure)
    }
    fn recurrence(&mut self, class: Class) -> Option<&mut Recurrence> {
        (**self).recurrence(class)
    }
}

impl<L: Configured> Configured for Box<L> {
    type Config = L::Config;
    fn new(config: &Self::Config) -> Self {
        Self::new(L::new(config))
    }
    fn properties(config: &Self::Config) -> &'static Properties {
        L::properties(config)
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
            reports: 0,
        }
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
}
