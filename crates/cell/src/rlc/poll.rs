//! Polling of the transmitting side of an RLC AM entity (TS 38.322 5.3.3).

use tidemark_core::{Duration, Instant};

use crate::config::RlcConfig;

/// Counters since the last poll, and the poll that waits for its answer.
#[derive(Debug, Default)]
pub(super) struct Poll {
    pdu_without_poll: u32,
    byte_without_poll: u64,
    /// The next PDU polls, whatever the counters say.
    must: bool,
    /// POLL_SN, and the end of t-PollRetransmit.
    waiting: Option<(u64, Instant)>,
}

impl Poll {
    /// A PDU with this many bytes goes out that were not sent before (TS 38.322 5.3.3.2).
    pub(super) fn count(&mut self, bytes: u32) {
        self.pdu_without_poll += 1;
        self.byte_without_poll += u64::from(bytes);
    }
    /// True if the PDU that goes out is to poll. `is_last` says that nothing is left that could be sent.
    pub(super) fn is_due(&self, config: &RlcConfig, is_last: bool) -> bool {
        let by_bytes = config.poll_bytes.is_some_and(|limit| self.byte_without_poll >= limit.0);
        let by_pdus = config.poll_pdus.is_some_and(|limit| self.pdu_without_poll >= limit);
        is_last || by_bytes || by_pdus || self.must
    }
    /// The poll is in a PDU: all up to `poll_sn` have been sent.
    pub(super) fn polled(&mut self, now: Instant, poll_sn: u64, t_poll_retransmit: Duration) {
        *self = Self { waiting: Some((poll_sn, now + t_poll_retransmit)), ..Self::default() };
    }
    /// A report says something about everything below `ack_sn`.
    pub(super) fn answered(&mut self, ack_sn: u64) {
        self.waiting = self.waiting.filter(|(poll_sn, _)| *poll_sn >= ack_sn);
    }
    /// Gives the end of t-PollRetransmit.
    pub(super) fn ends(&self) -> Option<Instant> {
        self.waiting.map(|(_, end)| end)
    }
    /// True if t-PollRetransmit has ended: the next PDU polls once more.
    pub(super) fn expire(&mut self, now: Instant) -> bool {
        let expired = self.waiting.is_some_and(|(_, end)| end <= now);
        // The poll or its answer is lost: without another the sender would wait for ever (TS 38.322 5.3.3).
        if expired {
            self.waiting = None;
            self.must = true;
        }
        expired
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Bytes;

    use super::*;

    #[test]
    fn polls_come_by_pdus_by_bytes_and_with_the_last_one() {
        let now = Instant::ZERO;
        let config = RlcConfig { poll_pdus: Some(3), poll_bytes: Some(Bytes(1_000)), ..RlcConfig::default() };
        let mut poll = Poll::default();
        let sent = |poll: &mut Poll, bytes| {
            poll.count(bytes);
            poll.is_due(&config, false)
        };
        assert_eq!([10, 10, 10].map(|bytes| sent(&mut poll, bytes)), [false, false, true]);
        poll.polled(now, 2, Duration::from_millis(45));
        assert_eq!([600, 399, 1].map(|bytes| sent(&mut poll, bytes)), [false, false, true]);
        assert!(Poll::default().is_due(&config, true));
    }

    #[test]
    fn an_unanswered_poll_is_repeated_and_an_answered_one_is_not() {
        let mut poll = Poll::default();
        poll.polled(Instant::ZERO, 7, Duration::from_millis(45));
        poll.answered(7);
        assert_eq!(poll.ends(), Some(Instant::from_millis(45)), "the report spoke of what was before");
        assert!(!poll.expire(Instant::from_millis(44)) && poll.expire(Instant::from_millis(45)));
        assert!(poll.is_due(&RlcConfig::default(), false), "the next one polls");
        poll.polled(Instant::from_millis(50), 7, Duration::from_millis(45));
        poll.answered(8);
        assert_eq!(poll.ends(), None);
    }
}
