//! Hint of a media stream: the rate that follows from recommendations and reports together, beside the controller's own
//! answer to reports.

use tidemark_core::{BitRate, Duration, Instant};

use super::Feedback;
use crate::hint::{Hint, HintConfig};

/// Share of its rate that a stream has to deliver for a climb: an encoder that needs no more proves nothing about the path.
const USED: f64 = 0.5;

/// Shortest round. A new rate is in the encoder's next frames first, and a controller of media takes seconds to regain what a climb too far cost it: shorter
/// round trips must not mean more of such climbs.
const MIN_ROUND: Duration = Duration::from_millis(100);

/// Rounds of distrust, at most: 100 s. SCReAM and aL4S-CC need 5 to 20 s to come back to 20 Mbit/s.
const MAX_DISTRUST: u32 = 1024;

/// Rounds after which what a climb cost is no longer given back: a queue that marks for longer is not the climb's alone.
const MAX_DRAIN: u32 = 8;

/// Recommendations of a stream, and its round trips. Rates are in bits a second of IP packets.
#[derive(Clone, Debug)]
pub(super) struct StreamHint {
    hint: Hint,
    round: Round,
    /// Round with which climbs may begin: marks and losses close the one in which they come.
    open_from: u32,
    /// Climb that was taken back, while its queue drains.
    failed: Option<FailedClimb>,
}

impl StreamHint {
    pub(super) fn new(config: &HintConfig) -> Self {
        Self { hint: Hint::new(config, MAX_DISTRUST), round: Round::default(), open_from: 0, failed: None }
    }

    pub(super) fn on_recommendation(&mut self, now: Instant, rate: BitRate) {
        self.hint.on_recommendation(now, rate);
    }

    /// Forgets the recommendations of a path that is silent.
    pub(super) fn forget(&mut self) {
        self.hint.forget();
        self.failed = None;
    }

    /// Rate to which a report leads a stream of this `rate`, before the controller answers the report; `None` where it stays.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>, rate: f64) -> Option<f64> {
        self.hint.expire(feedback.now);
        self.round.on_feedback(feedback);
        let round = self.round.number;
        self.hint.enter_round(round);
        let (arrived, marked, lost) = feedback.counts();
        // The path has no room, whatever is recommended.
        if marked > 0 || lost > 0 {
            self.open_from = round.saturating_add(1);
            // More came through while the queue stood: so much is proven.
            if let Some(failed) = &mut self.failed {
                failed.proven = failed.proven.max(self.round.rate);
            }
            let before = self.hint.take_back(round, self.round.rate)?;
            self.failed = Some(FailedClimb { proven: before, until: round.saturating_add(MAX_DRAIN) });
            return Some(rate.min(before.max(self.round.rate)));
        }
        // Marks and losses close the round in which they come.
        if round < self.open_from {
            return None;
        }
        let proven = self.failed.take().filter(|failed| round <= failed.until).map(|failed| failed.proven);
        // The climb's queue drains: what the controller gave up for it is had back at once.
        if let Some(proven) = proven.filter(|proven| *proven > rate) {
            return Some(proven);
        }
        let is_open = arrived > 0 && self.round.rate >= USED * rate;
        let granted = self.hint.granted(round).filter(|granted| is_open && *granted > rate)?;
        self.hint.climb(round, rate);
        Some(granted)
    }
}

/// Climb that marks took back. The controller answers them until the queue that the climb left has drained, by up to 95 % of its rate, and would take
/// seconds to regain it.
#[derive(Clone, Copy, Debug)]
struct FailedClimb {
    /// Rate to which the stream returns: the one before the climb, or what the path delivered while the queue stood, if that was more.
    proven: f64,
    /// Last round in which it returns.
    until: u32,
}

/// Round of a stream: it is over once a packet is reported that was sent after its beginning, and no sooner than after [`MIN_ROUND`].
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    number: u32,
    began: Instant,
    /// Number of the first packet that was sent after its beginning.
    end: u64,
    /// Bytes that arrived in it.
    delivered: f64,
    /// Rate of what arrived in the one before.
    rate: f64,
}

impl Round {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.delivered += feedback.delivered().0.as_f64();
        let lasted = feedback.now.since(self.began);
        // Shorter rounds would mean more climbs than a controller of media regains the cost of.
        if lasted < MIN_ROUND || feedback.results.last().is_none_or(|newest| newest.seq < self.end) {
            return;
        }
        let number = self.number.saturating_add(1);
        let rate = self.delivered * 8.0 / lasted.as_secs_f64();
        *self = Self { number, began: feedback.now, end: feedback.sent, delivered: 0.0, rate };
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{Bytes, Ecn};

    use super::*;
    use crate::media::PacketResult;

    /// Stream that has a report every 10 ms, of one packet of 1250 B that was sent 40 ms before: 1 Mbit/s.
    struct Stream {
        hint: StreamHint,
        now: Instant,
        seq: u64,
        rate: f64,
    }

    impl Stream {
        fn new() -> Self {
            Self { hint: StreamHint::new(&HintConfig::default()), now: Instant::ZERO, seq: 0, rate: 1e6 }
        }
        /// Reports a packet; the rate after it, in Mbit/s.
        fn report(&mut self, ecn: Ecn) -> f64 {
            self.now += Duration::from_millis(10);
            let sent_at = self.now.before(Duration::from_millis(40));
            let result = PacketResult {
                seq: self.seq,
                size: Bytes(1250),
                sent_at,
                received_at: Some(self.now),
                ecn,
                probe: None,
            };
            self.seq += 1;
            let feedback = Feedback {
                now: self.now,
                results: &[result],
                rtt: Some(Duration::from_millis(40)),
                in_flight: Bytes(4 * 1250),
                sent: self.seq + 4,
                outstanding: 4,
            };
            self.rate = self.hint.on_feedback(&feedback, self.rate).unwrap_or(self.rate);
            self.rate / 1e6
        }
        fn recommend(&mut self, mbps: u64) {
            self.hint.on_recommendation(self.now, BitRate::from_mbps(mbps));
        }
    }

    #[test]
    fn a_climb_stays_after_two_round_trips_without_marks() {
        let mut stream = Stream::new();
        (0..20).for_each(|_| assert_eq!(stream.report(Ecn::Ect1), 1.0));
        stream.recommend(2);
        assert_eq!(stream.report(Ecn::Ect1), 1.8);
        // Two rounds of ten reports each, the one in which it came among them.
        (0..19).for_each(|_| assert_eq!(stream.report(Ecn::Ect1), 1.8));
        assert_eq!(stream.report(Ecn::Ce), 1.8);
    }

    #[test]
    fn a_mark_takes_a_climb_back_to_what_was_delivered() {
        let mut stream = Stream::new();
        (0..20).for_each(|_| assert_eq!(stream.report(Ecn::Ect1), 1.0));
        stream.rate = 0.9e6;
        stream.recommend(2);
        assert_eq!(stream.report(Ecn::Ect1), 1.8);
        assert_eq!(stream.report(Ecn::Ce), 1.0);
        // Distrusted for a round, and closed for the one of the mark.
        assert_eq!(stream.report(Ecn::Ect1), 1.0);
    }

    #[test]
    fn a_round_without_marks_gives_back_what_a_failed_climb_cost() {
        let mut stream = Stream::new();
        (0..20).for_each(|_| assert_eq!(stream.report(Ecn::Ect1), 1.0));
        stream.recommend(2);
        assert_eq!(stream.report(Ecn::Ect1), 1.8);
        assert_eq!(stream.report(Ecn::Ce), 1.0);
        // The controller's answer to the queue, which the path empties at 1 Mbit/s.
        stream.rate = 0.05e6;
        (0..15).for_each(|_| assert_eq!(stream.report(Ecn::Ce), 0.05));
        let rates: Vec<_> = (0..20).map(|_| stream.report(Ecn::Ect1)).collect();
        assert!(rates[0] == 0.05 && rates[10..].iter().all(|rate| *rate == 1.0), "{rates:?}");
    }

    #[test]
    fn a_queue_that_outlasts_a_failed_climb_gives_nothing_back() {
        let mut stream = Stream::new();
        (0..20).for_each(|_| assert_eq!(stream.report(Ecn::Ect1), 1.0));
        stream.recommend(2);
        stream.report(Ecn::Ect1);
        stream.report(Ecn::Ce);
        stream.rate = 0.05e6;
        (0..100).for_each(|_| assert_eq!(stream.report(Ecn::Ce), 0.05));
        (0..30).for_each(|_| assert_eq!(stream.report(Ecn::Ect1), 0.05));
    }

    #[test]
    fn a_stream_that_sends_little_does_not_climb() {
        let mut stream = Stream::new();
        stream.rate = 3e6;
        (0..20).for_each(|_| assert_eq!(stream.report(Ecn::Ect1), 3.0));
        stream.recommend(20);
        assert_eq!(stream.report(Ecn::Ect1), 3.0);
    }

    #[test]
    fn an_old_recommendation_counts_for_nothing() {
        let mut stream = Stream::new();
        stream.recommend(2);
        stream.now += Duration::from_millis(100);
        (0..20).for_each(|_| assert_eq!(stream.report(Ecn::Ect1), 1.0));
    }
}
