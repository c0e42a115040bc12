//! Tail loss probe: the last segment once more, or a new one, where nothing else would tell of a loss (RFC 8985 7.2 to 7.4).

use tidemark_core::{Duration, Instant};

/// Longest delay by the receiver of a lone segment's acknowledgement (RFC 8985 7.2, Linux).
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);
/// Two ticks of Linux' timer, by which its probes come later.
const TICKS: Duration = Duration::from_millis(2);

/// A probe under way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// First byte that was never sent when the probe had left.
    end: u64,
    at: Instant,
    retransmission: bool,
}

/// State of the probe: at most one is unanswered.
#[derive(Clone, Debug, Default)]
pub(super) struct TailLossProbe {
    due: bool,
    unanswered: Option<Sent>,
}

impl TailLossProbe {
    /// Wait from the last segment to its probe; `None` while a probe is unanswered, or without a round-trip time. `single` says
    /// that one segment is all that is outstanding (RFC 8985 7.2).
    #[inline]
    pub(super) fn wait(&self, smoothed_rtt: Option<Duration>, single: bool) -> Option<Duration> {
        // A second probe would tell no more than the first, whose answer is still to come (RFC 8985 7.2).
        if self.unanswered.is_some() {
            return None;
        }
        // A receiver may hold back the acknowledgement of a single segment (RFC 8985 7.2).
        let delay = if single { MAX_ACK_DELAY } else { TICKS };
        smoothed_rtt.map(|smoothed| smoothed * 2 + delay)
    }

    /// Asks for a probe.
    pub(super) fn request(&mut self) {
        self.due = true;
    }

    /// True once after a request.
    #[inline]
    pub(super) fn take_due(&mut self) -> bool {
        std::mem::take(&mut self.due)
    }

    /// Notes that a probe leaves, after which `end` is the first byte that was never sent.
    pub(super) fn on_sent(&mut self, now: Instant, end: u64, retransmission: bool) {
        self.unanswered = Some(Sent { end, at: now, retransmission });
    }

    /// Forgets the probe under way.
    pub(super) fn cancel(&mut self) {
        self.unanswered = None;
    }

    /// True once, if the acknowledgement up to `una` shows that the probe filled a hole at the tail: that loss has to be
    /// answered, and nothing else tells of it (RFC 8985 7.4).
    #[inline]
    pub(super) fn reveals_loss(&mut self, una: u64, echo: Instant) -> bool {
        let Some(sent) = self.unanswered.filter(|sent| una >= sent.end) else { return false };
        self.unanswered = None;
        sent.retransmission && echo >= sent.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_segment_waits_for_the_receivers_delay() {
        let probe = TailLossProbe::default();
        let smoothed = Some(Duration::from_millis(20));
        assert_eq!(probe.wait(smoothed, true), Some(Duration::from_millis(240)));
        assert_eq!(probe.wait(smoothed, false), Some(Duration::from_millis(42)));
        assert_eq!(probe.wait(None, false), None);
    }

    #[test]
    fn only_a_retransmission_that_is_echoed_reveals_a_loss() {
        let at = Instant::from_millis(100);
        let before = Instant::from_millis(99);
        for (retransmission, echo, expected) in [(true, at, true), (true, before, false), (false, at, false)] {
            let mut probe = TailLossProbe::default();
            probe.on_sent(at, 5000, retransmission);
            assert_eq!(probe.wait(Some(Duration::from_millis(20)), false), None, "one at a time");
            assert!(!probe.reveals_loss(4999, echo));
            assert_eq!(probe.reveals_loss(5000, echo), expected);
            assert!(!probe.reveals_loss(5000, echo), "said once");
        }
    }
}
