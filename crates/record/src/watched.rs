//! Flow over one interval, for an endpoint that prints each interval as it ends.

use tidemark_core::{BitRate, Duration, Ecn};

use crate::distribution::Distribution;
use crate::result::Codepoints;

/// Flow as whoever looks at one of its ends sees it.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchedFlow {
    open: FlowInterval,
    /// Interval that was sampled last.
    pub(crate) interval: FlowInterval,
    /// Packets that arrived at the end since the beginning, by their ECN field.
    pub(crate) codepoints: Codepoints,
}

/// Flow over one interval.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowInterval {
    /// Round-trip times.
    pub(crate) rtt: Distribution,
    /// Times in queues.
    pub(crate) queue: Distribution,
    /// Delays of frames.
    pub(crate) frames: Distribution,
    /// Packets that arrived at the end, by their ECN field.
    pub(crate) codepoints: Codepoints,
    /// Highest rate that the sender's controller had; `None` without a rate.
    pub(crate) highest_rate: Option<BitRate>,
}

impl WatchedFlow {
    pub(crate) fn arrived(&mut self, ecn: Ecn, queue: Option<Duration>) {
        self.codepoints.count(ecn);
        self.open.codepoints.count(ecn);
        if let Some(queue) = queue {
            self.open.queue.record(queue);
        }
    }
    pub(crate) fn round_trip(&mut self, rtt: Duration) {
        self.open.rtt.record(rtt);
    }
    pub(crate) fn frame(&mut self, delay: Duration) {
        self.open.frames.record(delay);
    }
    pub(crate) fn rate(&mut self, rate: BitRate) {
        self.open.highest_rate = self.open.highest_rate.max(Some(rate));
    }
    /// Ends the interval.
    pub(crate) fn sample(&mut self) {
        self.interval = std::mem::take(&mut self.open);
    }
}
