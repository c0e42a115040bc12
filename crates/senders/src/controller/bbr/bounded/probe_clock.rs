//! The time between two probes for bandwidth (draft-ietf-ccwg-bbr-06 5.3.3.8).

use tidemark_core::{Duration, Instant, Stream};

const MIN_WAIT: Duration = Duration::from_secs(2);
/// Up to this many seconds more, at random.
const RANDOM_WAIT: f64 = 1.0;
const MAX_ROUNDS: f64 = 63.0;

/// Clock of the phases of `PROBE_BW`.
#[derive(Clone, Debug)]
pub(super) struct ProbeClock {
    stream: Stream,
    phase_start: Instant,
    wait: Duration,
    /// Rounds since the last probe.
    rounds: u64,
}

impl ProbeClock {
    /// A clock that draws its waits from `stream`.
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, phase_start: Instant::ZERO, wait: MIN_WAIT, rounds: 0 }
    }

    /// Begins the wait after a probe.
    pub(super) fn begin_wait(&mut self, now: Instant) {
        // Draws keep flows that met in a queue from probing together.
        self.rounds = u64::from(self.stream.uniform() < 0.5);
        self.wait = MIN_WAIT + Duration::from_secs_f64(RANDOM_WAIT * self.stream.uniform());
        self.phase_start = now;
    }

    pub(super) fn begin_up(&mut self, now: Instant) {
        self.phase_start = now;
    }

    pub(super) fn on_round(&mut self) {
        self.rounds += 1;
    }

    /// Time at which the last `PROBE_DOWN` or `PROBE_UP` began.
    pub(super) fn phase_start(&self) -> Instant {
        self.phase_start
    }

    /// True after the wait, or when Reno would have grown by a whole flight of `segments`.
    pub(super) fn is_due(&self, now: Instant, segments: f64) -> bool {
        now.since(self.phase_start) > self.wait || self.rounds as f64 >= segments.min(MAX_ROUNDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_due_after_two_to_three_seconds_or_renos_rounds() {
        let mut clock = ProbeClock::new(Stream::new(1, 0, "bbr"));
        for _ in 0..20 {
            clock.begin_wait(Instant::ZERO);
            assert!(!clock.is_due(Instant::from_millis(2000), 100.0));
            assert!(clock.is_due(Instant::from_millis(3001), 100.0));
            (0..62).for_each(|_| clock.on_round());
            assert!(clock.is_due(Instant::ZERO, 62.0));
            clock.on_round();
            assert!(clock.is_due(Instant::ZERO, 100.0), "63 rounds at the most");
        }
    }
}
