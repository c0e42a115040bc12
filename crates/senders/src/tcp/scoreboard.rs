//! Knowledge of a sender about its segments: delivered, lost, in flight (RFC 2018, RFC 8985), and the delivery
//! rate that follows from it (draft-ietf-ccwg-bbr-06 4.1).
//!
//! An acknowledgement costs time in proportion to what it newly tells, never to the window: newly sacked
//! ranges come out of a set of ranges, and the search for losses resumes where it stopped. What no connection in good
//! order needs is out of line (`cold`), so that what runs for each packet lies close together.

use std::collections::VecDeque;

use tidemark_core::{Bytes, Duration, Instant};

use super::delivery::{Delivery, Snapshot};
use super::rack::Rack;
use super::ranges::Ranges;
use crate::controller::{Ack, LostSegment};
use crate::payload::TcpSegment;

/// A segment that is not yet acknowledged cumulatively.
#[derive(Clone, Copy, Debug)]
struct Segment {
    seq: u64,
    len: u32,
    sacked: bool,
    /// Held for lost, and not retransmitted since.
    lost: bool,
    retransmitted: bool,
    /// The connection's state when the segment was sent last.
    sent: Snapshot,
}

impl Segment {
    fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }
    /// RFC 8985 6.2 step 2: orders segments by when they were sent, and those sent at once by where they lie.
    fn order(&self) -> (Instant, u64) {
        (self.sent.at, self.end())
    }
}

/// News of an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    /// Part for the controller, as far as the scoreboard knows it.
    pub(super) ack: Ack,
    /// The cumulative acknowledgement advanced.
    pub(super) advanced: bool,
    /// The round-trip time of the first sent among the delivered segments, if certain.
    pub(super) first_rtt: Option<Duration>,
    /// Index of the segment that was sent last among the delivered, and its order.
    newest: Option<(usize, (Instant, u64))>,
}

/// The scoreboard.
#[derive(Clone, Debug)]
pub(super) struct Scoreboard {
    segments: VecDeque<Segment>,
    /// Number of the first segment in `segments`, counted from the start of the connection.
    base: u64,
    una: u64,
    next_seq: u64,
    in_flight: u64,
    sacked: Ranges,
    sacked_segments: u32,
    /// Numbers of segments held for lost, in the order in which to retransmit them; stale ones are skipped.
    lost: VecDeque<u64>,
    /// Retransmissions in the order in which they were sent; stale ones are skipped.
    retransmissions: VecDeque<(u64, Instant)>,
    /// The first segment that the search for losses has not yet judged by its first transmission.
    unjudged: u64,
    rack: Rack,
    delivery: Delivery,
}

/// Sequence number of the first byte of data: after the SYN.
pub(super) const FIRST_SEQ: u64 = 1;

impl Scoreboard {
    pub(super) fn new() -> Self {
        Self {
            segments: VecDeque::new(),
            base: 0,
            una: FIRST_SEQ,
            next_seq: FIRST_SEQ,
            in_flight: 0,
            sacked: Ranges::default(),
            sacked_segments: 0,
            lost: VecDeque::new(),
            retransmissions: VecDeque::new(),
            unjudged: 0,
            rack: Rack::default(),
            delivery: Delivery::default(),
        }
    }

    /// The oldest byte that is not acknowledged.
    pub(super) fn una(&self) -> u64 {
        self.una
    }
    /// The first byte that was never sent.
    pub(super) fn next_seq(&self) -> u64 {
        self.next_seq
    }
    /// Payload that is held to be in the network.
    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight
    }
    /// Payload delivered so far.
    pub(super) fn delivered(&self) -> u64 {
        self.delivery.delivered()
    }
    /// True while anything is unacknowledged.
    pub(super) fn is_outstanding(&self) -> bool {
        !self.segments.is_empty()
    }
    /// True while anything is known to have arrived out of order.
    pub(super) fn has_sacked(&self) -> bool {
        self.sacked_segments > 0
    }
    /// True if one segment is all that is outstanding.
    pub(super) fn is_single(&self) -> bool {
        self.segments.len() == 1
    }

    /// The application has nothing more to send although the window has room.
    pub(super) fn limited_by_application(&mut self) {
        self.delivery.limit_by_application(self.in_flight);
    }

    /// Sends `len` new bytes; returns their first sequence number.
    pub(super) fn send(&mut self, now: Instant, len: u32) -> u64 {
        let seq = self.next_seq;
        let sent = self.delivery.on_sent(now, self.in_flight, len);
        self.in_flight += u64::from(len);
        self.segments.push_back(Segment { seq, len, sacked: false, lost: false, retransmitted: false, sent });
        self.next_seq += u64::from(len);
        seq
    }

    fn segment(&self, number: u64) -> Option<&Segment> {
        self.segments.get(usize::try_from(number.checked_sub(self.base)?).ok()?)
    }

    /// True if anything may have to be retransmitted.
    pub(super) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Number and length of the segment to retransmit next.
    #[cold]
    pub(super) fn next_lost(&mut self) -> Option<(u64, u32)> {
        while let Some(&number) = self.lost.front() {
            // A segment that was acknowledged meanwhile leaves the queue of lost ones when its turn comes.
            match self.segment(number) {
                Some(segment) if segment.lost => return Some((number, segment.len)),
                _ => self.lost.pop_front(),
            };
        }
        None
    }

    /// Number and length of the last segment sent, for a tail loss probe.
    pub(super) fn last(&self) -> Option<(u64, u32)> {
        self.segments.back().map(|segment| (self.base + self.segments.len() as u64 - 1, segment.len))
    }

    /// Sends segment `number` once more; returns its sequence number.
    #[cold]
    pub(super) fn retransmit(&mut self, now: Instant, number: u64) -> Option<u64> {
        let index = usize::try_from(number.checked_sub(self.base)?).ok()?;
        let segment = self.segments.get_mut(index)?;
        // A probe replaces a segment that may still be under way; the flight counts it once.
        let len = if segment.lost || segment.sacked { segment.len } else { 0 };
        segment.lost = false;
        segment.retransmitted = true;
        segment.sent = self.delivery.on_sent(now, self.in_flight, len);
        self.in_flight += u64::from(len);
        self.retransmissions.push_back((number, now));
        Some(segment.seq)
    }

    /// Takes in an acknowledgement and puts what is new in it into `news`, empty so far.
    #[inline(never)]
    pub(super) fn handle_ack(&mut self, now: Instant, ack: &TcpSegment, min_rtt: Duration, news: &mut News) {
        let mut acknowledged = 0;
        // An old acknowledgement tells nothing of what is below.
        if ack.ack > self.una {
            news.advanced = true;
            self.una = ack.ack;
            while let Some(segment) = self.segments.get(acknowledged).filter(|segment| segment.end() <= ack.ack) {
                // A sacked one was counted when it was sacked.
                if segment.sacked {
                    self.sacked_segments -= 1;
                } else {
                    self.deliver(now, acknowledged, Some(ack.echo), min_rtt, news);
                }
                acknowledged += 1;
            }
            self.sacked.remove_below(ack.ack);
        }
        // Only behind a hole is anything sacked.
        if !ack.sack.is_empty() {
            self.handle_sack(now, ack, min_rtt, news);
        }
        // The rate is measured from delivery to delivery: without one nothing has ended.
        if news.ack.acked > Bytes::ZERO {
            self.delivery.end_ack(now);
        }
        // Of all that is delivered, the segment that was sent last says the most about the path (RFC 8985 6.2).
        if let Some((index, order)) = news.newest {
            let segment = &self.segments[index];
            self.rack.on_newest(now, order);
            news.ack.prior_delivered = segment.sent.delivered();
            news.ack.rate = self.delivery.rate(now, &segment.sent);
        }
        for _ in 0..acknowledged {
            self.segments.pop_front();
        }
        self.base += acknowledged as u64;
        self.unjudged = self.unjudged.max(self.base);
    }

    #[cold]
    fn handle_sack(&mut self, now: Instant, ack: &TcpSegment, min_rtt: Duration, news: &mut News) {
        let (mut sacked, una) = (std::mem::take(&mut self.sacked), self.una);
        for (start, end) in ack.sack.iter(ack.ack).filter(|(start, _)| *start >= una) {
            sacked.insert(start, end.min(self.next_seq), |from, to| {
                let mut index = self.segments.partition_point(|segment| segment.seq < from);
                while let Some(segment) = self.segments.get(index).filter(|segment| segment.end() <= to) {
                    // Blocks are told more than once (RFC 2018 4): each segment counts the first time.
                    if !segment.sacked {
                        self.deliver(now, index, None, min_rtt, news);
                        self.segments[index].sacked = true;
                        self.segments[index].lost = false;
                        self.sacked_segments += 1;
                    }
                    index += 1;
                }
            });
        }
        self.sacked = sacked;
    }

    /// The segment at this index was found delivered; `echo` is that of a cumulative acknowledgement.
    fn deliver(&mut self, now: Instant, index: usize, echo: Option<Instant>, min_rtt: Duration, news: &mut News) {
        let segment = &self.segments[index];
        let len = u64::from(segment.len);
        self.delivery.on_delivered(len);
        // One that was held for lost has left the flight already.
        if !segment.lost {
            self.in_flight -= len;
        }
        news.ack.acked += Bytes(len);
        news.ack.acked_packets += 1;
        self.rack.on_delivered(segment.end(), segment.retransmitted);
        let rtt = now.since(segment.sent.at);
        // Which transmission of a segment arrived is known by the echo of the acknowledgement that advances
        // over it (RFC 3522); one that only sacks it echoes an older segment (RFC 7323 4.3).
        let unambiguous = !segment.retransmitted || echo.is_some_and(|echo| echo >= segment.sent.at);
        let plausible = unambiguous || echo.is_none() && rtt >= min_rtt;
        // The largest of several is that of the segment that waited longest: delayed acknowledgements are in it.
        if unambiguous && news.first_rtt.is_none_or(|first| rtt > first) {
            news.first_rtt = Some(rtt);
        }
        // RACK judges by the segment that was sent last, and not by the highest number (RFC 8985 6.2).
        if plausible && news.newest.is_none_or(|(_, order)| segment.order() > order) {
            news.newest = Some((index, segment.order()));
            news.ack.rtt = if unambiguous { Some(rtt) } else { news.ack.rtt };
        }
    }

    /// Counts payload with CE that the last acknowledgement reported.
    pub(super) fn count_marked(&mut self, news: &mut News, marked: Bytes) {
        self.delivery.on_marked(marked.0);
        news.ack.marked = marked;
        // The sample spans the acknowledgement that brings the marks.
        if let Some(rate) = &mut news.ack.rate {
            rate.marked += marked;
        }
    }

    /// False while nothing that is outstanding was sent before the segment delivered last: then nothing can be lost.
    pub(super) fn is_overtaken(&self) -> bool {
        let overtaken = |segment: &Segment| {
            let sent_once = !(segment.sacked || segment.lost || segment.retransmitted);
            !sent_once || self.rack.latest().is_some_and(|(latest, _)| segment.order() < latest)
        };
        !self.retransmissions.is_empty() || self.segment(self.unjudged).is_some_and(overtaken)
    }

    /// RFC 8985 6.2 step 5: holds for lost what should have arrived before the segment delivered last.
    /// Returns the bytes, the segments, and when to look again, `Instant::FAR` if never.
    #[cold]
    pub(super) fn detect_losses(
        &mut self,
        now: Instant,
        min_rtt: Duration,
        smoothed_rtt: Duration,
        recovering: bool,
        mut report: impl FnMut(&LostSegment),
    ) -> (u64, u32, Instant) {
        let mut deadline = Instant::FAR;
        // Nothing was delivered yet: no segment can have been overtaken (RFC 8985 6.2).
        let Some((latest, rack_rtt)) = self.rack.latest() else { return (0, 0, deadline) };
        let patience = rack_rtt + self.rack.window(min_rtt, smoothed_rtt, recovering, self.sacked_segments);
        let before = self.delivery.lost();
        let mut segments = 0;
        // First transmissions were sent in the order of their numbers, retransmissions in that of their queue.
        while let Some(segment) = self.segment(self.unjudged) {
            // What has arrived, is lost already, or was sent once more is judged elsewhere.
            if !(segment.sacked || segment.lost || segment.retransmitted) {
                // It was sent after all that is delivered: neither it nor what follows is overtaken.
                if segment.order() >= latest {
                    break;
                }
                // Reordering may still explain it: the search goes on when that time is over.
                if segment.sent.at + patience > now {
                    deadline = segment.sent.at + patience;
                    break;
                }
                report(&self.lose(now, self.unjudged));
                segments += 1;
            }
            self.unjudged += 1;
        }
        // Retransmissions are judged in the order of their sending.
        while let Some(&(number, sent_at)) = self.retransmissions.front() {
            let segment = self.segment(number).copied();
            let current = segment.filter(|segment| !segment.sacked && !segment.lost && segment.sent.at == sent_at);
            // Acknowledged, lost again or sent once more since: this entry is of the past.
            if let Some(segment) = current {
                // Sent after what was delivered last: nothing shows yet that it was overtaken.
                if segment.order() >= latest {
                    break;
                }
                // Reordering is granted its time first (RFC 8985 6.2).
                if sent_at + patience > now {
                    deadline = deadline.min(sent_at + patience);
                    break;
                }
                report(&self.lose(now, number));
                segments += 1;
            }
            self.retransmissions.pop_front();
        }
        (self.delivery.lost() - before, segments, deadline)
    }

    fn lose(&mut self, now: Instant, number: u64) -> LostSegment {
        let index = (number - self.base) as usize;
        let segment = &mut self.segments[index];
        segment.lost = true;
        let len = u64::from(segment.len);
        self.in_flight -= len;
        self.delivery.on_lost(len);
        self.lost.push_back(number);
        self.delivery.lost_segment(now, Bytes(len), &segment.sent)
    }

    /// The retransmission timer expired: nothing is held to be in flight any more. Returns the segments that this loses.
    #[cold]
    pub(super) fn lose_all(&mut self) -> u32 {
        self.lost.clear();
        self.retransmissions.clear();
        let mut segments = 0;
        for index in 0..self.segments.len() {
            let segment = &mut self.segments[index];
            // It has arrived: a receiver that keeps it needs no second copy.
            if segment.sacked {
                continue;
            }
            // A loss is counted once, however often it is found.
            if !segment.lost {
                segment.lost = true;
                self.in_flight -= u64::from(segment.len);
                self.delivery.on_lost(u64::from(segment.len));
                segments += 1;
            }
            self.lost.push_back(self.base + index as u64);
        }
        self.unjudged = self.base + self.segments.len() as u64;
        segments
    }

    /// Restores what was held for lost and is only late: it counts as in flight, unless it was retransmitted already.
    #[cold]
    pub(super) fn restore_lost(&mut self) {
        self.unjudged = self.base;
        for segment in self.segments.iter_mut().filter(|segment| segment.lost && !segment.retransmitted) {
            segment.lost = false;
            self.in_flight += u64::from(segment.len);
        }
        // Late is late, not lost: from now on wait for reordering.
        self.rack.expect_reordering();
    }
}
