//! Recent samples of a half of the round trip.

use tidemark_core::Duration;

/// Samples of which the smallest counts, because an end with nothing to send delays an echo.
const LEN: usize = 8;

/// The last samples.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    times: [Option<Duration>; LEN],
    count: usize,
}

impl Recent {
    /// Adds a sample in place of the oldest.
    pub(super) fn add(&mut self, time: Duration) {
        self.times[self.count % LEN] = Some(time);
        self.count += 1;
    }

    /// Smallest of the samples.
    pub(super) fn least(&self) -> Option<Duration> {
        self.times.iter().flatten().min().copied()
    }
}
