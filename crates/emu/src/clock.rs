//! Clock of a run.

use rustix::time::{ClockId, Timespec};
use tidemark_core::{Duration, Instant};

/// Clock that counts from the start of the run and that nobody can set (`CLOCK_MONOTONIC`).
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: u64,
}

impl Clock {
    /// Starts a clock at zero.
    pub fn start() -> Self {
        Self { start: nanos(Unsettable::Monotonic) }
    }
    /// Time since the start.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(nanos(Unsettable::Monotonic).saturating_sub(self.start))
    }
    /// Processor time that the calling thread has used.
    pub fn busy() -> Duration {
        Duration::from_nanos(nanos(Unsettable::ThreadCpuTime))
    }
}

/// Clocks that a live cell reads. Nobody can set them, and `clippy.toml` keeps others out of this crate.
#[derive(Clone, Copy)]
enum Unsettable {
    Monotonic,
    ThreadCpuTime,
}

fn nanos(clock: Unsettable) -> u64 {
    let id = match clock {
        Unsettable::Monotonic => ClockId::Monotonic,
        Unsettable::ThreadCpuTime => ClockId::ThreadCPUTime,
    };
    #[expect(clippy::disallowed_methods, reason = "the one place where a clock is read")]
    let time: Timespec = rustix::time::clock_gettime(id);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}
