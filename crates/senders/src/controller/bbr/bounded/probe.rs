//! A probe for bandwidth and what its acknowledgements say (draft-ietf-ccwg-bbr-06 5.3.3.6, 5.3.3.9).

/// Phase that the present acknowledgements belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum AckPhase {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// Probe that is under way, and the outcome of the one before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    phase: AckPhase,
    /// True while samples come from the probe, so that they may lower the long-term bound.
    samples: bool,
    previous_too_high: bool,
    stopped_risky: bool,
}

impl Probe {
    pub(super) fn begin_refill(&mut self) {
        self.stopped_risky = false;
        self.phase = AckPhase::Refilling;
    }

    pub(super) fn begin_up(&mut self) {
        self.samples = true;
        self.phase = AckPhase::ProbeStarting;
    }

    pub(super) fn stop(&mut self) {
        self.phase = AckPhase::ProbeStopping;
    }

    /// Moves on with a round; true if it was the last whose acknowledgements belong to the probe.
    pub(super) fn end_round(&mut self) -> bool {
        match self.phase {
            AckPhase::ProbeStarting => {
                self.phase = AckPhase::ProbeFeedback;
                false
            }
            AckPhase::ProbeStopping => {
                self.samples = false;
                self.phase = AckPhase::Init;
                true
            }
            AckPhase::Init | AckPhase::Refilling | AckPhase::ProbeFeedback => false,
        }
    }

    pub(super) fn has_samples(&self) -> bool {
        self.samples
    }

    /// Ends the judgement: losses or marks say that the flight is too high.
    pub(super) fn find_too_high(&mut self) {
        self.samples = false;
        self.previous_too_high = true;
    }

    pub(super) fn was_too_high(&self) -> bool {
        self.previous_too_high
    }

    /// Remembers that a probe was stopped as a precaution.
    pub(super) fn stop_as_risky(&mut self) {
        self.stopped_risky = true;
    }

    /// Remembers that a probe ended by itself.
    pub(super) fn succeed(&mut self) {
        self.previous_too_high = false;
    }

    /// True if the last probe stopped as a precaution and nothing went wrong.
    pub(super) fn may_repeat(&self) -> bool {
        self.stopped_risky && !self.previous_too_high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_count_until_a_round_after_the_stop() {
        let mut probe = Probe::default();
        probe.begin_refill();
        assert!(!probe.has_samples() && !probe.end_round());
        probe.begin_up();
        assert!(probe.has_samples() && !probe.end_round() && !probe.end_round());
        probe.stop();
        assert!(probe.has_samples() && probe.end_round());
        assert!(!probe.has_samples() && !probe.end_round());
    }

    #[test]
    fn a_probe_that_stopped_for_nothing_may_be_repeated_once() {
        let mut probe = Probe::default();
        probe.stop_as_risky();
        assert!(probe.may_repeat());
        probe.find_too_high();
        assert!(!probe.may_repeat());
        probe.succeed();
        probe.begin_refill();
        assert!(!probe.may_repeat());
    }
}
