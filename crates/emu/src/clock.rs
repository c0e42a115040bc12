//! The clock of a run.

use rustix::time::{ClockId, Timespec, clock_gettime};
use tidemark_core::{Duration, Instant};

/// Time since the start of the run, by the clock that nobody can step (`CLOCK_MONOTONIC`).
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: u64,
}

impl Clock {
    /// Starts at zero now.
    pub fn start() -> Self {
        Self { start: nanos(clock_gettime(ClockId::Monotonic)) }
    }
    /// The time.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(nanos(clock_gettime(ClockId::Monotonic)).saturating_sub(self.start))
    }
    /// Processor time that the calling thread has used.
    pub fn busy() -> Duration {
        Duration::from_nanos(nanos(clock_gettime(ClockId::ThreadCPUTime)))
    }
}

fn nanos(time: Timespec) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}
