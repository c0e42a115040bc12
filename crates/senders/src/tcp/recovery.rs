//! Loss recovery: its phase, a reduction spread over a round trip (RFC 9937), and whether a retransmission was needed (RFC 3522).

use tidemark_core::Instant;

use super::prr::Prr;

/// Phase of loss recovery. Each ends when what had been sent at its start is acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// No loss and no echo is being answered.
    Open,
    /// The window was reduced after an echo of congestion.
    Reducing { end: u64 },
    /// Losses are being repaired.
    Recovering { end: u64 },
    /// The retransmission timer expired.
    TimedOut { end: u64 },
}

/// State of loss recovery. While it is open there is no reduction to spread, and no retransmission to judge.
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    phase: Phase,
    reduction: Option<Prr>,
    /// Sequence number and time of this phase's first retransmission, until it is acknowledged.
    first_retransmission: Option<(u64, Instant)>,
}

impl Recovery {
    /// Recovery of a connection that has lost nothing.
    pub(super) fn new() -> Self {
        Self { phase: Phase::Open, reduction: None, first_retransmission: None }
    }

    /// True while nothing is wrong.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// True while the flight comes down, after a loss or an echo of congestion.
    #[inline]
    pub(super) fn is_reducing(&self) -> bool {
        matches!(self.phase, Phase::Reducing { .. } | Phase::Recovering { .. })
    }

    /// True while losses are being repaired, after a loss or a timeout.
    #[inline]
    pub(super) fn is_repairing(&self) -> bool {
        matches!(self.phase, Phase::Recovering { .. } | Phase::TimedOut { .. })
    }

    /// True after a timeout.
    pub(super) fn is_timed_out(&self) -> bool {
        matches!(self.phase, Phase::TimedOut { .. })
    }

    /// Begins the phase after an echo of congestion, which lasts until `end` is acknowledged.
    pub(super) fn begin_reducing(&mut self, end: u64) {
        self.phase = Phase::Reducing { end };
    }

    /// Begins the phase after a loss, which lasts until `end` is acknowledged.
    pub(super) fn begin_repairing(&mut self, end: u64) {
        self.phase = Phase::Recovering { end };
        self.first_retransmission = None;
    }

    /// Begins the phase after a timeout, which lasts until `end` is acknowledged.
    pub(super) fn time_out(&mut self, end: u64) {
        self.phase = Phase::TimedOut { end };
        self.reduction = None;
        self.first_retransmission = None;
    }

    /// Spreads the reduction that has just begun over the round trip, from `in_flight` bytes on.
    pub(super) fn spread(&mut self, in_flight: u64, mss: u64) {
        self.reduction = Some(Prr::new(in_flight, mss));
    }

    /// Ends the phase if `una`, the oldest byte that is not acknowledged, has passed its end.
    #[inline]
    pub(super) fn advance(&mut self, una: u64) {
        let (Phase::Reducing { end } | Phase::Recovering { end } | Phase::TimedOut { end }) = self.phase else {
            return;
        };
        // Everything that was under way when it began has had its answer.
        if una >= end {
            self.end();
            self.first_retransmission = None;
        }
    }

    /// Ends the phase at once.
    pub(super) fn end(&mut self) {
        self.phase = Phase::Open;
        self.reduction = None;
    }

    /// Takes an acknowledgement of `delivered` bytes into account, after which `in_flight` are outstanding. `target` is the
    /// controller's window; `safe` says that the acknowledgement advanced and showed no further loss.
    #[inline]
    pub(super) fn on_ack(&mut self, delivered: u64, in_flight: u64, target: impl FnOnce() -> u64, safe: bool) {
        // Without a reduction the window itself is the limit.
        if let Some(reduction) = &mut self.reduction {
            reduction.on_ack(delivered, in_flight, target(), safe);
        }
    }

    /// Takes into account that `len` bytes leave.
    #[inline]
    pub(super) fn on_sent(&mut self, len: u32) {
        if let Some(reduction) = &mut self.reduction {
            reduction.sent(u64::from(len));
        }
    }

    /// Takes into account that the segment at `seq` is sent once more.
    pub(super) fn on_retransmission(&mut self, now: Instant, seq: u64) {
        // The first one tells: later ones may be answers to the first one's loss.
        if self.first_retransmission.is_none() && !self.is_open() {
            self.first_retransmission = Some((seq, now));
        }
    }

    /// Eifel detection (RFC 3522): true once, if the acknowledgement that passes the first retransmission echoes the time of
    /// a segment that was sent before it. Then the original had arrived.
    #[inline]
    pub(super) fn is_spurious(&mut self, una: u64, echo: Instant) -> bool {
        let Some((seq, sent_at)) = self.first_retransmission else { return false };
        // Not before it is acknowledged is it known which of the two arrived.
        if una <= seq {
            return false;
        }
        self.first_retransmission = None;
        echo < sent_at
    }

    /// Bytes that may be in flight while a reduction is spread; `None` when the controller's window holds.
    #[inline]
    pub(super) fn window(&self, in_flight: u64) -> Option<u64> {
        self.reduction.as_ref().map(|reduction| reduction.window(in_flight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn a_phase_ends_when_what_was_sent_before_it_is_acknowledged() {
        let mut recovery = Recovery::new();
        recovery.begin_reducing(1000);
        assert!(recovery.is_reducing() && !recovery.is_repairing());
        recovery.begin_repairing(2000);
        assert!(recovery.is_reducing() && recovery.is_repairing());
        recovery.advance(1999);
        assert!(!recovery.is_open());
        recovery.advance(2000);
        assert!(recovery.is_open() && recovery.window(0).is_none());
    }

    #[test]
    fn a_timeout_repairs_without_spreading_a_reduction() {
        let mut recovery = Recovery::new();
        recovery.begin_repairing(2000);
        recovery.spread(10_000, 1000);
        assert_eq!(recovery.window(5000), Some(6000), "one segment leaves at once");
        recovery.time_out(3000);
        assert!(recovery.is_timed_out() && recovery.is_repairing() && !recovery.is_reducing());
        assert_eq!(recovery.window(5000), None);
    }

    #[test]
    fn an_echo_of_the_original_shows_once_that_a_retransmission_was_not_needed() {
        let mut recovery = Recovery::new();
        recovery.on_retransmission(at(1), 500);
        assert!(!recovery.is_spurious(600, at(0)), "nothing is judged while recovery is open");
        recovery.begin_repairing(2000);
        recovery.on_retransmission(at(10), 500);
        recovery.on_retransmission(at(11), 700);
        assert!(!recovery.is_spurious(500, at(9)), "it is not yet acknowledged");
        assert!(recovery.is_spurious(501, at(9)));
        assert!(!recovery.is_spurious(800, at(9)), "said once");
        recovery.begin_repairing(3000);
        recovery.on_retransmission(at(20), 1500);
        assert!(!recovery.is_spurious(1600, at(20)), "the retransmission itself is echoed");
    }
}
