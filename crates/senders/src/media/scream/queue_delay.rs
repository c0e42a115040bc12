//! The queue delay as both versions measure it: one-way delay less the least one of late (RFC 6817).

use tidemark_core::{Duration, Instant};

use crate::media::Feedback;

/// The base delay is the least of this time and the one before it.
const WINDOW: Duration = Duration::from_secs(30);

/// The measurement.
#[derive(Clone, Debug)]
pub(super) struct QueueDelay {
    least: [Duration; 2],
    since: Instant,
    /// The latest sample in seconds.
    delay: f64,
}

impl QueueDelay {
    pub(super) fn new() -> Self {
        Self { least: [Duration::MAX; 2], since: Instant::ZERO, delay: 0.0 }
    }

    /// One sample a report: that of the packet sent last.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) -> f64 {
        // The path may have become longer: its least delay is forgotten with time.
        if feedback.now.since(self.since) > WINDOW {
            self.least = [Duration::MAX, self.least[0]];
            self.since = feedback.now;
        }
        let mut newest = None;
        for result in feedback.results {
            // A lost packet has no delay.
            if let Some(at) = result.received_at {
                let delay = at.since(result.sent_at);
                self.least[0] = self.least[0].min(delay);
                newest = Some(delay);
            }
        }
        // A report of losses alone leaves the delay as it was.
        if let Some(delay) = newest {
            self.delay = (delay - self.least[0].min(self.least[1])).as_secs_f64();
        }
        self.delay
    }
}
